//! Path, verdict and sentence, large; the numbers, how far they can be trusted, who holds, and what a release does.

use leptos::prelude::*;

use super::LockState;
use super::freshness::freshness;
use super::holders::holders;
use super::release::release;
use crate::charts::sparkline;
use crate::copy::{copy_button, copy_command};
use crate::current_user::CurrentUser;
use crate::format::visible;
use crate::html::{Html, Living};
use crate::parts::{chip, current, findings, missing_words, waiters_text};
use lockscope_wire::{LockHead, LockQuery, LockRow};

/// The title block.
#[component]
pub(super) fn LockTitle(state: LockState) -> impl IntoView {
    let may_release = CurrentUser::of_app().may_release();
    let is_live = Memo::new(move |_| current(state.live).is_live());
    let draw = move |head: &LockHead| top(head, may_release, is_live.get(), state.live.now_ms_untracked());
    let html = move || state.head.with(|head| head.as_ref().map(draw).unwrap_or_default());
    view! { <Living class="living" html=Signal::derive(html) /> }
}

fn top(head: &LockHead, may_release: bool, is_live: bool, now_ms: i64) -> Html {
    let way_back = Html::of("a", &[("href", "/")], "Board");
    let note = |note: &String| Html::of("p", &[("class", "finding"), ("data-severity", "note")], note);
    Html::all(vec![
        Html::tag("nav", &[("class", "crumbs"), ("aria-label", "Way back")], way_back),
        verdict(head, now_ms),
        freshness(&head.as_of, &head.trust, is_live, now_ms),
        findings(&head.findings, now_ms),
        // What the recipe hides.
        Html::all(head.notes.iter().map(note).collect()),
        holders(head, may_release, now_ms),
        release(head),
    ])
}

fn verdict(head: &LockHead, now_ms: i64) -> Html {
    let row = &head.row;
    let name = row.verdict.name();
    let missing = missing_words(&row.missing);
    let totals = vec![
        Html::total("Held", Html::age(row.held_since_ms, row.hold_is_lower_bound, now_ms).or_dash()),
        Html::tag(
            "div",
            &[("class", "total")],
            Html::all(vec![Html::of("dt", &[], "Waiting"), Html::of("dd", &[("data-total", "waiters"), ("title", missing)], &waiters_text(row))]),
        ),
        Html::total("Oldest wait", Html::wait(row.oldest_wait_at_ms, row.wait_is_lower_bound, now_ms).or_dash()),
        Html::total("Waiting, last 2 min", sparkline(&row.depth)),
    ];
    let sentence = vec![chip(row.verdict), Html::of("p", &[("class", "verdict-sentence")], &row.sentence)];
    let how = format!(", recognised with {} confidence, under root {}", row.confidence, visible(&row.root));
    let recipe = vec![Html::text(&row.recipe_label), Html::of("span", &[("class", "quiet")], &how)];
    let path = Html::of("bdi", &[], &row.path);
    let inner = vec![
        Html::tag(
            "div",
            &[("class", "verdict-top")],
            Html::all(vec![Html::tag("h1", &[("class", "verdict-path")], path), copy_button(&row.path, "path")]),
        ),
        Html::tag("div", &[("class", "verdict-line"), ("data-testid", "verdict"), ("data-verdict", name)], Html::all(sentence)),
        Html::tag("p", &[("class", "verdict-recipe")], Html::all(recipe)),
        commands(row),
        Html::tag("dl", &[("class", "totals")], Html::all(totals)),
    ];
    Html::tag("header", &[("class", "verdict dims"), ("data-verdict", name)], Html::all(inner))
}

/// What else may ask about the lock.
fn commands(row: &LockRow) -> Html {
    let url = LockQuery { ensemble: row.ensemble.clone(), path: row.path.clone(), ..LockQuery::default() }.to_url();
    // Its shell knows no way to write these.
    let is_plain = !row.path.bytes().any(|byte| matches!(byte, b'"' | b'\\'));
    let commands = vec![
        copy_command(&format!("curl -fsS '{{origin}}/api/v1{url}'"), "curl"),
        if is_plain { copy_command(&format!("ls -s \"{}\"", row.path), "zkCli") } else { Html::default() },
        copy_command(&format!("{{origin}}{url}"), "link"),
    ];
    Html::tag("div", &[("class", "copy-line")], Html::all(commands))
}
