//! A custom robot of `DingTalk`: one message for all, signed in its address.

use serde_json::json;

use super::chat_markdown::message;
use super::request::Outgoing;
use super::row::heading;
use super::{Route, sign};
use crate::notification::Notification;

/// Bytes of the text. A robot takes messages of 20,000, and JSON may need two for one.
const TEXT_BYTES_MAX: usize = 9_500;

pub(super) fn outgoing(route: &Route, notifications: &[Notification], now_ms: i64) -> Vec<Outgoing> {
    let mut url = route.url.clone();
    if let Some(secret) = &route.secret {
        let signature = sign::dingtalk(secret, now_ms);
        url.query_pairs_mut().append_pair("timestamp", &now_ms.to_string()).append_pair("sign", &signature);
    }
    // Two spaces before the end of a line keep it one.
    let text = message(notifications, TEXT_BYTES_MAX, "  \n");
    let body = json!({ "msgtype": "markdown", "markdown": { "title": heading(notifications), "text": text } });
    vec![Outgoing::json(url, &body)]
}
