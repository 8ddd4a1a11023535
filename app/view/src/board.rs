//! The board: totals, roots and a window of lock rows.

use serde::{Deserialize, Serialize};

use super::{AsOf, EnsembleTag, LockProblem, LockRow, ProblemsLeftOut, RootState, Verdict, Window, WindowDelta};

/// Body of the live view `board`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Board {
    /// All but the rows.
    pub head: BoardHead,
    /// The locks that match, in order.
    pub window: Window<LockRow>,
}

/// Totals over every lock, filtered or not, and the state of what they were read from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoardHead {
    /// How far the view can be trusted.
    pub as_of: AsOf,
    /// Sums over every lock.
    pub totals: Totals,
    /// Every root.
    pub roots: Vec<RootBrief>,
    /// What needs somebody, worst first, at most eight; of each kind there is one, before any has more.
    pub problems: Vec<LockProblem>,
    /// All problems.
    pub problem_count: u32,
    /// Those that have no line of their own, by kind, worst first.
    pub problems_left_out: Vec<ProblemsLeftOut>,
    /// Ensembles of which no member that was asked says who is connected to it: of no session there it is known whether
    /// its client is.
    pub ensembles_without_evidence: u32,
}

impl BoardHead {
    /// Locks of which it is not known how they are.
    pub fn unknown_locks(&self) -> u32 {
        let of = self.totals.verdicts.iter().find(|(verdict, _)| *verdict == Verdict::Unknown);
        of.map_or(0, |(_, locks)| *locks)
    }

    /// Every root was read completely, and of every lock it is known how it is: only then all may be called fine.
    pub fn is_all_known(&self) -> bool {
        let is_whole = |root: &RootBrief| matches!(root.state, RootState::Live | RootState::Reduced);
        self.unknown_locks() == 0 && self.roots.iter().all(is_whole)
    }
}

/// Sums over every lock of the ensembles shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Totals {
    /// Locks known.
    pub locks: u32,
    /// Locks that somebody holds.
    pub held: u32,
    /// Contenders that are seen to wait.
    pub waiters: u32,
    /// Locks of which something may be missing: with any, waiters and waiting times are the least there are.
    pub incomplete: u32,
    /// Locks with at least one waiter.
    pub contended: u32,
    /// Sum of the instants since which each waiter waits: total waiting time at `t` is `waiters * t - this`.
    pub waiting_since_sum_ms: i64,
    /// The earliest of those instants.
    pub oldest_wait_at_ms: Option<i64>,
    /// Findings of weight warning or critical, over every lock.
    pub findings: u32,
    /// Locks by verdict, worst first; verdicts that no lock has are left out.
    pub verdicts: Vec<(Verdict, u32)>,
}

/// One root on the board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RootBrief {
    /// Its ensemble, where it has a name.
    pub tag: Option<EnsembleTag>,
    /// Its path.
    pub path: String,
    /// Its state.
    pub state: RootState,
    /// Since when.
    pub since_ms: i64,
    /// Why it is not live; empty when it is.
    pub why: String,
    /// Locks under it.
    pub locks: u32,
    /// What to make of it, in words, where it has no lock.
    pub help: String,
}

/// What turns one board into the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoardDelta {
    /// The new head, when it changed.
    pub head: Option<BoardHead>,
    /// The rows' difference, when they changed.
    pub window: Option<WindowDelta<LockRow>>,
}

impl Board {
    /// The difference that turns `self` into `next`; None when they are equal.
    pub fn diff(&self, next: &Self) -> Option<BoardDelta> {
        let head = (self.head != next.head).then(|| next.head.clone());
        let window = self.window.diff(&next.window);
        (head.is_some() || window.is_some()).then_some(BoardDelta { head, window })
    }

    /// Applies a difference made by [`Board::diff`].
    pub fn apply(&mut self, delta: &BoardDelta) {
        if let Some(head) = &delta.head {
            self.head = head.clone();
        }
        if let Some(window) = &delta.window {
            self.window.apply(window);
        }
    }
}
