//! What happened, the newest first: one list of what is live and what was recorded. Nothing in it moves: new rows are
//! counted beside it, and shown when that is asked for.

use crate::erase::view;
use leptos::prelude::*;

use super::{ServerPage, words};
use crate::address::with_parameter;
use crate::format::visible;
use crate::parts::{
    Columns, Table, ensemble_field, hidden_fields, linked, lock_url, option, select_field, session_url, shortened,
    shortened_code, stamp, text_field, tool_link,
};
use lockscope_view::past::Missing;
use lockscope_view::{EventKind, EventRow};

/// Longest text in a cell; the whole is in its title.
const CELL_CHARS: usize = 60;

#[derive(Clone, Debug, Default)]
pub struct EventsView {
    /// Only at or below this path; empty for all.
    pub path: String,
    /// Only of this session; empty for all.
    pub session: String,
    /// Only of this kind; empty for all.
    pub kind: String,
    /// Only of this ensemble; empty for all.
    pub ensemble: String,
    /// Ensembles to choose from; none where there is one.
    pub ensembles: Vec<String>,
    /// What else the address has: when.
    pub range: Vec<(String, String)>,
    /// The rows, the newest first.
    pub rows: Vec<EventLine>,
    /// The moment at which the list is shown; None: now.
    pub at_ms: Option<i64>,
    /// Address of the newest rows, now; empty where these are shown.
    pub newest: String,
    /// Address of older rows; empty when there are none.
    pub older: String,
    /// Where new rows are counted; empty where nothing new comes into the list.
    pub news: String,
    /// So far back all was looked through, where it was given up before there were enough rows.
    pub given_up_at_ms: Option<i64>,
    pub keeps_history: bool,
}

#[derive(Clone, Debug)]
pub struct EventLine {
    pub ensemble: String,
    /// What happened; or of which time nothing is known.
    pub what: Result<EventRow, Missing>,
    /// Who its session is.
    pub client: Option<String>,
}

/// Counts new rows every five seconds, unless it is paused or nobody looks.
const NEWS_SCRIPT: &str = "{const n=document.getElementById('news'),b=document.getElementById('news-pause');if(n){let p=false;\
    const say=()=>{b.setAttribute('aria-pressed',String(p));b.firstChild.textContent=p?b.dataset.on:b.dataset.off};b.hidden=false;say();\
    const turn=()=>{p=!p;say()};b.addEventListener('click',turn);\
    document.addEventListener('keydown',e=>{if(e.key==='p'&&!e.ctrlKey&&!e.metaKey&&!e.altKey&&!e.target.closest('input,select,textarea'))turn()});\
    const look=async()=>{if(!p&&!document.hidden)try{const r=await fetch(n.dataset.from);if(r.ok){const t=await r.text();\
    if(n.firstElementChild.textContent!==t)n.firstElementChild.textContent=t;n.hidden=!t}}catch{}setTimeout(look,5e3)};setTimeout(look,5e3)}}";

const COLUMNS: Columns = &[("When", ""), ("What", ""), ("Lock", ""), ("Who", ""), ("What happened", "")];

pub fn events_page(plain: &ServerPage<'_>, of: &EventsView) -> String {
    super::drawn(plain, 0, || {
        let rows = of.rows.iter().map(|line| row(of, line)).collect_view();
        let list = if of.rows.is_empty() {
            view! { <p class="empty">{words::no_event(of.given_up_at_ms.is_some(), of.keeps_history)}</p> }
        } else {
            view! { <Table class="table audit-table" testid="events" columns=COLUMNS rows=rows /> }
        };
        let content = view! {
            <h1 class="page-title">"Events"</h1>
            {lead(of)}
            {filter(of)}
            {news(of)}
            {list}
            {of.given_up_at_ms.map(|at_ms| view! { <p class="notice" data-testid="events-given-up">{words::LOOKED_BACK} {stamp(at_ms)} {words::LOOKED_BACK_END}</p> })}
            <nav class="audit-ways" aria-label="More events">{tool_link(&of.newest, words::NEWEST)}{tool_link(&of.older, words::OLDER)}</nav>
        };
        let tail = (!of.news.is_empty())
            .then(|| view! { <script nonce=plain.nonce.to_owned() inner_html=NEWS_SCRIPT></script> });
        super::framed(plain, "Events", "events", content, (), tail)
    })
}

fn lead(of: &EventsView) -> AnyView {
    let then =
        of.at_ms.map(|at_ms| view! { <strong data-testid="events-at">{words::AS_OF} {stamp(at_ms)}</strong> ". " });
    let incidents = of.keeps_history.then(|| view! { " " <a href="/incidents">{words::INCIDENTS_WAY}</a> });
    view! { <p class="quiet audit-lead">{then}{words::events_lead(of.keeps_history)}{incidents}</p> }
}

/// How many rows are new, once a script says so.
fn news(of: &EventsView) -> Option<AnyView> {
    (!of.news.is_empty()).then(|| {
        view! {
            <p class="notice" id="news" role="status" data-testid="events-news" data-from=of.news.clone() hidden>
                <a href=of.news.replacen("/events/news", "/events", 1)></a>
            </p>
        }
    })
}

fn filter(of: &EventsView) -> AnyView {
    // An empty value would read as one that is left out.
    let any = |text: &'static str, chosen: &str| option("any", text.to_owned(), chosen.is_empty());
    let kinds = EventKind::ALL.into_iter().map(Some).chain([None]);
    let kinds = kinds.map(|kind| {
        let name = kind.map_or("gap", EventKind::name);
        option(name, words::event_kind(kind), of.kind == name)
    });
    let kinds = (any(words::EVERYTHING, &of.kind), kinds.collect_view());
    view! {
        <form class="filters audit-filter" method="get" action="/events" role="search">
            {text_field("path", words::LOCK, &of.path, None)}
            {text_field("session", words::SESSION, &of.session, None)}
            {select_field("kind", "What", kinds)}
            {ensemble_field(&of.ensembles, &of.ensemble, Some(any(words::EVERY, &of.ensemble)))}
            {hidden_fields(&of.range)}
            <button class="tool" type="submit">"Show"</button>
            {pause(of)}
        </form>
    }
}

/// Stops counting new rows, once a script can.
fn pause(of: &EventsView) -> Option<AnyView> {
    (!of.news.is_empty()).then(|| {
        view! {
            <button class="tool push" type="button" id="news-pause" data-testid="events-pause" data-on=words::GO_ON data-off=words::PAUSE hidden>
                <span></span> " " <kbd class="kbd">"p"</kbd>
            </button>
        }
    })
}

fn row(of: &EventsView, line: &EventLine) -> AnyView {
    let then = |url: &str, at_ms: i64| with_parameter(url, &format!("at={at_ms}"));
    let shown = |url: String| match of.at_ms {
        Some(at_ms) => then(&url, at_ms),
        None => url,
    };
    let has_several = !of.ensembles.is_empty();
    let ensemble = if has_several { &*line.ensemble } else { "" };
    let event = line.what.as_ref().ok();
    let kind = event.map(|row| row.kind);
    let path = event.and_then(|row| row.path.as_ref());
    let lock_url = path.filter(|_| kind != Some(EventKind::Root)).map(|path| lock_url(ensemble, path));
    let moment = event.filter(|_| of.keeps_history).map(|row| {
        let url = then(lock_url.as_deref().unwrap_or("/"), row.at_ms);
        view! { <div><a href=url>{words::THEN}</a></div> }
    });
    let session = event.and_then(|row| row.session_id).map(|id| {
        view! { <div class="quiet">{linked(Some(shown(session_url(ensemble, id))), shortened_code(&id.to_string(), CELL_CHARS))}</div> }
    });
    let ensemble = has_several.then(|| view! { <div class="quiet">{visible(&line.ensemble)}</div> });
    let who = line.client.as_ref().map(|client| shortened(client, CELL_CHARS));
    let (at_ms, text) = match &line.what {
        Ok(row) => (row.at_ms, visible(&row.text)),
        Err(gap) => (gap.from_ms, words::nothing_known(gap)),
    };
    view! {
        <tr data-kind=kind.map_or("gap", EventKind::name) data-at=at_ms.to_string()>
            <td>{stamp(at_ms)}{moment}</td>
            <td><span class="audit-kind">{words::event_kind(kind)}</span></td>
            <td class="audit-where">{path.map(|path| linked(lock_url.map(shown), shortened_code(path, CELL_CHARS)))}{ensemble}</td>
            <td class="audit-where">{who}{session}</td>
            <td class="audit-why">{text}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::AssetNames;
    use lockscope_view::{Person, Role, SessionId, SignedBy};

    #[test]
    fn what_clients_wrote_stays_text_and_the_script_is_small() {
        let hostile = "</script><script>alert(1)</script>\u{202e}".to_owned();
        let row = EventRow {
            number: 1,
            at_ms: 1_700_000_000_000,
            kind: EventKind::Arrived,
            path: Some(hostile.clone()),
            node: None,
            czxid: None,
            session_id: Some(SessionId(1)),
            verdict: None,
            finding: None,
            text: hostile.clone(),
        };
        let line = EventLine { ensemble: hostile.clone(), what: Ok(row), client: Some(hostile.clone()) };
        let of = EventsView {
            path: hostile.clone(),
            session: hostile.clone(),
            ensembles: vec![hostile.clone()],
            range: vec![("from".to_owned(), hostile.clone())],
            rows: vec![line],
            news: "/events/news?after=1.1.0".to_owned(),
            ..EventsView::default()
        };
        let person = Person {
            name: hostile,
            role: Role::Viewer,
            by: SignedBy::Token,
            may_release: false,
            may_audit: false,
            can_sign_in: true,
            keeps_history: true,
            has_fleet: false,
        };
        let assets = AssetNames::default();
        let tab = crate::document_title::DocumentTitle::default();
        let html = events_page(
            &ServerPage {
                assets: &assets,
                nonce: "n",
                person: &person,
                tab,
                alerts: None,
                forms: crate::ports::FormTokens::default(),
            },
            &of,
        );
        assert_eq!(html.matches("<script").count(), 3, "those of the head and the end of the document alone");
        assert!(!html.contains('\u{202e}') && html.contains("2023-11-14 22:13:20 UTC"));
        assert!(NEWS_SCRIPT.len() < 2_048, "{}", NEWS_SCRIPT.len());
    }
}
