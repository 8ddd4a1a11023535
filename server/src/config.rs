//! Settings: where each comes from (flag, environment, file, default, in this order), and whether it can be. Every
//! mistake is one sentence that names the setting, the value and the remedy. Knows no command-line parser.

mod access;
mod check;
mod ensembles;
pub mod exposure;
mod identity;
mod lab;
mod openid;
mod tables;
mod web;
mod webhook;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use app::domain::configured::Configured;
use app::domain::finding::Limits;
use toml::{Table, Value};

pub use ensembles::Ensemble;
pub use identity::Identity;
pub use lab::Lab;
pub use web::Web;

use crate::audit::webhook::Webhook;
use crate::cli::Settings;
use crate::http::Payloads;

/// Where pages are served when nothing is said.
pub const LISTEN_DEFAULT: &str = "127.0.0.1:3000";
/// Time-out of the session to ZooKeeper when nothing is said.
pub const SESSION_TIMEOUT_MS_DEFAULT: &str = "10000";
/// Keys of the file, in the order they are told.
const KEYS: [&str; 47] = [
    "zk",
    "name",
    "color",
    "root",
    "listen",
    "data_dir",
    "connect_timeout",
    "session_timeout_ms",
    "evidence",
    "admin_url",
    "clock_scratch",
    "auth_file",
    "sasl_file",
    "ca_file",
    "cert_file",
    "key_file",
    "act_auth_file",
    "act_sasl_file",
    "act_cert_file",
    "act_key_file",
    "origin",
    "tls_cert",
    "tls_key",
    "behind_tls_proxy",
    "second_approver",
    "payloads",
    "webhook_url",
    "webhook_secret_file",
    "webhook_allow_http",
    "ensemble",
    "lock",
    "lints",
    "lab",
    "anonymous",
    "proxy_header",
    "proxy_addresses",
    "proxy_role",
    "proxy_role_header",
    "proxy_roles",
    "oidc_issuer",
    "oidc_client_id",
    "oidc_client_secret_file",
    "oidc_redirect",
    "oidc_name_claim",
    "oidc_groups_claim",
    "oidc_role",
    "oidc_roles",
];

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
    pub access: crate::access::Settings,
}

/// One clear sentence.
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

/// The three places a value may come from, in order.
struct Places<'a> {
    surroundings: &'a dyn Surroundings,
    file: Table,
    file_name: String,
}

impl Config {
    /// The configuration that flags, environment and file make together.
    ///
    /// # Errors
    /// One sentence for the first mistake.
    pub fn load(flags: &Settings, surroundings: &dyn Surroundings) -> Result<Self, ConfigError> {
        let places = Places::open(flags.config.as_deref(), surroundings)?;
        let ensembles = ensembles::of(flags, &places)?;
        let lab = lab::of(places.file.get("lab"), &places.file_name, &ensembles)?;
        let listen = places.one("listen", flags.listen.as_deref())?.unwrap_or_else(|| given(LISTEN_DEFAULT, "--listen"));
        let session_timeout = places.one("session_timeout_ms", flags.session_timeout_ms.as_deref())?;
        let session_timeout = session_timeout.unwrap_or_else(|| given(SESSION_TIMEOUT_MS_DEFAULT, "--session-timeout-ms"));
        let connect_timeout = places.one("connect_timeout", flags.connect_timeout.as_deref())?;
        let data_dir = places.data_dir(flags.data_dir.as_deref())?;
        let second_approver = places.one("second_approver", flags.safety.second_approver.as_deref())?;
        let remedy = "write on where a second person has to approve each release, else leave it out";
        let web = web::of(flags, &places)?;
        let access = crate::access::Settings { openid: openid::of(&places, &web.origins)?, ..access::of(&places)? };
        let webhook = webhook::of(flags, &places, data_dir.is_some())?;
        let listen = check::listen(&listen)?;
        let payloads = places.one("payloads", flags.safety.payloads.as_deref())?.map(|word| check::payloads(&word)).transpose()?;
        let payloads = payloads.unwrap_or_else(|| Payloads::default_for(exposure::is_public(listen, &web, &access)));
        Ok(Self {
            ensembles,
            listen,
            web,
            data_dir,
            connect_timeout: connect_timeout.map(|time| check::time(&time)).transpose()?,
            session_timeout: check::session_timeout(&session_timeout)?,
            locks: tables::locks(places.file.get("lock"), &places.file_name)?,
            lints: tables::lints(places.file.get("lints"), &places.file_name)?,
            lab,
            webhook,
            second_approver: second_approver.map_or(Ok(false), |word| check::switch(&word, remedy))?,
            payloads,
            access,
        })
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
        let places = Places { surroundings, file: Table::new(), file_name: String::new() };
        let listen = places.one("listen", flag)?.unwrap_or_else(|| given(LISTEN_DEFAULT, "--listen"));
        let address = check::listen(&listen)?;
        exposure::check_demo(address)?;
        Ok(address)
    }
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

fn given(value: &str, from: &str) -> Given {
    Given { value: value.to_owned(), from: from.to_owned() }
}

fn variable(key: &str) -> String {
    format!("LOCKSCOPE_{}", key.to_uppercase())
}

impl<'a> Places<'a> {
    fn open(flag: Option<&Path>, surroundings: &'a dyn Surroundings) -> Result<Self, ConfigError> {
        let path = flag.map(Path::to_owned).or_else(|| surroundings.var("LOCKSCOPE_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from));
        let Some(path) = path else { return Ok(Self { surroundings, file: Table::new(), file_name: String::new() }) };
        let file_name = path.display().to_string();
        let text = surroundings
            .file(&path)
            .map_err(|error| ConfigError(format!("--config {file_name} can't be read ({error}); name a file that can be, or leave --config out")))?;
        let file: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| text.get(..span.start).map_or(1, |before| before.lines().count().max(1)));
            ConfigError(format!("{file_name} is not TOML at line {line} ({}); write lines like zk = \"127.0.0.1:2181\"", error.message()))
        })?;
        if let Some(key) = file.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(ConfigError(format!("{file_name} has the unknown key `{key}`; the keys are {}", KEYS.join(", "))));
        }
        Ok(Self { surroundings, file, file_name })
    }

    fn one(&self, key: &str, flag: Option<&str>) -> Result<Option<Given>, ConfigError> {
        if let Some(value) = flag {
            return Ok(Some(given(value, &format!("--{}", key.replace('_', "-")))));
        }
        let name = variable(key);
        // An empty variable is one that was not set.
        if let Some(value) = self.surroundings.var(&name).filter(|value| !value.is_empty()) {
            return Ok(Some(Given { value, from: name }));
        }
        self.file.get(key).map(|value| self.scalar(key, value)).transpose()
    }

    /// The directory that was named, else the usual one for what a program keeps from run to run.
    fn data_dir(&self, flag: Option<&str>) -> Result<Option<PathBuf>, ConfigError> {
        if let Some(named) = self.one("data_dir", flag)? {
            return check::data_dir(&named).map(Some);
        }
        // A relative XDG_STATE_HOME is to be ignored, says its specification.
        let absolute = |name: &str| self.surroundings.var(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        Ok(state.map(|state| state.join("lockscope")))
    }

    fn roots(&self, flags: &[String]) -> Result<Vec<Given>, ConfigError> {
        match self.many("root", flags)? {
            None => Ok(vec![given("/", "--root")]),
            Some(roots) if roots.is_empty() => {
                Err(ConfigError(format!("`root` in {} is an empty list; name at least one path, or leave it out to find every lock", self.file_name)))
            }
            Some(roots) => Ok(roots),
        }
    }

    /// A setting that may be given several times; in the environment separated by commas.
    fn many(&self, key: &str, flags: &[String]) -> Result<Option<Vec<Given>>, ConfigError> {
        if !flags.is_empty() {
            let from = format!("--{}", key.replace('_', "-"));
            return Ok(Some(flags.iter().map(|value| given(value, &from)).collect()));
        }
        let name = variable(key);
        if let Some(list) = self.surroundings.var(&name).filter(|list| !list.is_empty()) {
            return Ok(Some(list.split(',').map(|value| given(value.trim(), &name)).collect()));
        }
        match self.file.get(key) {
            None => Ok(None),
            Some(Value::Array(items)) => items.iter().map(|item| self.scalar(key, item)).collect::<Result<_, _>>().map(Some),
            Some(value) => Ok(Some(vec![self.scalar(key, value)?])),
        }
    }

    fn scalar(&self, key: &str, value: &Value) -> Result<Given, ConfigError> {
        self.scalar_of(key, value, &self.file_name)
    }

    fn scalar_of(&self, key: &str, value: &Value, of: &str) -> Result<Given, ConfigError> {
        let from = format!("`{key}` in {of}");
        match value {
            Value::String(text) => Ok(Given { value: text.clone(), from }),
            Value::Integer(number) => Ok(Given { value: number.to_string(), from }),
            Value::Boolean(truth) => Ok(Given { value: if *truth { "on" } else { "off" }.to_owned(), from }),
            other => Err(ConfigError(format!("{from} is a {}; write it as text in quotes", other.type_str()))),
        }
    }
}

#[cfg(test)]
mod tests;
