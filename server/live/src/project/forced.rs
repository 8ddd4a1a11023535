//! Holds that somebody ended through Lockscope. The model sees a znode go and not why; who releases knows it, and tells it
//! here, also of those that a server before released, since the model goes on with what was recorded.

use std::collections::VecDeque;

use lockscope_core::assessment::AssessedLock;
use lockscope_view as view;
use tokio::sync::watch;

use super::ProjectionContext;
use crate::Current;

/// Releases that are kept; the oldest makes room, and its hold is shown as released by then.
pub const FORCED_MAX: usize = 1_000;

/// A release that was carried out: its znode was deleted by it, which is proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForcedRelease {
    pub ensemble: String,
    /// The znode.
    pub path: String,
    /// Which incarnation of it.
    pub czxid: view::Zxid,
    /// Who ordered it.
    pub by: String,
    /// The number of its outcome in the audit log; None until it is on record.
    pub record: Option<u64>,
}

/// The last releases; clones share them.
#[derive(Clone, Debug, Default)]
pub struct ForcedReleases(Current<VecDeque<ForcedRelease>>);

impl ForcedReleases {
    pub fn note(&self, release: ForcedRelease) {
        self.0.edit(|kept| {
            kept.truncate(FORCED_MAX - 1);
            kept.push_front(release);
        });
    }

    /// Hands on each release once, as it comes; those beyond [`FORCED_MAX`] at once are left out. Never ends.
    pub async fn follow(self, mut each: impl FnMut(&ForcedRelease)) {
        let (mut changes, mut known) = (self.changes(), 0);
        loop {
            let count = *changes.borrow_and_update();
            let new = usize::try_from(count.saturating_sub(known)).unwrap_or(FORCED_MAX);
            let newest: Vec<ForcedRelease> = self.0.read().iter().take(new).cloned().collect();
            newest.iter().rev().for_each(&mut each);
            known = count;
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// The release of a contender of an ensemble, by its identity; None where it is not kept.
    pub fn of(&self, ensemble: &str, czxid: view::Zxid) -> Option<ForcedRelease> {
        let kept = self.0.read();
        kept.iter().find(|one| one.czxid == czxid && one.ensemble == ensemble).cloned()
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes()
    }
}

impl ProjectionContext<'_> {
    /// Says of a lock's past holders, in the order of the model, which of them somebody released, and to those who may
    /// read the audit log who did.
    pub(super) fn mark_forced(&self, lock: &AssessedLock, forced: &ForcedReleases, past: &mut [view::PastHolder]) {
        let kept = forced.0.read();
        if kept.is_empty() {
            return;
        }
        for (shown, ended) in past.iter_mut().zip(&lock.tally.past) {
            let Some(czxid) = ended.hold.czxid.map(|czxid| view::Zxid(czxid.0)) else { continue };
            let is_it = |one: &&ForcedRelease| {
                one.czxid == czxid && one.ensemble == self.ensemble.name && one.path == ended.hold.path()
            };
            let Some(release) = kept.iter().find(is_it) else { continue };
            shown.how = view::HoldEnd::Forced;
            if self.scope.records() {
                shown.released_by = Some(release.by.clone());
                shown.record = release.record;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use lockscope_core::observation::{Observation, RootId};
    use lockscope_core::observatory::Observatory;
    use lockscope_view::{HoldEnd, LockQuery, PastHolder, Zxid};

    use super::*;
    use crate::project::EnsembleInfo;
    use crate::project::problems::tests::{LATER, model};
    use lockscope_view::Scope;

    const NODES: [&str; 3] = ["/a/lock-0000000000", "/a/lock-0000000001", "/a/lock-0000000002"];

    /// Three held one after the other; the last holds still.
    fn handed_on() -> Observatory {
        let mut observatory = model(&[(NODES[0], 1), (NODES[1], 2), (NODES[2], 3)]);
        for node in &NODES[..2] {
            observatory.apply(LATER, Observation::NodeDeleted { root: RootId(0), path: (*node).into() });
        }
        observatory
    }

    fn release(ensemble: &str, path: &str, czxid: i64) -> ForcedRelease {
        let (ensemble, path) = (ensemble.to_owned(), path.to_owned());
        ForcedRelease { ensemble, path, czxid: Zxid(czxid), by: "ada".to_owned(), record: Some(4) }
    }

    fn past(observatory: &Observatory, forced: &ForcedReleases, scope: &Scope) -> Vec<PastHolder> {
        let ensemble = EnsembleInfo {
            name: "prod".into(),
            connect: "zk:2181".into(),
            color: None,
            has_others: false,
            labels: Default::default(),
            excluded: None,
            proof: Default::default(),
        };
        let look = ProjectionContext { observatory, ensemble: &ensemble, scope, now: LATER };
        let query = LockQuery { path: "/a".into(), ..LockQuery::default() };
        look.lock(&query, forced).unwrap().head.past
    }

    fn ends(past: &[PastHolder]) -> Vec<(HoldEnd, Option<&str>, Option<u64>)> {
        past.iter().map(|past| (past.how, past.released_by.as_deref(), past.record)).collect()
    }

    #[test]
    fn a_hold_is_marked_by_its_incarnation_alone() {
        let (observatory, forced) = (handed_on(), ForcedReleases::default());
        let released = (HoldEnd::Released, None, None);
        for other in [
            release("prod", NODES[0], 9),
            release("test", NODES[0], 1),
            release("prod", NODES[1], 1),
            release("prod", NODES[2], 3),
        ] {
            forced.note(other);
        }
        assert_eq!(ends(&past(&observatory, &forced, &Scope::ALL)), [released, released]);
        let before = *forced.changes().borrow();
        forced.note(release("prod", NODES[0], 1));
        assert_ne!(*forced.changes().borrow(), before, "who looks is shown it");
        let shown = past(&observatory, &forced, &Scope::ALL);
        assert_eq!(ends(&shown), [released, (HoldEnd::Forced, Some("ada"), Some(4))], "the newest first");
    }

    #[test]
    fn who_did_it_is_for_those_who_may_read_the_audit_log() {
        let (observatory, forced) = (handed_on(), ForcedReleases::default());
        forced.note(release("prod", NODES[1], 2));
        let viewer = Scope::ALL.with_records(false);
        let shown = past(&observatory, &forced, &viewer);
        assert_eq!(ends(&shown)[0], (HoldEnd::Forced, None, None));
    }

    #[test]
    fn the_oldest_release_makes_room() {
        let (observatory, forced) = (handed_on(), ForcedReleases::default());
        forced.note(release("prod", NODES[0], 1));
        (1..FORCED_MAX).for_each(|_| forced.note(release("prod", "/b/lock-0000000000", 7)));
        let first = |forced: &ForcedReleases| past(&observatory, forced, &Scope::ALL)[1].how;
        assert_eq!(first(&forced), HoldEnd::Forced);
        forced.note(release("prod", "/b/lock-0000000000", 7));
        assert_eq!(first(&forced), HoldEnd::Released);
    }
}
