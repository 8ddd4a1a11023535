//! The page of one session: what it holds and waits for, and what happened to it.

mod tables;
mod words;

use leptos::prelude::*;
use leptos_meta::Title;

use super::address::{borrowed, use_pairs};
use super::at_once::any;
use super::first::first;
use super::format::{count, duration, middle, visible};
use super::live::Live;
use super::parts::{Age, Chrome, liveness_word, use_keys};
use crate::wire::{Body, SessionPage, SessionQuery, SessionRow, View};

/// Longest name in the title.
const LABEL_CHARS: usize = 90;
/// Znodes on one page.
const SPOTS_MAX: u32 = 200;

/// The page. Another session's address makes it anew.
#[component]
pub(crate) fn SessionPageView() -> impl IntoView {
    let address = use_pairs();
    let query = Memo::new(move |_| address.with(|pairs| SessionQuery::from_pairs(borrowed(pairs)).map_err(|error| error.to_string())));
    move || {
        let query = query.get();
        any(view! {
            <Chrome here="session">{match query {
                Ok(query) => any(one(SessionQuery { limit: SPOTS_MAX, ..query })),
                Err(mistake) => any(absent("Which session?", visible(&mistake), String::new())),
            }}</Chrome>
        })
    }
}

fn one(query: SessionQuery) -> impl IntoView {
    let live = Live::of_app();
    let first = first(|source| source.session(&query));
    live.open(View::Session(query.clone()), first, |page| Body::Session(page.map(Box::new)));
    use_keys(|_| false);
    let id = query.id.to_string();
    let page = Memo::new(move |_| live.session(|page| page.cloned()));
    view! {
        <Title text=format!("Session {id} · Lockscope") />
        {move || page.with(|page| match page {
            Some(Some(page)) => any(known(page, &query)),
            Some(None) => any(absent(
                "No such session",
                "It owns nothing under the watched roots, and nothing it did there is remembered. If it takes or awaits a lock, this page shows it at once.".to_owned(),
                id.clone(),
            )),
            None => any(absent("Not read yet", String::new(), id.clone())),
        })}
    }
}

/// Nothing to show, and why.
fn absent(title: &'static str, text: String, id: String) -> impl IntoView {
    view! {
        <div class="empty" data-testid="no-session">
            <h1 class="empty-title">{title}</h1>
            <p class="break-all"><code>{id}</code></p>
            <p>{text}</p>
            <p><a href="/sessions">"To the sessions"</a></p>
        </div>
    }
}

fn known(page: &SessionPage, query: &SessionQuery) -> impl IntoView + use<> {
    let row = &page.row;
    let label = row.label.as_deref().map(visible);
    let short = label.as_deref().map(|label| middle(label, LABEL_CHARS));
    view! {
        <nav class="crumbs" aria-label="Way back"><a href="/sessions">"Sessions"</a></nav>
        <header class="verdict dims" data-verdict={if row.in_cycle { "deadlocked" } else { "unknown" }}>
            <h1 class="verdict-path">"Session " {row.session_id.to_string()} " " <bdi class="sess-name" title=label>{short}</bdi></h1>
            <p class="verdict-sentence" data-testid="sentence">{words::sentence(row)}</p>
            <p class="verdict-recipe quiet">{client_words(row)}</p>
            <dl class="totals">
                {total("Holds", count(row.holds))}
                {total("Waits", count(row.waits))}
                {total("Wait behind it", count(row.blocks))}
                {aged("Oldest hold", row.oldest_hold_at_ms)}
                {aged("Oldest wait", row.oldest_wait_at_ms)}
                {total("Znodes", count(row.ephemerals))}
            </dl>
        </header>
        {row.in_cycle.then(|| view! {
            <p class="finding sess-deadlock" data-severity="critical" data-testid="deadlock">
                <strong class="finding-word">"deadlock"</strong>
                <span>"It waits in a circle with others: none of them goes on until one gives up or lets go. "<a href="/waits">"Who waits for whom"</a></span>
            </p>
        })}
        {tables::spots(page, query)}
        {tables::history(page)}
    }
}

fn total(name: &'static str, number: String) -> impl IntoView {
    view! { <div class="total"><dt>{name}</dt><dd>{number}</dd></div> }
}

fn aged(name: &'static str, since_ms: Option<i64>) -> impl IntoView {
    view! { <div class="total"><dt>{name}</dt><dd><Age since_ms=Signal::stored(since_ms) />{since_ms.is_none().then_some("–")}</dd></div> }
}

/// Where it is, as far as there is evidence.
fn client_words(row: &SessionRow) -> String {
    let alive = format!("Client: {}", liveness_word(row.liveness));
    match &row.client {
        Some(client) => {
            format!("{alive}; from {} to {}, session time-out {}", visible(&client.address), visible(&client.server), duration(client.timeout_ms))
        }
        None => alive,
    }
}
