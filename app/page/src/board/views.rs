//! Saved views: names for what the board shows (filter, order, grouping, pins). A view is an address, so it can be sent to
//! others as one.

use leptos::html::Input;
use leptos::prelude::*;
use lockscope_view::SavedView;

use super::state::BoardState;
use super::words;
use crate::erase::{dynamic, view};
use crate::format::visible;

#[component]
pub(super) fn SavedViews(state: BoardState) -> AnyView {
    let kept = state.kept;
    let name = NodeRef::<Input>::new();
    let save = move || {
        let Some(input) = name.get_untracked() else { return };
        let query = state.query.with_untracked(lockscope_view::BoardQuery::to_url_query);
        if let Some(view) = SavedView::named(&input.value(), query) {
            kept.change(move |kept| kept.save(view.clone()));
        }
        input.set_value("");
    };
    let line = move |SavedView { name, query }: SavedView| {
        let shown = visible(&name);
        let label = words::forget(&shown);
        let forget = move || {
            let name = name.clone();
            kept.change(move |kept| kept.views.retain(|view| view.name != name));
        };
        view! {
            <div class="view-line">
                <a class="tool" href=format!("/{query}") data-noscroll="true">{shown}</a>
                <button class="tool" type="button" aria-label=label on:click=move |_| forget()>"×"</button>
            </div>
        }
    };
    // Enter would send the form of filters.
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        if event.key() == "Enter" {
            event.prevent_default();
            save();
        }
    };
    let place = move || words::kept(kept.is_by_server.get());
    view! {
        <details class="menu needs-script" data-testid="views">
            <summary class="tool">"Views"</summary>
            <div class="menu-list menu-start">
                {dynamic(move || kept.views().into_iter().map(line).collect_view())}
                <div class="view-line">
                    <input class="filter-input" type="text" maxlength="40" placeholder="Name this view" aria-label="Name of the view" node_ref=name on:keydown=on_key />
                    <button class="tool" type="button" on:click=move |_| save()>"Save"</button>
                </div>
                <p class="quiet" role="status">{move || kept.fault.get().unwrap_or_else(place)}</p>
            </div>
        </details>
    }
}
