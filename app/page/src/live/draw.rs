//! When what came is drawn: the version signal is set once between two paints, and about once a second while more comes than
//! can be followed by eye. What is shown is then a little older than what is known, and is called so.

use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;

use super::{Live, pace};
use lockscope_wire::live::{Cadence, LiveModel, as_of};
use lockscope_wire::{Body, RootState};

/// What came and is not drawn yet.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    cadence: Cadence,
    is_due: bool,
    /// The answer that is awaited brings other rows, and nothing else is new.
    is_moved: bool,
    /// All rows are here that are on screen.
    has_all: bool,
    /// While that waits for its second: up to when what is shown is known to be true, and the timer.
    waits: Option<(Option<i64>, TimeoutHandle)>,
}

/// What is shown, as far as it must not wait.
pub(super) type Stand = (Option<i64>, Option<RootState>);

pub(super) fn stand(model: &LiveModel) -> Stand {
    (model.known_at_ms(), model.body().and_then(as_of).map(|as_of| as_of.state))
}

impl Live {
    /// Something changed: `before` is how it stood. An answer that somebody waits for is drawn at once, and whether all is
    /// live. Rows beyond the screen may wait; a run of the lab is there to be watched.
    pub(super) fn draw_soon(self, before: Stand, is_answer: bool) {
        let (known_at_ms, state) = before;
        let is_asked_for = is_answer && !self.is_ahead();
        let (state_now, is_run) =
            self.model.with_value(|model| (stand(model).1, matches!(model.body(), Some(Body::Lab(_)))));
        let is_urgent = is_asked_for || is_run || document().hidden() || state_now != state;
        let local_ms = self.local_now_ms();
        let wait_ms = self.drawing.try_update_value(|drawing| drawing.cadence.wait_ms(local_ms)).unwrap_or_default();
        if is_urgent || wait_ms == 0 {
            self.ends_wait();
            self.draw();
        } else if !self.drawing.with_value(|drawing| drawing.is_due) {
            let wait = Duration::from_millis(wait_ms.unsigned_abs());
            let Ok(timer) = set_timeout_with_handle(move || _ = self.ends_wait().then(|| self.draw()), wait) else {
                return self.draw();
            };
            self.drawing.update_value(|drawing| {
                drawing.is_due = true;
                drawing.waits = Some((known_at_ms, timer));
            });
        }
    }

    /// The answer that came brings rows beyond the screen alone.
    fn is_ahead(self) -> bool {
        let is_ahead = |drawing: &mut Drawing| std::mem::take(&mut drawing.is_moved) && drawing.has_all;
        self.drawing.try_update_value(is_ahead).unwrap_or_default()
    }

    /// Lets nothing wait any longer; false where nothing waits.
    fn ends_wait(self) -> bool {
        let waits = self.drawing.try_update_value(|drawing| {
            drawing.is_due &= drawing.waits.is_none();
            drawing.waits.take()
        });
        let Some((_, timer)) = waits.flatten() else { return false };
        timer.clear();
        true
    }

    /// Draws at once what waits.
    pub(super) fn draw_what_waits(self) {
        if self.ends_wait() {
            self.draw_now();
        }
    }

    fn draw(self) {
        if self.drawing.try_update_value(|drawing| std::mem::replace(&mut drawing.is_due, true)) == Some(false) {
            pace::draw_soon(move || self.draw_now());
        }
    }

    fn draw_now(self) {
        let local_ms = self.local_now_ms();
        self.drawing.update_value(|drawing| {
            drawing.is_due = false;
            drawing.cadence.drawn(local_ms);
        });
        self.bump();
    }

    /// What is asked for now differs in its rows alone.
    pub(super) fn asks_for_rows(self, is_moved: bool) {
        self.drawing.update_value(|drawing| drawing.is_moved = is_moved);
    }

    /// Whether all rows are here that are on screen.
    pub(crate) fn has_all_rows(self, has_all: bool) {
        self.drawing.update_value(|drawing| drawing.has_all = has_all);
    }

    /// Up to when what is shown is known to be true.
    pub(super) fn shown_known_at_ms(self) -> Option<i64> {
        let waits = self.drawing.with_value(|drawing| drawing.waits.as_ref().map(|(known_at_ms, _)| *known_at_ms));
        waits.unwrap_or_else(|| self.model.with_value(LiveModel::known_at_ms))
    }
}
