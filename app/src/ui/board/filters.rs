//! What to show, and in what order: a plain form and plain links, so that it works without scripts as well.

use std::time::Duration;

use leptos::html::Input;
use leptos::prelude::*;

use super::state::BoardState;
use crate::ui::format::{count, middle, visible};
use crate::ui::parts::VerdictChip;
use crate::wire::{BoardQuery, RootState, Sort, Verdict};

/// Typing pauses this long before the filter acts.
const TYPING_PAUSE: Duration = Duration::from_millis(120);

fn sort_word(sort: Sort) -> &'static str {
    match sort {
        Sort::Damage => "total waiting time",
        Sort::OldestWait => "oldest wait",
        Sort::Depth => "waiters",
        Sort::Hold => "hold time",
        Sort::Path => "path",
    }
}

/// The row of filters.
#[component]
pub(super) fn Filters(state: BoardState) -> impl IntoView {
    let submit = move |event: leptos::ev::SubmitEvent| event.prevent_default();
    let verdict = move || state.query.with(|query| query.verdict).map_or("", Verdict::name);
    view! {
        <form class="filters" method="get" action="/" role="search" aria-label="Locks to show" on:submit=submit>
            <input type="hidden" name="verdict" value=verdict prop:disabled=move || verdict().is_empty() disabled=move || verdict().is_empty() />
            <FilterBox state=state />
            <RootSelect state=state />
            <SortSelect state=state />
            <GroupToggle state=state />
            <button class="tool only-static" type="submit">"Show"</button>
        </form>
        <VerdictLinks state=state />
    }
}

#[component]
fn FilterBox(state: BoardState) -> impl IntoView {
    let box_ref = NodeRef::<Input>::new();
    let text = move || state.query.with(|query| query.q.clone());
    let keystrokes = StoredValue::new(0_u32);
    let typed = move |text: String| {
        keystrokes.update_value(|count| *count += 1);
        let mine = keystrokes.get_value();
        set_timeout(
            move || {
                if keystrokes.try_get_value() == Some(mine) {
                    state.change(|query| query.q = text);
                }
            },
            TYPING_PAUSE,
        );
    };
    // The address may change by other means than typing.
    Effect::new(move |_| {
        let text = text();
        if let Some(input) = box_ref.get() {
            let is_typing = document().active_element().is_some_and(|active| active.is_same_node(Some(&input)));
            if !is_typing && input.value() != text {
                input.set_value(&text);
            }
        }
    });
    view! {
        <label class="filter">
            <span class="sr-only">"Filter by path, recipe, holder or session id; !text leaves out"</span>
            <input
                class="filter-input"
                type="search"
                name="q"
                data-testid="filter"
                placeholder="Filter path, recipe, holder, 0x session; !not"
                autocomplete="off"
                spellcheck="false"
                value=text
                node_ref=box_ref
                on:input=move |event| typed(event_target_value(&event))
            />
            <kbd class="kbd filter-key needs-script" aria-hidden="true">"/"</kbd>
        </label>
    }
}

#[component]
fn RootSelect(state: BoardState) -> impl IntoView {
    let roots = Memo::new(move |_| {
        state
            .live
            .board(|board| board.head.roots.iter().map(|root| (root.path.clone(), root.state, root.locks)).collect::<Vec<_>>())
            .unwrap_or_default()
    });
    let options = move || {
        let chosen = state.query.with(|query| query.root.clone());
        roots
            .get()
            .into_iter()
            .map(|(path, root_state, locks)| {
                let trouble = if root_state == RootState::Live { String::new() } else { format!(", {root_state}") };
                let text = format!("{} ({}{trouble})", middle(&visible(&path), 40), count(locks));
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
fn SortSelect(state: BoardState) -> impl IntoView {
    let options = Sort::ALL.map(|sort| {
        let is_chosen = move || state.query.with(|query| query.sort == sort);
        view! { <option value=sort.name() selected=is_chosen prop:selected=is_chosen>{sort_word(sort)}</option> }
    });
    let change = move |event: leptos::ev::Event| {
        let name = event_target_value(&event);
        state.change(|query| query.sort = Sort::ALL.into_iter().find(|sort| sort.name() == name).unwrap_or_default());
    };
    view! {
        <label class="field">
            <span class="field-name">"Sort by"</span>
            <select class="select" name="sort" data-testid="sort" on:change=change>{options}</select>
        </label>
    }
}

#[component]
fn GroupToggle(state: BoardState) -> impl IntoView {
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

#[component]
fn VerdictLinks(state: BoardState) -> impl IntoView {
    let verdicts = Memo::new(move |_| {
        let mut verdicts = state.live.board(|board| board.head.totals.verdicts.clone()).unwrap_or_default();
        if let Some(chosen) = state.query.with(|query| query.verdict).filter(|chosen| verdicts.iter().all(|(verdict, _)| verdict != chosen)) {
            verdicts.push((chosen, 0));
        }
        verdicts
    });
    let is_all = move || state.query.with(|query| query.verdict.is_none()).then_some("true");
    let all = move || state.link(|query| query.verdict = None);
    view! {
        <nav class="verdicts" aria-label="Filter by verdict">
            <a class="verdict-link" href=all aria-current=is_all data-noscroll="true">"all"</a>
            <For each=move || verdicts.get() key=|(verdict, _)| *verdict let((verdict, _))>
                <VerdictLink state=state verdict=verdict verdicts=verdicts />
            </For>
        </nav>
    }
}

#[component]
fn VerdictLink(state: BoardState, verdict: Verdict, verdicts: Memo<Vec<(Verdict, u32)>>) -> impl IntoView {
    let is_chosen = move || state.query.with(|query| query.verdict == Some(verdict));
    let toggled = move |query: &mut BoardQuery| query.verdict = (query.verdict != Some(verdict)).then_some(verdict);
    let number = move || verdicts.with(|all| all.iter().find(|(other, _)| *other == verdict).map_or(0, |(_, number)| *number));
    view! {
        <a
            class="verdict-link"
            href=move || state.link(toggled)
            aria-current=move || is_chosen().then_some("true")
            data-noscroll="true"
        >
            <VerdictChip verdict=Signal::stored(verdict) />
            <span class="verdict-count">{move || count(number())}</span>
        </a>
    }
}
