//! Anything that takes JSON: every field, signed as deliveries of the audit log are.

use serde_json::{Value, json};

use super::Route;
use super::link::link;
use super::request::{ALERTS_MAX, Outgoing};
use crate::notification::Notification;
use lockscope_runtime::webhook_client::{SIGNATURE_HEADER, signature};
use lockscope_view::outgoing::plain;

/// The version of the body's format.
const VERSION: u32 = 1;
const FIELD_BYTES_MAX: usize = 4_096;

pub(super) fn outgoing(route: &Route, notifications: &[Notification], now_ms: i64) -> Vec<Outgoing> {
    let post = |some: &[Notification]| {
        let alerts: Vec<Value> = some.iter().map(alert).collect();
        let mut outgoing = Outgoing::json(route.url.clone(), &json!({ "version": VERSION, "alerts": alerts }));
        if let Some(secret) = &route.secret {
            outgoing.headers.push((SIGNATURE_HEADER, signature(secret, now_ms, &outgoing.body)));
        }
        outgoing
    };
    notifications.chunks(ALERTS_MAX).map(post).collect()
}

fn alert(notification: &Notification) -> Value {
    json!({
        "state": if notification.resolved_at_ms.is_some() { "resolved" } else { "firing" },
        "key": plain(&notification.key, FIELD_BYTES_MAX),
        "rule": plain(&notification.rule, FIELD_BYTES_MAX),
        "ensemble": plain(&notification.ensemble, FIELD_BYTES_MAX),
        "lock": plain(&notification.lock, FIELD_BYTES_MAX),
        "severity": notification.severity.name(),
        "since_ms": notification.since_ms,
        "fired_at_ms": notification.fired_at_ms,
        "resolved_at_ms": notification.resolved_at_ms,
        "sentence": plain(&notification.sentence, FIELD_BYTES_MAX),
        "link": link(notification.link.as_deref()),
    })
}
