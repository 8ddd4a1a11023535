//! Every contender in queue order; of a long queue only the rows on screen are drawn.

use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;

use super::queue_map::{List, is_long, queue_map};
use super::queue_rows::{Known, Look, lane};
use super::{LockState, words};
use crate::current_user::CurrentUser;
use crate::erase::{dynamic, view};
use crate::explain::explained_term;
use crate::live::{Fetch, OpenView, Viewport, use_fetch, use_places, use_viewport};
use crate::parts::{Lane, mark, markup_rows};
use lockscope_view::{LockQuery, View};

#[component]
pub(super) fn Queue(state: LockState, opened: OpenView, query: LockQuery) -> AnyView {
    let body = NodeRef::<Div>::new();
    let total =
        Memo::new(move |_| state.live.lock(|page| page.map_or(0, |page| page.window.total)).unwrap_or_default());
    let total_rows = Signal::derive(move || total.get());
    let shown = use_viewport(body, query.offset, total_rows);
    let (ensemble, may_release) = (query.ensemble.clone(), CurrentUser::of_app().may_release());
    let drawn = StoredValue::new(Vec::new());
    let lane = Memo::new(move |_| {
        let look = Look { ensemble: &ensemble, may_release, now_ms: state.live.now_of_ages_ms() };
        drawn.try_update_value(|drawn| on_screen(state, &look, shown.get(), drawn)).unwrap_or_default()
    });
    let places = use_places(body, total_rows);
    let map_query = query.clone();
    let offset = query.offset;
    let look_at = move |fetch: Fetch| {
        let query = LockQuery { offset: fetch.offset, limit: fetch.limit, ..query.clone() };
        opened.look_at(View::Lock(query), fetch.is_moved);
    };
    use_fetch(shown, offset, total_rows, Callback::new(look_at));
    let is_folded = Memo::new(move |_| state.has_chain());
    let hidden = Memo::new(move |_| state.head.with(|head| head.as_ref().map_or(0, |head| head.hidden_waiters)));
    view! {
        <section class="part" id="contenders" aria-labelledby="queue-title" data-long=move || mark(is_long(total.get()))>
            <h2 class="part-title" id="queue-title">{move || words::contenders(total.get())}</h2>
            <div class="hidden-waiters">{dynamic(move || hidden_waiters(hidden.get()))}</div>
            // The chain shows the same people; without scripts and on paper the table is there all the same.
            <details class="queue-fold" hidden=move || !is_folded.get() data-testid="queue-fold">
                <summary>"As a table"</summary>
            </details>
            {queue_map(state, List { body, shown, total }, map_query)}
            <div class="board queue" role="table" aria-labelledby="queue-title" aria-rowcount=move || total.get() + 1>
                <div class="board-head" role="rowgroup">
                    <div class="queue-row" role="row" aria-rowindex="1">
                        <span class="cell" role="columnheader">"Place"</span>
                        <span class="cell" role="columnheader">"Node"</span>
                        <span class="cell cell-number" role="columnheader">"Sequence"</span>
                        <span class="cell" role="columnheader">"Session"</span>
                        <span class="cell cell-number" role="columnheader">"For"</span>
                        <span class="cell" role="columnheader">"Waits for"</span>
                        <span class="cell" role="columnheader">{explained_term("liveness", words::LIVENESS)}</span>
                    </div>
                </div>
                <div class="queue-body" role="rowgroup" data-placed=move || mark(places.are_set()) node_ref=body>
                    {markup_rows(lane, places)}
                </div>
            </div>
        </section>
    }
}

/// How many wait without a znode; nothing for none.
fn hidden_waiters(number: u32) -> Option<AnyView> {
    (number > 0).then(|| view! { <p class="quiet" data-testid="hidden-waiters">{words::hidden_waiters(number)}</p> })
}

/// The rows on screen, as far as they are here.
fn on_screen(state: LockState, look: &Look<'_>, shown: Viewport, drawn: &mut Vec<Arc<Known>>) -> Lane {
    let found = state.live.lock(|page| {
        let window = &page?.window;
        state.live.has_all_rows(shown.is_within(window.offset, window.rows.len(), window.total));
        let rows = (window.offset..).zip(&window.rows).filter(|(at, _)| (shown.start..shown.end).contains(at));
        Some(lane(look, rows, drawn))
    });
    found.flatten().unwrap_or_default()
}
