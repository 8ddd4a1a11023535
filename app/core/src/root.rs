//! The name of a watched root.

/// Names one watched root within one ensemble; the index in the configured order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RootId(pub u32);
