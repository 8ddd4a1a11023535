//! `lockscope healthcheck`: asks a running server whether it lives or is ready, for containers that have no other
//! client.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use crate::api_client::root_cause;
use crate::cli::HealthcheckArgs;
use crate::config::{self, ConfigError, ProcessEnvironment};
use crate::error::RunError;
use crate::stdout;

/// An answer that takes longer is none.
const ANSWER_MAX: Duration = Duration::from_secs(3);
const DETAIL_CHARS_MAX: usize = 200;

/// Asks, and says in one line what the answer was.
///
/// # Errors
/// When there is none, or not the one that was hoped for.
pub(super) async fn run(args: &HealthcheckArgs) -> Result<(), RunError> {
    let (base, is_own) = match &args.url {
        Some(url) => (url.trim_end_matches('/').to_owned(), false),
        None => (own(config::served_at(args.config.as_deref(), &ProcessEnvironment)?)?, true),
    };
    let url = format!("{base}{}", if args.ready { "/readyz" } else { "/healthz" });
    let wrong = || ConfigError(format!("--url {base:?} is no address; write it like http://127.0.0.1:3000"));
    let url = Url::parse(&url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(wrong)?;
    let failed = |error: &reqwest::Error| RunError::Broken(format!("{url} gave no answer ({})", root_cause(error)));
    // Our own server on loopback has a certificate for another name. Nothing but "how are you" is sent.
    let client = Client::builder().no_proxy().redirect(Policy::none()).timeout(ANSWER_MAX);
    let client = if url.scheme() == "http" {
        client.tls_certs_only(std::iter::empty())
    } else {
        client.tls_danger_accept_invalid_certs(is_own)
    };
    let client = client.build().map_err(|error| failed(&error))?;
    let answer = client.get(url.clone()).send().await.map_err(|error| failed(&error))?;
    let status = answer.status();
    if status.is_success() {
        stdout::print(&format!("{url} answers: {}", if args.ready { "ready" } else { "alive" }));
        return Ok(());
    }
    let text = answer.text().await.unwrap_or_default();
    let problem = serde_json::from_str::<serde_json::Value>(&text).unwrap_or_default();
    let detail: String = problem["detail"]
        .as_str()
        .unwrap_or(&text)
        .chars()
        .filter(|c| !c.is_control())
        .take(DETAIL_CHARS_MAX)
        .collect();
    Err(RunError::Broken(format!("{url} answers {}: {detail}", status.as_u16())))
}

/// The address that a server on this machine is met at.
fn own((listen, has_tls): (SocketAddr, bool)) -> Result<String, ConfigError> {
    if listen.port() == 0 {
        return Err(ConfigError(
            "`listen` takes a free port, which is not known here; give --url http://127.0.0.1:PORT".to_owned(),
        ));
    }
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    Ok(format!("{}://{}", if has_tls { "https" } else { "http" }, SocketAddr::new(ip, listen.port())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_met_where_it_listens() {
        let own = |listen: &str, has_tls| own((listen.parse().unwrap(), has_tls)).map_err(|error| error.to_string());
        assert_eq!(own("0.0.0.0:3000", false).unwrap(), "http://127.0.0.1:3000");
        assert_eq!(own("[::]:443", true).unwrap(), "https://[::1]:443");
        assert_eq!(own("10.0.0.7:3000", true).unwrap(), "https://10.0.0.7:3000");
        assert!(own("127.0.0.1:0", false).unwrap_err().contains("give --url"));
    }
}
