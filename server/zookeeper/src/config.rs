//! What to observe, validated. Knows no file format and no command line.

use std::time::Duration;

use lockscope_core::znode::is_under;
use zookeeper_client::{Client, Error};

use super::connect_string::{Fault, check_connect, fault, is_path, split_chroot};
use super::credentials::Credentials;
use super::exclusions::Exclusions;

/// Watched paths of one session must stay far below 128 KiB: the client crate can't reconnect above that.
pub(super) const WATCHED_PATH_BYTES_MAX: usize = 100 * 1024;
/// Znodes of one ensemble that are read unless another bound is set: with a million of them in locks a server takes less
/// than 400 MB. Overflow policy: what lies beyond is not read, and its root says `partial`.
pub const ZNODES_MAX: usize = 4_000_000;
pub const SESSION_TIMEOUT_MIN: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObserverConfig {
    connect: String,
    roots: Vec<String>,
    session_timeout: Duration,
    credentials: Credentials,
    znodes_max: usize,
    exclusions: Exclusions,
    /// Below this path writes prove the quorum and compare the clocks.
    pub(super) scratch: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("the connect string {connect:?} {fault}")]
    BadConnect { connect: String, fault: Fault },
    #[error("no root to watch: name at least one path, or / for everything")]
    NoRoot,
    /// A root that can't be one, alone or next to the others.
    #[error("the root {root:?} {fault}")]
    BadRoot { root: String, fault: Fault },
    /// Too many or too long roots.
    #[error("the watched paths take {bytes} bytes and {max} are allowed: watch a common parent instead of {roots} single roots", max = WATCHED_PATH_BYTES_MAX)]
    TooManyRoots {
        /// Bytes of all watched paths.
        bytes: usize,
        roots: usize,
    },
    #[error("a session time-out of {timeout_ms} ms is too short: at least {min} ms", min = SESSION_TIMEOUT_MIN.as_millis())]
    ShortTimeout { timeout_ms: u128 },
}

impl ObserverConfig {
    /// Checks and keeps the settings. `RootId`s are the indexes of `roots`.
    pub fn new(connect: &str, roots: Vec<String>, session_timeout: Duration) -> Result<Self, ConfigError> {
        check_connect(connect).map_err(|fault| ConfigError::BadConnect { connect: connect.to_owned(), fault })?;
        if roots.is_empty() {
            return Err(ConfigError::NoRoot);
        }
        check_roots(&roots)
            .map_err(|(at, fault)| ConfigError::BadRoot { root: roots.get(at).cloned().unwrap_or_default(), fault })?;
        let chroot = split_chroot(connect).1;
        let bytes = roots.iter().map(|root| chroot.len() + root.len()).sum();
        if bytes > WATCHED_PATH_BYTES_MAX {
            return Err(ConfigError::TooManyRoots { bytes, roots: roots.len() });
        }
        if session_timeout < SESSION_TIMEOUT_MIN {
            return Err(ConfigError::ShortTimeout { timeout_ms: session_timeout.as_millis() });
        }
        let (credentials, exclusions) = (Credentials::default(), Exclusions::default());
        let connect = connect.to_owned();
        Ok(Self { connect, roots, session_timeout, credentials, znodes_max: ZNODES_MAX, exclusions, scratch: None })
    }

    #[must_use]
    pub fn with_credentials(self, credentials: Credentials) -> Self {
        Self { credentials, ..self }
    }

    #[must_use]
    pub fn with_znodes_max(self, znodes_max: usize) -> Self {
        Self { znodes_max, ..self }
    }

    pub(super) fn znodes_max(&self) -> usize {
        self.znodes_max
    }

    /// The servers that may be asked for a four-letter word; none where all is encrypted.
    pub(super) fn plain_servers(&self) -> Vec<String> {
        let servers = split_chroot(&self.connect).0.split(',').map(str::to_owned);
        if self.credentials.tls.is_some() { Vec::new() } else { servers.collect() }
    }

    #[must_use]
    pub fn without(self, exclusions: Exclusions) -> Self {
        Self { exclusions, ..self }
    }

    #[must_use]
    pub fn with_scratch(self, scratch: Option<String>) -> Self {
        Self { scratch, ..self }
    }

    pub(super) fn exclusions(&self) -> &Exclusions {
        &self.exclusions
    }

    /// A session of this configuration; gives up when no server answers for about one session time-out.
    pub(super) async fn open(&self) -> Result<Client, Error> {
        self.credentials.open_ours(self.credentials.connector(self.session_timeout)?, &self.connect).await
    }

    /// The same, asking each server once.
    pub(super) async fn open_once(&self) -> Result<Client, Error> {
        let connector = self.credentials.connector(self.session_timeout)?.with_fail_eagerly();
        self.credentials.open_ours(connector, &self.connect).await
    }

    /// Why no session could be made, in words: a certificate, where it is one.
    pub(super) async fn why_lost(&self, error: &Error) -> &'static str {
        let trouble = match (error, &self.credentials.tls) {
            (Error::NoHosts | Error::Timeout, Some(tls)) => tls.trouble(&self.connect).await,
            _ => None,
        };
        trouble.unwrap_or(match error {
            Error::NoHosts => "no server can be reached",
            Error::Timeout => "no server answered in time",
            Error::AuthFailed => "the servers refuse our credentials",
            Error::BadArguments(_) => "the connect string is not understood",
            _ => "no session could be made",
        })
    }

    pub fn connect(&self) -> &str {
        &self.connect
    }

    /// The roots, in order of their ids.
    pub fn roots(&self) -> &[String] {
        &self.roots
    }

    /// The session time-out to ask for.
    pub fn session_timeout(&self) -> Duration {
        self.session_timeout
    }

    /// Whether a chroot is set: `/zookeeper` is then an ordinary path.
    pub(super) fn has_chroot(&self) -> bool {
        self.connect.contains('/')
    }
}

/// Whether these are paths that can be watched next to each other.
///
/// # Errors
/// The first fault, and the index of the root that has it.
pub fn check_roots(roots: &[impl AsRef<str>]) -> Result<(), (usize, Fault)> {
    for (at, root) in roots.iter().enumerate() {
        check_root(root.as_ref()).map_err(|fault| (at, fault))?;
    }
    // Sorted, a root directly follows the one it lies in, or a sibling that lies there too.
    let mut sorted: Vec<(usize, &str)> = roots.iter().map(AsRef::as_ref).enumerate().collect();
    sorted.sort_by(|(_, a), (_, b)| a.split('/').cmp(b.split('/')));
    for pair in sorted.windows(2) {
        if let [(_, outer), (at, inner)] = pair
            && is_under(inner, outer)
        {
            let nested = if inner == outer {
                fault("is named twice", "name it once")
            } else {
                let remedy = format!("roots must not nest: leave it out, {outer} is watched with all that is under it");
                fault(format!("lies inside the root {outer:?}"), remedy)
            };
            return nested.map_err(|fault| (*at, fault));
        }
    }
    Ok(())
}

fn check_root(root: &str) -> Result<(), Fault> {
    if !root.starts_with('/') {
        return fault("does not start with a slash", format!("write /{root}"));
    }
    if root != "/" && root.ends_with('/') {
        let path = root.trim_end_matches('/');
        return fault("ends with a slash", format!("write {}", if path.is_empty() { "/" } else { path }));
    }
    if !is_path(root) {
        return fault("is no path: a part of it is empty, . or ..", "write the path as ZooKeeper lists it");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(connect: &str, roots: &[&str]) -> Result<ObserverConfig, ConfigError> {
        ObserverConfig::new(connect, roots.iter().map(|root| (*root).to_owned()).collect(), Duration::from_secs(6))
    }

    #[test]
    fn good_settings_pass() {
        assert!(config("a:2181,b:2181/app/x", &["/locks", "/locks-2", "/a/b"]).is_ok());
        assert!(config("[::1]:2181", &["/"]).is_ok());
    }

    #[test]
    fn each_mistake_is_named() {
        let text = |connect, roots: &[&str]| config(connect, roots).unwrap_err().to_string();
        assert!(text("", &["/a"]).contains("names no server"));
        assert!(text("host", &["/a"]).contains("\"host\""));
        assert!(text("host:0", &["/a"]).contains("host:0"));
        assert!(text("host:2181/x/", &["/a"]).contains("\"/x/\""));
        assert!(text("host:2181", &[]).contains("no root"));
        assert!(text("host:2181", &["locks"]).contains("\"locks\""));
        assert!(text("host:2181", &["/a/"]).contains("\"/a/\""));
        assert!(text("host:2181", &["/a//b"]).contains("\"/a//b\""));
        assert!(text("host:2181", &["/a/b", "/a-c", "/a"]).contains("\"/a/b\" lies inside the root \"/a\""));
        assert!(text("host:2181", &["/a", "/a"]).contains("twice"));
        assert!(text("a b:2181", &["/a"]).contains("without a host"));
        assert!(text("host:2181", &["/", "/a"]).contains("nest"));
    }

    #[test]
    fn too_many_watched_bytes_are_refused() {
        let roots = (0..1_300).map(|i| format!("/{i:080}")).collect();
        let error = ObserverConfig::new("h:1", roots, Duration::from_secs(6)).unwrap_err();
        assert!(matches!(error, ConfigError::TooManyRoots { roots: 1_300, .. }), "{error}");
    }
}
