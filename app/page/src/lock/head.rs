//! Path, verdict and sentence, large; the numbers, how far they can be trusted, who holds, and what a release does.

use leptos::prelude::*;

use super::freshness::Freshness;
use super::holders::Holders;
use super::release::{fired, herd};
use super::ticket_words::markdown;
use super::{LockState, words};
use crate::charts::Sparkline;
use crate::clipboard;
use crate::copy::{CopyButton, CopyCommand};
use crate::erase::{dynamic, erase, view};
use crate::explain::explained_verdict;
use crate::format::visible;
use crate::live::Live;
use crate::parts::{
    AgeOf, Findings, Since, StepPlace, Total, current, filled, headline, hold_least, lock_url, missing_words, part,
    step, wait_least, waiters_text,
};
use lockscope_view::{Advice, Confidence, Headline, LockHead};

#[component]
pub(super) fn LockTitle(state: LockState) -> AnyView {
    let head = state.head;
    let is_live = Memo::new(move |_| current(state.live).is_live());
    let is_fast = Memo::new(move |_| state.is_fast());
    view! {
        <nav class="crumbs" aria-label="Way back"><a href="/">"Board"</a></nav>
        {verdict(head)}
        <Freshness head=head is_live=is_live />
        {part(head, |head| head.findings.clone(), |found| view! { <Findings found=found.clone() /> })}
        {part(head, |head| head.notes.clone(), |notes| erase(notes.iter().map(|text| note(text)).collect_view()))}
        {dynamic(move || (!is_fast.get()).then(|| view! { <Holders head=head /> }))}
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
    let recipe = |head: &LockHead| (head.row.recipe_label.clone(), head.row.confidence, head.row.root.clone());
    view! {
        <header class="verdict dims" data-verdict=name>
            {part(head, |head| (head.row.ensemble.clone(), head.row.path.clone()), |(ensemble, path)| title(ensemble, path))}
            <div class="verdict-line" data-testid="verdict" data-verdict=name>
                {part(head, |head| head.row.verdict, |verdict| explained_verdict(*verdict))}
                <p class="verdict-sentence">{part(head, sentence, headline)}</p>
            </div>
            {part(head, recipe, |(label, confidence, root)| recognised(label, *confidence, root))}
            {numbers(head)}
        </header>
        {part(head, |head| head.advice.clone().map(|advice| (advice, StepPlace { ensemble: head.row.ensemble.clone(), here: head.row.path.clone() })), |advice| erase(advice.as_ref().map(|(advice, place)| what_to_do(advice, place))))}
    }
}

fn title(ensemble: &str, path: &str) -> AnyView {
    view! {
        <div class="verdict-top">
            <h1 class="verdict-path"><bdi>{visible(path)}</bdi></h1>
            <CopyButton text=path.to_owned() what="path" />
            {share(ensemble, path)}
        </div>
    }
}

/// The sentence: with the age of what is wrong, where something is.
fn sentence(head: &LockHead) -> Headline {
    let plain = || Headline { before: head.row.sentence.clone(), ..Headline::default() };
    head.advice.as_ref().map_or_else(plain, |advice| advice.headline.clone())
}

fn what_to_do(advice: &Advice, place: &StepPlace) -> AnyView {
    let steps = advice.steps.iter().map(|one| view! { <li class="step">{step(one, place)}</li> }).collect_view();
    view! {
        <section class="advice dims" aria-labelledby="advice-title" data-testid="advice">
            <h2 class="part-title" id="advice-title">"Do this"</h2>
            <ol class="steps">{steps}</ol>
            <p class="advice-why" data-testid="why"><strong>"Why Lockscope says so: "</strong>{visible(&advice.why)}</p>
        </section>
    }
}

fn recognised(label: &str, confidence: Confidence, root: &str) -> AnyView {
    let how = words::recognised(confidence, root);
    view! { <p class="verdict-recipe">{visible(label)}<span class="quiet">{how}</span></p> }
}

fn numbers(head: Memo<Option<LockHead>>) -> AnyView {
    let since = move |of: fn(&LockHead) -> Since| {
        Memo::new(move |_| head.with(|head| head.as_ref().map(of).unwrap_or_default()))
    };
    let held = since(|head| (head.row.held_since_ms, hold_least(head.row.hold_is_lower_bound)));
    let oldest = since(|head| (head.row.oldest_wait_at_ms, wait_least(head.row.wait_is_lower_bound)));
    let waiters = |head: &LockHead| (waiters_text(&head.row), missing_words(&head.row.missing));
    let depth =
        Signal::derive(move || head.with(|head| head.as_ref().map(|head| head.row.depth.clone()).unwrap_or_default()));
    view! {
        <dl class="totals">
            <Total name="Held" value=view! { <AgeOf since=held /> } />
            {part(head, waiters, |(text, why)| view! { <Total name="Waiting" key="waiters" title=filled(*why) value=text.clone() /> })}
            <Total name="Oldest wait" value=view! { <AgeOf since=oldest /> } />
            <Total name="Waiting, last 2 min" value=view! { <Sparkline depth=depth /> } />
        </dl>
    }
}

/// The link, and what else tells of the lock: for a shell, a script, a ticket.
fn share(ensemble: &str, path: &str) -> AnyView {
    let url = lock_url(ensemble, path);
    // Its shell knows no way to write these.
    let is_plain = !path.bytes().any(|byte| matches!(byte, b'"' | b'\\'));
    let in_shell = is_plain.then(|| format!("ls -s \"{path}\""));
    let live = Live::of_app();
    view! {
        <div class="copy-line">
            <CopyCommand command=format!("{{origin}}{url}") name="Copy link" />
            <details class="menu">
                <summary class="tool">"Copy as …"</summary>
                <div class="menu-list">
                    <CopyCommand command=format!("curl -fsS '{{origin}}/api/v1{url}'") name="curl command" />
                    {in_shell.map(|command| view! { <CopyCommand command=command name="zkCli command" /> })}
                    <button class="tool copy-command needs-script" type="button" on:click=move |_| copy_markdown(live)>"Markdown for a ticket"</button>
                    <a class="tool" href=format!("/api/v1{url}") rel="external" target="_blank">"JSON"</a>
                    <a class="tool" href=format!("/api/v1{url}&format=csv") rel="external" download>"CSV of the queue"</a>
                </div>
            </details>
        </div>
    }
}

fn copy_markdown(live: Live) {
    let text = untrack(move || live.lock(|page| page.map(|page| markdown(page, live.now_ms()))));
    if let Some(text) = text.flatten() {
        clipboard::copy(text);
    }
}
