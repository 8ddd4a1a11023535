//! Delivers every audit record to a webhook: the log itself is the queue, a cursor file says how far it was delivered.
//! Nothing waits for it, and nothing is lost over a restart; a record may come twice, and its number shows that.

mod cursor;
mod deliver;
mod sign;

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;

pub use deliver::{Delivery, Pace};
pub use sign::signature;

/// The header that carries time and signature.
pub const SIGNATURE_HEADER: &str = "lockscope-signature";
/// A secret that is shorter can be guessed.
pub const SECRET_BYTES_MIN: usize = 16;

/// Where records are sent, and what signs them. Neither is ever shown whole: addresses of webhooks are secrets too.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    url: Url,
    secret: Vec<u8>,
}

/// What is wrong with a setting, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookFault {
    /// What is wrong.
    pub why: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

impl Webhook {
    /// Checks an address: https, or http to this machine, or http anywhere when that is allowed.
    ///
    /// # Errors
    /// The first fault.
    pub fn address(text: &str, may_be_plain: bool) -> Result<Url, WebhookFault> {
        let wrong = |why, remedy| Err(WebhookFault { why, remedy });
        let Ok(url) = Url::parse(text) else { return wrong("is not an address", "write https://HOST[:PORT]/PATH") };
        let Some(host) = url.host_str().filter(|host| !host.is_empty()) else {
            return wrong("names no host", "write https://HOST[:PORT]/PATH");
        };
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return wrong(
                "has a user, a password or a fragment in it",
                "leave them out; every delivery is signed with the secret instead",
            );
        }
        let is_here =
            host == "localhost" || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        match url.scheme() {
            "https" => Ok(url),
            "http" if is_here || may_be_plain => Ok(url),
            "http" => wrong(
                "would send the audit log in the clear to another machine",
                "use https://, or allow it with --webhook-allow-http on",
            ),
            _ => wrong("is neither https nor http", "write https://HOST[:PORT]/PATH"),
        }
    }

    /// An address that was checked, and a secret.
    ///
    /// # Errors
    /// When the secret is too short.
    pub fn new(url: Url, secret: Vec<u8>) -> Result<Self, WebhookFault> {
        if secret.len() < SECRET_BYTES_MIN {
            return Err(WebhookFault {
                why: "has fewer than 16 bytes, which can be guessed",
                remedy: "make one with `openssl rand -hex 32`",
            });
        }
        Ok(Self { url, secret })
    }

    /// Whether it goes over plain HTTP.
    fn is_plain(&self) -> bool {
        self.url.scheme() == "http"
    }

    /// Where it goes, without the part that may be secret.
    pub fn shown(&self) -> String {
        let port = self.url.port().map_or_else(String::new, |port| format!(":{port}"));
        format!("{}://{}{port}", self.url.scheme(), self.url.host_str().unwrap_or_default())
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("url", &self.shown()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_can_be() {
        for url in [
            "https://hooks.example/T0/B1",
            "http://127.0.0.1:9/x",
            "http://[::1]:9",
            "http://localhost/x",
            "https://[2001:db8::1]/",
        ] {
            assert!(Webhook::address(url, false).is_ok(), "{url}");
        }
        assert!(Webhook::address("http://hooks.example/", true).is_ok());
    }

    #[test]
    fn addresses_that_can_not() {
        let why = |url| Webhook::address(url, false).unwrap_err().why;
        assert!(why("http://hooks.example/").contains("in the clear"));
        assert!(why("http://localhost.example/").contains("in the clear"));
        assert!(why("http://127.0.0.1.example/").contains("in the clear"));
        assert!(why("https://ann:word@hooks.example/").contains("password"));
        assert!(why("ftp://hooks.example/").contains("neither"));
        assert!(why("hooks.example").contains("not an address"));
    }

    #[test]
    fn nothing_secret_is_shown() {
        let url = Webhook::address("https://hooks.example:8443/T0/canary?x=canary", false).unwrap();
        let webhook = Webhook::new(url.clone(), b"canary-canary-canary".to_vec()).unwrap();
        let shown = format!("{webhook:?} {}", webhook.shown());
        assert!(shown.contains("https://hooks.example:8443") && !shown.contains("canary"), "{shown}");
        assert!(Webhook::new(url, b"short".to_vec()).is_err());
    }
}
