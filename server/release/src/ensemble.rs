//! One ensemble as the service sees it: its model to plan from and to verify with, and the session to act with. The
//! only file of the crate that knows the model.

use std::time::Duration;

use lockscope_core::observatory::Observatory;
pub(super) use lockscope_core::release::Target;
use lockscope_core::release::{End, Refusal};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::split_path;
use lockscope_view::{ReleasePlan, Scope};

use super::refusal::{Rejection, RejectionReason};
use lockscope_live::engine::Reader;
use lockscope_live::project::{EnsembleInfo, Holding, ProjectionContext};
use lockscope_runtime::clock::Clock;
use lockscope_zookeeper::{ReleaseClient, RevokeOutcome, Right, is_ours};

#[derive(Clone)]
pub struct EnsembleHandle {
    pub info: EnsembleInfo,
    pub reader: Reader<Observatory>,
    pub acting: ReleaseClient,
    /// The clock of the observer: what is believed is live by this one.
    pub clock: Clock,
}

impl EnsembleHandle {
    fn look<T>(&self, look: impl FnOnce(ProjectionContext<'_>) -> T) -> T {
        let now = || TimeMs(self.clock.now_ms());
        self.reader.read(|observatory| {
            look(ProjectionContext { observatory, ensemble: &self.info, scope: &Scope::ALL, now: now() })
        })
    }

    pub(super) fn plan(&self, path: &str) -> Result<(ReleasePlan, Target), Rejection> {
        let (plan, target) = self.look(|look| look.release_plan(path)).map_err(|refusal| refused(path, refusal))?;
        match target.owner {
            Some(owner) if is_ours(owner.0) => Err(refused(path, Refusal::Ours)),
            _ => Ok((plan, target)),
        }
    }

    /// Whether we may delete it.
    pub(super) async fn right(&self, path: &str) -> Right {
        self.acting.right(split_path(path).map_or("/", |(directory, _)| directory)).await
    }

    pub(super) fn is_live(&self, path: &str, target: &Target) -> bool {
        self.look(|look| look.holding("", path, target.czxid)).is_live
    }

    pub(super) async fn release(&self, target: Target) -> End {
        self.acting.release(target).await
    }

    /// The czxids of what is at these paths now, in order; None where that could not be read in time.
    pub(super) async fn there(&self, paths: &[String], within: Duration) -> Vec<Option<Option<i64>>> {
        let there = self.acting.there(paths, within).await;
        there.into_iter().map(|there| there.map(|node| node.map(|czxid| czxid.0))).collect()
    }

    pub(super) async fn revoke(&self, target: &Target) -> RevokeOutcome {
        self.acting.revoke(target).await
    }

    /// Waits until the model knows that an incarnation is gone, for so long at most; who holds then.
    pub(super) async fn holding(&self, lock: &str, target: &Target, within: Duration) -> Holding {
        let mut revisions = self.reader.revisions();
        let look = || self.look(|look| look.holding(lock, &target.path, target.czxid));
        let gone = async {
            loop {
                revisions.borrow_and_update();
                let holding = look();
                if (holding.is_live && holding.is_gone) || revisions.changed().await.is_err() {
                    return holding;
                }
            }
        };
        tokio::time::timeout(within, gone).await.unwrap_or_else(|_| look())
    }
}

fn refused(path: &str, refusal: Refusal) -> Rejection {
    let kind = match refusal {
        Refusal::NotWatched | Refusal::NoSuchZnode => RejectionReason::NotFound,
        Refusal::NotLive(_) | Refusal::NotRead => RejectionReason::NotLive,
        Refusal::Denied
        | Refusal::Directory
        | Refusal::NotAContender
        | Refusal::HasChildren
        | Refusal::Ours
        | Refusal::Member
        | Refusal::Item
        | Refusal::SetAside => RejectionReason::NotReleasable,
    };
    Rejection::new(kind, format!("{path} can't be released: {refusal}."))
}
