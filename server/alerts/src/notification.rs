//! What people and systems are told of an alert.

use lockscope_view::Severity;

/// What is told of one alert: that it fires, or that it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// Which alert it is: the same for firing and resolved, at most 255 bytes, of letters, digits and `-`.
    pub key: String,
    pub rule: String,
    pub ensemble: String,
    /// The lock's path.
    pub lock: String,
    pub severity: Severity,
    /// Since when it is so, ms since the epoch.
    pub since_ms: i64,
    pub fired_at_ms: i64,
    /// When it was over; None while it fires.
    pub resolved_at_ms: Option<i64>,
    /// One sentence: what is wrong. Everything in it may come from clients: it is to be escaped.
    pub sentence: String,
    /// The absolute address of the moment on the dashboard; None where the server does not know its own.
    pub link: Option<String>,
}
