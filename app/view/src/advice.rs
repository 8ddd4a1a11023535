//! What needs somebody, and what to do about it: sentences are made by the server from the tables in [`crate::guide`], so
//! that a page and a script read the same. Instants, never ages: a sentence changes only when something happens.

use serde::{Deserialize, Serialize};

use super::{EnsembleTag, SessionId, Verdict};

/// Problems that one board carries; the rest are a number.
pub const PROBLEMS_MAX: usize = 8;
/// Locks that one problem names.
pub const PROBLEM_LOCKS_MAX: usize = 4;

/// One problem, over as many locks as it takes: a deadlock is one, and so is a client that hangs on forty locks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LockProblem {
    /// Identifies it among all problems.
    pub key: String,
    /// Ensemble.
    pub ensemble: String,
    /// The same with its colour; null for the only one when it has no name.
    pub tag: Option<EnsembleTag>,
    /// The verdict on its locks.
    pub verdict: Verdict,
    /// The code of the critical finding that makes it a problem; null where the verdict does.
    pub finding: Option<String>,
    /// The first of its locks, at most four.
    pub locks: Vec<String>,
    /// All of its locks.
    pub lock_count: u32,
    /// Who, since when, and whom it hurts.
    pub headline: Headline,
    /// Contenders that are seen to wait in its locks.
    pub waiter_count: u32,
    /// Sum of the instants since which each of them waits: total waiting time at `t` is `waiter_count * t - this`.
    pub waiting_since_sum_ms: i64,
    /// The next step.
    pub step: Step,
    /// Who looks at it and since when: whoever acknowledged an alert of one of its locks; null where nobody did.
    pub looked_after: Option<Headline>,
}

/// Problems of one kind that have no line of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProblemsLeftOut {
    /// The verdict on their locks; on the first of them where a finding makes the problem.
    pub verdict: Verdict,
    /// The code of the critical finding that makes them problems; null where the verdict does.
    pub finding: Option<String>,
    /// How many.
    pub count: u32,
}

/// A sentence around an age: `before`, the time since `since_ms`, `after`. Without an instant the two follow each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Headline {
    /// What stands before the age.
    pub before: String,
    /// Since when.
    pub since_ms: Option<i64>,
    /// It may be longer than that.
    pub is_lower_bound: bool,
    /// What stands behind it.
    pub after: String,
}

/// One thing to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// The sentence, with names filled in.
    pub text: String,
    /// What helps with it, where something does.
    pub act: Option<StepAct>,
}

/// What helps with a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StepAct {
    /// A command for a shell: made of addresses that ZooKeeper reports, never of what clients say of themselves.
    Copy {
        /// The command.
        command: String,
    },
    /// The page of a session.
    Session {
        /// The session.
        id: SessionId,
    },
    /// The page on which waiting is drawn.
    Waits,
    /// The release of a znode; it needs an operator.
    Release {
        /// The lock, whose page has the dialog.
        lock: String,
        /// Full path of the znode.
        znode: String,
    },
}

/// What to do about one lock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// Who, since when, and whom it hurts.
    pub headline: Headline,
    /// One to three steps, in order.
    pub steps: Vec<Step>,
    /// Why the verdict is what it is.
    pub why: String,
}
