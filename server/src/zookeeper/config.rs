//! What to observe, validated. Knows no file format and no command line.

use std::time::Duration;

use app::domain::znode::is_under;

/// Watched paths of one session must stay far below 128 KiB: the client crate can't reconnect above that.
pub(super) const WATCHED_PATH_BYTES_MAX: usize = 100 * 1024;
/// Session time-outs that make sense for a viewer.
const SESSION_TIMEOUT_MIN: Duration = Duration::from_millis(500);

/// One ensemble and the roots to watch on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObserverConfig {
    connect: String,
    roots: Vec<String>,
    session_timeout: Duration,
}

/// Why there is nothing to observe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No server.
    #[error("the connect string is empty: give host:port, several separated by commas, and an optional /chroot at the end")]
    NoServer,
    /// A server without a host or with a bad port.
    #[error("{server:?} in the connect string is no server address: write host:port")]
    BadServer {
        /// The part that is wrong.
        server: String,
    },
    /// The chroot is no path.
    #[error("the chroot {chroot:?} is no path: it must start with a slash and not end with one")]
    BadChroot {
        /// The part that is wrong.
        chroot: String,
    },
    /// No root.
    #[error("no root to watch: name at least one path, or / for everything")]
    NoRoot,
    /// A root that is no absolute path.
    #[error("the root {root:?} is no absolute path: it must start with a slash, not end with one, and have no empty, . or .. parts")]
    BadRoot {
        /// The root.
        root: String,
    },
    /// A root inside another.
    #[error("the root {inner:?} lies within the root {outer:?}: roots must not nest; keep {outer:?} alone")]
    NestedRoots {
        /// The root above.
        outer: String,
        /// The root below.
        inner: String,
    },
    /// Too many or too long roots.
    #[error("the watched paths take {bytes} bytes and {max} are allowed: watch a common parent instead of {roots} single roots", max = WATCHED_PATH_BYTES_MAX)]
    TooManyRoots {
        /// Bytes of all watched paths.
        bytes: usize,
        /// How many roots.
        roots: usize,
    },
    /// A senseless time-out.
    #[error("a session time-out of {timeout_ms} ms is too short: at least 500 ms")]
    ShortTimeout {
        /// The time-out.
        timeout_ms: u128,
    },
}

impl ObserverConfig {
    /// Checks and keeps the settings. `RootId`s are the indexes of `roots`.
    pub fn new(connect: &str, roots: Vec<String>, session_timeout: Duration) -> Result<Self, ConfigError> {
        let chroot = check_connect(connect)?;
        if roots.is_empty() {
            return Err(ConfigError::NoRoot);
        }
        if let Some(root) = roots.iter().find(|root| !is_path(root)) {
            return Err(ConfigError::BadRoot { root: root.clone() });
        }
        check_nesting(&roots)?;
        let bytes = roots.iter().map(|root| chroot.len() + root.len()).sum();
        if bytes > WATCHED_PATH_BYTES_MAX {
            return Err(ConfigError::TooManyRoots { bytes, roots: roots.len() });
        }
        if session_timeout < SESSION_TIMEOUT_MIN {
            return Err(ConfigError::ShortTimeout { timeout_ms: session_timeout.as_millis() });
        }
        Ok(Self { connect: connect.to_owned(), roots, session_timeout })
    }

    /// The connect string.
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

/// Checks the servers and gives the chroot, empty when there is none.
fn check_connect(connect: &str) -> Result<&str, ConfigError> {
    let (servers, chroot) = connect.find('/').map_or((connect, ""), |at| connect.split_at(at));
    if !chroot.is_empty() && (chroot == "/" || !is_path(chroot)) {
        return Err(ConfigError::BadChroot { chroot: chroot.to_owned() });
    }
    if servers.is_empty() {
        return Err(ConfigError::NoServer);
    }
    for server in servers.split(',') {
        let good = server.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0));
        if !good {
            return Err(ConfigError::BadServer { server: server.to_owned() });
        }
    }
    Ok(chroot)
}

fn is_path(path: &str) -> bool {
    let part_is_good = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
    path == "/" || path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(part_is_good))
}

fn check_nesting(roots: &[String]) -> Result<(), ConfigError> {
    // Sorted, a root directly follows the one it lies in, or a sibling that lies there too.
    let mut sorted: Vec<&String> = roots.iter().collect();
    sorted.sort_by(|a, b| a.split('/').cmp(b.split('/')));
    for pair in sorted.windows(2) {
        if let [outer, inner] = pair
            && is_under(inner, outer)
        {
            return Err(ConfigError::NestedRoots { outer: (*outer).clone(), inner: (*inner).clone() });
        }
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
        assert!(text("", &["/a"]).contains("empty"));
        assert!(text("host", &["/a"]).contains("\"host\""));
        assert!(text("host:0", &["/a"]).contains("host:0"));
        assert!(text("host:2181/x/", &["/a"]).contains("\"/x/\""));
        assert!(text("host:2181", &[]).contains("no root"));
        assert!(text("host:2181", &["locks"]).contains("\"locks\""));
        assert!(text("host:2181", &["/a/"]).contains("\"/a/\""));
        assert!(text("host:2181", &["/a//b"]).contains("\"/a//b\""));
        assert!(text("host:2181", &["/a/b", "/a-c", "/a"]).contains("\"/a/b\" lies within the root \"/a\""));
        assert!(text("host:2181", &["/a", "/a"]).contains("nest"));
        assert!(text("host:2181", &["/", "/a"]).contains("nest"));
    }

    #[test]
    fn too_many_watched_bytes_are_refused() {
        let roots = (0..1_300).map(|i| format!("/{i:080}")).collect();
        let error = ObserverConfig::new("h:1", roots, Duration::from_secs(6)).unwrap_err();
        assert!(matches!(error, ConfigError::TooManyRoots { roots: 1_300, .. }), "{error}");
    }
}
