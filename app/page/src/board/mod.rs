//! The board: every lock, worst first.

mod empty;
mod filters;
mod kept;
mod keys;
mod list;
mod needs;
mod order;
mod remembered;
mod row;
mod state;
mod totals;
mod views;
mod words;

use leptos::prelude::*;

use super::erase::{dynamic, view};
use super::initial_view::initial_view;
use super::live::Live;
use super::parts::{Chrome, use_keys};
use filters::Filters;
use keys::act;
use list::LockList;
use needs::NeedsYou;
use state::BoardState;
use totals::TotalsLine;

#[component]
pub(crate) fn BoardPage() -> AnyView {
    let live = Live::of_app();
    let state = BoardState::new(live);
    let query = state.query.get_untracked();
    let offset = query.offset;
    let first = initial_view(|source| source.board(&query));
    let opened = live.open(query, first);
    use_keys(move |key| act(state, key));
    state.remember_place();
    let mistake = move || {
        state.mistake.get().map(|text| view! { <p class="notice" role="alert">{text} " Showing everything."</p> })
    };
    let refusal = move || live.refusal().map(|text| view! { <p class="notice" role="alert">{text}</p> });
    view! {
        <Chrome here="board" title="">
            <h1 class="sr-only">"Locks"</h1>
            {dynamic(mistake)}
            {dynamic(refusal)}
            <NeedsYou />
            <TotalsLine />
            <Filters state=state />
            <LockList state=state opened=opened offset=offset />
        </Chrome>
    }
}
