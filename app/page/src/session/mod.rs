//! The page of one session: what it holds and waits for, and what happened to it.

mod tables;
mod words;

use leptos::prelude::*;

use super::address::{borrowed, use_pairs};
use super::copy::CopyButton;
use super::erase::{dynamic, erase, view};
use super::format::{count, middle, visible};
use super::initial_view::initial_view;
use super::live::Live;
use super::parts::{Age, Chrome, Client, ClientCard, Section, Total, filled, part, session_url, use_keys};
use super::sections::ServerSection;
use lockscope_view::{SessionPage, SessionQuery, SessionRow, Verdict};
use tables::{History, Locks};

const LABEL_CHARS: usize = 90;
/// Its znodes in locks on one page.
const LOCKS_MAX: u32 = 200;

/// The page. Another session's address makes it anew.
#[component]
pub(crate) fn SessionPageView() -> AnyView {
    let address = use_pairs();
    let query = Memo::new(move |_| {
        address.with(|pairs| SessionQuery::from_pairs(borrowed(pairs)).map_err(|error| error.to_string()))
    });
    dynamic(move || {
        let query = query.get();
        let title = query.as_ref().map_or(words::SESSION.to_owned(), |query| words::session(query.id));
        view! {
            <Chrome here="session" title=title>{match query {
                Ok(query) => erase(one(SessionQuery { limit: LOCKS_MAX, ..query })),
                Err(mistake) => absent(words::WHICH, &mistake, ""),
            }}</Chrome>
        }
    })
}

#[derive(Clone, Copy)]
struct SessionState {
    page: Memo<Option<SessionPage>>,
    query: StoredValue<SessionQuery>,
}

fn one(query: SessionQuery) -> AnyView {
    let live = Live::of_app();
    let first = initial_view(|source| source.session(&query));
    live.open(query.clone(), first);
    use_keys(|_| false);
    let id = query.id.to_string();
    let page = Memo::new(move |_| live.session(|page| page.cloned()).flatten());
    let is_there = Memo::new(move |_| page.with(Option::is_some));
    let is_read = Memo::new(move |_| live.session(|_| ()).is_some());
    let state = SessionState { page, query: StoredValue::new(query) };
    dynamic(move || match (is_there.get(), is_read.get()) {
        (true, _) => known(state),
        (false, true) => absent(words::NO_SESSION, words::NOTHING, &id),
        (false, false) => absent(words::NOT_READ, "", &id),
    })
}

fn absent(title: &'static str, text: &str, id: &str) -> AnyView {
    view! {
        <div class="empty" data-testid="no-session">
            <h1 class="empty-title">{title}</h1>
            <p class="break-all"><code>{id.to_owned()}</code></p>
            <p>{visible(text)}</p>
            <p><a href="/sessions">"To the sessions"</a></p>
        </div>
    }
}

fn known(state: SessionState) -> AnyView {
    let page = state.page;
    view! {
        <nav class="crumbs" aria-label="Way back"><a href="/sessions">"Sessions"</a></nav>
        {part(page, |page| page.row.clone(), title)}
        {part(page, |page| page.row.cycle_verdict, |verdict| erase(verdict.map(deadlock)))}
        {part(page, |page| page.row.clone(), client)}
        {ServerSection::SessionTimeout.element()}
        <Locks state=state />
        <History state=state />
        <p><a class="tool" href=state.query.with_value(events_url) rel="external" data-testid="events-link">"What happened"</a></p>
    }
}

fn events_url(query: &SessionQuery) -> String {
    session_url(&query.ensemble, query.id).replacen("/session", "/events", 1).replacen("id=", "session=", 1)
}

fn title(row: &SessionRow) -> AnyView {
    let id = row.session_id.to_string();
    let label = row.label.as_deref().map(visible).unwrap_or_default();
    let name = filled(middle(&label, LABEL_CHARS));
    view! {
        <header class="verdict dims" data-verdict=row.cycle_verdict.map_or("unknown", Verdict::name)>
            <div class="verdict-top">
                <h1 class="verdict-path">{words::before_name(row.session_id)}<bdi class="sess-name" title=filled(label)>{name}</bdi></h1>
                <CopyButton text=id what=words::SESSION_ID />
            </div>
            <p class="verdict-sentence" data-testid="sentence">{words::sentence(row)}</p>
            <dl class="totals">
                <Total name="Holds" value=count(row.holds) />
                <Total name="Waits" value=count(row.waits) />
                <Total name="Blocks" value=count(row.blocks) />
                <Total name="Oldest hold" value=view! { <Age since_ms=row.oldest_hold_at_ms or="–" /> } />
                <Total name="Oldest wait" value=view! { <Age since_ms=row.oldest_wait_at_ms or="–" /> } />
                <Total name="Znodes" value=count(row.ephemerals) />
            </dl>
        </header>
    }
}

fn deadlock(verdict: Verdict) -> AnyView {
    let severity = if verdict == Verdict::Deadlocked { "critical" } else { "warning" };
    view! {
        <p class="finding sess-deadlock" data-severity=severity data-testid="deadlock">
            <strong class="finding-word">"deadlock"</strong>
            {words::in_circle(verdict)}
            <a href="/waits">"Who waits for whom"</a>
        </p>
    }
}

/// Where it connects from, as far as members report it.
fn client(row: &SessionRow) -> AnyView {
    let of = Client {
        token: None,
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
                "No member reported its client: it is listed by none of those asked, or evidence is off. More on the "
                <a href="/status">"status"</a> " page."
            </p>
        }
    });
    view! {
        <Section id="client-title" title="Client">
            <ClientCard of=of button=erase(()) />
            {why}
        </Section>
    }
}
