//! Every session that owns something under the roots: what it holds, what it waits for, and who waits behind it.

mod list;
mod row;
mod state;

use leptos::prelude::*;

use super::erase::{dynamic, view};
use super::format::count;
use super::initial_view::initial_view;
use super::live::Live;
use super::parts::{Chrome, FilterBox, Key, SortSelect, Total, empty_filter, focus_filter, let_go_of_focus, use_keys};
use list::SessionList;
use lockscope_wire::SessionSort;
use state::ListState;

/// The page.
#[component]
pub(crate) fn SessionsPage() -> AnyView {
    let live = Live::of_app();
    let state = ListState::new(live);
    let query = state.query.get_untracked();
    let offset = query.offset;
    let first = initial_view(|source| source.sessions(&query));
    let opened = live.open(query, first);
    use_keys(move |key| act(state, key));
    view! {
        <Chrome here="sessions" title="Sessions">
            <h1 class="sr-only">"Sessions"</h1>
            {dynamic(move || notices(state))}
            {totals(live)}
            {filters(state)}
            <SessionList state=state opened=opened offset=offset />
        </Chrome>
    }
}

/// What the address or the server has against the question.
fn notices(state: ListState) -> Option<AnyView> {
    let mistake = state.mistake.get().map(|text| format!("{text} Showing everything."));
    mistake.or_else(|| state.live.refusal()).map(|text| view! { <p class="notice" role="alert">{text}</p> })
}

fn totals(live: Live) -> AnyView {
    let head = Memo::new(move |_| {
        live.sessions(|sessions| (sessions.head.sessions, sessions.head.holding, sessions.head.waiting))
    });
    let number =
        move |read: fn((u32, u32, u32)) -> u32| move || head.get().map_or("–".to_owned(), |head| count(read(head)));
    view! {
        <dl class="totals" data-testid="totals">
            <Total name="Sessions" key="sessions" value=number(|(sessions, _, _)| sessions) />
            <Total name="Holding" key="holding" value=number(|(_, holding, _)| holding) />
            <Total name="Waiting" key="waiting" value=number(|(_, _, waiting)| waiting) />
        </dl>
    }
}

fn sort_word(sort: SessionSort) -> &'static str {
    match sort {
        SessionSort::Blocks => "waiting behind it",
        SessionSort::Holds => "holds",
        SessionSort::OldestWait => "oldest wait",
        SessionSort::Ephemerals => "znodes",
        SessionSort::Id => "session id",
    }
}

fn filters(state: ListState) -> AnyView {
    let submit = move |event: leptos::ev::SubmitEvent| event.prevent_default();
    let text = Signal::derive(move || state.query.with(|query| query.q.clone()));
    let filter = Callback::new(move |text: String| state.change(|query| query.q = text));
    let sorted = Signal::derive(move || state.query.with(|query| query.sort.name()));
    let sort = Callback::new(move |name: String| {
        state.change(|query| {
            query.sort = SessionSort::ALL.into_iter().find(|sort| sort.name() == name).unwrap_or_default()
        });
    });
    view! {
        <form class="filters" method="get" action="/sessions" role="search" aria-label="Sessions to show" on:submit=submit>
            <FilterBox
                text=text
                label="Filter by session id, name or lock; !text leaves out"
                placeholder="Filter 0x session, name, lock; !not"
                change=filter
            />
            <SortSelect options=SessionSort::ALL.map(|sort| (sort.name(), sort_word(sort))).to_vec() chosen=sorted change=sort />
            <button class="tool only-static" type="submit">"Show"</button>
        </form>
    }
}

fn act(state: ListState, key: &Key) -> bool {
    match key.name.as_str() {
        "/" => focus_filter(),
        "Escape" => {
            if key.is_typing {
                empty_filter();
                state.change(|query| query.q.clear());
            }
            let_go_of_focus();
        }
        _ => return false,
    }
    true
}
