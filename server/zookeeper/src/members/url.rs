//! Addresses of AdminServers.

use crate::Fault;

/// Where AdminServer answers when nothing is configured.
pub(super) const PORT_DEFAULT: u16 = 8080;
/// Where its commands are when the address names no path.
const COMMANDS: &str = "/commands";

fn fault<T>(why: &str) -> Result<T, Fault> {
    Err(Fault { why: why.to_owned(), remedy: "write http://HOST:PORT, like http://zk1:8080".to_owned() })
}

/// Whether this is an address at which an AdminServer can be asked: `http://HOST:PORT`, with the path of its commands
/// if that is not `/commands`.
pub fn check_admin_url(url: &str) -> Result<(), Fault> {
    if url.starts_with("https://") {
        return fault("asks for TLS, and only http is built in");
    }
    let Some(rest) = url.strip_prefix("http://") else { return fault("does not begin with http://") };
    let authority = rest.split_once('/').map_or(rest, |(authority, _)| authority);
    if rest.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '@' | '?' | '#' | '\\' | '%')) {
        return fault("has more in it than a host, a port and a path");
    }
    let Some((host, port)) = authority.rsplit_once(':') else { return fault("names no port") };
    if host.is_empty() || (host.contains(':') && !(host.starts_with('[') && host.ends_with(']'))) {
        return fault("names no host");
    }
    if !port.parse::<u16>().is_ok_and(|port| port > 0) {
        return fault("has a port that is none");
    }
    Ok(())
}

/// The `host:port` of an address that was checked.
pub(super) fn authority(url: &str) -> &str {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    rest.split_once('/').map_or(rest, |(authority, _)| authority)
}

pub(super) fn command(url: &str, command: &str) -> String {
    let base = url.trim_end_matches('/');
    let path = if authority(base).len() + "http://".len() == base.len() { COMMANDS } else { "" };
    format!("{base}{path}/{command}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_can_be() {
        for url in ["http://zk1:8080", "http://zk1:8080/", "http://127.0.0.1:1/admin/commands", "http://[::1]:8080"] {
            assert_eq!(check_admin_url(url), Ok(()), "{url}");
        }
        assert_eq!(command("http://zk1:8080/", "dump"), "http://zk1:8080/commands/dump");
        assert_eq!(command("http://zk1:8080/x/y", "dump"), "http://zk1:8080/x/y/dump");
        assert_eq!((authority("http://zk1:8080/x"), authority("http://[::1]:1")), ("zk1:8080", "[::1]:1"));
    }

    #[test]
    fn addresses_that_can_not() {
        let why = |url| check_admin_url(url).unwrap_err().why;
        assert!(why("https://zk1:8080").contains("TLS"));
        assert!(why("zk1:8080").contains("begin"));
        assert!(why("http://zk1").contains("no port"));
        assert!(why("http://:8080").contains("no host"));
        assert!(why("http://zk1:0").contains("port that is none"));
        assert!(why("http://user:word@zk1:8080").contains("more"));
        assert!(why("http://zk1:8080/?x").contains("more"));
    }
}
