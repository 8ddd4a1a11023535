//! Delivers every audit record to a webhook: the log itself is the queue, a cursor file says how far it was delivered.
//! Nothing waits for it, and nothing is lost over a restart; a record may come twice, and its number shows that.

mod cursor;
mod deliver;

use std::fmt;

use lockscope_runtime::webhook_client::{UrlRules, WebhookFault, check_url, shown};
use reqwest::Url;

pub use deliver::{Delivery, Pace};

/// A secret that is shorter can be guessed.
pub const SECRET_BYTES_MIN: usize = 16;

const URL_RULES: UrlRules = UrlRules {
    credentials: "leave them out; every delivery is signed with the secret instead",
    plain: WebhookFault {
        why: "would send the audit log in the clear to another machine",
        remedy: "use https://, or allow it with --webhook-allow-http on",
    },
};

/// Where records are sent, and what signs them. Neither is ever shown whole: addresses of webhooks are secrets too.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    url: Url,
    secret: Vec<u8>,
}

impl Webhook {
    /// Checks an address: https, or http to this machine, or http anywhere when that is allowed.
    pub fn address(text: &str, may_be_plain: bool) -> Result<Url, WebhookFault> {
        check_url(text, may_be_plain, URL_RULES)
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
        shown(&self.url)
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
    fn nothing_secret_is_shown() {
        let url = Webhook::address("https://hooks.example:8443/T0/canary?x=canary", false).unwrap();
        let webhook = Webhook::new(url.clone(), b"canary-canary-canary".to_vec()).unwrap();
        let shown = format!("{webhook:?} {}", webhook.shown());
        assert!(shown.contains("https://hooks.example:8443") && !shown.contains("canary"), "{shown}");
        assert!(Webhook::new(url, b"short".to_vec()).is_err());
    }
}
