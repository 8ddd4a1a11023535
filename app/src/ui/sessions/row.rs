//! One session in the list.

use leptos::prelude::*;

use super::state::Slot;
use crate::ui::format::{count, middle, visible};
use crate::ui::parts::{Age, VerdictChip, session_url};
use crate::wire::{ROW_LOCKS_MAX, SessionRow, Verdict};

/// Longest names on a row; the whole is in its title and on the session's page.
const LABEL_CHARS: usize = 120;
const LOCK_CHARS: usize = 48;

/// The row. It is drawn anew as a whole when its session changes.
pub(super) fn session_row(first: Slot, slots: Memo<Vec<Slot>>) -> impl IntoView {
    let slot = Memo::new(move |old: Option<&Slot>| {
        let last = old.unwrap_or(&first);
        slots.with(|slots| slots.iter().find(|slot| slot.row.key == last.row.key).unwrap_or(last).clone())
    });
    move || slot.with(draw)
}

fn draw(slot: &Slot) -> impl IntoView + use<> {
    let row = &slot.row;
    let label = row.label.as_deref().map_or("no name".to_owned(), visible);
    let locks = locks_text(row, usize::MAX);
    let ages = |class: &'static str, name: &'static str, since_ms: Option<i64>| {
        view! { <div class=class role="cell" data-col=name><Age since_ms=Signal::stored(since_ms) /></div> }
    };
    let number = |class: &'static str, name: &'static str, number: u32| {
        view! { <div class=class role="cell" data-col=name data-none={(number == 0).then_some("true")}>{count(number)}</div> }
    };
    view! {
        <div
            class="sess-row sess"
            role="row"
            data-session=row.key.clone()
            data-cycle=row.in_cycle.then_some("true")
            data-away=slot.is_away.then_some("true")
            title=slot.is_away.then_some("No longer in this place")
            aria-rowindex={slot.at + 2}
        >
            <div class="cell sess-id" role="cell" data-col="id"><a class="sess-link" href=session_url(&row.ensemble, row.session_id)>{row.session_id.to_string()}</a></div>
            <div class="cell sess-who" role="cell" data-col="who" title=label.clone()>
                {row.in_cycle.then(|| view! { <VerdictChip verdict=Signal::stored(Verdict::Deadlocked) /> })}
                <bdi class="sess-label" data-none=row.label.is_none().then_some("true")>{middle(&label, LABEL_CHARS)}</bdi>
            </div>
            {number("cell cell-number sess-holds", "holds", row.holds)}
            {number("cell cell-number sess-waits", "waits", row.waits)}
            {number("cell cell-number sess-blocks", "blocks", row.blocks)}
            {ages("cell cell-number sess-hold", "hold", row.oldest_hold_at_ms)}
            {ages("cell cell-number sess-wait", "oldest", row.oldest_wait_at_ms)}
            {number("cell cell-number sess-znodes", "znodes", row.ephemerals)}
            <div class="cell sess-locks" role="cell" data-col="locks" title=locks><bdi>{locks_text(row, LOCK_CHARS)}</bdi></div>
        </div>
    }
}

/// The first locks it is in.
fn locks_text(row: &SessionRow, chars: usize) -> String {
    let names: Vec<String> = row.locks.iter().map(|path| middle(&visible(path), chars)).collect();
    let more = if row.locks.len() == ROW_LOCKS_MAX && row.holds + row.waits > ROW_LOCKS_MAX as u32 { ", …" } else { "" };
    names.join(", ") + more
}
