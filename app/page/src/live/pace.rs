//! When what came is drawn: between two paints and at most once each, in a task of its own. Working out what changed and
//! painting it in one task would keep the browser from answering for as long as both take.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use leptos::prelude::*;

thread_local! {
    /// Something was drawn that is not painted yet, or is to be drawn in a task that is due.
    static IS_BUSY: Cell<bool> = const { Cell::new(false) };
    static AWAITS_PAINT: Cell<bool> = const { Cell::new(false) };
    /// All that waits for the same paint is drawn at once, so that no effect runs twice. The version signal is here once, and
    /// a list once or twice: scroll events come once a frame.
    static WORK: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
}

/// Runs this in a task of its own: the next one, or if something was drawn since the last paint, one right after the next
/// paint. A hidden tab is not painted, and its title is read all the same: nothing waits there.
pub(super) fn draw_soon(work: impl FnOnce() + 'static) {
    WORK.with_borrow_mut(|waiting| waiting.push(Box::new(work)));
    if !IS_BUSY.replace(true) || document().hidden() {
        set_timeout(draw, Duration::ZERO);
    }
}

fn draw() {
    for work in WORK.take() {
        work();
    }
    if !AWAITS_PAINT.replace(true) {
        // The paint is part of the task that this callback runs in.
        request_animation_frame(|| {
            AWAITS_PAINT.set(false);
            if WORK.with_borrow(Vec::is_empty) {
                IS_BUSY.set(false);
            } else {
                set_timeout(draw, Duration::ZERO);
            }
        });
    }
}
