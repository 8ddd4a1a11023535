//! What a chat shows of an alert, before it is written in the chat's own way.

use lockscope_view::Severity;

use super::link::link;
use super::time::rfc_3339;
use crate::notification::Notification;
use lockscope_view::outgoing::plain;

/// Alerts that one message of a chat shows.
pub(super) const ROWS_MAX: usize = 10;
pub(super) const SENTENCE_BYTES_MAX: usize = 700;
pub(super) const LOCK_BYTES_MAX: usize = 400;
/// Bytes of the name of a rule, and of an ensemble, in a chat.
pub(super) const NAME_BYTES_MAX: usize = 100;
pub(super) const OPEN: &str = "Open in Lockscope";

/// One alert, bounded, with nothing that hides; not yet escaped.
#[derive(Debug)]
pub(super) struct Row {
    /// How bad, or that it is over.
    pub(super) state: &'static str,
    pub(super) rule: String,
    pub(super) sentence: String,
    pub(super) ensemble: String,
    pub(super) lock: String,
    pub(super) time: String,
    pub(super) link: Option<String>,
}

impl Row {
    pub(super) fn of(notification: &Notification) -> Self {
        let since = rfc_3339(notification.since_ms);
        Self {
            state: match (notification.resolved_at_ms, notification.severity) {
                (Some(_), _) => "Resolved",
                (None, Severity::Critical) => "Critical",
                (None, Severity::Warning) => "Warning",
                (None, Severity::Info) => "Info",
            },
            rule: plain(&notification.rule, NAME_BYTES_MAX),
            sentence: plain(&notification.sentence, SENTENCE_BYTES_MAX),
            ensemble: plain(&notification.ensemble, NAME_BYTES_MAX),
            lock: plain(&notification.lock, LOCK_BYTES_MAX),
            time: match notification.resolved_at_ms {
                None => format!("since {since}"),
                Some(over_ms) => format!("from {since} to {}", rfc_3339(over_ms)),
            },
            link: link(notification.link.as_deref()),
        }
    }
}

/// The first line of a message: how many fire, and how many are over.
pub(super) fn heading(notifications: &[Notification]) -> String {
    let over = notifications.iter().filter(|notification| notification.resolved_at_ms.is_some()).count();
    match (notifications.len() - over, over) {
        (firing, 0) => format!("Lockscope: {firing} firing"),
        (0, over) => format!("Lockscope: {over} resolved"),
        (firing, over) => format!("Lockscope: {firing} firing, {over} resolved"),
    }
}

pub(super) fn and_more(more: usize) -> Option<String> {
    (more > 0).then(|| format!("and {more} more"))
}

/// A message of as many rows as fit into `bytes_max`, but of one at least, which every target has room for.
/// `write` is given the rows and how many alerts are left out.
pub(super) fn fitted(
    notifications: &[Notification],
    bytes_max: usize,
    write: impl Fn(&[Row], usize) -> String,
) -> String {
    let mut rows: Vec<Row> = notifications.iter().take(ROWS_MAX).map(Row::of).collect();
    loop {
        let written = write(&rows, notifications.len() - rows.len());
        if written.len() <= bytes_max || rows.len() <= 1 {
            return written;
        }
        rows.pop();
    }
}
