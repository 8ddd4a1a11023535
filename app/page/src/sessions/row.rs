//! One session in the list.

use leptos::prelude::*;

use super::state::Slot;
use super::words;
use crate::erase::view;
use crate::exact::Exact;
use crate::format::{count, middle, visible};
use crate::live::Places;
use crate::parts::{Age, Chip, LivenessChip, Tag, cycle_mark, filled, mark, session_url};
use lockscope_view::{ROW_LOCKS_MAX, SessionRow};

/// Longest names on a row; the whole is in its title and on the session's page.
const LABEL_CHARS: usize = 120;
const LOCK_CHARS: usize = 48;
const ADDRESS_CHARS: usize = 40;

pub(super) fn row(slot: Slot, places: Places) -> AnyView {
    let Slot { at, row, is_away } = slot;
    let label = row.label.as_deref().map_or(words::NO_NAME.to_owned(), visible);
    let short = middle(&label, LABEL_CHARS);
    let number = |class: &'static str, column: &'static str, number: u32| {
        view! { <div class=class role="cell" data-col=column data-none=mark(number == 0)>{count(number)}</div> }
    };
    let time = |class: &'static str, column: &'static str, since_ms: Option<i64>| {
        view! { <div class=class role="cell" data-col=column><Age since_ms=since_ms /></div> }
    };
    view! {
        <div
            class="sess-row sess"
            role="row"
            data-key=Exact(row.key.clone())
            data-session=row.session_id.to_string()
            data-cycle=cycle_mark(row.cycle_verdict)
            data-away=mark(is_away)
            title=is_away.then_some(words::IS_AWAY)
            aria-rowindex=(at + 2).to_string()
            prop:style=move || places.style(at.into())
        >
            <div class="cell sess-id" role="cell" data-col="id">
                <a class="sess-link" href=session_url(&row.ensemble, row.session_id)>{row.session_id.to_string()}</a>
            </div>
            <div class="cell sess-mark" role="cell" data-col="state">
                {row.cycle_verdict.map(|verdict| view! { <Chip verdict=verdict /> })}
            </div>
            <div class="cell sess-who" role="cell" data-col="who" title=label>
                <bdi class="sess-label" data-none=mark(row.label.is_none())>{short}</bdi>
            </div>
            {client(&row)}
            {number("cell cell-number sess-holds", "holds", row.holds)}
            {number("cell cell-number sess-waits", "waits", row.waits)}
            {number("cell cell-number sess-blocks", "blocks", row.blocks)}
            {time("cell cell-number sess-hold", "hold", row.oldest_hold_at_ms)}
            {time("cell cell-number sess-wait", "oldest", row.oldest_wait_at_ms)}
            {number("cell cell-number sess-znodes", "znodes", row.ephemerals)}
            <div class="cell sess-locks" role="cell" data-col="locks" title=filled(locks_text(&row, usize::MAX))>
                <Tag of=row.tag.clone() />
                " "
                <bdi>{locks_text(&row, LOCK_CHARS)}</bdi>
            </div>
        </div>
    }
}

fn client(row: &SessionRow) -> AnyView {
    let address = row.client.as_ref().map(|client| visible(&client.address)).unwrap_or_default();
    let short = filled(middle(&address, ADDRESS_CHARS));
    view! {
        <div class="cell sess-client" role="cell" data-col="client">
            <LivenessChip liveness=row.liveness end=row.runs_out />
            <bdi class="sess-address" title=filled(address)>{short}</bdi>
        </div>
    }
}

/// The first locks it is in.
fn locks_text(row: &SessionRow, chars: usize) -> String {
    let names: Vec<String> = row.locks.iter().map(|path| middle(&visible(path), chars)).collect();
    let more = if row.locks.len() == ROW_LOCKS_MAX && row.holds + row.waits + row.stands_by > ROW_LOCKS_MAX as u32 {
        ", …"
    } else {
        ""
    };
    names.join(", ") + more
}
