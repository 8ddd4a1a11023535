//! A watched root: its name, and what may be said of it.

/// Names one watched root within one ensemble; the index in the configured order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RootId(pub u32);

/// State of our own session's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Connected and answering.
    Live,
    /// Disconnected, or silent for longer than the canary allows.
    Stale,
    /// No session: none made yet, or expired.
    Lost,
}

/// Why a root is not live although its link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootTrouble {
    /// It does not exist.
    Gone,
    /// It may not be read.
    Denied,
    /// No watch is followed: the server refuses persistent ones, or what they report can't be believed.
    Reduced,
    /// Some of it is not read, for there is more than there is room for.
    Partial,
}

/// State of a root's view. Meanings as in the wire's enum of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as on the wire, documented there")]
pub enum RootState {
    Live,
    Syncing,
    Stale,
    Partial,
    Denied,
    Gone,
    Reduced,
}
