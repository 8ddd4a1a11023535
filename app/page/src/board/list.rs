//! The list of locks: only the rows on screen are drawn, and none moves under the pointer.

use leptos::html::Div;
use leptos::prelude::*;

use crate::browser::{closest, first, focus_in_place};
use crate::erase::{dynamic, effect, view};

use super::empty::EmptyState;
use super::row::{Look, row};
use super::state::{BoardState, Drawn};
use super::words;

use crate::live::{FETCH_ROWS, Fetch, OpenView, use_fetch, use_places, use_viewport};
use crate::parts::{Lane, mark, markup_rows, pager};
use lockscope_view::{BoardQuery, Sort, View};

/// Rows before the first lock: the header.
const HEADER_ROWS: u32 = 1;
const SPARKLINE_SLICE_MS: i64 = 2_500;

#[component]
pub(super) fn LockList(
    state: BoardState,
    opened: OpenView,
    /// Index of the first row that was rendered.
    offset: u32,
) -> AnyView {
    let body = NodeRef::<Div>::new();
    let total = Memo::new(move |_| state.total());
    let length = Signal::derive(move || total.get().unwrap_or_default());
    let shown = use_viewport(body, offset, length);
    let drawn = Memo::new(move |_| state.drawn(shown.get()));
    let is_grouped = Memo::new(move |_| state.query.with(|query| query.group));
    // Sparklines move to the left with the clock.
    let slice = Memo::new(move |_| state.live.now_ms() / SPARKLINE_SLICE_MS);
    let lane = Memo::new(move |_| {
        slice.track();
        let look = Look { is_grouped: is_grouped.get(), now_ms: state.live.now_of_ages_ms() };
        Lane { moved_up: 0, rows: drawn.with(|drawn| drawn.iter().map(|drawn| row(&look, drawn)).collect()) }
    });
    let places = use_places(body, length);
    let look_at = move |fetch: Fetch| {
        let query = BoardQuery { offset: fetch.offset, limit: fetch.limit, ..state.query.get() };
        opened.look_at(View::Board(query), fetch.is_moved);
    };
    use_fetch(shown, offset, length, Callback::new(look_at));
    hold(state);
    keep_chosen_in_sight(state, body, drawn);
    view! {
        <ListCaption state=state total=length />
        <div
            class="board"
            role="grid"
            aria-label="Locks"
            aria-rowcount=move || length.get() + HEADER_ROWS
            data-grouped=move || mark(is_grouped.get())
        >
            <div class="board-head" role="rowgroup">{head(state)}</div>
            <div
                class="board-body"
                role="rowgroup"
                data-placed=move || mark(places.are_set())
                node_ref=body
                on:pointerenter=move |_| state.is_pointed_at.set(true)
                on:pointerleave=move |_| state.is_pointed_at.set(false)
                on:focusin=move |_| state.has_focus.set(true)
                on:focusout=move |_| state.has_focus.set(false)
                on:click=move |event| {
                    if let Some(key) = pinned_by(&event) {
                        state.toggle_pin(&key);
                    }
                }
            >
                {markup_rows(lane, places)}
            </div>
        </div>
        <EmptyState state=state total=length />
        {dynamic(move || pager(words::MORE_LOCKS, &state.link(|_| {}), (state.query.with(|query| query.offset), FETCH_ROWS, length.get()), true))}
    }
}

/// The key of the row whose pin was clicked.
fn pinned_by(event: &web_sys::MouseEvent) -> Option<String> {
    closest(event.target(), ".pin")?.closest("[data-key]").ok()??.get_attribute("data-key")
}

/// The columns: class, name, and the order that a click on the name gives.
const COLUMNS: [(&str, &str, Sort); 7] = [
    ("cell cell-verdict", "Verdict", Sort::Worst),
    ("cell cell-lock", "Lock", Sort::Path),
    ("cell cell-holder", "Holder", Sort::Holder),
    ("cell cell-number cell-hold", "Held", Sort::Hold),
    ("cell cell-number cell-waiters", "Waiting", Sort::Depth),
    ("cell cell-number cell-oldest", "Oldest wait", Sort::OldestWait),
    ("cell cell-depth", "Last 2 min", Sort::Damage),
];

/// Which way an order goes, for those who can't see it.
fn direction(sort: Sort) -> &'static str {
    match sort {
        Sort::Path | Sort::Recipe | Sort::Holder => "ascending",
        Sort::Worst | Sort::Damage | Sort::OldestWait | Sort::Depth | Sort::Hold => "descending",
    }
}

/// The names of the columns, each a link to the order by it.
fn head(state: BoardState) -> AnyView {
    let column = |(class, name, sort): (&'static str, &'static str, Sort)| {
        let is_chosen = Memo::new(move |_| state.query.with(|query| query.sort == sort));
        let href = move || state.link(|query| query.sort = sort);
        let title = (sort == Sort::Damage).then_some(words::SORT_BY_DAMAGE);
        view! {
            <span class=class role="columnheader" aria-sort=move || is_chosen.get().then_some(direction(sort))>
                <a class="sort-link" href=href title=title data-noscroll="true">{name}</a>
            </span>
        }
    };
    view! { <div class="board-row" role="row" aria-rowindex="1">{COLUMNS.map(column).collect_view()}</div> }
}

/// How many rows, and the button that applies a new order. Its place is always kept, so nothing jumps.
#[component]
fn ListCaption(state: BoardState, total: Signal<u32>) -> AnyView {
    let text = move || {
        let all = state.live.board(|board| board.head.totals.locks).unwrap_or_default();
        words::locks_of(total.get(), all)
    };
    let differs = Memo::new(move |_| state.order_differs());
    let hidden = move || !differs.get();
    view! {
        <div class="caption">
            <span class="caption-count" role="status">{text}</span>
            <button class="caption-apply" type="button" data-testid="apply-order" hidden=hidden on:click=move |_| state.apply_order()>
                "New order · Apply " <kbd class="kbd">"a"</kbd>
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
    effect(move || state.look_at_order());
}

/// Scrolls to the chosen row when it is not on screen, and gives it the focus as soon as it is drawn.
fn keep_chosen_in_sight(state: BoardState, body: NodeRef<Div>, drawn: Memo<Vec<Drawn>>) {
    let is_due = StoredValue::new(false);
    effect(move || {
        let (Some(slot), Some(body)) = (state.chosen.get(), body.get_untracked()) else { return };
        is_due.set_value(true);
        crate::live::scroll_to_row(&body, slot.at);
    });
    effect(move || {
        state.chosen.track();
        drawn.track();
        if state.chosen.with_untracked(Option::is_some) {
            // By then the rows are drawn.
            request_animation_frame(move || {
                if is_due.try_get_value() == Some(true) && focus_chosen() {
                    is_due.set_value(false);
                }
            });
        }
    });
}

/// Gives the focus to the chosen row's link; false where it is not drawn.
fn focus_chosen() -> bool {
    first("[data-chosen=true] a").map(|link| focus_in_place(&link)).is_some()
}
