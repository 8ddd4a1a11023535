//! Path, verdict and sentence, large; the numbers beside them.

use leptos::prelude::*;

use super::LockState;
use crate::ui::charts::Sparkline;
use crate::ui::format::visible;
use crate::ui::html::{Html, Living};
use crate::ui::parts::{Age, VerdictChip, findings, waiters_text};
use crate::wire::{LockHead, Verdict};

/// The title block.
#[component]
pub(super) fn LockTitle(state: LockState, path: String) -> impl IntoView {
    let head = state.head;
    let verdict = Signal::derive(move || head.with(|head| head.as_ref().map_or(Verdict::Unknown, |head| head.row.verdict)));
    let text = move |read: fn(&LockHead) -> String| move || head.with(|head| head.as_ref().map(read));
    let held = Signal::derive(move || head.with(|head| head.as_ref().and_then(|head| head.row.held_since_ms)));
    let at_least = Signal::derive(move || head.with(|head| head.as_ref().is_some_and(|head| head.row.hold_is_lower_bound)));
    let oldest = Signal::derive(move || head.with(|head| head.as_ref().and_then(|head| head.row.oldest_wait_at_ms)));
    let depth = Memo::new(move |_| head.with(|head| head.as_ref().map(|head| head.row.depth.clone()).unwrap_or_default()));
    view! {
        <nav class="crumbs" aria-label="Way back"><a href="/">"Board"</a></nav>
        <header class="verdict dims" data-verdict=move || verdict.get().name()>
            <h1 class="verdict-path"><bdi>{visible(&path)}</bdi></h1>
            <div class="verdict-line" data-testid="verdict" data-verdict=move || verdict.get().name()>
                <VerdictChip verdict=verdict />
                <p class="verdict-sentence">{text(|head| visible(&head.row.sentence))}</p>
            </div>
            <p class="verdict-recipe">
                {text(|head| head.row.recipe_label.clone())}
                <span class="quiet">{text(|head| format!(", recognised with {} confidence, under root {}", head.row.confidence, visible(&head.row.root)))}</span>
            </p>
            <dl class="totals">
                <div class="total"><dt>"Held"</dt><dd><Age since_ms=held at_least=at_least /><Dash of=held /></dd></div>
                <div class="total"><dt>"Waiting"</dt><dd data-total="waiters">{text(|head| waiters_text(&head.row))}</dd></div>
                <div class="total"><dt>"Oldest wait"</dt><dd><Age since_ms=oldest /><Dash of=oldest /></dd></div>
                <div class="total"><dt>"Waiting, last 2 min"</dt><dd><Sparkline depth=depth /></dd></div>
            </dl>
        </header>
        <Living class="living" html=Signal::derive(move || head.with(|head| head.as_ref().map(|head| noticed(head, state.live.now_ms_untracked())).unwrap_or_default())) />
    }
}

#[component]
fn Dash(of: Signal<Option<i64>>) -> impl IntoView {
    move || of.get().is_none().then_some("–")
}

/// What was noticed, and what the recipe hides.
fn noticed(head: &LockHead, now_ms: i64) -> Html {
    let note = |note: &String| Html::of("p", &[("class", "finding"), ("data-severity", "note")], note);
    let notes = head.notes.iter().map(note).collect();
    Html::all(vec![findings(&head.findings, now_ms), Html::all(notes)])
}
