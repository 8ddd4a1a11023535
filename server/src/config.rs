//! Settings: where each comes from (flag, environment, file, default, in this order), and whether it can be. Every
//! mistake is one sentence that names the setting, the value and the remedy. Knows no command-line parser.

mod access;
mod alert_rows;
mod alerts;
mod check;
mod cluster;
mod cluster_rows;
mod ensemble;
mod ensemble_rows;
mod ensembles;
mod ensembles_dir;
mod errors;
pub mod exposure;
mod history;
mod history_place;
mod history_rows;
mod identity;
#[cfg_attr(not(feature = "lab"), path = "config/no_lab.rs")]
mod lab;
mod labels;
mod layers;
mod lint_rows;
mod metrics;
mod metrics_rows;
mod openid;
pub mod reference;
mod status;
mod table;
mod table_rows;
mod tables;
mod toml_file;
mod variable_rows;
mod web;
mod webhook;

use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use alerts::{Alerting, Receiver};
pub use cluster::Cluster;
pub use ensemble::Ensemble;
pub use ensembles_dir::BadFile;
pub use history::History;
pub use history_place::HistoryPlace;
pub use identity::Identity;
pub use lab::Lab;
use lockscope_core::configured::{Configured, MetricSelection};
use lockscope_core::finding::Limits;
pub use status::ConfigHealth;
pub use web::Web;

use crate::cli::ServeArgs;
use lockscope_audit::webhook::Webhook;

use errors::ErrorList;
use layers::Layers;
use lockscope_live::project::ApplicationRule;
use lockscope_web::Payloads;
use toml_file::TomlFile;

/// Where pages are served when nothing is said.
pub const LISTEN_DEFAULT: &str = "127.0.0.1:3000";
/// Connect strings that one sentence names.
const CONNECTS_MAX: usize = 3;
/// Time-out of the session to ZooKeeper when nothing is said.
pub const SESSION_TIMEOUT_MS_DEFAULT: &str = "10000";
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

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

/// A value and what to call the setting it came from.
#[derive(Clone, Debug)]
struct SettingValue {
    value: String,
    from: String,
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
        let layers = Layers::open(flags.config.as_deref(), environment)?;
        let mut errors = ErrorList::new(&layers);
        let top = layers.file.top();
        let in_force = in_force.map(|config| (&config.ensembles[..], config.ensembles_dir.as_deref()));
        let found = errors.take(ensembles::of(flags, &layers, in_force));
        if in_force.is_none() {
            let bad = found.iter().flat_map(|found| &found.bad);
            bad.for_each(|bad| _ = errors.take::<()>(Err(ConfigError(bad.error.clone()))));
        }
        let (ensembles, bad_files, ensembles_dir) =
            found.map_or((None, Vec::new(), None), |found| (Some(found.ensembles), found.bad, found.dir));
        let lab = ensembles.as_ref().and_then(|ensembles| errors.take(lab::of(top.get("lab"), ensembles)));
        let listen = layers
            .one("listen", flags.listen.as_deref())
            .map(|listen| listen.unwrap_or_else(|| setting_value(LISTEN_DEFAULT, "--listen")));
        let listen = errors.take(listen.and_then(|listen| check::listen(&listen)));
        let session_timeout = errors.take(session_timeout(&layers, flags));
        let connect_timeout =
            errors.take(layers.checked("connect_timeout", flags.connect_timeout.as_deref(), check::time));
        let data_dir = errors.take(layers.data_dir(flags.data_dir.as_deref()));
        let history = errors.take(history::of(&layers, data_dir.as_ref().and_then(Option::as_deref)));
        let remedy = "write on where a second person has to approve each release, else leave it out";
        let second = layers
            .checked("second_approver", flags.security.second_approver.as_deref(), |word| check::switch(word, remedy));
        let second = errors.take(second);
        let web = errors.take(web::of(flags, &layers));
        let access = errors.take(access::of(&layers));
        let openid = web.as_ref().and_then(|web| errors.take(openid::of(&layers, &web.origins)));
        let webhook = errors.take(webhook::of(flags, &layers, data_dir.as_ref().is_none_or(Option::is_some)));
        let payloads = errors.take(layers.checked("payloads", flags.security.payloads.as_deref(), check::payloads));
        let locks = errors.take(tables::locks(top.get("lock")));
        let lints = errors.take(tables::lints(top.get("lints")));
        let applications = errors.take(layers.checked("application_pattern", None, check::application_pattern));
        let metrics = errors.take(metrics::of(top.get("metrics")));
        let alerting = ensembles.as_ref().and_then(|ensembles| errors.take(alerts::of(&layers, ensembles)));
        let cluster = ensembles.as_ref().and_then(|ensembles| errors.take(cluster::of(&layers, ensembles)));
        let whole = || {
            let (listen, web) = (listen?, web?);
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
                session_timeout: session_timeout?,
                locks: locks?,
                lints: lints?,
                lab: lab?,
                webhook: webhook?,
                second_approver: second?.unwrap_or(false),
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
        let layers = Layers::without_file(environment);
        let listen = layers.one("listen", flag)?.unwrap_or_else(|| setting_value(LISTEN_DEFAULT, "--listen"));
        let address = check::listen(&listen)?;
        exposure::check_demo(address)?;
        Ok(address)
    }
}

/// Checks paths that are looked at, as `--root` names them; none are everything.
///
/// # Errors
/// One can't be looked at, and why.
pub fn roots_only(flags: &[String]) -> Result<Vec<String>, ConfigError> {
    let all = if flags.is_empty() { vec!["/".to_owned()] } else { flags.to_vec() };
    check::roots(&all.iter().map(|root| setting_value(root, "--root")).collect::<Vec<_>>())?;
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
    let layers = Layers::open(config, environment)?;
    let listen =
        check::listen(&layers.one("listen", None)?.unwrap_or_else(|| setting_value(LISTEN_DEFAULT, "--listen")))?;
    Ok((listen, layers.one("tls_cert", None)?.is_some()))
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
    Layers::open(config, environment)?.data_dir(flag)?.ok_or_else(|| {
        ConfigError(
            "there is no place to keep data: neither --data-dir nor HOME is set; name a directory with --data-dir DIR"
                .to_owned(),
        )
    })
}

/// How long something lasts, like 30d.
///
/// # Errors
/// One sentence that names the setting.
pub fn lifetime(setting: &str, text: &str) -> Result<Duration, ConfigError> {
    check::lifetime(&setting_value(text, setting))
}

fn session_timeout(layers: &Layers<'_>, flags: &ServeArgs) -> Result<Duration, ConfigError> {
    let given_or = layers.one("session_timeout_ms", flags.session_timeout_ms.as_deref())?;
    check::session_timeout(
        &given_or.unwrap_or_else(|| setting_value(SESSION_TIMEOUT_MS_DEFAULT, "--session-timeout-ms")),
    )
}

fn setting_value(value: &str, from: &str) -> SettingValue {
    SettingValue { value: value.to_owned(), from: from.to_owned() }
}

fn variable(key: &str) -> String {
    format!("LOCKSCOPE_{}", key.to_uppercase())
}

#[cfg(test)]
mod ensemble_tests;
#[cfg(test)]
mod identity_tests;
#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;
