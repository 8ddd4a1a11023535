//! An alert, and what receivers took of it.

/// An alert that fired, as the server lists it in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// What names it.
    pub key: String,
    /// The rule's name.
    pub rule: String,
    /// The lock.
    pub lock: String,
    /// When it fired, by its own word.
    pub fired_at_ms: i64,
    /// When somebody who looked first saw that it fires; when all was listed, where nobody did.
    pub seen_at_ms: i64,
    /// When it was over; `None` while it fires.
    pub over_at_ms: Option<i64>,
}

/// What a receiver took of an alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The receiver.
    pub receiver: String,
    /// The alert.
    pub key: String,
    /// That it is over; else that it fires.
    pub is_over: bool,
    /// The receiver said that it took it; where it did not, it may be told once more.
    pub is_answered: bool,
}
