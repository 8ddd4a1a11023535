//! Why the service rejects a request. Nothing was sent then.

/// Kinds of refusals; each maps to one HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedFor {
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
    TooMany {
        /// Wait so long.
        wait_ms: i64,
    },
    /// The record can't be written (503).
    Audit,
    /// Lockscope is shutting down (503).
    Closing,
}

/// A refusal with its sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Refused {
    /// Its kind.
    pub kind: RefusedFor,
    /// One sentence that names the remedy.
    pub sentence: String,
}

impl Refused {
    pub(super) fn new(kind: RefusedFor, sentence: impl Into<String>) -> Self {
        Self { kind, sentence: sentence.into() }
    }

    /// The HTTP status that says the same.
    pub fn status(&self) -> u16 {
        match self.kind {
            RefusedFor::Right => 403,
            RefusedFor::NotFound => 404,
            RefusedFor::NotReleasable | RefusedFor::Second => 409,
            RefusedFor::Confirm | RefusedFor::Reason => 422,
            RefusedFor::TooMany { .. } => 429,
            RefusedFor::NotLive | RefusedFor::Audit | RefusedFor::Closing => 503,
        }
    }
}
