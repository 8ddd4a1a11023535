//! `PagerDuty`, Events API v2: one request an alert; the same key again is the same incident.

use serde_json::{Value, json};

use super::Route;
use super::link::link;
use super::request::{Outgoing, with};
use super::row::OPEN;
use super::time::rfc_3339;
use crate::notification::Notification;
use lockscope_view::outgoing::plain;

/// Bytes of a summary; it takes as many characters.
const SUMMARY_BYTES_MAX: usize = 1_024;
/// Bytes of every other text.
const FIELD_BYTES_MAX: usize = 1_024;
/// Bytes of a key; it takes as many characters.
const KEY_BYTES_MAX: usize = 255;

pub(super) fn outgoing(route: &Route, notifications: &[Notification], _now_ms: i64) -> Vec<Outgoing> {
    let key = route.secret.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
    notifications.iter().map(|notification| Outgoing::json(route.url.clone(), &event(&key, notification))).collect()
}

fn event(routing_key: &str, notification: &Notification) -> Value {
    let at_ms = notification.resolved_at_ms.unwrap_or(notification.fired_at_ms);
    let ensemble = plain(&notification.ensemble, FIELD_BYTES_MAX);
    let event = json!({
        "routing_key": routing_key,
        "event_action": if notification.resolved_at_ms.is_some() { "resolve" } else { "trigger" },
        "dedup_key": plain(&notification.key, KEY_BYTES_MAX),
        "payload": {
            "summary": plain(&notification.sentence, SUMMARY_BYTES_MAX),
            "source": ensemble,
            "severity": notification.severity.name(),
            "timestamp": rfc_3339(at_ms),
            "component": plain(&notification.lock, FIELD_BYTES_MAX),
            "group": ensemble,
            "class": plain(&notification.rule, FIELD_BYTES_MAX),
        },
    });
    let links = link(notification.link.as_deref()).map(|link| json!([{ "href": link, "text": OPEN }]));
    with(event, "links", links)
}
