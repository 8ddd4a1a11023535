//! The list: only the rows on screen are drawn, and none moves under the pointer.

use leptos::html::Div;
use leptos::prelude::*;

use crate::erase::{dynamic, view};

use super::row::row;
use super::state::{Known, ListState, Slot, address_of};
use super::words;
use crate::live::{FETCH_ROWS, Fetch, OpenView, use_fetch, use_places, use_viewport};
use crate::parts::{mark, no_match, pager, rows};
use lockscope_view::{RootState, Sessions, SessionsQuery, View};

#[component]
pub(super) fn SessionList(
    state: ListState,
    opened: OpenView,
    /// Index of the first row that was rendered.
    offset: u32,
) -> AnyView {
    let body = NodeRef::<Div>::new();
    let known = Memo::new(move |old: Option<&Known>| {
        let fresh = state.known();
        if state.is_held.get() { old.map_or(fresh.clone(), |old| fresh.kept(old)) } else { fresh }
    });
    let total = Signal::derive(move || known.with(|known| known.total));
    let shown = use_viewport(body, offset, total);
    let slots = Memo::new(move |_| {
        let shown = shown.get();
        known.with(|known| {
            known
                .slots
                .iter()
                .filter(|slot| (shown.start..shown.end).contains(&slot.at))
                .cloned()
                .collect::<Vec<Slot>>()
        })
    });
    let places = use_places(body, total);
    let look_at = move |fetch: Fetch| {
        let query = SessionsQuery { offset: fetch.offset, limit: fetch.limit, ..state.query.get() };
        opened.look_at(View::Sessions(query), fetch.is_moved);
    };
    use_fetch(shown, offset, total, Callback::new(look_at));
    view! {
        <div class="caption"><span class="caption-count" role="status">{move || caption(state, total.get())}</span></div>
        <div class="board sess-board" role="table" aria-label="Sessions" aria-rowcount=move || total.get() + 1>
            <div class="board-head" role="rowgroup">{head()}</div>
            <div
                class="board-body sess-body"
                role="rowgroup"
                data-placed=move || mark(places.are_set())
                node_ref=body
                on:pointerenter=move |_| state.is_held.set(true)
                on:pointerleave=move |_| state.is_held.set(false)
                on:focusin=move |_| state.is_held.set(true)
                on:focusout=move |_| state.is_held.set(false)
            >
                {rows(slots, |slot| &slot.row.key, move |slot| row(slot, places))}
            </div>
        </div>
        {dynamic(move || empty(state, total.get()))}
        {dynamic(move || state.query.with(|query| pager(words::MORE_SESSIONS, &address_of(query), (query.offset, FETCH_ROWS, total.get()), true)))}
    }
}

fn caption(state: ListState, total: u32) -> String {
    let all = state.live.sessions(|sessions| sessions.head.sessions).unwrap_or_default();
    words::sessions_of_all(total, all)
}

/// The columns: name and class.
const COLUMNS: [(&str, &str); 11] = [
    ("Session", "cell sess-id"),
    ("State", "cell sess-mark"),
    ("Who", "cell sess-who"),
    ("Client", "cell sess-client"),
    ("Holds", "cell cell-number"),
    ("Waits", "cell cell-number"),
    ("Blocks", "cell cell-number"),
    ("Oldest hold", "cell cell-number sess-hold-head"),
    ("Oldest wait", "cell cell-number"),
    ("Znodes", "cell cell-number sess-znodes"),
    ("Locks", "cell sess-locks"),
];

fn head() -> AnyView {
    let column =
        |(name, class): (&'static str, &'static str)| view! { <span class=class role="columnheader">{name}</span> };
    view! { <div class="sess-row" role="row" aria-rowindex="1">{COLUMNS.map(column).collect_view()}</div> }
}

pub(super) fn empty(state: ListState, total: u32) -> Option<AnyView> {
    if total > 0 {
        return None;
    }
    let is_filtered = state.live.sessions(|sessions| sessions.head.sessions > 0).unwrap_or_default();
    let (title, text) = state.live.sessions(why).unwrap_or(words::NOT_READ);
    let title = if is_filtered { state.query.with(none_matches) } else { title.to_owned() };
    let all = is_filtered.then(|| view! { <a href="/sessions">"Show all"</a> });
    Some(view! {
        <div class="empty" data-testid="empty">
            <h2 class="empty-title">{title}</h2>
            <p>{text} " " {all}</p>
        </div>
    })
}

fn none_matches(query: &SessionsQuery) -> String {
    let is_text = query.host.is_empty() && query.application.is_empty() && !query.q.is_empty();
    no_match(words::SESSION, is_text.then_some(&*query.q))
}

/// Why there is none, and what that means; nothing where a filter hides them.
fn why(sessions: &Sessions) -> (&'static str, &'static str) {
    match (sessions.head.sessions, sessions.head.as_of.state) {
        (1.., _) => ("", ""),
        (0, RootState::Syncing | RootState::Stale) => words::NOT_READ,
        (0, _) => words::NONE,
    }
}
