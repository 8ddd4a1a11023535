//! Where all goes that is applied to a model: what is recorded is what a replay applies.

use lockscope_core::change::Change;
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;

/// Takes what is applied to a model, in order. Called on the model's thread: it never waits.
pub trait ObservationLog<M>: Send + 'static {
    /// Takes what was applied since the last call, each with its instant.
    fn record(&mut self, batch: Vec<(TimeMs, Observation)>);
    /// Looks at the model right after it changed: after it took in `cause`, or went on with it where that is None. Called
    /// before what was applied is handed to [`Self::record`]. Takes a microsecond; what takes longer is left to
    /// [`Self::go_on`].
    fn changed(&mut self, now: TimeMs, model: &M, cause: Option<&Observation>, changes: &[Change]);
    /// Does a small part of what a look left, before the model changes again. False when nothing is left.
    fn go_on(&mut self, _now: TimeMs, _model: &M) -> bool {
        false
    }
    fn wants_checkpoint(&self) -> bool;
    /// Takes the model as it is after all that was recorded.
    fn checkpoint(&mut self, now: TimeMs, model: &M);
}
