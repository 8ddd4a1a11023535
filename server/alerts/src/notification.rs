//! What people and systems are told of an alert.

/// How bad an alert is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AlertSeverity {
    /// Worth knowing.
    Info,
    /// Worth a look.
    Warning,
    /// Act.
    Critical,
}

impl AlertSeverity {
    /// Mildest first.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Critical];

    /// Its name in the API and in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// What is told of one alert: that it fires, or that it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// Which alert it is: the same for firing and resolved, at most 255 bytes, of letters, digits and `-`.
    pub key: String,
    /// The rule's name.
    pub rule: String,
    /// The ensemble's name.
    pub ensemble: String,
    /// The lock's path.
    pub lock: String,
    /// How bad.
    pub severity: AlertSeverity,
    /// Since when it is so, ms since the epoch.
    pub since_ms: i64,
    /// When it fired.
    pub fired_at_ms: i64,
    /// When it was over; None while it fires.
    pub resolved_at_ms: Option<i64>,
    /// One sentence: what is wrong. Everything in it may come from clients: it is to be escaped.
    pub sentence: String,
    /// The absolute address of the moment on the dashboard; None where the server does not know its own.
    pub link: Option<String>,
}
