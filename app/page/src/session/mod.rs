//! The page of one session: what it holds and waits for, and what happened to it.

mod tables;
mod words;

use leptos::prelude::*;

use super::address::{borrowed, use_pairs};
use super::copy::CopyButton;
use super::erase::{dynamic, erase};
use super::format::{count, middle, visible};
use super::initial_view::initial_view;
use super::live::Live;
use super::parts::{Age, Chrome, Client, ClientCard, Section, Total, filled, use_keys};
use lockscope_wire::{SessionPage, SessionQuery, SessionRow, Verdict};

/// Longest name in the title.
const LABEL_CHARS: usize = 90;
/// Znodes on one page.
const SPOTS_MAX: u32 = 200;

/// The page. Another session's address makes it anew.
#[component]
pub(crate) fn SessionPageView() -> impl IntoView {
    let address = use_pairs();
    let query = Memo::new(move |_| address.with(|pairs| SessionQuery::from_pairs(borrowed(pairs)).map_err(|error| error.to_string())));
    dynamic(move || {
        let query = query.get();
        let title = query.as_ref().map_or("Session".to_owned(), |query| format!("Session {}", query.id));
        erase(view! {
            <Chrome here="session" title=title>{match query {
                Ok(query) => erase(one(SessionQuery { limit: SPOTS_MAX, ..query })),
                Err(mistake) => absent("Which session?", &mistake, ""),
            }}</Chrome>
        })
    })
}

fn one(query: SessionQuery) -> impl IntoView {
    let live = Live::of_app();
    let first = initial_view(|source| source.session(&query));
    live.open(query.clone(), first);
    use_keys(|_| false);
    dynamic(move || match live.session(|page| page.map(|page| known(page, &query))) {
        Some(Some(page)) => page,
        Some(None) => absent(
            "No such session",
            "It owns nothing under the watched roots, and nothing it did there is remembered. If it takes or awaits a lock, this page shows it at once.",
            &query.id.to_string(),
        ),
        None => absent("Not read yet", "", &query.id.to_string()),
    })
}

/// Nothing to show, and why.
fn absent(title: &'static str, text: &str, id: &str) -> AnyView {
    erase(view! {
        <div class="empty" data-testid="no-session">
            <h1 class="empty-title">{title}</h1>
            <p class="break-all"><code>{id.to_owned()}</code></p>
            <p>{visible(text)}</p>
            <p><a href="/sessions">"To the sessions"</a></p>
        </div>
    })
}

fn known(page: &SessionPage, query: &SessionQuery) -> AnyView {
    let row = &page.row;
    let id = row.session_id.to_string();
    let label = row.label.as_deref().map(visible).unwrap_or_default();
    let name = filled(middle(&label, LABEL_CHARS));
    erase(view! {
        <nav class="crumbs" aria-label="Way back"><a href="/sessions">"Sessions"</a></nav>
        <header class="verdict dims" data-verdict=row.cycle_verdict.map_or("unknown", Verdict::name)>
            <div class="verdict-top">
                <h1 class="verdict-path">{format!("Session {id} ")}<bdi class="sess-name" title=filled(label)>{name}</bdi></h1>
                <CopyButton text=id what="session id" />
            </div>
            <p class="verdict-sentence" data-testid="sentence">{words::sentence(row)}</p>
            <dl class="totals">
                <Total name="Holds" value=count(row.holds) />
                <Total name="Waits" value=count(row.waits) />
                <Total name="Wait behind it" value=count(row.blocks) />
                <Total name="Oldest hold" value=view! { <Age since_ms=row.oldest_hold_at_ms or="–" /> } />
                <Total name="Oldest wait" value=view! { <Age since_ms=row.oldest_wait_at_ms or="–" /> } />
                <Total name="Znodes" value=count(row.ephemerals) />
            </dl>
        </header>
        {row.cycle_verdict.map(deadlock)}
        {client(row)}
        {tables::spots(page, query)}
        {tables::history(page)}
    })
}

fn deadlock(verdict: Verdict) -> AnyView {
    let (severity, text) = match verdict {
        Verdict::Deadlocked => ("critical", "It waits in a circle with others: none of them goes on until one gives up or lets go. "),
        _ => ("warning", "It waits in a circle with others. If these are different threads of one client, this is no deadlock. "),
    };
    erase(view! {
        <p class="finding sess-deadlock" data-severity=severity data-testid="deadlock">
            <strong class="finding-word">"deadlock"</strong>
            {text}
            <a href="/waits">"Who waits for whom"</a>
        </p>
    })
}

/// Where it connects from, as far as members tell.
fn client(row: &SessionRow) -> AnyView {
    let of = Client {
        ensemble: row.ensemble.clone(),
        name: String::new(),
        session_id: None,
        info: row.client.clone(),
        liveness: row.liveness,
        runs_out: row.runs_out,
        only_on: Vec::new(),
    };
    let why = row.client.is_none().then(|| {
        view! {
            <p class="quiet" data-testid="why-unknown">
                "No member told of its client: it is listed by none of those asked, or evidence is off. More on the "
                <a href="/status">"status"</a> " page."
            </p>
        }
    });
    erase(view! {
        <Section id="client-title" title="Client">
            <ClientCard of=of button=erase(()) />
            {why}
        </Section>
    })
}
