//! Path, verdict and sentence, large; the numbers, how far they can be trusted, who holds, and what a release does.

use leptos::prelude::*;

use super::LockState;
use super::freshness::Freshness;
use super::holders::holders;
use super::release::{fired, herd};
use crate::charts::Sparkline;
use crate::copy::{CopyButton, CopyCommand};
use crate::erase::{dynamic, erase};
use crate::format::visible;
use crate::parts::{Age, Chip, Findings, Total, current, filled, hold_least, missing_words, wait_least, waiters_text};
use lockscope_wire::{LockHead, LockQuery, LockRow};

/// The title block.
#[component]
pub(super) fn LockTitle(state: LockState) -> impl IntoView {
    let is_live = Memo::new(move |_| current(state.live).is_live());
    dynamic(move || state.head.with(|head| head.as_ref().map(|head| top(head, is_live.get()))))
}

fn top(head: &LockHead, is_live: bool) -> AnyView {
    let note = |note: &String| view! { <p class="finding" data-severity="note">{visible(note)}</p> };
    erase(view! {
        <nav class="crumbs" aria-label="Way back"><a href="/">"Board"</a></nav>
        {verdict(head)}
        <Freshness as_of=head.as_of.clone() trust=head.trust.clone() is_live=is_live />
        <Findings found=head.findings.clone() />
        // What the recipe hides.
        {head.notes.iter().map(note).collect_view()}
        {holders(head)}
        {head.herd.as_ref().map(herd)}
        {fired(&head.fired)}
    })
}

fn verdict(head: &LockHead) -> AnyView {
    let row = &head.row;
    let name = row.verdict.name();
    let how = format!(", recognised with {} confidence, under root {}", row.confidence, visible(&row.root));
    erase(view! {
        <header class="verdict dims" data-verdict=name>
            <div class="verdict-top">
                <h1 class="verdict-path"><bdi>{visible(&row.path)}</bdi></h1>
                <CopyButton text=row.path.clone() what="path" />
            </div>
            <div class="verdict-line" data-testid="verdict" data-verdict=name>
                <Chip verdict=row.verdict />
                <p class="verdict-sentence">{visible(&row.sentence)}</p>
            </div>
            <p class="verdict-recipe">{visible(&row.recipe_label)}<span class="quiet">{how}</span></p>
            {commands(row)}
            <dl class="totals">
                <Total name="Held" value=view! { <Age since_ms=row.held_since_ms least=hold_least(row.hold_is_lower_bound) or="–" /> } />
                <div class="total">
                    <dt>"Waiting"</dt>
                    <dd data-total="waiters" title=filled(missing_words(&row.missing))>{waiters_text(row)}</dd>
                </div>
                <Total
                    name="Oldest wait"
                    value=view! { <Age since_ms=row.oldest_wait_at_ms least=wait_least(row.wait_is_lower_bound) or="–" /> }
                />
                <Total name="Waiting, last 2 min" value=view! { <Sparkline depth=row.depth.clone() /> } />
            </dl>
        </header>
    })
}

/// What else may ask about the lock.
fn commands(row: &LockRow) -> impl IntoView + use<> {
    let url = LockQuery { ensemble: row.ensemble.clone(), path: row.path.clone(), ..LockQuery::default() }.to_url();
    // Its shell knows no way to write these.
    let is_plain = !row.path.bytes().any(|byte| matches!(byte, b'"' | b'\\'));
    let in_shell = is_plain.then(|| format!("ls -s \"{}\"", row.path));
    view! {
        <div class="copy-line">
            <CopyCommand command=format!("curl -fsS '{{origin}}/api/v1{url}'") name="curl" />
            {in_shell.map(|command| view! { <CopyCommand command=command name="zkCli" /> })}
            <CopyCommand command=format!("{{origin}}{url}") name="link" />
        </div>
    }
}
