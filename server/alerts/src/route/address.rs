//! Checks the address of a receiver before anything is sent there.

use std::net::IpAddr;

use reqwest::Url;

use super::{Route, RouteKind};

/// What is wrong with an address, and what to do. It never holds the address, which may be secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteFault {
    /// What is wrong.
    pub why: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

impl Route {
    /// Checks an address: https, or http to this machine, or http anywhere when that is allowed.
    ///
    /// # Errors
    /// The first fault.
    pub fn check_url(kind: RouteKind, text: &str, may_be_plain: bool) -> Result<Url, RouteFault> {
        let Ok(url) = Url::parse(text) else { return wrong("is not an address", "write https://HOST[:PORT]/PATH") };
        let Some(host) = url.host_str().filter(|host| !host.is_empty()) else {
            return wrong("names no host", "write https://HOST[:PORT]/PATH");
        };
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return wrong(
                "has a user, a password or a fragment in it",
                "leave them out; what the receiver knows the sender by is the route's secret",
            );
        }
        let is_here =
            host == "localhost" || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        match url.scheme() {
            "https" => {}
            "http" if is_here || may_be_plain => {}
            "http" => {
                return wrong(
                    "would send alerts in the clear to another machine",
                    "use https://, or allow http:// for alerts",
                );
            }
            _ => return wrong("is neither https nor http", "write https://HOST[:PORT]/PATH"),
        }
        of_kind(kind, &url).map(|()| url)
    }
}

/// What is easily left out, or put in too much, when an address is copied.
fn of_kind(kind: RouteKind, url: &Url) -> Result<(), RouteFault> {
    let has = |name: &str| url.query_pairs().any(|(key, value)| key == name && !value.is_empty());
    match kind {
        RouteKind::Alertmanager if url.query().is_some() => {
            wrong("has a query, which Alertmanager does not take", "write its address alone: https://HOST:9093")
        }
        RouteKind::Alertmanager if url.path().contains("/api/v") => wrong(
            "names the interface of Alertmanager, which is added to it",
            "write its address alone: https://HOST:9093",
        ),
        RouteKind::DingTalk if !has("access_token") => {
            wrong("has no access_token in it", "copy the whole address that DingTalk shows for the robot")
        }
        RouteKind::WeCom if !has("key") => {
            wrong("has no key in it", "copy the whole address that WeCom shows for the bot")
        }
        RouteKind::Alertmanager
        | RouteKind::PagerDuty
        | RouteKind::Slack
        | RouteKind::Teams
        | RouteKind::Feishu
        | RouteKind::DingTalk
        | RouteKind::WeCom
        | RouteKind::Webhook => Ok(()),
    }
}

fn wrong<T>(why: &'static str, remedy: &'static str) -> Result<T, RouteFault> {
    Err(RouteFault { why, remedy })
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
            "https://[2001:db8::1]/?access_token=x&key=x",
        ] {
            assert!(Route::check_url(RouteKind::Webhook, url, false).is_ok(), "{url}");
        }
        assert!(Route::check_url(RouteKind::Webhook, "http://hooks.example/", true).is_ok());
        assert!(Route::check_url(RouteKind::Alertmanager, "https://a.example:9093/prefix/", false).is_ok());
        assert!(Route::check_url(RouteKind::WeCom, "https://a.example/send?key=x", false).is_ok());
        assert!(Route::check_url(RouteKind::DingTalk, "https://a.example/send?access_token=x", false).is_ok());
    }

    #[test]
    fn addresses_that_can_not() {
        let why = |kind, url| Route::check_url(kind, url, false).unwrap_err().why;
        for kind in RouteKind::ALL {
            assert!(why(kind, "http://hooks.example/").contains("in the clear"));
            assert!(why(kind, "http://localhost.example/").contains("in the clear"));
            assert!(why(kind, "http://127.0.0.1.example/").contains("in the clear"));
            assert!(why(kind, "https://ann:word@hooks.example/").contains("password"));
            assert!(why(kind, "https://hooks.example/#x").contains("fragment"));
            assert!(why(kind, "ftp://hooks.example/").contains("neither"));
            assert!(why(kind, "hooks.example").contains("not an address"));
            assert!(why(kind, "").contains("not an address"));
        }
        assert!(why(RouteKind::Alertmanager, "https://a.example/api/v2/alerts").contains("interface"));
        assert!(why(RouteKind::Alertmanager, "https://a.example/?x=y").contains("query"));
        assert!(why(RouteKind::DingTalk, "https://a.example/?access_token=").contains("access_token"));
        assert!(why(RouteKind::WeCom, "https://a.example/").contains("key"));
    }
}
