//! What the engine drives.

use lockscope_core::change::Change;
use lockscope_core::observation::Observation;
use lockscope_core::pending::Owners;
use lockscope_core::time::TimeMs;

/// What the engine drives: the observatory, or a stand-in in tests.
pub trait Model: Owners + Send + Sync + 'static {
    /// Takes one observation in; what takes long may be left to [`Self::go_on`].
    fn apply(&mut self, now: TimeMs, observation: Observation) -> Vec<Change>;
    /// Something was begun and is not done.
    fn has_backlog(&self) -> bool;
    /// Does a small part of what was begun.
    fn go_on(&mut self, now: TimeMs) -> Vec<Change>;
    /// Changes applied so far.
    fn revision(&self) -> u64;
}
