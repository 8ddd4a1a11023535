//! A message in the Markdown that `DingTalk` and `WeCom` read, of which neither knows an escape.

use super::row::{LOCK_BYTES_MAX, NAME_BYTES_MAX, OPEN, Row, SENTENCE_BYTES_MAX, and_more, fitted, heading};
use crate::notification::Notification;
use lockscope_view::outgoing::markdown;

/// Heading and rows, at most `bytes_max` bytes; `line_end` is what ends a line inside a paragraph.
pub(super) fn message(notifications: &[Notification], bytes_max: usize, line_end: &str) -> String {
    let heading = heading(notifications);
    fitted(notifications, bytes_max, |rows, more| {
        let mut paragraphs = vec![format!("**{heading}**")];
        paragraphs.extend(rows.iter().map(|row| paragraph(row, line_end)));
        paragraphs.extend(and_more(more));
        paragraphs.join("\n\n")
    })
}

/// No line begins with what comes from clients: there it could make a heading, a list or a quotation.
fn paragraph(row: &Row, line_end: &str) -> String {
    let (rule, ensemble) = (markdown(&row.rule, NAME_BYTES_MAX), markdown(&row.ensemble, NAME_BYTES_MAX));
    let (sentence, lock) = (markdown(&row.sentence, SENTENCE_BYTES_MAX), markdown(&row.lock, LOCK_BYTES_MAX));
    let mut lines = vec![
        format!("**{}: {rule}**", row.state),
        format!("What: {sentence}"),
        format!("Where: {ensemble} {lock}"),
        format!("When: {}", row.time),
    ];
    lines.extend(row.link.as_ref().map(|link| format!("[{OPEN}]({link})")));
    lines.join(line_end)
}
