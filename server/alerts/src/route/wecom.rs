//! A group bot of `WeCom`: one message for all. Its key is in its address, and nothing is signed.

use serde_json::json;

use super::Route;
use super::chat_markdown::message;
use super::request::Outgoing;
use crate::notification::Notification;

/// Bytes of the content; it takes no more.
const CONTENT_BYTES_MAX: usize = 4_096;

pub(super) fn outgoing(route: &Route, notifications: &[Notification], _now_ms: i64) -> Vec<Outgoing> {
    let content = message(notifications, CONTENT_BYTES_MAX, "\n");
    vec![Outgoing::json(route.url.clone(), &json!({ "msgtype": "markdown", "markdown": { "content": content } }))]
}
