//! Counters of release outcomes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use lockscope_view::Outcome;
use parking_lot::RwLock;

/// Counters of one service; they only grow.
#[derive(Debug)]
pub(super) struct Counts {
    ended: RwLock<BTreeMap<String, [AtomicU64; Outcome::ALL.len()]>>,
    refused: AtomicU64,
}

impl Counts {
    pub(super) fn new(ensembles: impl Iterator<Item = String>) -> Self {
        let ended = RwLock::new(ensembles.map(|name| (name, Default::default())).collect());
        Self { ended, refused: AtomicU64::new(0) }
    }

    /// Counts for another ensemble from now on, and goes on where that is known.
    pub(super) fn add(&self, ensemble: &str) {
        let mut ended = self.ended.write();
        ended.entry(ensemble.to_owned()).or_default();
    }

    /// Counts an outcome. A request for an unknown ensemble counts as rejected.
    pub(super) fn ended(&self, ensemble: Option<&str>, outcome: Outcome) {
        let ended = self.ended.read();
        let of = ensemble.and_then(|name| ended.get(name));
        match of.and_then(|outcomes| outcomes.get(outcome as usize)) {
            Some(counter) => counter.fetch_add(1, Ordering::Relaxed),
            None => self.refused.fetch_add(1, Ordering::Relaxed),
        };
    }

    pub(super) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn told(&self) -> OutcomeCounts {
        let of = |outcomes: &[AtomicU64; Outcome::ALL.len()]| {
            let counts = outcomes.iter().map(|count| count.load(Ordering::Relaxed));
            Outcome::ALL.into_iter().zip(counts).collect()
        };
        let ended = self.ended.read();
        OutcomeCounts {
            ended: ended.iter().map(|(name, outcomes)| (name.clone(), of(outcomes))).collect(),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct OutcomeCounts {
    /// Requests by ensemble and outcome.
    pub ended: Vec<(String, Vec<(Outcome, u64)>)>,
    pub refused: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_is_counted_where_it_was() {
        let counts = Counts::new(["a".to_owned(), "b".to_owned()].into_iter());
        counts.ended(Some("b"), Outcome::Denied);
        counts.ended(Some("elsewhere"), Outcome::Denied);
        counts.refused();
        let told = counts.told();
        let denied = |at: usize| told.ended[at].1.iter().find(|(outcome, _)| *outcome == Outcome::Denied).unwrap().1;
        assert_eq!((denied(0), denied(1), told.refused), (0, 1, 2));
    }
}
