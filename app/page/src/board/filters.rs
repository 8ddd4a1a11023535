//! What to show, and in what order: a plain form and plain links, so that it works without scripts as well.

use leptos::prelude::*;

use super::state::BoardState;
use super::views::SavedViews;
use super::words;
use crate::erase::{erase, view};
use crate::format::count;
use crate::parts::{Chip, FilterBox, SortSelect, export, mark, rows};
use lockscope_view::{BoardQuery, RootBrief, Sort, Verdict};

/// What is shown, in the API. Pins only move rows.
fn in_the_api(query: &BoardQuery) -> String {
    format!("/locks{}", BoardQuery { pins: Vec::new(), ..query.clone() }.to_url_query())
}

#[component]
pub(super) fn Filters(state: BoardState) -> AnyView {
    let submit = move |event: leptos::ev::SubmitEvent| event.prevent_default();
    let verdict = move || state.query.with(|query| query.verdict).map_or("", Verdict::name);
    let text = Signal::derive(move || state.query.with(|query| query.q.clone()));
    let filter = Callback::new(move |text: String| state.change(|query| query.q = text));
    let sorted = Signal::derive(move || state.query.with(|query| query.sort.name()));
    let sort = Callback::new(move |name: String| {
        state.change(|query| query.sort = Sort::ALL.into_iter().find(|sort| sort.name() == name).unwrap_or_default());
    });
    view! {
        <form class="filters" method="get" action="/" role="search" aria-label="Locks to show" on:submit=submit>
            <input type="hidden" name="verdict" value=verdict prop:disabled=move || verdict().is_empty() disabled=move || verdict().is_empty() />
            <FilterBox
                text=text
                label="Filter by path, recipe, verdict, holder or session id; !word excludes"
                placeholder="Filter locks… (!word excludes)"
                change=filter
            />
            <RootSelect state=state />
            <SortSelect options=Sort::ALL.map(|sort| (sort.name(), words::sort(sort))).to_vec() chosen=sorted change=sort />
            <GroupToggle state=state />
            <SavedViews state=state />
            {export(move || state.query.with(in_the_api))}
            <button class="tool only-static" type="submit">"Show"</button>
        </form>
        <VerdictLinks state=state />
    }
}

#[component]
fn RootSelect(state: BoardState) -> AnyView {
    let roots = Memo::new(move |_| {
        state
            .live
            .board(|board| {
                board.head.roots.iter().map(|root| (place_of(root), root.state, root.locks)).collect::<Vec<_>>()
            })
            .unwrap_or_default()
    });
    let options = move || {
        let chosen = state.query.with(|query| query.root.clone());
        roots
            .get()
            .into_iter()
            .map(|(path, root_state, locks)| {
                let text = words::root(&path, root_state, locks);
                let is_chosen = path == chosen;
                view! { <option value=path selected=is_chosen>{text}</option> }
            })
            .collect_view()
    };
    let change = move |event: leptos::ev::Event| state.change(|query| query.root = event_target_value(&event));
    view! {
        <label class="field">
            <span class="field-name">"Root"</span>
            <select class="select" name="root" on:change=change>
                <option value="" selected=move || state.query.with(|query| query.root.is_empty())>"all roots"</option>
                {options}
            </select>
        </label>
    }
}

#[component]
fn GroupToggle(state: BoardState) -> AnyView {
    let is_on = move || state.query.with(|query| query.group);
    view! {
        <label class="check">
            <input
                class="check-box"
                type="checkbox"
                name="group"
                value="root"
                data-testid="group"
                checked=is_on
                prop:checked=is_on
                on:change=move |event| state.change(|query| query.group = event_target_checked(&event))
            />
            "Group by root"
        </label>
    }
}

/// A link that shows the locks of one verdict, or all.
#[derive(Clone, Debug, PartialEq)]
struct VerdictLink {
    key: &'static str,
    verdict: Option<(Verdict, u32)>,
    href: String,
    is_chosen: bool,
}

/// A link for each verdict there is, and for the one that is asked for.
fn verdict_links(state: BoardState) -> Vec<VerdictLink> {
    let chosen = state.query.with(|query| query.verdict);
    let mut verdicts = state.live.board(|board| board.head.totals.verdicts.clone()).unwrap_or_default();
    if let Some(chosen) = chosen.filter(|chosen| verdicts.iter().all(|(verdict, _)| verdict != chosen)) {
        verdicts.push((chosen, 0));
    }
    let link = |of: Option<(Verdict, u32)>| {
        let verdict = of.map(|(verdict, _)| verdict);
        // The one that is chosen leads back to all.
        let href = state.link(|query| query.verdict = verdict.filter(|verdict| chosen != Some(*verdict)));
        VerdictLink { key: verdict.map_or("all", Verdict::name), verdict: of, href, is_chosen: verdict == chosen }
    };
    std::iter::once(None).chain(verdicts.into_iter().map(Some)).map(link).collect()
}

#[component]
fn VerdictLinks(state: BoardState) -> AnyView {
    let links = Memo::new(move |_| verdict_links(state));
    let row = |link: VerdictLink| {
        let inner = match link.verdict {
            None => erase(words::ALL),
            Some((verdict, locks)) => {
                view! { <Chip verdict=verdict /><span class="verdict-count">{count(locks)}</span> }
            }
        };
        view! {
            <a class="verdict-link" href=link.href aria-current=mark(link.is_chosen) data-noscroll="true" data-key=link.key>{inner}</a>
        }
    };
    view! { <nav class="verdicts" aria-label="Filter by verdict">{rows(links, |link| link.key, row)}</nav> }
}

/// A root by its path, behind its ensemble's name where that has one.
fn place_of(root: &RootBrief) -> String {
    root.tag.as_ref().map_or_else(|| root.path.clone(), |tag| format!("{} {}", tag.name, root.path))
}
