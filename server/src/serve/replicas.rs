//! What replicas do together: each act on a lock has its turn, limits hold for all, and a chat is told once.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use lockscope_alerts::duty::{Duty, DutyAnswer, Ledger};
use lockscope_cluster::{Cluster, Document};
use lockscope_release::{Coordination, LimitedRelease, SharedLedger, Turn};
use lockscope_runtime::clock::Clock;

/// How long an act waits for another replica's: as long as one takes at most.
const TURN_MAX: Duration = Duration::from_secs(20);

/// For how long whoever is to tell is waited for, where it does not: it may not know of it, as a leader that found no alert
/// which began and ended while it looked at nothing.
const FIRST_MAX_MS: i64 = 60_000;
/// By how much later than the one before it another replica tells in its place: they are to find what it noted.
const NEXT_AFTER_MS: i64 = 10_000;

/// Whether a replica that does not lead tells what nobody told for so long; `rank`: its place among the replicas, by their ids.
fn tells_in_place(rank: Option<usize>, overdue_ms: i64) -> bool {
    let turn = match rank {
        Some(0) => 0,
        Some(1) => 1,
        Some(_) | None => 2,
    };
    overdue_ms >= FIRST_MAX_MS + turn * NEXT_AFTER_MS
}

#[derive(Debug)]
pub(super) struct Replicas {
    cluster: Cluster,
    clock: Clock,
}

impl Replicas {
    pub(super) fn new(cluster: &Cluster, clock: &Clock) -> Arc<Self> {
        Arc::new(Self { cluster: cluster.clone(), clock: clock.clone() })
    }
}

impl Coordination for Replicas {
    fn turn<'a>(&'a self, ensemble: &'a str, lock: &'a str) -> BoxFuture<'a, Result<Turn, String>> {
        Box::pin(async move {
            let mutex = self.cluster.act_mutex(ensemble, lock, TURN_MAX).await;
            mutex.map(|held| Box::new(held) as Turn).map_err(|error| error.to_string())
        })
    }

    fn count(&self, release: LimitedRelease) -> BoxFuture<'_, Result<Option<i64>, String>> {
        Box::pin(async move {
            let counted = self.cluster.update(Document::Limits, |bytes| {
                let mut ledger = SharedLedger::parse(bytes);
                let wait_ms = ledger.count(self.clock.now_ms(), release.clone());
                (wait_ms, wait_ms.is_none().then(|| ledger.to_bytes()))
            });
            counted.await.map_err(|error| error.to_string())
        })
    }
}

impl Duty for Replicas {
    fn is_ours(&self, overdue_ms: i64) -> bool {
        self.cluster.is_leader() || tells_in_place(self.cluster.rank(), overdue_ms)
    }

    fn is_cut_off(&self) -> bool {
        self.cluster.is_cut_off()
    }

    fn told<'a>(&'a self, route: &'a str) -> DutyAnswer<'a, Ledger> {
        Box::pin(async move {
            let read = self.cluster.read(Document::Told(route)).await;
            read.map(|bytes| Ledger::parse(&bytes)).map_err(|error| error.to_string())
        })
    }

    fn note<'a>(&'a self, route: &'a str, told: Ledger) -> DutyAnswer<'a, ()> {
        Box::pin(async move {
            let noted = self
                .cluster
                .update(Document::Told(route), |bytes| ((), Some(Ledger::parse(bytes).with(&told).to_bytes())));
            noted.await.map_err(|error| error.to_string())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_leader_does_not_tell_others_tell_one_after_the_other() {
        for (rank, from_ms) in [(Some(0), 60_000), (Some(1), 70_000), (Some(2), 80_000), (None, 80_000)] {
            assert!(!tells_in_place(rank, from_ms - 1) && tells_in_place(rank, from_ms), "{rank:?}");
        }
    }
}
