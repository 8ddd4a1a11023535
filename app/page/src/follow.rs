//! Following what outlives whoever follows. Leptos keeps an effect or a memo that is gone on the list of each signal and memo
//! that it read: 60 bytes and more of each row that came and went, for as long as the page is open, and each change of the
//! signal walks along the list. What is drawn anew or comes and goes takes itself off the lists with this.

use leptos::prelude::*;
use leptos::reactive::graph::{Observer, Source as _, Subscriber as _, ToAnySource as _};

/// A signal's value. Whoever reads it follows it until the owner around the reader is cleaned up or gone.
pub(crate) fn followed<T: Clone + Send + Sync + 'static>(signal: RwSignal<T>) -> T {
    follow(signal);
    signal.get_untracked()
}

pub(crate) fn follow<T: Send + Sync + 'static>(signal: RwSignal<T>) {
    let Some(follower) = Observer::get() else { return };
    signal.track();
    let source = signal.to_any_source();
    on_cleanup(move || source.remove_subscriber(&follower));
}

/// Whoever reads now leaves all that it follows when the owner around it is cleaned up, if it is still there then: a part of
/// a row when the row goes, a part of a view when the view is drawn anew.
pub(crate) fn leave_with_owner() {
    if let Some(follower) = Observer::get() {
        on_cleanup(move || follower.clear_sources(&follower));
    }
}
