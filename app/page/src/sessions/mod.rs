//! Every session that owns something under the roots: what it holds, what it waits for, and whom it blocks; one by one,
//! or by client host or application.

mod groups;
mod list;
mod row;
mod state;
mod words;

use leptos::prelude::*;

use super::erase::{dynamic, view};
use super::format::count;
use super::initial_view::initial_view;
use super::live::Live;
use super::parts::{
    Chrome, FilterBox, Key, SortSelect, Total, empty_filter, export, focus_filter, let_go_of_focus, use_keys,
};
use groups::GroupList;
use list::SessionList;
use lockscope_view::{SessionGroup, SessionSort, SessionsQuery};
use state::{ListState, address_of};

#[component]
pub(crate) fn SessionsPage() -> AnyView {
    let live = Live::of_app();
    let state = ListState::new(live);
    let query = state.query.get_untracked();
    let offset = query.offset;
    let first = initial_view(|source| source.sessions(&query));
    let opened = live.open(query, first);
    use_keys(move |key| act(state, key));
    let by = Memo::new(move |_| state.query.with(|query| query.group));
    let list = move || match by.get() {
        SessionGroup::Session => view! { <SessionList state=state opened=opened offset=offset /> },
        by => view! { <GroupList state=state opened=opened by=by /> },
    };
    view! {
        <Chrome here="sessions" title="Sessions">
            <h1 class="sr-only">"Sessions"</h1>
            {dynamic(move || notices(state))}
            {totals(live)}
            {filters(state)}
            {dynamic(move || of_group(state))}
            {dynamic(list)}
        </Chrome>
    }
}

/// What the address or the server has against the question.
fn notices(state: ListState) -> Option<AnyView> {
    let mistake = state.mistake.get().map(|text| words::shows_everything(&text));
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

/// Of which host or application the sessions are, and the way back to all.
fn of_group(state: ListState) -> Option<AnyView> {
    let query = state.query.get();
    let of = words::sessions_of(&query.host, &query.application)?;
    let all = address_of(&SessionsQuery { host: String::new(), application: String::new(), offset: 0, ..query });
    Some(view! { <p class="quiet sess-of" data-testid="of-group">{of}" "<a href=all>"Show all"</a></p> })
}

/// The choice of what a row stands for. With it the form keeps, without scripts, of which group the sessions are.
fn group_select(state: ListState) -> AnyView {
    let option = move |group: SessionGroup| {
        let is_chosen = move || state.query.with(|query| query.group) == group;
        view! { <option value=group.name() selected=is_chosen prop:selected=is_chosen>{group.name()}</option> }
    };
    let change = move |name: String| {
        state.change(|query| {
            query.group = SessionGroup::ALL.into_iter().find(|group| group.name() == name).unwrap_or_default();
            query.offset = 0;
        });
    };
    let kept = move |name: &'static str, of: fn(&SessionsQuery) -> String| {
        let value = state.query.with(of);
        (!value.is_empty()).then(|| view! { <input type="hidden" name=name value=value /> })
    };
    view! {
        <label class="field">
            <span class="field-name">"Group by"</span>
            <select class="select" name="group" data-testid="group" on:change=move |event| change(event_target_value(&event))>
                {SessionGroup::ALL.map(option).collect_view()}
            </select>
        </label>
        {dynamic(move || kept("host", |query| query.host.clone()))}
        {dynamic(move || kept("application", |query| query.application.clone()))}
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
            <SortSelect options=SessionSort::ALL.map(|sort| (sort.name(), words::sort(sort))).to_vec() chosen=sorted change=sort />
            {group_select(state)}
            {export(move || state.query.with(address_of))}
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
