//! Finding by a few letters, for people: a page of its own, and what the page's palette shows. Within what whoever asks
//! may see.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use lockscope_page::find_page;
use lockscope_wire::{BoardQuery, FindAnswer, SessionsQuery};

use super::caller::Caller;
use super::compact::compact;
use super::problem::{ErrorResponse, echo};
use super::{Http, server_pages};
use feed::VisibilityScope;
use identity::{Actor, Right};

/// Locks and sessions shown; the board and the list of sessions have the rest.
const LOCKS: u32 = 8;
const SESSIONS: u32 = 5;
/// Longest text that is looked for; a path may be that long.
const TEXT_CHARS_MAX: usize = 400;

type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// `GET /find?q=TEXT`.
pub(super) async fn show(
    State(http): State<Http>,
    Caller { actor, scope, .. }: Caller,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let (own, caller) = (http.clone(), actor.quota_owner());
    let show = move || {
        let view = look(&own, &actor, &scope, pairs)?;
        server_pages::page(&own, &actor, |of| find_page(of, &view))
    };
    http.work.ask(&caller, show).await?
}

/// `GET /find/answer?q=TEXT`: the same for the palette, in the compact encoding.
pub(super) async fn answer(
    State(http): State<Http>,
    Caller { actor, scope, .. }: Caller,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let (own, caller) = (http.clone(), actor.quota_owner());
    Ok(compact(&http.work.ask(&caller, move || look(&own, &actor, &scope, pairs)).await??))
}

fn look(http: &Http, actor: &Actor, scope: &VisibilityScope, pairs: Pairs) -> Result<FindAnswer, ErrorResponse> {
    let Query(pairs) = pairs
        .map_err(|error| ErrorResponse::bad_request(format!("the query could not be read: {}", error.body_text())))?;
    if let Some((name, _)) = pairs.iter().find(|(name, _)| name != "q") {
        return Err(ErrorResponse::bad_request(format!("`{}` is not a parameter of /find; it takes q", echo(name))));
    }
    let q = pairs.into_iter().next_back().map(|(_, text)| text).unwrap_or_default();
    if q.chars().count() > TEXT_CHARS_MAX {
        return Err(ErrorResponse::bad_request(format!(
            "`q` may have at most {TEXT_CHARS_MAX} characters; look for a part of the path"
        )));
    }
    let q = q.trim().to_owned();
    let locks = http.hub.look(BoardQuery { q: q.clone(), limit: LOCKS, ..BoardQuery::default() }, scope)?.1.body.window;
    let sessions = http
        .hub
        .look(SessionsQuery { q: q.clone(), limit: SESSIONS, ..SessionsQuery::default() }, scope)?
        .1
        .body
        .window
        .rows;
    let more_locks = locks.total.saturating_sub(u32::try_from(locks.rows.len()).unwrap_or(u32::MAX));
    // With nothing typed, where to go comes before who is there.
    let sessions = if q.is_empty() { Vec::new() } else { sessions };
    Ok(FindAnswer { q, locks: locks.rows, more_locks, sessions, may_audit: actor.may(Right::ReadAudit) })
}
