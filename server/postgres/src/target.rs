//! The address of a database: a `postgres://` URL, checked before anything is connected. Never shows its password.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// Servers that one address names at most.
const HOSTS_MAX: usize = 8;
/// How long a connection that holds locks may say nothing, at least and at most: a busy machine must not lose them, and
/// whoever waits for them shall not wait for long.
const SILENCE_MIN: Duration = Duration::from_secs(2);
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// How long one server may take until it can be asked.
pub(crate) const CONNECT_MAX: Duration = Duration::from_secs(2);
/// How long the server may wait with data that nobody acknowledges.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(10);
/// Where a server listens that says nothing else.
const PORT: u16 = 5_432;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    Plain,
    /// TLS; the certificate is checked, with its name. None: by the authorities that the system knows.
    Tls(Option<PathBuf>),
}

/// A database, and who connects to it.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    /// How to connect to each server, in the order in which they are tried.
    pub(crate) servers: Vec<Config>,
    pub(crate) protection: Protection,
    /// After so long without a word the server ends a connection that holds locks.
    pub(crate) silence: Duration,
    shown: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}; {remedy}")]
pub struct TargetError {
    pub why: String,
    pub remedy: &'static str,
}

fn wrong<T>(why: impl Into<String>, remedy: &'static str) -> Result<T, TargetError> {
    Err(TargetError { why: why.into(), remedy })
}

impl Target {
    /// Reads a URL like `postgres://lockscope:secret@db1,db2/lockscope?sslmode=require`.
    ///
    /// # Errors
    /// It is none, or asks for what is not done. The text is not repeated: it may hold a password.
    pub fn parse(url: &str) -> Result<Self, TargetError> {
        const LIKE: &str = "write it like postgres://user:password@host:5432/database";
        let url = url.trim();
        if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
            return wrong("is no URL of a PostgreSQL database", LIKE);
        }
        let (bare, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut sslmode, mut root, mut kept) = (None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=').unwrap_or((pair, "")) {
                ("sslmode", mode) => sslmode = Some(mode.to_owned()),
                ("sslrootcert", file) => root = Some(PathBuf::from(file.replace("%2F", "/").replace("%2f", "/"))),
                // A server that can't be written is passed over, asked for or not.
                ("target_session_attrs", "read-write" | "primary") => {}
                ("host" | "port" | "user" | "password" | "dbname", _) => kept.push(pair),
                (key, _) => {
                    return wrong(
                        format!("has the parameter {key:?}, which is not known"),
                        "use sslmode, sslrootcert, host, port, user, password or dbname",
                    );
                }
            }
        }
        let bare = if kept.is_empty() { bare.to_owned() } else { format!("{bare}?{}", kept.join("&")) };
        // What the parser says may repeat a part of the text.
        let Ok(config) = bare.parse::<Config>() else { return wrong("is no URL of a PostgreSQL database", LIKE) };
        if config.get_hosts().is_empty() {
            return wrong("names no server", LIKE);
        }
        if config.get_hosts().len() > HOSTS_MAX {
            return wrong(format!("names more than {HOSTS_MAX} servers"), "name those that can be primary");
        }
        let Some(user) = config.get_user() else { return wrong("names no user", LIKE) };
        let protection = protection(sslmode.as_deref(), root, config.get_hosts())?;
        let servers: Vec<Config> =
            (0..config.get_hosts().len()).map(|at| server(&config, at, user, &protection)).collect();
        let places = servers.iter().map(place).collect::<Vec<_>>().join(", ");
        let with = if protection == Protection::Plain { "without TLS" } else { "with TLS" };
        let shown = format!("database {} at {places} as {user}, {with}", config.get_dbname().unwrap_or(user));
        Ok(Self { servers, protection, silence: SILENCE_MAX, shown })
    }

    /// A connection that holds locks and is silent for so long loses them; 2 to 10 seconds.
    #[must_use]
    pub fn with_silence(self, silence: Duration) -> Self {
        Self { silence: silence.clamp(SILENCE_MIN, SILENCE_MAX), ..self }
    }

    /// For people: where, who, and how it is protected; no password.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({})", self.shown)
    }
}

/// One of the servers that a URL names. The client crate could try all of them, but bounds only the TCP connection: a server
/// that hangs after that would keep it from the others.
fn server(url: &Config, at: usize, user: &str, protection: &Protection) -> Config {
    let mut config = Config::new();
    match &url.get_hosts()[at] {
        Host::Tcp(name) => config.host(name),
        Host::Unix(path) => config.host_path(path),
    };
    let ports = url.get_ports();
    config.port(ports.get(at).or(ports.last()).copied().unwrap_or(PORT));
    config.user(user).dbname(url.get_dbname().unwrap_or(user)).application_name("lockscope");
    config.ssl_mode(match protection {
        Protection::Plain => SslMode::Disable,
        Protection::Tls(_) => SslMode::Require,
    });
    config.keepalives_idle(Duration::from_secs(5)).tcp_user_timeout(UNACKNOWLEDGED_MAX).connect_timeout(CONNECT_MAX);
    if let Some(password) = url.get_password() {
        config.password(password);
    }
    config
}

/// Where a server is, for people.
pub(crate) fn place(server: &Config) -> String {
    let port = server.get_ports().first().unwrap_or(&PORT);
    match server.get_hosts() {
        [Host::Unix(path), ..] => format!("{} (port {port})", path.display()),
        [Host::Tcp(name), ..] => format!("{name}:{port}"),
        [] => String::new(),
    }
}

/// Whether what is sent stays on this machine.
fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
    }
}

fn protection(mode: Option<&str>, root: Option<PathBuf>, hosts: &[Host]) -> Result<Protection, TargetError> {
    match mode {
        Some("disable") if root.is_some() => {
            wrong("has sslrootcert, but no TLS", "leave out sslmode=disable, or sslrootcert")
        }
        Some("disable") => Ok(Protection::Plain),
        Some("require" | "verify-full") => Ok(Protection::Tls(root)),
        None if root.is_none() && hosts.iter().all(is_local) => Ok(Protection::Plain),
        None => Ok(Protection::Tls(root)),
        // An attacker in between chooses what they become.
        Some(_) => wrong(
            "has an sslmode that is not supported",
            "use require, which checks the certificate and its name, or disable for plain text",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_on_the_machine_needs_no_tls_and_all_else_does() {
        let of = |url: &str| Target::parse(url).map(|target| target.protection);
        assert_eq!(of("postgres://me@localhost/x"), Ok(Protection::Plain));
        assert_eq!(of("postgres://me@127.0.0.1:7/x"), Ok(Protection::Plain));
        assert_eq!(of("postgres://me@%2Frun%2Fpostgresql/x"), Ok(Protection::Plain));
        assert_eq!(of("postgres://me@db/x"), Ok(Protection::Tls(None)));
        assert_eq!(of("postgres://me@localhost,db/x"), Ok(Protection::Tls(None)));
        assert_eq!(of("postgres://me@db/x?sslmode=disable"), Ok(Protection::Plain));
        assert_eq!(of("postgres://me@db/x?sslrootcert=%2Fca.pem"), Ok(Protection::Tls(Some("/ca.pem".into()))));
        assert_eq!(of("postgres://me@localhost/x?target_session_attrs=read-write"), Ok(Protection::Plain));
        assert!(of("postgres://me@db/x?target_session_attrs=any").is_err());
        assert!(of("postgres://me@db/x?sslmode=prefer").is_err());
        assert!(of("postgres://me@db/x?sslmode=disable&sslrootcert=/ca.pem").is_err());
    }

    #[test]
    fn servers_have_ports_and_passwords_stay_hidden() {
        let target = Target::parse("postgresql://me:s3cr%40t@a:1,b:2/").unwrap();
        assert!(target.servers.iter().all(|server| server.get_password() == Some("s3cr@t".as_bytes())));
        assert_eq!(target.shown(), "database me at a:1, b:2 as me, with TLS");
        assert!(!format!("{target:?}").contains("s3cr"));
        for url in [
            "",
            "mysql://a@b/c",
            "postgres:///x",
            "postgres://db/x",
            "postgres://a@b/c?options=-cx",
            "postgres://a@b:x/",
        ] {
            let error = Target::parse(url).unwrap_err();
            assert!(!error.to_string().contains("//a"), "{url}: {error}");
        }
        let many = ["h"; 9].join(",");
        assert!(Target::parse(&format!("postgres://a@{many}/c")).unwrap_err().why.contains("more than 8"));
    }
}
