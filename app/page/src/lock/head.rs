//! Path, verdict and sentence, large; the numbers, how far they can be trusted, who holds, and what a release does.

use leptos::prelude::*;

use super::LockState;
use super::freshness::Freshness;
use super::holders::Holders;
use super::release::{fired, herd};
use crate::charts::Sparkline;
use crate::copy::{CopyButton, CopyCommand};
use crate::erase::{erase, view};
use crate::format::visible;
use crate::parts::{
    Age, Chip, Findings, Total, current, filled, hold_least, missing_words, part, wait_least, waiters_text,
};
use lockscope_wire::{Confidence, LockHead, LockQuery};

/// The title block.
#[component]
pub(super) fn LockTitle(state: LockState) -> AnyView {
    let head = state.head;
    let is_live = Memo::new(move |_| current(state.live).is_live());
    view! {
        <nav class="crumbs" aria-label="Way back"><a href="/">"Board"</a></nav>
        {verdict(head)}
        <Freshness head=head is_live=is_live />
        {part(head, |head| head.findings.clone(), |found| view! { <Findings found=found.clone() /> })}
        {part(head, |head| head.notes.clone(), |notes| erase(notes.iter().map(|text| note(text)).collect_view()))}
        <Holders head=head />
        {part(head, |head| head.herd, |known| erase(known.as_ref().map(herd)))}
        {part(head, |head| head.fired.clone(), |rows| erase(fired(rows)))}
    }
}

/// What the recipe hides.
fn note(note: &str) -> AnyView {
    view! { <p class="finding" data-severity="note">{visible(note)}</p> }
}

fn verdict(head: Memo<Option<LockHead>>) -> AnyView {
    let name = Signal::derive(move || head.with(|head| head.as_ref().map(|head| head.row.verdict.name())));
    let place = |head: &LockHead| (head.row.ensemble.clone(), head.row.path.clone());
    let recipe = |head: &LockHead| (head.row.recipe_label.clone(), head.row.confidence, head.row.root.clone());
    view! {
        <header class="verdict dims" data-verdict=name>
            {part(head, |head| head.row.path.clone(), |path| title(path))}
            <div class="verdict-line" data-testid="verdict" data-verdict=name>
                {part(head, |head| head.row.verdict, |verdict| view! { <Chip verdict=*verdict /> })}
                <p class="verdict-sentence">{part(head, |head| head.row.sentence.clone(), |sentence| erase(visible(sentence)))}</p>
            </div>
            {part(head, recipe, |(label, confidence, root)| recognised(label, *confidence, root))}
            {part(head, place, |(ensemble, path)| commands(ensemble, path))}
            {numbers(head)}
        </header>
    }
}

fn title(path: &str) -> AnyView {
    view! {
        <div class="verdict-top">
            <h1 class="verdict-path"><bdi>{visible(path)}</bdi></h1>
            <CopyButton text=path.to_owned() what="path" />
        </div>
    }
}

fn recognised(label: &str, confidence: Confidence, root: &str) -> AnyView {
    let how = format!(", recognised with {confidence} confidence, under root {}", visible(root));
    view! { <p class="verdict-recipe">{visible(label)}<span class="quiet">{how}</span></p> }
}

fn numbers(head: Memo<Option<LockHead>>) -> AnyView {
    let held = |head: &LockHead| (head.row.held_since_ms, hold_least(head.row.hold_is_lower_bound));
    let oldest = |head: &LockHead| (head.row.oldest_wait_at_ms, wait_least(head.row.wait_is_lower_bound));
    let waiters = |head: &LockHead| (waiters_text(&head.row), missing_words(&head.row.missing));
    let age = |(since_ms, least): &(Option<i64>, Option<&'static str>)| view! { <Age since_ms=*since_ms least=*least or="–" /> };
    view! {
        <dl class="totals">
            <Total name="Held" value=part(head, held, age) />
            {part(head, waiters, |(text, why)| view! { <Total name="Waiting" key="waiters" title=filled(*why) value=text.clone() /> })}
            <Total name="Oldest wait" value=part(head, oldest, age) />
            <Total name="Waiting, last 2 min" value=part(head, |head| head.row.depth.clone(), |depth| view! { <Sparkline depth=depth.clone() /> }) />
        </dl>
    }
}

/// What else may ask about the lock.
fn commands(ensemble: &str, path: &str) -> AnyView {
    let url = LockQuery { ensemble: ensemble.to_owned(), path: path.to_owned(), ..LockQuery::default() }.to_url();
    // Its shell knows no way to write these.
    let is_plain = !path.bytes().any(|byte| matches!(byte, b'"' | b'\\'));
    let in_shell = is_plain.then(|| format!("ls -s \"{path}\""));
    view! {
        <div class="copy-line">
            <CopyCommand command=format!("curl -fsS '{{origin}}/api/v1{url}'") name="curl" />
            {in_shell.map(|command| view! { <CopyCommand command=command name="zkCli" /> })}
            <CopyCommand command=format!("{{origin}}{url}") name="link" />
        </div>
    }
}
