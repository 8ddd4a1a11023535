//! The list of locks: only the rows on screen are drawn, and none moves under the pointer.

use leptos::html::Div;
use leptos::prelude::*;

use super::empty::EmptyState;
use super::row::Row;
use super::state::BoardState;
use crate::ui::format::plural;
use crate::ui::live::{FETCH_ROWS, Opened, use_fetch, use_places, use_viewport};
use crate::ui::parts::pager;
use crate::wire::{BoardQuery, View};

/// Rows before the first lock: the header.
const HEADER_ROWS: u32 = 1;

/// The list.
#[component]
pub(super) fn LockList(
    state: BoardState,
    /// The open view.
    opened: Opened,
    /// Index of the first row that was rendered.
    offset: u32,
) -> impl IntoView {
    let body = NodeRef::<Div>::new();
    let total = Memo::new(move |_| state.total());
    let rows = Signal::derive(move || total.get().unwrap_or_default());
    let shown = use_viewport(body, offset, rows);
    let slots = Memo::new(move |_| state.slots(shown.get()));
    use_places(body, Signal::derive(move || slots.with(|slots| slots.first().map(|slot| slot.at))), rows);
    let look_at = move |offset| opened.look_at(View::Board(BoardQuery { offset, limit: FETCH_ROWS, ..state.query.get() }));
    use_fetch(shown, offset, rows, Callback::new(look_at));
    hold(state);
    keep_chosen_in_sight(state, body);
    let is_empty = move || total.get() == Some(0) || total.get().is_none();
    view! {
        <ListCaption state=state total=rows />
        <div
            class="board"
            role="grid"
            aria-label="Locks"
            aria-rowcount=move || rows.get() + HEADER_ROWS
            data-grouped=move || state.query.with(|query| query.group).then_some("true")
        >
            <BoardHead />
            <div
                class="board-body"
                role="rowgroup"
                node_ref=body
                on:pointerenter=move |_| state.is_pointed_at.set(true)
                on:pointerleave=move |_| state.is_pointed_at.set(false)
                on:focusin=move |_| state.has_focus.set(true)
                on:focusout=move |_| state.has_focus.set(false)
            >
                <For each=move || slots.get() key=|slot| slot.path.clone() let(slot)>
                    <Row state=state path=slot.path slots=slots />
                </For>
            </div>
        </div>
        <Show when=is_empty>
            <EmptyState state=state />
        </Show>
        {move || pager("More locks", &state.link(|_| {}), (state.query.with(|query| query.offset), FETCH_ROWS, rows.get()), true)}
    }
}

#[component]
fn BoardHead() -> impl IntoView {
    view! {
        <div class="board-head" role="rowgroup">
            <div class="board-row" role="row" aria-rowindex="1">
                <span class="cell cell-verdict" role="columnheader">"Verdict"</span>
                <span class="cell cell-lock" role="columnheader">"Lock"</span>
                <span class="cell cell-holder" role="columnheader">"Holder"</span>
                <span class="cell cell-number" role="columnheader">"Held"</span>
                <span class="cell cell-number" role="columnheader">"Waiting"</span>
                <span class="cell cell-number" role="columnheader">"Oldest wait"</span>
                <span class="cell cell-depth" role="columnheader">"Last 2 min"</span>
            </div>
        </div>
    }
}

/// How many rows, and the button that applies a new order. Its place is always kept, so nothing jumps.
#[component]
fn ListCaption(state: BoardState, total: Signal<u32>) -> impl IntoView {
    let text = move || {
        let number = plural(total.get().into(), "lock", "locks");
        let all = state.live.board(|board| board.head.totals.locks).unwrap_or_default();
        if total.get() == all { number } else { format!("{number} of {all}") }
    };
    let differs = Memo::new(move |_| state.order_differs());
    let hidden = move || !differs.get();
    view! {
        <div class="caption">
            <span class="caption-count" role="status">{text}</span>
            <button class="caption-apply" type="button" data-testid="apply-order" hidden=hidden on:click=move |_| state.hold(true)>
                "Order changed. Apply " <kbd class="kbd">"a"</kbd>
            </button>
        </div>
    }
}

/// Pins the order while somebody points at the list or has chosen a row.
fn hold(state: BoardState) {
    Effect::new(move |was_held: Option<bool>| {
        let held = state.is_held();
        if was_held.unwrap_or_default() != held {
            state.hold(held);
        }
        held
    });
}

/// Scrolls to the chosen row when it is not on screen.
fn keep_chosen_in_sight(state: BoardState, body: NodeRef<Div>) {
    Effect::new(move |_| {
        let (Some(slot), Some(body)) = (state.chosen.get(), body.get_untracked()) else { return };
        crate::ui::live::scroll_to_row(&body, slot.at);
    });
}
