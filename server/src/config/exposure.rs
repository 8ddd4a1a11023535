//! Whether a server may be reached by others than those at its own machine. Pure.

use std::net::SocketAddr;

use super::{ConfigError, Web};
use lockscope_access::Settings;
use lockscope_web::is_loopback;

const LOOPBACK: &str = "use a loopback address like 127.0.0.1:3000 and a tunnel to reach it from elsewhere";

/// Whether others than people of this machine may come. Behind a proxy on this machine everybody comes from loopback.
pub(super) fn is_public(listen: SocketAddr, web: &Web, access: &Settings) -> bool {
    access.proxy.is_some() || web.behind_tls_proxy || !is_loopback(listen.ip())
}

/// Beyond loopback, nobody comes in without being known, and nothing goes in the clear.
///
/// # Errors
/// One sentence that names what is missing.
pub fn check(
    listen: SocketAddr,
    has_credentials: bool,
    has_tls: bool,
    behind_tls_proxy: bool,
) -> Result<(), ConfigError> {
    if is_loopback(listen.ip()) {
        return Ok(());
    }
    let missing = match (has_credentials, has_tls || behind_tls_proxy) {
        (true, true) => return Ok(()),
        (false, _) => "and nobody can sign in; make a token (lockscope token new), name users or a trusted proxy",
        (true, false) => "without TLS; set --tls-cert and --tls-key, or --behind-tls-proxy where a proxy encrypts",
    };
    Err(ConfigError(format!("--listen {listen} reaches beyond this machine, {missing}, or {LOOPBACK}")))
}

/// The demo is for whoever starts it.
///
/// # Errors
/// One sentence.
pub(super) fn check_demo(listen: SocketAddr) -> Result<(), ConfigError> {
    if is_loopback(listen.ip()) {
        return Ok(());
    }
    Err(ConfigError(format!(
        "--listen {listen} reaches beyond this machine, and the demo is for this machine only; {LOOPBACK}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_loopback_needs_people_and_encryption() {
        let loopback = ["127.0.0.1:0", "127.9.9.9:80", "[::1]:3000", "[::ffff:127.0.0.1]:1"];
        let beyond =
            ["0.0.0.0:3000", "[::]:3000", "10.0.0.1:1", "[2001:db8::1]:1", "[::ffff:10.0.0.1]:1", "[::ffff:0.0.0.0]:1"];
        for (credentials, tls, proxy) in (0..8).map(|bits| (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)) {
            for listen in loopback {
                assert_eq!(check(listen.parse().unwrap(), credentials, tls, proxy), Ok(()));
                assert_eq!(check_demo(listen.parse().unwrap()), Ok(()));
            }
            for listen in beyond {
                let checked = check(listen.parse().unwrap(), credentials, tls, proxy);
                assert_eq!(checked.is_ok(), credentials && (tls || proxy), "{listen} {credentials} {tls} {proxy}");
                assert!(check_demo(listen.parse().unwrap()).is_err());
            }
        }
        assert_eq!(
            check("0.0.0.0:3000".parse().unwrap(), false, true, false).unwrap_err().to_string(),
            "--listen 0.0.0.0:3000 reaches beyond this machine, and nobody can sign in; make a token (lockscope token new), name users or a trusted \
             proxy, or use a loopback address like 127.0.0.1:3000 and a tunnel to reach it from elsewhere"
        );
        assert_eq!(
            check("[::]:3000".parse().unwrap(), true, false, false).unwrap_err().to_string(),
            "--listen [::]:3000 reaches beyond this machine, without TLS; set --tls-cert and --tls-key, or --behind-tls-proxy where a proxy encrypts, \
             or use a loopback address like 127.0.0.1:3000 and a tunnel to reach it from elsewhere"
        );
    }
}
