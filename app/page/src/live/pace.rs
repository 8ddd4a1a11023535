//! When what came is drawn: between two paints and at most once each, in a task of its own. Working out what changed and
//! painting it in one task would keep the browser from answering for as long as both take.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use leptos::prelude::*;

/// Something to draw. All that waits for the same paint is drawn at once, so that no effect runs twice.
type Work = Box<dyn FnOnce()>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// Nothing was drawn since the last paint.
    Free,
    /// Something was, and the next paint is yet to come.
    Drawn,
    /// Something waits for the time after the next paint.
    Waits,
}

thread_local! {
    static PACE: Cell<Pace> = const { Cell::new(Pace::Free) };
    /// Whoever adds something has a piece of work or two here: what is due is marked as such, and drawn as it is then.
    static WORK: RefCell<Vec<Work>> = const { RefCell::new(Vec::new()) };
}

/// Runs this in the current task, or if something was drawn since the last paint, in a task right after the next one.
/// While nothing is painted, as in a tab that nobody sees, it waits.
pub(super) fn draw_soon(work: impl FnOnce() + 'static) {
    if PACE.get() == Pace::Free {
        draw(Box::new(work));
    } else {
        wait(Box::new(work));
    }
}

/// Runs this in a task after the next paint: for who is called by what comes right before it, as scrolling is.
pub(super) fn draw_after_paint(work: impl FnOnce() + 'static) {
    if PACE.get() == Pace::Free {
        set_timeout(draw_rest, Duration::ZERO);
    }
    wait(Box::new(work));
}

fn wait(work: Work) {
    WORK.with_borrow_mut(|waiting| waiting.push(work));
    PACE.set(Pace::Waits);
}

fn draw(work: Work) {
    PACE.set(Pace::Drawn);
    work();
    request_animation_frame(|| match PACE.get() {
        // Right after the paint, which is part of the task that this callback runs in.
        Pace::Waits => set_timeout(draw_rest, Duration::ZERO),
        Pace::Free | Pace::Drawn => PACE.set(Pace::Free),
    });
}

/// What waited, at once.
fn draw_rest() {
    let waiting = WORK.take();
    draw(Box::new(move || waiting.into_iter().for_each(|work| work())));
}
