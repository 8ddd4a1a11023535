//! What every request to a webhook has in common: an address that was checked, a client that follows no redirect, a
//! signature, and errors that hold no address, which may be secret.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use super::mac::hmac_sha256;

/// How every request names its sender.
pub const USER_AGENT: &str = concat!("lockscope/", env!("CARGO_PKG_VERSION"));
/// The header that carries time and signature.
pub const SIGNATURE_HEADER: &str = "lockscope-signature";

/// What is wrong with an address or a secret, and what to do. It holds neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookFault {
    pub why: &'static str,
    pub remedy: &'static str,
}

/// What is said of addresses that could be used and must not be.
#[derive(Clone, Copy, Debug)]
pub struct UrlRules {
    /// In place of a user and a password in the address.
    pub credentials: &'static str,
    /// Of http to another machine.
    pub plain: WebhookFault,
}

/// Checks an address: https, or http to this machine, or http anywhere when that is allowed.
pub fn check_url(text: &str, may_be_plain: bool, rules: UrlRules) -> Result<Url, WebhookFault> {
    let wrong = |why, remedy| Err(WebhookFault { why, remedy });
    let form = "write https://HOST[:PORT]/PATH";
    let Ok(url) = Url::parse(text) else { return wrong("is not an address", form) };
    let Some(host) = url.host_str().filter(|host| !host.is_empty()) else { return wrong("names no host", form) };
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return wrong("has a user, a password or a fragment in it", rules.credentials);
    }
    let is_here =
        host == "localhost" || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_here || may_be_plain => Ok(url),
        "http" => Err(rules.plain),
        _ => wrong("is neither https nor http", form),
    }
}

/// Where it goes, without the part that may be secret.
#[must_use]
pub fn shown(url: &Url) -> String {
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
}

/// The value of the header: `t=<ms>,v1=<hexadecimal HMAC-SHA256 of "t.body">`, so that neither time nor body can be
/// changed or sent again later.
#[must_use]
pub fn signature(secret: &[u8], at_ms: i64, body: &[u8]) -> String {
    let mac = hmac_sha256(secret, &[format!("{at_ms}.").as_bytes(), body]);
    format!("t={at_ms},v1={}", hex::encode(mac))
}

/// A client without redirects, since what is signed for one place goes to no other, and without a proxy from the
/// environment. `is_plain`: for http alone, which needs no certificate authorities; a machine may have none.
pub fn client(answer_within: Duration, is_plain: bool) -> Result<Client, String> {
    let client = Client::builder().no_proxy().redirect(Policy::none()).timeout(answer_within);
    let client = if is_plain { client.tls_certs_only(std::iter::empty()) } else { client };
    client.build().map_err(error_cause)
}

/// The innermost cause, without the address.
#[must_use]
pub fn error_cause(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return "it did not answer in time".to_owned();
    }
    let error = error.without_url();
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL_RULES: UrlRules = UrlRules {
        credentials: "use the secret",
        plain: WebhookFault { why: "would go in the clear", remedy: "use https://" },
    };

    #[test]
    fn the_signature_is_the_hmac_that_everybody_computes() {
        // printf '17.{}' | openssl dgst -sha256 -hmac Jefe
        let expected = "t=17,v1=20436aa1b1c2be79262487183b4bde32ab5295b6c1b6708037853fcdd1912c7b";
        assert_eq!(signature(b"Jefe", 17, b"{}"), expected);
        assert_ne!(signature(b"Jefe", 18, b"{}"), expected);
        assert_ne!(signature(b"jefe", 17, b"{}"), expected);
    }

    #[test]
    fn https_or_this_machine_is_accepted() {
        for url in [
            "https://hooks.example/T0/B1",
            "http://127.0.0.1:9/x",
            "http://[::1]:9",
            "http://localhost/x",
            "https://[2001:db8::1]/?access_token=x&key=x",
        ] {
            assert!(check_url(url, false, URL_RULES).is_ok(), "{url}");
        }
        assert!(check_url("http://hooks.example/", true, URL_RULES).is_ok());
    }

    #[test]
    fn other_addresses_are_refused() {
        let why = |url| check_url(url, false, URL_RULES).unwrap_err().why;
        for url in ["http://hooks.example/", "http://localhost.example/", "http://127.0.0.1.example/"] {
            assert!(why(url).contains("in the clear"), "{url}");
        }
        assert!(why("https://ann:word@hooks.example/").contains("password"));
        assert!(why("https://hooks.example/#x").contains("fragment"));
        assert!(why("ftp://hooks.example/").contains("neither"));
        assert!(why("hooks.example").contains("not an address"));
        assert!(why("").contains("not an address"));
    }
}
