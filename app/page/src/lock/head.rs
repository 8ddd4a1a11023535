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
use crate::parts::{Age, Chip, Findings, Total, current, filled, hold_least, missing_words, part, wait_least, waiters_text};
use lockscope_wire::{Confidence, LockHead, LockQuery, Verdict};

/// The title block.
#[component]
pub(super) fn LockTitle(state: LockState) -> AnyView {
    let head = state.head;
    let is_live = Memo::new(move |_| current(state.live).is_live());
    let trust = move |head: &LockHead| (head.as_of.clone(), head.trust.clone(), is_live.get());
    view! {
        <nav class="crumbs" aria-label="Way back"><a href="/">"Board"</a></nav>
        {verdict(head)}
        {part(head, trust, |(as_of, trust, is_live)| view! { <Freshness as_of=as_of.clone() trust=trust.clone() is_live=*is_live /> })}
        {part(head, |head| head.findings.clone(), |found| view! { <Findings found=found.clone() /> })}
        {part(head, |head| head.notes.clone(), |notes| erase(notes.iter().map(note).collect_view()))}
        <Holders head=head />
        {part(head, |head| head.herd.clone(), |known| erase(known.as_ref().map(herd)))}
        {part(head, |head| head.fired.clone(), |rows| erase(fired(rows)))}
    }
}

/// What the recipe hides.
fn note(note: &String) -> AnyView {
    view! { <p class="finding" data-severity="note">{visible(note)}</p> }
}

fn verdict(head: Memo<Option<LockHead>>) -> AnyView {
    let name = Memo::new(move |_| head.with(|head| head.as_ref().map(|head| head.row.verdict.name())));
    let place = |head: &LockHead| (head.row.ensemble.clone(), head.row.path.clone());
    let recipe = |head: &LockHead| (head.row.recipe_label.clone(), head.row.confidence, head.row.root.clone());
    view! {
        <header class="verdict dims" data-verdict=move || name.get()>
            {part(head, |head| head.row.path.clone(), title)}
            {part(head, |head| (head.row.verdict, head.row.sentence.clone()), |(verdict, sentence)| line(*verdict, sentence))}
            {part(head, recipe, |(label, confidence, root)| recognised(label, *confidence, root))}
            {part(head, place, |(ensemble, path)| commands(ensemble, path))}
            <dl class="totals">
                {part(head, Numbers::of, numbers)}
                {part(head, |head| head.row.depth.clone(), |depth| {
                    view! { <Total name="Waiting, last 2 min" value=view! { <Sparkline depth=depth.clone() /> } /> }
                })}
            </dl>
        </header>
    }
}

fn title(path: &String) -> AnyView {
    view! {
        <div class="verdict-top">
            <h1 class="verdict-path"><bdi>{visible(path)}</bdi></h1>
            <CopyButton text=path.clone() what="path" />
        </div>
    }
}

fn line(verdict: Verdict, sentence: &str) -> AnyView {
    view! {
        <div class="verdict-line" data-testid="verdict" data-verdict=verdict.name()>
            <Chip verdict=verdict />
            <p class="verdict-sentence">{visible(sentence)}</p>
        </div>
    }
}

fn recognised(label: &str, confidence: Confidence, root: &str) -> AnyView {
    let how = format!(", recognised with {confidence} confidence, under root {}", visible(root));
    view! { <p class="verdict-recipe">{visible(label)}<span class="quiet">{how}</span></p> }
}

/// The numbers of the title block.
#[derive(PartialEq)]
struct Numbers {
    held_since_ms: Option<i64>,
    hold_is_lower_bound: bool,
    waiters: String,
    missing: &'static str,
    oldest_wait_at_ms: Option<i64>,
    wait_is_lower_bound: bool,
}

impl Numbers {
    fn of(head: &LockHead) -> Self {
        let row = &head.row;
        Self {
            held_since_ms: row.held_since_ms,
            hold_is_lower_bound: row.hold_is_lower_bound,
            waiters: waiters_text(row),
            missing: missing_words(&row.missing),
            oldest_wait_at_ms: row.oldest_wait_at_ms,
            wait_is_lower_bound: row.wait_is_lower_bound,
        }
    }
}

fn numbers(numbers: &Numbers) -> AnyView {
    let held = view! { <Age since_ms=numbers.held_since_ms least=hold_least(numbers.hold_is_lower_bound) or="–" /> };
    let oldest = view! { <Age since_ms=numbers.oldest_wait_at_ms least=wait_least(numbers.wait_is_lower_bound) or="–" /> };
    view! {
        <Total name="Held" value=held />
        <Total name="Waiting" key="waiters" title=filled(numbers.missing) value=numbers.waiters.clone() />
        <Total name="Oldest wait" value=oldest />
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
