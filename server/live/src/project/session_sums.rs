//! What each session holds, waits for and blocks, in numbers.

use lockscope_core::lock::Since;
use lockscope_core::znode::SessionId;
use lockscope_view as view;

use super::ProjectionContext;

/// Znodes of one session that are looked at for its row.
pub(super) const SPOTS_MAX: usize = 1_024;

/// What the order of sessions needs of each.
pub(super) struct Sum {
    pub(super) session: SessionId,
    pub(super) ephemerals: u32,
    pub(super) holds: u32,
    pub(super) waits: u32,
    pub(super) stands_by: u32,
    pub(super) blocks: u32,
    pub(super) oldest_wait_at_ms: i64,
    /// The worst verdict on a circle it is in.
    pub(super) cycle_verdict: Option<view::Verdict>,
}

impl ProjectionContext<'_> {
    /// A sum for every session, in order of their ids: one walk over all contenders, and no row is made.
    pub(super) fn session_sums(&self) -> Vec<Sum> {
        let cycles = self.cycle_verdicts();
        let sum = |(session, all)| Sum {
            session,
            ephemerals: self.owned(session, all),
            holds: 0,
            waits: 0,
            stands_by: 0,
            blocks: 0,
            oldest_wait_at_ms: i64::MAX,
            cycle_verdict: cycles.get(&session).copied(),
        };
        let mut sums: Vec<Sum> = self.observatory.sessions().into_iter().map(sum).collect();
        for lock in self.locks() {
            let counts = lock.recognition.counts_as_waiting();
            let blocks = if counts { lock.waiters_seen() } else { 0 };
            let Some(mirror) = self.observatory.mirror_of(lock) else { continue };
            for contender in lock.contenders(mirror) {
                let found =
                    contender.child.owner().and_then(|owner| sums.binary_search_by_key(&owner, |sum| sum.session).ok());
                let Some(sum) = found.and_then(|at| sums.get_mut(at)) else { continue };
                if lock.hold_of(&contender).is_some() {
                    sum.holds += 1;
                    sum.blocks = sum.blocks.saturating_add(blocks);
                } else if counts {
                    sum.waits += 1;
                    sum.oldest_wait_at_ms = sum.oldest_wait_at_ms.min(self.instant(Since::of(contender.child)).0);
                } else {
                    sum.stands_by += 1;
                }
            }
        }
        if self.scope.is_bounded() {
            sums.retain(|sum| sum.ephemerals + sum.holds + sum.waits + sum.stands_by > 0);
        }
        sums
    }
}
