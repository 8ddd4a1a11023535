//! A custom bot of Feishu or Lark: one card for all.
//! Its text is plain, in which nothing is read as formatting or mention.

use lockscope_view::Severity;
use serde_json::{Value, json};

use super::request::{Outgoing, with};
use super::row::{OPEN, Row, and_more, fitted, heading};
use super::{Route, sign};
use crate::notification::Notification;

/// Bytes of the body. A bot takes 20 KB.
const BODY_BYTES_MAX: usize = 18_000;

pub(super) fn outgoing(route: &Route, notifications: &[Notification], now_ms: i64) -> Vec<Outgoing> {
    let (heading, at_s) = (heading(notifications), now_ms.div_euclid(1_000));
    let body = fitted(notifications, BODY_BYTES_MAX, |rows, more| {
        let mut elements: Vec<Value> = rows.iter().flat_map(elements).collect();
        elements.extend(and_more(more).map(|more| div(&more)));
        let header = json!({ "title": plain_text(&heading), "template": template(notifications) });
        let message = json!({
            "msg_type": "interactive",
            "card": { "config": { "wide_screen_mode": true }, "header": header, "elements": elements },
        });
        let signature = route.secret.as_deref().map(|secret| sign::feishu(secret, at_s));
        let time = signature.is_some().then(|| Value::from(at_s.to_string()));
        with(with(message, "timestamp", time), "sign", signature.map(Value::from)).to_string()
    });
    vec![Outgoing::text(route.url.clone(), body)]
}

/// The colour of the card: of the worst that fires.
fn template(notifications: &[Notification]) -> &'static str {
    let firing = notifications.iter().filter(|notification| notification.resolved_at_ms.is_none());
    match firing.map(|notification| notification.severity).max() {
        Some(Severity::Critical) => "red",
        Some(Severity::Warning) => "orange",
        Some(Severity::Info) => "blue",
        None => "green",
    }
}

fn elements(row: &Row) -> Vec<Value> {
    let Row { state, rule, sentence, ensemble, lock, time, .. } = row;
    let mut elements = vec![div(&format!("{state}: {rule}\n{sentence}\n{ensemble} {lock} {time}"))];
    if let Some(link) = &row.link {
        let button = json!({ "tag": "button", "text": plain_text(OPEN), "type": "default", "url": link });
        elements.push(json!({ "tag": "action", "actions": [button] }));
    }
    elements
}

fn div(text: &str) -> Value {
    json!({ "tag": "div", "text": plain_text(text) })
}

fn plain_text(text: &str) -> Value {
    json!({ "tag": "plain_text", "content": text })
}
