//! Why the service rejects a request. Nothing was sent then.

/// Kinds of refusals; each maps to one HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectionReason {
    /// Role or scope do not allow it (403).
    Right,
    /// No such ensemble, lock or znode (404).
    NotFound,
    /// It is nothing that can be released (409).
    NotReleasable,
    /// The view is not live (503).
    NotLive,
    /// The lock's path was not typed right (422).
    Confirm,
    /// The reason is missing, too short or too long (422).
    Reason,
    /// A second person has to approve first, or can't be who asks (409).
    Second,
    /// Too many in too short a time (429).
    TooMany { wait_ms: i64 },
    /// The audit record can't be written (503).
    Audit,
    /// Lockscope is shutting down (503).
    Closing,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Rejection {
    pub kind: RejectionReason,
    /// One sentence that names the remedy.
    pub sentence: String,
}

impl Rejection {
    pub(super) fn new(kind: RejectionReason, sentence: impl Into<String>) -> Self {
        Self { kind, sentence: sentence.into() }
    }

    /// The HTTP status that says the same.
    pub fn status(&self) -> u16 {
        match self.kind {
            RejectionReason::Right => 403,
            RejectionReason::NotFound => 404,
            RejectionReason::NotReleasable | RejectionReason::Second => 409,
            RejectionReason::Confirm | RejectionReason::Reason => 422,
            RejectionReason::TooMany { .. } => 429,
            RejectionReason::NotLive | RejectionReason::Audit | RejectionReason::Closing => 503,
        }
    }
}
