//! Prometheus Alertmanager, API v2. Two alerts with the same labels are one there.

use reqwest::Url;
use serde_json::{Value, json};

use super::Route;
use super::link::link;
use super::request::{ALERTS_MAX, Outgoing, with};
use super::sign::fingerprint;
use super::time::rfc_3339;
use crate::notification::Notification;
use lockscope_view::outgoing::plain;

/// How long an alert fires there unless it is sent again, in ms. It is sent again every minute.
const FIRES_FOR_MS: i64 = 5 * 60 * 1_000;
/// Bytes of a label's value, before what tells apart those that were cut.
const LABEL_BYTES_MAX: usize = 1_024;
const ANNOTATION_BYTES_MAX: usize = 4_096;

pub(super) fn outgoing(route: &Route, notifications: &[Notification], now_ms: i64) -> Vec<Outgoing> {
    let token = route.secret.as_deref().map(|token| format!("Bearer {}", String::from_utf8_lossy(token)));
    let post = |some: &[Notification]| {
        let alerts: Vec<Value> = some.iter().map(|notification| alert(notification, now_ms)).collect();
        let mut outgoing = Outgoing::json(address(&route.url), &Value::Array(alerts));
        outgoing.headers.extend(token.clone().map(|token| ("authorization", token)));
        outgoing
    };
    notifications.chunks(ALERTS_MAX).map(post).collect()
}

/// Its interface, below a path where it has one.
fn address(base: &Url) -> Url {
    let mut url = base.clone();
    let path = format!("{}/api/v2/alerts", base.path().trim_end_matches('/'));
    url.set_path(&path);
    url
}

fn alert(notification: &Notification, now_ms: i64) -> Value {
    let ends_ms = notification.resolved_at_ms.unwrap_or(now_ms.saturating_add(FIRES_FOR_MS));
    // It refuses what ends before it starts, and a clock that was set back could write that.
    let starts_ms = notification.fired_at_ms.min(ends_ms);
    let link = link(notification.link.as_deref()).map(Value::from);
    let summary = plain(&notification.sentence, ANNOTATION_BYTES_MAX);
    let alert = json!({
        // Not the sentence, which changes while the alert stays the same.
        "labels": {
            "alertname": label(&notification.rule),
            "ensemble": label(&notification.ensemble),
            "lock": label(&notification.lock),
            "severity": notification.severity.name(),
        },
        "annotations": with(json!({ "summary": summary }), "link", link.clone()),
        "startsAt": rfc_3339(starts_ms),
        "endsAt": rfc_3339(ends_ms),
    });
    with(alert, "generatorURL", link)
}

/// A label's value. What two names lost must not make them one alert: what was left out is told by its fingerprint.
fn label(text: &str) -> String {
    let label = plain(text, LABEL_BYTES_MAX);
    if label == text { label } else { format!("{label}~{}", fingerprint(text)) }
}
