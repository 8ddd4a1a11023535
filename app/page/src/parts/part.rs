//! A part of what a page shows.

use leptos::prelude::*;

use super::shown::Shown;
use crate::erase::dynamic;
use crate::follow::leave_with_owner;

/// Draws a part of what is shown, anew only when that part changed; nothing while there is nothing to show.
pub(crate) fn part<S, T>(
    source: Memo<Option<S>>,
    // What of it is drawn.
    of: impl Fn(&S) -> T + Send + Sync + 'static,
    // How.
    draw: impl Fn(&T) -> AnyView + Send + 'static,
) -> AnyView
where
    S: Send + Sync + 'static,
    T: PartialEq + Send + Sync + 'static,
{
    part_of(move || source.with(|source| source.as_ref().map(&of)), draw)
}

pub(super) fn part_of<T: PartialEq + Send + Sync + 'static>(
    of: impl Fn() -> Option<T> + Send + Sync + 'static,
    draw: impl Fn(&T) -> AnyView + Send + 'static,
) -> AnyView {
    erased(Box::new(move || of().map(Shown::new)), Box::new(move |shown| shown.get().map(&draw)))
}

type Read = Box<dyn Fn() -> Option<Shown> + Send + Sync>;
type Draw = Box<dyn Fn(&Shown) -> Option<AnyView> + Send>;

/// Compiled once for all parts.
fn erased(of: Read, draw: Draw) -> AnyView {
    let shown = Memo::new(move |_| {
        leave_with_owner();
        of()
    });
    dynamic(move || shown.with(|shown| shown.as_ref().and_then(&draw)))
}
