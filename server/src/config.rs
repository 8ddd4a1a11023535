//! Settings: where each comes from (flag, environment, file, default, in this order), and whether it can be. Every
//! mistake is one sentence that names the setting, the value and the remedy. Knows no command-line parser.

mod access;
mod check;
mod ensembles;
pub mod exposure;
mod faults;
mod identity;
#[cfg_attr(not(feature = "lab"), path = "config/no_lab.rs")]
mod lab;
mod metrics;
mod openid;
mod places;
pub mod reference;
mod source;
mod standing;
mod table;
mod table_rows;
mod tables;
mod web;
mod webhook;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use ensembles::Ensemble;
pub use identity::Identity;
pub use lab::Lab;
use lockscope_core::configured::{Configured, MetricSelection};
use lockscope_core::finding::Limits;
pub use standing::Standing;
pub use web::Web;

use crate::cli::Settings;
use audit::webhook::Webhook;

use faults::Faults;
use http::Payloads;
use places::Places;
use source::Source;

/// Where pages are served when nothing is said.
pub const LISTEN_DEFAULT: &str = "127.0.0.1:3000";
/// Time-out of the session to ZooKeeper when nothing is said.
pub const SESSION_TIMEOUT_MS_DEFAULT: &str = "10000";
/// A configuration that can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What is watched; never empty.
    pub ensembles: Vec<Ensemble>,
    /// Where to serve.
    pub listen: SocketAddr,
    /// To which pages, and how encrypted.
    pub web: Web,
    /// Where to keep data; it is made when there is something to keep. None: no place is known.
    pub data_dir: Option<PathBuf>,
    /// When to give up on a ZooKeeper that was never reached; None: never.
    pub connect_timeout: Option<Duration>,
    /// Time-out of the session to ZooKeeper.
    pub session_timeout: Duration,
    /// What the operator says of locks by their paths (file only).
    pub locks: Vec<Configured>,
    /// Which findings are told, and from where on (file only).
    pub lints: Limits,
    /// Where the lab may run; None: it is off (file only).
    pub lab: Option<Lab>,
    /// Where acts are told; None: nowhere.
    pub webhook: Option<Webhook>,
    /// A second person has to approve each release.
    pub second_approver: bool,
    /// Who is shown what znodes carry.
    pub payloads: Payloads,
    /// Who may come in.
    pub access: ::access::Settings,
    /// Which locks are told apart at `/metrics` (file only).
    pub metrics: MetricSelection,
}

/// One clear sentence; of a file with several mistakes, one a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// Where values come from beside the command line; a stand-in in tests.
pub trait Surroundings {
    /// An environment variable.
    fn var(&self, name: &str) -> Option<String>;
    /// A file's text.
    ///
    /// # Errors
    /// The system's word on why it can't be read.
    fn file(&self, path: &Path) -> std::io::Result<String>;
}

/// The process's own.
#[derive(Clone, Copy, Debug)]
pub struct Process;

impl Surroundings for Process {
    fn var(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &Path) -> std::io::Result<String> {
        std::fs::read_to_string(path)
    }
}

/// A value and what to call the setting it came from.
#[derive(Clone, Debug)]
struct Given {
    value: String,
    from: String,
}

impl Config {
    /// The configuration that flags, environment and file make together.
    ///
    /// # Errors
    /// A sentence for each mistake, a line each.
    pub fn load(flags: &Settings, surroundings: &dyn Surroundings) -> Result<Self, ConfigError> {
        let places = Places::open(flags.config.as_deref(), surroundings)?;
        let mut faults = Faults::new(&places);
        let top = places.file.top();
        let ensembles = faults.take(ensembles::of(flags, &places));
        let lab = ensembles.as_ref().and_then(|ensembles| faults.take(lab::of(top.get("lab"), ensembles)));
        let listen = places.one("listen", flags.listen.as_deref()).map(|listen| listen.unwrap_or_else(|| given(LISTEN_DEFAULT, "--listen")));
        let listen = faults.take(listen.and_then(|listen| check::listen(&listen)));
        let session_timeout = faults.take(session_timeout(&places, flags));
        let connect_timeout = faults.take(places.checked("connect_timeout", flags.connect_timeout.as_deref(), check::time));
        let data_dir = faults.take(places.data_dir(flags.data_dir.as_deref()));
        let remedy = "write on where a second person has to approve each release, else leave it out";
        let second = places.checked("second_approver", flags.safety.second_approver.as_deref(), |word| check::switch(word, remedy));
        let second = faults.take(second);
        let web = faults.take(web::of(flags, &places));
        let access = faults.take(access::of(&places));
        let openid = web.as_ref().and_then(|web| faults.take(openid::of(&places, &web.origins)));
        let webhook = faults.take(webhook::of(flags, &places, data_dir.as_ref().is_none_or(Option::is_some)));
        let payloads = faults.take(places.checked("payloads", flags.safety.payloads.as_deref(), check::payloads));
        let locks = faults.take(tables::locks(top.get("lock")));
        let lints = faults.take(tables::lints(top.get("lints")));
        let metrics = faults.take(metrics::of(top.get("metrics")));
        let whole = || {
            let (listen, web) = (listen?, web?);
            let access = ::access::Settings { openid: openid?, ..access? };
            let usual = || Payloads::default_for(exposure::is_public(listen, &web, &access));
            Some(Self {
                ensembles: ensembles?,
                listen,
                data_dir: data_dir?,
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
                metrics: metrics?,
            })
        };
        faults.none_or(whole())
    }

    /// Whether others than people of this machine may come.
    pub fn is_public(&self) -> bool {
        exposure::is_public(self.listen, &self.web, &self.access)
    }

    /// All connect strings, for people.
    pub fn connects(&self) -> String {
        self.ensembles.iter().map(|ensemble| ensemble.zk.as_str()).collect::<Vec<_>>().join(" and ")
    }

    /// Only where to serve, for the demo, which brings its own ZooKeeper.
    ///
    /// # Errors
    /// One sentence.
    pub fn listen_only(flag: Option<&str>, surroundings: &dyn Surroundings) -> Result<SocketAddr, ConfigError> {
        let places = Places::without_file(surroundings);
        let listen = places.one("listen", flag)?.unwrap_or_else(|| given(LISTEN_DEFAULT, "--listen"));
        let address = check::listen(&listen)?;
        exposure::check_demo(address)?;
        Ok(address)
    }
}

/// The file that is read, if any.
pub fn file_of(flag: Option<&Path>, surroundings: &dyn Surroundings) -> Option<PathBuf> {
    places::config_file(flag, surroundings)
}

/// Where a server with this file and environment listens, and whether by TLS; for whoever asks it how it is.
///
/// # Errors
/// One sentence: a file that can't be read, or an address that is none.
pub fn served_at(config: Option<&Path>, surroundings: &dyn Surroundings) -> Result<(SocketAddr, bool), ConfigError> {
    let places = Places::open(config, surroundings)?;
    let listen = check::listen(&places.one("listen", None)?.unwrap_or_else(|| given(LISTEN_DEFAULT, "--listen")))?;
    Ok((listen, places.one("tls_cert", None)?.is_some()))
}

/// Where data is kept, for commands that need nothing else of the configuration.
///
/// # Errors
/// One sentence: a file that can't be read, or no place is known.
pub fn data_dir(flag: Option<&str>, config: Option<&Path>, surroundings: &dyn Surroundings) -> Result<PathBuf, ConfigError> {
    Places::open(config, surroundings)?.data_dir(flag)?.ok_or_else(|| {
        ConfigError("there is no place to keep data: neither --data-dir nor HOME is set; name a directory with --data-dir DIR".to_owned())
    })
}

/// How long something lasts, like 30d.
///
/// # Errors
/// One sentence that names the setting.
pub fn lifetime(setting: &str, text: &str) -> Result<Duration, ConfigError> {
    check::lifetime(&given(text, setting))
}

fn session_timeout(places: &Places<'_>, flags: &Settings) -> Result<Duration, ConfigError> {
    let given_or = places.one("session_timeout_ms", flags.session_timeout_ms.as_deref())?;
    check::session_timeout(&given_or.unwrap_or_else(|| given(SESSION_TIMEOUT_MS_DEFAULT, "--session-timeout-ms")))
}

fn given(value: &str, from: &str) -> Given {
    Given { value: value.to_owned(), from: from.to_owned() }
}

fn variable(key: &str) -> String {
    format!("LOCKSCOPE_{}", key.to_uppercase())
}

#[cfg(test)]
mod identity_tests;
#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;
