//! The promises, in figures.

/// What is allowed. [`Default`] is what Lockscope promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long ago a state that is shown as LIVE may have stopped being true.
    pub age_max_ms: i64,
    /// How long LIVE may stay after the link was lost.
    pub not_live_max_ms: i64,
    /// The same where only the client can notice, by silence.
    pub silence_max_ms: i64,
    /// How long after a good reconnect everything is exact again.
    pub exact_max_ms: i64,
    /// How far stamps of two processes on one machine may be apart: both are cut to milliseconds, and a client notes an
    /// arrival a little before or after it happened.
    pub clock_tolerance_ms: i64,
    /// How long after its time an alert fires at the latest.
    pub alert_max_ms: i64,
}

/// A promise of the live views.
pub const AGE_MAX_MS: i64 = 2_000;
/// A promise of the live views.
pub const NOT_LIVE_MAX_MS: i64 = 2_000;
/// A promise of the page.
pub const SILENCE_MAX_MS: i64 = 3_000;
/// A promise of the observer.
pub const EXACT_MAX_MS: i64 = 1_000;
/// A promise of alerts.
pub const ALERT_MAX_MS: i64 = 2_000;
/// Granularity of the stamps that are compared.
pub const CLOCK_TOLERANCE_MS: i64 = 5;

impl Default for Limits {
    fn default() -> Self {
        Self {
            age_max_ms: AGE_MAX_MS,
            not_live_max_ms: NOT_LIVE_MAX_MS,
            silence_max_ms: SILENCE_MAX_MS,
            exact_max_ms: EXACT_MAX_MS,
            clock_tolerance_ms: CLOCK_TOLERANCE_MS,
            alert_max_ms: ALERT_MAX_MS,
        }
    }
}
