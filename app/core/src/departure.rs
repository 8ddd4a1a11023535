//! How a contender leaves a queue.

/// How a contender left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// Its znode was deleted; whether by its client, its session's end or somebody else is not known.
    Deleted,
    /// Its znode went together with all others of its session: the session ended.
    SessionEnded,
    /// It was gone after a gap in our view.
    DuringGap,
}
