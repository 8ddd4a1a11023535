//! Sessions that wait for each other in a circle, and what is said of it.
//!
//! A waiter waits for all that hold its lock now, whatever stands between them in the queue, because every recipe
//! here serves in order. Where several may hold at once (a semaphore) one release is enough, so only a semaphore
//! with a single holder makes an edge. Source: the wait-for graph of database lock managers; ZooKeeper knows none.

use std::sync::Arc;

use super::sentence::{Circle, circle_sentence};
use super::time::TimeMs;
use super::znode::SessionId;

/// Steps of a circle that are listed in words; of a longer one the sentence says how many more there are.
const TOLD_MAX: usize = 8;

/// One session waits for another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CycleStep {
    /// Who waits.
    pub from: SessionId,
    /// For whom.
    pub to: SessionId,
    /// In which lock.
    pub lock: Arc<str>,
    /// Znode that waits.
    pub waiter: Box<str>,
    /// Full path of the znode that holds.
    pub holder: Box<str>,
    /// Since when the holder holds, as we saw it.
    pub held_since: TimeMs,
}

/// Sessions that wait for each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The steps, from the smallest session id on.
    pub steps: Vec<CycleStep>,
    /// When we found it.
    pub since: TimeMs,
    /// Index of the step whose holder is cheapest to release.
    pub victim: usize,
    /// Some session in it has more contenders than these: they may belong to other threads.
    pub is_doubtful: bool,
    /// Since when the same znodes hold and wait in it, as we saw it.
    pub still_since: TimeMs,
    /// It is a deadlock and not only looks like one: no session in it is doubtful, or it stood still for so long that
    /// its locks would be called stuck.
    pub is_certain: bool,
}

impl Cycle {
    /// The locks in it, in order of the steps.
    pub fn locks(&self) -> impl Iterator<Item = &Arc<str>> {
        self.steps.iter().map(|step| &step.lock)
    }

    /// The sessions in it.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.steps.iter().map(|step| step.from)
    }

    /// The step whose holder is cheapest to release.
    pub fn victim_step(&self) -> Option<&CycleStep> {
        self.steps.get(self.victim)
    }

    /// The cycle in words, with whose hold is cheapest to release.
    pub fn sentence(&self, name: impl Fn(SessionId) -> String) -> String {
        let told = self.steps.iter().take(TOLD_MAX);
        circle_sentence(&Circle {
            steps: told.map(|step| (name(step.from), step.lock.to_string(), name(step.to))).collect(),
            more: self.steps.len().saturating_sub(TOLD_MAX),
            victim: self.victim_step().map(|step| (name(step.to), step.lock.to_string())),
            is_certain: self.is_certain,
        })
    }
}
