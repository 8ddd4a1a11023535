//! Settings: where each comes from (flag, environment, file, default, in this order), and whether it can be. Every
//! mistake is one sentence that names the setting, the value and the remedy. Knows no command-line parser.

/// An error: a sentence that names the setting, the value and the remedy.
macro_rules! mistake {
    ($($sentence:tt)*) => { $crate::config::ConfigError(format!($($sentence)*)) };
}

/// The same as a result.
macro_rules! refuse {
    ($($sentence:tt)*) => { Err(mistake!($($sentence)*)) };
}

mod access;
mod alerts;
mod cluster;
mod ensemble;
mod ensembles;
mod ensembles_dir;
pub mod exposure;
mod given;
mod history;
mod identity;
#[cfg_attr(not(feature = "lab"), path = "config/no_lab.rs")]
mod lab;
mod layers;
mod model;
mod openid;
pub mod reference;
mod settings;
mod status;
mod tables;
mod values;
mod web;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use alerts::{Alerting, Receiver};
pub use cluster::Cluster;
pub use ensemble::Ensemble;
pub use ensembles_dir::BadFile;
pub use history::{History, HistoryPlace};
pub use identity::Identity;
pub use lab::Lab;
use lockscope_core::configured::{Configured, MetricSelection};
use lockscope_core::finding::Limits;
pub use status::ConfigHealth;
pub use web::Web;

use crate::cli::ServeArgs;
use given::Parse as _;
use layers::Layers;
use lockscope_audit::webhook::Webhook;
use lockscope_live::project::ApplicationRule;
use lockscope_web::Payloads;
use lockscope_zookeeper::check_roots;
use values::Lifetime;

/// Where pages are served when nothing is said.
const LISTEN_DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 3000);
/// Time-out of the session to ZooKeeper when nothing is said.
const SESSION_TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);
/// Connect strings that one sentence names.
const CONNECTS_MAX: usize = 3;
/// Mistakes that are reported at once.
const ERRORS_MAX: usize = 20;

/// A configuration that can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What is watched; never empty.
    pub ensembles: Vec<Ensemble>,
    /// Where further ones are read from; None: nowhere.
    pub ensembles_dir: Option<PathBuf>,
    /// Files there that can't be taken; what was in force of them stays. Always empty at a start.
    pub bad_files: Vec<BadFile>,
    /// Where to serve.
    pub listen: SocketAddr,
    /// To which pages, and how encrypted.
    pub web: Web,
    /// Where to keep data; it is made when there is something to keep. None: no place is known.
    pub data_dir: Option<PathBuf>,
    /// Where the past is kept; None: nowhere.
    pub history: Option<History>,
    /// When to give up on a ZooKeeper that was never reached; None: never.
    pub connect_timeout: Option<Duration>,
    /// Time-out of the session to ZooKeeper.
    pub session_timeout: Duration,
    /// What the operator says of locks by their paths (file only).
    pub locks: Vec<Configured>,
    /// Which findings are reported, and above which limits (file only).
    pub lints: Limits,
    /// Where the lab may run; None: it is off (file only).
    pub lab: Option<Lab>,
    /// The webhook that releases are sent to; None: none.
    pub webhook: Option<Webhook>,
    /// A second person has to approve each release.
    pub second_approver: bool,
    /// Who is shown what znodes carry.
    pub payloads: Payloads,
    /// Who may come in.
    pub access: lockscope_access::Settings,
    /// What an application is, of a client's name.
    pub applications: ApplicationRule,
    /// Which locks have series of their own at `/metrics` (file only).
    pub metrics: MetricSelection,
    /// What fires, and who is told (file only).
    pub alerting: Alerting,
    /// Where other servers that watch the same are met (file only); None: there are none.
    pub cluster: Option<Cluster>,
}

/// One clear sentence; of a file with several mistakes, one a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Deserialize)]
#[error("{0}")]
pub struct ConfigError(pub String);

impl ConfigError {
    fn all(errors: Vec<Self>) -> Self {
        Self(errors.into_iter().map(|error| error.0).collect::<Vec<_>>().join("\n"))
    }
}

/// Where values come from beside the command line; a stand-in in tests.
pub trait Environment {
    /// An environment variable.
    fn var(&self, name: &str) -> Option<String>;
    /// A file's text.
    ///
    /// # Errors
    /// The system's word on why it can't be read.
    fn file(&self, path: &Path) -> std::io::Result<String>;
    /// Whether other users of this machine may read a file.
    fn is_readable_by_others(&self, _path: &Path) -> bool {
        false
    }
    /// Paths of what is in a directory.
    ///
    /// # Errors
    /// The system's word on why it can't be read.
    fn dir(&self, _path: &Path) -> std::io::Result<Vec<PathBuf>> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

/// The process's own.
#[derive(Clone, Copy, Debug)]
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn var(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &Path) -> std::io::Result<String> {
        std::fs::read_to_string(path)
    }

    /// A file of root's may be read by a group: so Kubernetes and systemd hand secrets to a service.
    fn is_readable_by_others(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|meta| meta.mode() & if meta.uid() == 0 { 0o004 } else { 0o044 } != 0)
    }

    fn dir(&self, path: &Path) -> std::io::Result<Vec<PathBuf>> {
        std::fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect()
    }
}

impl Config {
    /// The configuration that flags, environment and file make together.
    ///
    /// # Errors
    /// A sentence for each mistake, a line each.
    pub fn load(flags: &ServeArgs, environment: &dyn Environment) -> Result<Self, ConfigError> {
        Self::read(flags, environment, None)
    }

    /// The same while the server runs: a mistake in a file of `ensembles_dir` is in `bad_files`, and what is in force of
    /// that file stays.
    ///
    /// # Errors
    /// As above, for all other mistakes.
    pub fn load_again(flags: &ServeArgs, environment: &dyn Environment, in_force: &Self) -> Result<Self, ConfigError> {
        Self::read(flags, environment, Some(in_force))
    }

    fn read(flags: &ServeArgs, environment: &dyn Environment, in_force: Option<&Self>) -> Result<Self, ConfigError> {
        let file = layers::config_file(flags.config.as_deref(), environment);
        let mut layers = Layers::open(flags, file, environment)?;
        let mut errors = ErrorList(std::mem::take(&mut layers.unknown));
        let (settings, top) = (&layers.settings, &layers.settings.top);
        let watched = in_force.map(|config| (&config.ensembles[..], config.ensembles_dir.as_deref()));
        let found = errors.take(ensembles::read(&layers, watched));
        if in_force.is_none() {
            let bad = found.iter().flat_map(|found| &found.bad);
            errors.0.extend(bad.map(|bad| ConfigError(bad.error.clone())));
        }
        let (ensembles, bad_files, ensembles_dir) =
            found.map_or((None, Vec::new(), None), |found| (Some(found.ensembles), found.bad, found.dir));
        let lab = ensembles.as_ref().and_then(|ensembles| errors.take(lab::read(&settings.lab, ensembles)));
        let listen = errors.take(top.listen.read());
        let session_timeout = errors.take(top.session_timeout_ms.read());
        let connect_timeout = errors.take(top.connect_timeout.read());
        let data_dir = errors.take(layers.data_dir());
        let history = errors.take(history::read(&layers, data_dir.as_ref().and_then(Option::as_deref)));
        let remedy = "write on where a second person has to approve each release, else leave it out";
        let second_approver = errors.take(top.second_approver.is_on(remedy));
        let web = errors.take(web::read(&layers));
        let access = errors.take(access::read(top));
        let openid = web.as_ref().and_then(|web| errors.take(openid::read(&layers, &web.origins)));
        let webhook = errors.take(web::read_webhook(&layers, data_dir.as_ref().is_none_or(Option::is_some)));
        let payloads = errors.take(top.payloads.read());
        let locks = errors.take(tables::read_locks(&settings.lock));
        let lints = errors.take(tables::read_lints(settings));
        let applications = errors.take(top.application_pattern.read());
        let metrics = errors.take(tables::read_metrics(&settings.metrics));
        let alerting = ensembles.as_ref().and_then(|ensembles| errors.take(alerts::read(&layers, ensembles)));
        let cluster = ensembles.as_ref().and_then(|ensembles| errors.take(cluster::read(&layers, ensembles)));
        let whole = || {
            let (listen, web) = (listen?.unwrap_or(LISTEN_DEFAULT), web?);
            let access = lockscope_access::Settings { openid: openid?, ..access? };
            let usual = || Payloads::default_for(exposure::is_public(listen, &web, &access));
            Some(Self {
                ensembles: ensembles?,
                ensembles_dir,
                bad_files,
                listen,
                data_dir: data_dir?,
                history: history?,
                connect_timeout: connect_timeout?,
                session_timeout: session_timeout?.unwrap_or(SESSION_TIMEOUT_DEFAULT),
                locks: locks?,
                lints: lints?,
                lab: lab?,
                webhook: webhook?,
                second_approver: second_approver?.unwrap_or(false),
                payloads: payloads?.unwrap_or_else(usual),
                web,
                access,
                applications: applications?.unwrap_or_default(),
                metrics: metrics?,
                alerting: alerting?,
                cluster: cluster?,
            })
        };
        errors.none_or(whole())
    }

    /// Whether others than people of this machine may come.
    pub fn is_public(&self) -> bool {
        exposure::is_public(self.listen, &self.web, &self.access)
    }

    /// The connect strings, for people.
    pub fn connects(&self) -> String {
        let first = self.ensembles.iter().take(CONNECTS_MAX).map(|ensemble| ensemble.zk.as_str());
        let more = self.ensembles.len().saturating_sub(CONNECTS_MAX);
        let more = (more > 0).then(|| format!("{more} more"));
        first.map(str::to_owned).chain(more).collect::<Vec<_>>().join(" and ")
    }

    /// Only where to serve, for the demo, which brings its own ZooKeeper.
    ///
    /// # Errors
    /// One sentence.
    pub fn listen_only(flag: Option<&str>, environment: &dyn Environment) -> Result<SocketAddr, ConfigError> {
        let flags = ServeArgs { listen: flag.map(str::to_owned), ..ServeArgs::default() };
        let address = Layers::open(&flags, None, environment)?.settings.top.listen.read()?.unwrap_or(LISTEN_DEFAULT);
        exposure::check_demo(address)?;
        Ok(address)
    }
}

/// Every mistake so far, so that a file can be mended in one go.
struct ErrorList(Vec<ConfigError>);

impl ErrorList {
    /// What was made, or None and its mistake on the list.
    fn take<T>(&mut self, made: Result<T, ConfigError>) -> Option<T> {
        made.map_err(|error| self.0.push(error)).ok()
    }

    /// What was made of all, when there was no mistake.
    fn none_or<T>(mut self, made: Option<T>) -> Result<T, ConfigError> {
        if let Some(made) = made
            && self.0.is_empty()
        {
            return Ok(made);
        }
        let more = self.0.len().saturating_sub(ERRORS_MAX);
        self.0.truncate(ERRORS_MAX);
        self.0.extend((more > 0).then(|| mistake!("and {more} more; fix these first")));
        Err(ConfigError::all(self.0))
    }
}

/// Checks paths that are looked at, as `--root` names them; none are everything.
///
/// # Errors
/// One can't be looked at, and why.
pub fn roots_only(flags: &[String]) -> Result<Vec<String>, ConfigError> {
    let all = if flags.is_empty() { vec!["/".to_owned()] } else { flags.to_vec() };
    check_roots(&all).or_else(|(at, wrong)| {
        let root = all.get(at).map(String::as_str).unwrap_or_default();
        refuse!("--root {root:?} {}; {}", wrong.why, wrong.remedy)
    })?;
    Ok(all)
}

/// The file that is read, if any.
pub fn file_of(flag: Option<&Path>, environment: &dyn Environment) -> Option<PathBuf> {
    layers::config_file(flag, environment)
}

/// Where a server with this file and environment listens, and whether by TLS; for whoever asks it how it is.
///
/// # Errors
/// One sentence: a file that can't be read, or an address that is none.
pub fn served_at(config: Option<&Path>, environment: &dyn Environment) -> Result<(SocketAddr, bool), ConfigError> {
    let layers = Layers::open(&ServeArgs::default(), layers::config_file(config, environment), environment)?;
    let top = &layers.settings.top;
    Ok((top.listen.read()?.unwrap_or(LISTEN_DEFAULT), top.tls_cert.given.is_some()))
}

/// Where data is kept, for commands that need nothing else of the configuration.
///
/// # Errors
/// One sentence: a file that can't be read, or no place is known.
pub fn data_dir(
    flag: Option<&str>,
    config: Option<&Path>,
    environment: &dyn Environment,
) -> Result<PathBuf, ConfigError> {
    let flags = ServeArgs { data_dir: flag.map(str::to_owned), ..ServeArgs::default() };
    let layers = Layers::open(&flags, layers::config_file(config, environment), environment)?;
    layers.data_dir()?.map_or_else(
        || refuse!("there is no place to keep data: neither --data-dir nor HOME is set; name a directory with --data-dir DIR"),
        Ok,
    )
}

/// How long something lasts, like 30d.
///
/// # Errors
/// One sentence that names the setting.
pub fn lifetime(setting: &str, text: &str) -> Result<Duration, ConfigError> {
    Lifetime::parse(text).map_err(|wrong| mistake!("{setting} {text:?} {}; {}", wrong.why, wrong.remedy))
}

#[cfg(test)]
mod ensemble_tests;
#[cfg(test)]
mod identity_tests;
#[cfg(test)]
mod settings_tests;
#[cfg(test)]
mod tests;
