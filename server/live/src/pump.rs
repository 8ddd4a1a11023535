//! The one task that projects: whenever the model changed, each view somebody looks at, as often as its pace allows and
//! never for more than a fifth of the time; on a thread of its own. Knows no socket.

use std::collections::{BTreeMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};

use super::channel::Channel;
use super::{Hub, LOOK_EVERY_MS, Owner, REST_FACTOR};
use lockscope_runtime::clock;
use lockscope_runtime::shutdown::CancellationToken;

/// Time of one pass that the views of one owner take, before others' turn comes.
const SLICE: Duration = Duration::from_millis(10);
/// Between two passes, at least: changes that come together are shown together.
const REST_MIN: Duration = Duration::from_millis(1);
const REST_FAILED: Duration = Duration::from_millis(50);

#[derive(Default)]
struct Pass {
    /// The CPU time that it took.
    spent: Duration,
    /// From when on some view wants to be looked at, whatever the model does.
    again_at: Option<Instant>,
    /// Views that wait for a change of the model.
    ready: usize,
    /// Views that may differ already, and wait until they may be looked at.
    waiting: usize,
}

/// Starts it on a thread of its own, from within a Tokio runtime: to hand each look to a thread takes longer than most
/// looks. It ends when stopped, or when the model is gone.
pub fn start(hub: Arc<Hub>, stop: CancellationToken) -> JoinHandle<()> {
    let runtime = Handle::current();
    spawn_blocking(move || runtime.block_on(run(hub, stop)))
}

/// Looks until stopped, or until the model is gone, and blocks the thread meanwhile.
async fn run(hub: Arc<Hub>, stop: CancellationToken) {
    let mut revisions = hub.projection().revisions();
    let mut last = Pass::default();
    loop {
        let latest = clock::instant() + Duration::from_millis(LOOK_EVERY_MS);
        let again_at = last.again_at.map_or(latest, |at| at.min(latest));
        // When nobody looks, or every view waits for its time anyway, changes need no pass. Whoever begins to look kicks.
        let is_asleep = last.ready == 0;
        if revisions.is_closed() {
            return;
        }
        tokio::select! {
            () = stop.cancelled() => return,
            changed = revisions.changed(), if !is_asleep => if changed.is_err() { return },
            () = hub.kicked() => {}
            () = tokio::time::sleep_until(again_at.into()) => {}
        }
        // The panic itself is logged where it happened.
        last = catch_unwind(AssertUnwindSafe(|| pass(&hub))).unwrap_or_else(|_| {
            tracing::error!("a view could not be looked at");
            Pass { again_at: Some(clock::instant() + REST_FAILED), ..Pass::default() }
        });
        if last.ready + last.waiting > 0 {
            thread::sleep((last.spent * REST_FACTOR).max(REST_MIN));
        }
    }
}

/// Watched views, the ones that were looked at longest ago first, each owner's for a slice of time: nobody's many views
/// keep another's one waiting.
fn pass(hub: &Hub) -> Pass {
    let mut by_owner: BTreeMap<Owner, Vec<Arc<Channel>>> = BTreeMap::new();
    for channel in hub.watched() {
        for owner in channel.owners() {
            by_owner.entry(owner).or_default().push(channel.clone());
        }
    }
    let cpu = clock::thread_cpu();
    let mut passed = Pass::default();
    let mut done = HashSet::new();
    for channels in by_owner.values_mut() {
        channels.sort_by_cached_key(|channel| channel.looked_at());
        let mut own = Duration::ZERO;
        for channel in channels.iter().filter(|channel| done.insert(Arc::as_ptr(channel))) {
            let began = clock::instant();
            match channel.refresh(hub.projection(), began) {
                Ok(None) => passed.ready += 1,
                Ok(Some(due)) => {
                    passed.waiting += 1;
                    passed.again_at = Some(passed.again_at.map_or(due, |at| at.min(due)));
                }
                Err(error) => tracing::error!(%error, "a view could not be brought up to date"),
            }
            own += began.elapsed();
            if own >= SLICE {
                // The others of this owner have their turn in the next pass.
                passed.again_at = Some(began);
                passed.ready += 1;
                break;
            }
        }
    }
    hub.forget_idle(clock::instant());
    passed.spent = clock::thread_cpu().saturating_sub(cpu);
    passed
}
