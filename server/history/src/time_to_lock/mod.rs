//! How long the waiters of a lock still have to wait, by its recorded lives: what these say of how it is used, and how
//! often what would have been said of former waits was right. Pure.
//!
//! Lives are gone through as they happened. When somebody joins a line, a range is told from the holds that had ended by
//! then, who held for how long, and who stood before; when its wait ends it is seen whether the range was right, and the
//! next ranges are corrected by that. Nothing of the future is ever looked at.

mod learner;
mod read;

use lockscope_core::recipe::{self, Access};
use lockscope_core::time::TimeMs;
use lockscope_core::time_to_lock::Habits;
use lockscope_core::znode::Zxid;

pub use learner::{HOLDS_RECENT_MAX, Learner, READERS_AHEAD_MAX};
pub use read::{LIVES_READ_MAX, RANGE_MS, read};

use crate::store::rows::{Span, SpanEnd};

/// Waits that are judged, the newest. Overflow policy: of older ones it is only learned how the lock is used.
pub const WAITS_JUDGED_MAX: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    Mutex,
    /// Several at once: as many as were ever seen.
    Semaphore,
    ReadWrite,
}

impl LineKind {
    /// By the name of a recipe; None where there is no line whose order is seen.
    pub fn of(recipe: &str) -> Option<Self> {
        match recipe {
            "sequential_mutex" => Some(Self::Mutex),
            "semaphore" => Some(Self::Semaphore),
            "read_write" => Some(Self::ReadWrite),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineLife {
    /// Its identity; of two that joined at the same instant the smaller one stands before.
    pub czxid: Zxid,
    pub joined_at: TimeMs,
    /// When it held first.
    pub held_at: Option<TimeMs>,
    /// When it left; None for one that goes on.
    pub left_at: Option<TimeMs>,
    pub reads: bool,
    /// When it began is not known, or when it ended.
    pub is_uncertain: bool,
}

impl LineLife {
    pub fn of(span: &Span) -> Self {
        Self {
            czxid: span.czxid,
            joined_at: span.joined_at,
            held_at: span.held_at,
            left_at: Some(span.left_at),
            reads: reads(&span.recipe, &span.node),
            is_uncertain: span.is_lower_bound || span.how == SpanEnd::Unknown,
        }
    }
}

fn reads(recipe: &str, node: &str) -> bool {
    let access = || recipe::rule_of(node, Some(true)).map(|id| recipe::rule(id).access);
    recipe == "read_write" && access() == Some(Access::Read)
}

/// How often ranges were right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    /// Waits that ended within the range that was told when they began.
    pub right: u64,
    /// Waits that ended before it.
    pub sooner: u64,
    /// Waits that ended behind it, or were given up behind it.
    pub later: u64,
    /// Waits that were given up before the end of their range, or whose end was not seen: they count as neither.
    pub unknown: u64,
    /// Waits of which no range was told.
    pub untold: u64,
    /// Of those that are judged, how many would have been right without any correction.
    pub right_uncorrected: u64,
}

impl Calibration {
    pub fn judged(&self) -> u64 {
        self.right + self.sooner + self.later
    }

    /// How many of a hundred were right; None where none is judged.
    pub fn right_percent(&self) -> Option<u64> {
        (self.right * 200 + self.judged()).checked_div(2 * self.judged())
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learned {
    pub habits: Habits,
    pub calibration: Calibration,
    /// The most that held at once.
    pub leases: usize,
}

/// Goes through lives in the order in which they happened, however they come.
pub fn learn(kind: LineKind, lives: &[LineLife], judged_max: usize) -> Learned {
    let mut learner = Learner::new(kind);
    let waits = lives.iter().filter(|life| life.held_at != Some(life.joined_at)).count();
    let mut unjudged = waits.saturating_sub(judged_max);
    for (at, step, life) in steps(lives) {
        match step {
            Step::Left => learner.left(at, life),
            Step::Joined => {
                let is_judged = life.held_at != Some(life.joined_at) && unjudged == 0;
                unjudged = unjudged.saturating_sub(usize::from(life.held_at != Some(life.joined_at)));
                learner.joined(at, life, is_judged);
            }
            Step::Held => learner.held(at, life),
        }
    }
    learner.finish()
}

/// What happens in a life, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Joined,
    Held,
    Left,
}

/// All steps of all lives. At one instant some leave, others join, and then others hold; what is over within that instant
/// ends behind its own beginning.
fn steps(lives: &[LineLife]) -> impl Iterator<Item = (TimeMs, Step, &LineLife)> {
    let mut steps: Vec<(TimeMs, u8, Zxid, Step, &LineLife)> = Vec::with_capacity(3 * lives.len());
    for life in lives {
        // A clock that was set back must not let anybody hold before it joined, or leave before it held.
        let held_at = life.held_at.map(|at| at.max(life.joined_at));
        let begun_at = held_at.unwrap_or(life.joined_at);
        steps.push((life.joined_at, 1, life.czxid, Step::Joined, life));
        steps.extend(held_at.map(|at| (at, 2, life.czxid, Step::Held, life)));
        steps.extend(life.left_at.map(|at| match at > begun_at {
            true => (at, 0, life.czxid, Step::Left, life),
            false => (begun_at, 1 + u8::from(held_at.is_some()), life.czxid, Step::Left, life),
        }));
    }
    steps.sort_by_key(|(at, rank, czxid, step, _)| (*at, *rank, *czxid, *step));
    steps.into_iter().map(|(at, _, _, step, life)| (at, step, life))
}
