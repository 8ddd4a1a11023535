//! An incoming webhook of Slack: one message for all. Its blocks are rich text, in which no text is read as formatting,
//! link or mention; only the line of the notification is mrkdwn, and escaped.

use serde_json::{Value, json};

use super::Route;
use super::request::Outgoing;
use super::row::{OPEN, Row, and_more, fitted, heading};
use crate::notification::Notification;
use lockscope_view::outgoing::slack;

/// Bytes of the body. Slack's own limits are 50 blocks, and 3,000 characters in each: a row has fewer than 1,500 bytes.
const BODY_BYTES_MAX: usize = 40_000;
/// Bytes of the line that a notification shows.
const LINE_BYTES_MAX: usize = 1_000;

pub(super) fn outgoing(route: &Route, notifications: &[Notification], _now_ms: i64) -> Vec<Outgoing> {
    let heading = heading(notifications);
    let body = fitted(notifications, BODY_BYTES_MAX, |rows, more| {
        let mut blocks = vec![rich_text(vec![bold(&heading)])];
        blocks.extend(rows.iter().map(block));
        blocks.extend(and_more(more).map(|more| rich_text(vec![text(&more)])));
        json!({ "text": line(&heading, rows), "blocks": blocks }).to_string()
    });
    vec![Outgoing::text(route.url.clone(), body)]
}

/// What a notification shows, which has no blocks.
fn line(heading: &str, rows: &[Row]) -> String {
    match rows {
        [row] => slack(&format!("{}: {}: {}", row.state, row.rule, row.sentence), LINE_BYTES_MAX),
        _ => heading.to_owned(),
    }
}

fn block(row: &Row) -> Value {
    let mut parts = vec![
        bold(&format!("{}: {}", row.state, row.rule)),
        text(&format!("\n{}\n{} ", row.sentence, row.ensemble)),
        json!({ "type": "text", "text": row.lock, "style": { "code": true } }),
        text(&format!(" {}", row.time)),
    ];
    // Slack refuses a text of nothing.
    parts.retain(|part| part.get("text").and_then(Value::as_str).is_some_and(|text| !text.is_empty()));
    if let Some(link) = &row.link {
        parts.push(text("\n"));
        parts.push(json!({ "type": "link", "url": link, "text": OPEN }));
    }
    rich_text(parts)
}

fn rich_text(parts: Vec<Value>) -> Value {
    json!({ "type": "rich_text", "elements": [{ "type": "rich_text_section", "elements": parts }] })
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn bold(text: &str) -> Value {
    json!({ "type": "text", "text": text, "style": { "bold": true } })
}
