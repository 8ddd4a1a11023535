//! The one task that projects: whenever the model changed, each view somebody looks at, at most 20 times a second and
//! never for more than a fifth of the time; off the runtime's threads. Knows no socket.

use std::sync::Arc;
use std::time::Duration;

use super::{Hub, LOOK_EVERY_MS, PROJECT_EVERY_MS, REST_FACTOR};
use crate::clock;
use crate::shutdown::Stop;

/// Runs until stopped, or until the model is gone.
pub async fn run(hub: Arc<Hub>, stop: Stop) {
    let mut revisions = hub.projection().revisions();
    loop {
        tokio::select! {
            () = stop.stopped() => return,
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
            () = stop.stopped() => return,
            () = tokio::time::sleep(rest) => {}
        }
    }
}

/// Every watched view once; gives the time that took, and whether a view was too fresh to be looked at again.
fn pass(hub: &Hub) -> (Duration, bool) {
    let mut spent = Duration::ZERO;
    let mut is_dirty = false;
    for channel in hub.watched() {
        let began = clock::instant();
        match channel.refresh(hub.projection(), began) {
            Ok(later) => is_dirty |= later,
            Err(error) => tracing::error!(%error, "a view could not be brought up to date"),
        }
        spent += began.elapsed();
    }
    hub.forget_idle(clock::instant());
    (spent, is_dirty)
}
