//! What the engine drives.

use lockscope_core::change::Change;
use lockscope_core::observation::Observation;
use lockscope_core::observatory::Observatory;
use lockscope_core::pending::Owners;
use lockscope_core::time::TimeMs;

/// What the engine drives: the observatory, or a stand-in in tests.
pub trait Model: Owners + Send + Sync + 'static {
    /// Takes one observation in; what takes long may be left to [`Self::go_on`].
    fn apply(&mut self, now: TimeMs, observation: Observation) -> Vec<Change>;
    /// The same with one that goes on to the log.
    fn apply_recorded(&mut self, now: TimeMs, observation: &Observation) -> Vec<Change> {
        self.apply(now, observation.clone())
    }
    fn has_backlog(&self) -> bool;
    /// Does a small part of what was begun.
    fn go_on(&mut self) -> Vec<Change>;
    /// Changes applied so far.
    fn revision(&self) -> u64;
}

impl Model for Observatory {
    fn apply(&mut self, now: TimeMs, observation: Observation) -> Vec<Change> {
        self.begin(now, observation)
    }

    fn apply_recorded(&mut self, now: TimeMs, observation: &Observation) -> Vec<Change> {
        self.begin_with(now, observation)
    }

    fn has_backlog(&self) -> bool {
        Self::has_backlog(self)
    }

    fn go_on(&mut self) -> Vec<Change> {
        Self::go_on(self)
    }

    fn revision(&self) -> u64 {
        Self::revision(self)
    }
}
