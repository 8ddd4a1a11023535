//! What receivers get, over real connections, and what their answers mean.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests take what they made themselves for granted")]

mod bots;
mod fake;
mod golden_chats;
mod golden_systems;
mod hostile;
mod sending;

use lockscope_alerts::notification::Notification;
use lockscope_alerts::route::{Outgoing, Route, RouteKind, outgoing};
use lockscope_view::Severity;
use serde_json::Value;

/// 2026-01-02T03:04:05.678Z.
pub(crate) const NOW_MS: i64 = 1_767_323_045_678;
pub(crate) const SECRET: &str = "canary-secret-canary-secret";

pub(crate) fn route(kind: RouteKind, url: &str) -> Route {
    let url = Route::check_url(kind, url, false).expect(url);
    Route { name: "team".to_owned(), kind, url, secret: Some(SECRET.into()) }
}

/// A route to a place that is never asked.
pub(crate) fn anywhere(kind: RouteKind) -> Route {
    route(kind, &format!("https://hooks.example/canary{}", query(kind)))
}

/// What the address of a kind needs.
pub(crate) fn query(kind: RouteKind) -> &'static str {
    match kind {
        RouteKind::DingTalk => "?access_token=canary",
        RouteKind::WeCom => "?key=canary",
        _ => "",
    }
}

pub(crate) fn firing() -> Notification {
    Notification {
        key: "stalled-1".to_owned(),
        rule: "stalled".to_owned(),
        ensemble: "prod".to_owned(),
        lock: "/locks/my_job".to_owned(),
        severity: Severity::Critical,
        since_ms: NOW_MS - 120_000,
        fired_at_ms: NOW_MS - 60_000,
        resolved_at_ms: None,
        sentence: "7 wait for <worker> & nobody moves".to_owned(),
        link: Some("https://lockscope.example/prod?at=1".to_owned()),
    }
}

pub(crate) fn resolved() -> Notification {
    Notification { resolved_at_ms: Some(NOW_MS - 1_000), link: None, severity: Severity::Warning, ..firing() }
}

/// As many alerts as wanted, each of its own lock.
pub(crate) fn many(count: usize) -> Vec<Notification> {
    (0..count).map(|n| Notification { lock: format!("/locks/{n}"), key: format!("stalled-{n}"), ..firing() }).collect()
}

/// The one request of a kind.
pub(crate) fn one(kind: RouteKind, notifications: &[Notification]) -> Outgoing {
    let mut all = outgoing(&anywhere(kind), notifications, NOW_MS);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

pub(crate) fn body(outgoing: &Outgoing) -> Value {
    serde_json::from_slice(&outgoing.body).expect("JSON")
}
