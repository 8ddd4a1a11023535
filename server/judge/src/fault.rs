//! What was done to the system while it was captured.

/// A fault and how long it lasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultSpan {
    /// What was broken.
    pub fault: Fault,
    /// From when on.
    pub lost_at_ms: i64,
    /// When it was good again: for a lost link the moment of the first good reconnect. `None` when it was still broken
    /// at the end.
    pub good_at_ms: Option<i64>,
}

/// What a fault breaks, as far as the rules depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing that is true can be heard from the ensemble: nothing may be LIVE from 2 s on, all is exact 1 s after.
    LinkLost,
    /// Lockscope stands still, or its line to the client is cut: only the client itself can notice, after 3 s.
    Silent,
    /// The ensemble takes requests but commits none (no quorum, a frozen leader, a disk that hangs): what the log stamps
    /// within the span may have come true as late as its end.
    CommitsHeld,
}
