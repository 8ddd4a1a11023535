//! The page of one session: what it holds and waits for, and what happened to it.

mod tables;
mod words;

use leptos::prelude::*;

use super::address::{borrowed, use_pairs};
use super::copy::copy_button;
use super::erase::erase;
use super::format::{count, middle, visible};
use super::html::{Html, Living};
use super::initial_view::initial_view;
use super::live::Live;
use super::parts::{Chrome, ClientCard, client_card, use_keys};
use lockscope_wire::{Body, SessionPage, SessionQuery, SessionRow, Verdict, View};

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
        let title = query.as_ref().map_or("Session".to_owned(), |query| format!("Session {}", query.id));
        erase(view! {
            <Chrome here="session" title=title>{match query {
                Ok(query) => erase(one(SessionQuery { limit: SPOTS_MAX, ..query })),
                Err(mistake) => {
                    let html = Signal::stored(absent("Which session?", &mistake, ""));
                    erase(view! { <Living class="living" html=html /> })
                }
            }}</Chrome>
        })
    }
}

fn one(query: SessionQuery) -> impl IntoView {
    let live = Live::of_app();
    let first = initial_view(|source| source.session(&query));
    live.open(View::Session(query.clone()), first, |page| Body::Session(page.map(Box::new)));
    use_keys(|_| false);
    let html = move || {
        let now_ms = live.now_ms_untracked();
        match live.session(|page| page.map(|page| known(page, &query, now_ms))) {
            Some(Some(page)) => page,
            Some(None) => absent(
                "No such session",
                "It owns nothing under the watched roots, and nothing it did there is remembered. If it takes or awaits a lock, this page shows it at once.",
                &query.id.to_string(),
            ),
            None => absent("Not read yet", "", &query.id.to_string()),
        }
    };
    view! {
        <Living class="living" html=Signal::derive(html) />
    }
}

/// Nothing to show, and why.
fn absent(title: &str, text: &str, id: &str) -> Html {
    let inner = vec![
        Html::of("h1", &[("class", "empty-title")], title),
        Html::tag("p", &[("class", "break-all")], Html::of("code", &[], id)),
        Html::of("p", &[], text),
        Html::tag("p", &[], Html::of("a", &[("href", "/sessions")], "To the sessions")),
    ];
    Html::tag("div", &[("class", "empty"), ("data-testid", "no-session")], Html::all(inner))
}

fn known(page: &SessionPage, query: &SessionQuery, now_ms: i64) -> Html {
    let row = &page.row;
    let label = row.label.as_deref().map(visible).unwrap_or_default();
    let aged = |since_ms: Option<i64>| Html::age(since_ms, false, now_ms).or_dash();
    let name = Html::of("bdi", &[("class", "sess-name"), ("title", &label)], &middle(&label, LABEL_CHARS));
    let totals = vec![
        Html::total("Holds", Html::text(&count(row.holds))),
        Html::total("Waits", Html::text(&count(row.waits))),
        Html::total("Wait behind it", Html::text(&count(row.blocks))),
        Html::total("Oldest hold", aged(row.oldest_hold_at_ms)),
        Html::total("Oldest wait", aged(row.oldest_wait_at_ms)),
        Html::total("Znodes", Html::text(&count(row.ephemerals))),
    ];
    let id = row.session_id.to_string();
    let title = Html::tag("h1", &[("class", "verdict-path")], Html::all(vec![Html::text(&format!("Session {id} ")), name]));
    let head = vec![
        Html::tag("div", &[("class", "verdict-top")], Html::all(vec![title, copy_button(&id, "session id")])),
        Html::of("p", &[("class", "verdict-sentence"), ("data-testid", "sentence")], &words::sentence(row)),
        Html::tag("dl", &[("class", "totals")], Html::all(totals)),
    ];
    let verdict = row.cycle_verdict.map_or("unknown", Verdict::name);
    let way_back = Html::of("a", &[("href", "/sessions")], "Sessions");
    let mut parts = vec![
        Html::tag("nav", &[("class", "crumbs"), ("aria-label", "Way back")], way_back),
        Html::tag("header", &[("class", "verdict dims"), ("data-verdict", verdict)], Html::all(head)),
    ];
    if let Some(verdict) = row.cycle_verdict {
        let (severity, says) = match verdict {
            Verdict::Deadlocked => ("critical", "It waits in a circle with others: none of them goes on until one gives up or lets go. "),
            _ => ("warning", "It waits in a circle with others. If these are different threads of one client, this is no deadlock. "),
        };
        let text = vec![
            Html::of("strong", &[("class", "finding-word")], "deadlock"),
            Html::text(says),
            Html::of("a", &[("href", "/waits")], "Who waits for whom"),
        ];
        let attributes = [("class", "finding sess-deadlock"), ("data-severity", severity), ("data-testid", "deadlock")];
        parts.push(Html::tag("p", &attributes, Html::all(text)));
    }
    parts.push(client(row, now_ms));
    parts.push(tables::spots(page, query, now_ms));
    parts.push(tables::history(page));
    Html::all(parts)
}

/// Where it connects from, as far as members tell.
fn client(row: &SessionRow, now_ms: i64) -> Html {
    let person = ClientCard {
        button: Html::default(),
        ensemble: &row.ensemble,
        name: String::new(),
        session_id: None,
        client: row.client.as_ref(),
        liveness: row.liveness,
        runs_out: row.runs_out.as_ref(),
        only_on: &[],
    };
    let mut parts = vec![Html::of("h2", &[("class", "part-title"), ("id", "client-title")], "Client"), client_card(&person, now_ms)];
    if row.client.is_none() {
        let words = Html::text("No member told of its client: it is listed by none of those asked, or evidence is off. More on the ");
        let status = Html::of("a", &[("href", "/status")], "status");
        parts.push(Html::tag("p", &[("class", "quiet"), ("data-testid", "why-unknown")], Html::all(vec![words, status, Html::text(" page.")])));
    }
    Html::tag("section", &[("class", "part"), ("aria-labelledby", "client-title")], Html::all(parts))
}
