//! The one task that projects: whenever the model changed, each view somebody looks at, at most 20 times a second and
//! never for more than a fifth of the time; off the runtime's threads. Knows no socket.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::channel::Channel;
use super::{Hub, LOOK_EVERY_MS, Owner, PROJECT_EVERY_MS, REST_FACTOR};
use runtime::clock;
use runtime::shutdown::CancellationToken;

/// Time of one pass that the views of one owner take, before others' turn comes.
const SLICE: Duration = Duration::from_millis(10);

/// Runs until stopped, or until the model is gone.
pub async fn run(hub: Arc<Hub>, stop: CancellationToken) {
    let mut revisions = hub.projection().revisions();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            changed = revisions.changed() => if changed.is_err() { return },
            () = hub.kicked() => {}
            () = tokio::time::sleep(Duration::from_millis(LOOK_EVERY_MS)) => {}
        }
        let of_pass = hub.clone();
        let (spent, is_dirty) = match tokio::task::spawn_blocking(move || pass(&of_pass)).await {
            Ok(passed) => passed,
            Err(error) => {
                tracing::error!(%error, "a view could not be looked at");
                (Duration::ZERO, true)
            }
        };
        if is_dirty {
            hub.kick();
        }
        let rest = (spent * REST_FACTOR).max(Duration::from_millis(PROJECT_EVERY_MS).saturating_sub(spent));
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(rest) => {}
        }
    }
}

/// Watched views, the ones that were looked at longest ago first, each owner's for a slice of time: nobody's many views
/// keep another's one waiting. Gives the time that took, and whether some view is still to be looked at.
fn pass(hub: &Hub) -> (Duration, bool) {
    let mut by_owner: BTreeMap<Owner, Vec<Arc<Channel>>> = BTreeMap::new();
    for channel in hub.watched() {
        for owner in channel.owners() {
            by_owner.entry(owner).or_default().push(channel.clone());
        }
    }
    let (mut spent, mut is_dirty) = (Duration::ZERO, false);
    let mut done = HashSet::new();
    for channels in by_owner.values_mut() {
        channels.sort_by_cached_key(|channel| channel.looked_at());
        let mut own = Duration::ZERO;
        for channel in channels.iter().filter(|channel| done.insert(Arc::as_ptr(channel))) {
            let began = clock::instant();
            match channel.refresh(hub.projection(), began) {
                Ok(later) => is_dirty |= later,
                Err(error) => tracing::error!(%error, "a view could not be brought up to date"),
            }
            own += began.elapsed();
            if own >= SLICE {
                is_dirty = true;
                break;
            }
        }
        spent += own;
    }
    hub.forget_idle(clock::instant());
    (spent, is_dirty)
}
