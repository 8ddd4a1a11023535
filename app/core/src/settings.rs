//! The settings that the core needs before it starts.

use super::configured::Configured;
use super::finding::Limits;
use super::verdict::Thresholds;

/// The settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Watched roots, in the order [`RootId`](super::root::RootId) counts them. They must not nest.
    pub roots: Vec<String>,
    /// When a hold counts as slow or stuck.
    pub thresholds: Thresholds,
    /// What the operator says of locks by their paths.
    pub configured: Vec<Configured>,
    /// The thresholds of findings.
    pub limits: Limits,
}
