//! Whether what a model shows of a lock is known to be so.

use lockscope_core::observation::RootId;
use lockscope_core::observatory::Observatory;
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;

/// Whether what is said of a lock is known to be so now. Of what is watched no longer it is known that nothing is, and so it
/// is of what was below a root that is gone.
pub(super) fn is_seen(model: &Observatory, path: &str, now: TimeMs) -> bool {
    model.root_of(path).is_none_or(|root| is_root_seen(model, root, now).0 || is_root_gone(model, root, now))
}

/// Up to which instant all that was true of a lock is in what is shown of it. Of what is watched no longer nothing changes.
pub(super) fn known_at(model: &Observatory, path: &str, now: TimeMs) -> TimeMs {
    let view = model.root_of(path).and_then(|root| model.roots().get(root.0 as usize));
    view.map_or(now, |view| view.known_at().min(now))
}

/// Whether the root of a lock is gone: nothing is below it, whatever was there before.
pub(super) fn is_gone(model: &Observatory, path: &str, now: TimeMs) -> bool {
    model.root_of(path).is_some_and(|root| is_root_gone(model, root, now))
}

fn is_root_gone(model: &Observatory, root: RootId, now: TimeMs) -> bool {
    model.root_state(root, now).0 == RootState::Gone
}

/// Whether a root is there and what is below it is known now, and since when it is or is not.
pub(super) fn is_root_seen(model: &Observatory, root: RootId, now: TimeMs) -> (bool, TimeMs) {
    let (state, since, _) = model.root_state(root, now);
    match state {
        RootState::Live | RootState::Partial | RootState::Reduced => (true, since),
        RootState::Syncing | RootState::Stale | RootState::Denied | RootState::Gone => (false, since),
    }
}

/// What is said at the end of an alert of which nobody saw for too long whether it goes on.
pub(super) fn no_longer_followed(sentence: &str) -> String {
    format!(
        "Not seen for a day and no longer followed; whether it is over is not known. When it was last seen: {sentence}"
    )
}
