//! When what came is drawn: the version signal is set once between two paints, and about once a second while more comes than
//! can be followed by eye. What is shown is then a little older than what is known, and is called so. Until it is drawn the
//! model is read as it was drawn last, by whatever part of the page and for whatever reason.

use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;

use super::{Live, pace};
use lockscope_view::live::{Cadence, LiveModel, as_of};
use lockscope_view::{Body, LIVE_AGE_MAX_MS};

/// What came and is not drawn yet.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    cadence: Cadence,
    is_due: bool,
    /// The answer that is awaited brings other rows, and nothing else is new.
    is_moved: bool,
    /// All rows are here that are on screen.
    has_all: bool,
    /// While that waits for its second, the timer.
    waits: Option<TimeoutHandle>,
}

/// What must not wait: a run of the lab, which is there to be watched, and whether all is live.
fn is_urgent(model: &LiveModel) -> bool {
    let state = |body: &Body| as_of(body).map(|as_of| as_of.state);
    matches!(model.newest(), Some(Body::Lab(_))) || model.newest().and_then(state) != model.body().and_then(state)
}

impl Live {
    /// Something changed. An answer that somebody waits for is drawn at once. Rows beyond the screen may wait.
    pub(super) fn draw_soon(self, is_answer: bool) {
        let is_asked_for = is_answer && !self.is_ahead();
        let (is_urgent, known_at_ms) = self.model.with_value(|model| (is_urgent(model), model.known_at_ms()));
        let local_ms = self.local_now_ms();
        let wait_ms = self.drawing.try_update_value(|drawing| drawing.cadence.wait_ms(local_ms)).unwrap_or_default();
        // Not for so long that what is shown is not live any more.
        let left_ms = known_at_ms.map_or(wait_ms, |at_ms| at_ms + LIVE_AGE_MAX_MS - 250 - self.server_now_ms());
        let wait_ms = wait_ms.min(left_ms.max(250));
        if is_asked_for || is_urgent || document().hidden() || wait_ms == 0 {
            self.ends_wait();
            self.draw();
        } else if !self.drawing.with_value(|drawing| drawing.is_due) {
            let wait = Duration::from_millis(wait_ms.unsigned_abs());
            let Ok(timer) = set_timeout_with_handle(move || _ = self.ends_wait().then(|| self.draw()), wait) else {
                return self.draw();
            };
            self.drawing.update_value(|drawing| {
                drawing.is_due = true;
                drawing.waits = Some(timer);
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
        let Some(timer) = waits.flatten() else { return false };
        timer.clear();
        true
    }

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
        self.model.update_value(LiveModel::draw);
        self.bump();
        self.judge();
    }

    /// What is asked for now differs in its rows alone.
    pub(super) fn asks_for_rows(self, is_moved: bool) {
        self.drawing.update_value(|drawing| drawing.is_moved = is_moved);
    }

    pub(crate) fn has_all_rows(self, has_all: bool) {
        self.drawing.update_value(|drawing| drawing.has_all = has_all);
    }
}
