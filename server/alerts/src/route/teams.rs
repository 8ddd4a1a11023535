//! A workflow's webhook of Microsoft Teams: one adaptive card for all.
//! Its text is rich text blocks, which read no Markdown.

use serde_json::{Value, json};

use super::Route;
use super::request::{Outgoing, with};
use super::row::{OPEN, Row, and_more, fitted, heading};
use crate::notification::Notification;

/// Bytes of the body. Teams takes 28 KB.
const BODY_BYTES_MAX: usize = 25_000;
/// Buttons of a card; Teams shows as many.
const BUTTONS_MAX: usize = 6;

pub(super) fn outgoing(route: &Route, notifications: &[Notification], _now_ms: i64) -> Vec<Outgoing> {
    let heading = heading(notifications);
    let body = fitted(notifications, BODY_BYTES_MAX, |rows, more| {
        let mut blocks = vec![block(vec![bold(&heading)], false)];
        blocks.extend(rows.iter().flat_map(row));
        blocks.extend(and_more(more).map(|more| block(vec![run(&more)], true)));
        let card = json!({
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard",
            "version": "1.4",
            "msteams": { "width": "Full" },
            "body": blocks,
        });
        let buttons = Some(buttons(rows)).filter(|buttons| !buttons.is_empty());
        let card = with(card, "actions", buttons.map(Value::Array));
        let attachment = json!({ "contentType": "application/vnd.microsoft.card.adaptive", "content": card });
        json!({ "type": "message", "attachments": [attachment] }).to_string()
    });
    vec![Outgoing::text(route.url.clone(), body)]
}

fn row(row: &Row) -> [Value; 3] {
    [
        block(vec![bold(&format!("{}: {}", row.state, row.rule))], true),
        block(vec![run(&row.sentence)], false),
        block(vec![run(&format!("{} {} {}", row.ensemble, row.lock, row.time))], false),
    ]
}

/// A button for each row that has a link, numbered where there are several.
fn buttons(rows: &[Row]) -> Vec<Value> {
    let numbered = rows.iter().zip(1..).filter_map(|(row, number)| row.link.as_ref().map(|link| (number, link)));
    let title = |number: usize| if rows.len() == 1 { OPEN.to_owned() } else { format!("Open {number}") };
    let button = |(number, link)| json!({ "type": "Action.OpenUrl", "title": title(number), "url": link });
    numbered.take(BUTTONS_MAX).map(button).collect()
}

fn block(runs: Vec<Value>, is_apart: bool) -> Value {
    let spacing = if is_apart { "Medium" } else { "Small" };
    json!({ "type": "RichTextBlock", "spacing": spacing, "inlines": runs })
}

fn run(text: &str) -> Value {
    json!({ "type": "TextRun", "text": text })
}

fn bold(text: &str) -> Value {
    json!({ "type": "TextRun", "text": text, "weight": "Bolder" })
}
