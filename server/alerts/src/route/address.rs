//! Checks the address of a receiver before anything is sent there.

use lockscope_runtime::webhook_client::{UrlRules, WebhookFault, check_url};
use reqwest::Url;

use super::{Route, RouteKind};

const URL_RULES: UrlRules = UrlRules {
    credentials: "leave them out; what the receiver knows the sender by is the route's secret",
    plain: WebhookFault {
        why: "would send alerts in the clear to another machine",
        remedy: "use https://, or allow http:// for alerts",
    },
};

impl Route {
    /// Checks an address: https, or http to this machine, or http anywhere when that is allowed.
    pub fn check_url(kind: RouteKind, text: &str, may_be_plain: bool) -> Result<Url, WebhookFault> {
        let url = check_url(text, may_be_plain, URL_RULES)?;
        of_kind(kind, &url).map(|()| url)
    }
}

/// What is easily left out, or put in too much, when an address is copied.
fn of_kind(kind: RouteKind, url: &Url) -> Result<(), WebhookFault> {
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

fn wrong<T>(why: &'static str, remedy: &'static str) -> Result<T, WebhookFault> {
    Err(WebhookFault { why, remedy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_can_be() {
        assert!(Route::check_url(RouteKind::Alertmanager, "https://a.example:9093/prefix/", false).is_ok());
        assert!(Route::check_url(RouteKind::WeCom, "https://a.example/send?key=x", false).is_ok());
        assert!(Route::check_url(RouteKind::DingTalk, "https://a.example/send?access_token=x", false).is_ok());
    }

    #[test]
    fn addresses_that_can_not() {
        let why = |kind, url| Route::check_url(kind, url, false).unwrap_err().why;
        for kind in RouteKind::ALL {
            assert!(why(kind, "http://hooks.example/").contains("in the clear"));
            assert!(why(kind, "https://ann:word@hooks.example/").contains("password"));
        }
        assert!(why(RouteKind::Alertmanager, "https://a.example/api/v2/alerts").contains("interface"));
        assert!(why(RouteKind::Alertmanager, "https://a.example/?x=y").contains("query"));
        assert!(why(RouteKind::DingTalk, "https://a.example/?access_token=").contains("access_token"));
        assert!(why(RouteKind::WeCom, "https://a.example/").contains("key"));
    }
}
