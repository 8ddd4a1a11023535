//! What proves that a view is as the ensemble has it now, part by part.

/// The parts of the proof: whether each holds; None where nobody can be asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Our member answers in time.
    pub answer: Option<bool>,
    /// No member is in a newer epoch than ours.
    pub epoch: Option<bool>,
    /// The leader that our member follows has a quorum.
    pub quorum: Option<bool>,
}
