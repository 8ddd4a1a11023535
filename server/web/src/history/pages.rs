//! Pages at a moment: `?at=` on the pages of the board, of a lock, of waits and of sessions. The same pages over the
//! model as it was, as documents without code.

use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, to_bytes};
use axum::extract::{Query, Request, State};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use lockscope_page::ports::{Neighbours, PastView};
use lockscope_page::{OverTimeMarkup, no_moment_page};
use lockscope_view::past::Unanswered;
use lockscope_view::{EventKind, EventsQuery, Scope, WINDOW_ROWS_MAX};

use super::ask::give_up_at;
use super::density::{Strip, strip};
use super::links::{PAGES, keep_moment};
use super::{AT, Models, Moment, MomentError, Moments, NOW, over_time_page, time_to_lock, with_moment};
use crate::caller::Caller;
use crate::problem::ErrorResponse;
use crate::{Http, server_pages};
use lockscope_live::Hub;

/// Longest document; the pages are windows of lists.
const PAGE_BYTES_MAX: usize = 16 << 20;
/// So far ahead the next event is looked for; further only where little happens.
const AHEAD_MS: [i64; 2] = [2_000, 60_000];
/// A moment so long ago is stored as well, and over for everybody's clock.
const OVER_MS: i64 = 1_000;
/// More events in the first of these stretches are much.
const MUCH: usize = 100;

/// What a page of the past is drawn from; an extension of its request.
#[derive(Clone)]
pub(crate) struct PastPage {
    pub(crate) hub: Arc<Hub>,
    pub(crate) view: PastView,
    /// Of a lock's page, the lock over time.
    over_time: Option<OverTimeMarkup>,
}

/// Answers requests for pages of the past, and passes all others on.
pub(crate) async fn show_moments(State(http): State<Http>, mut request: Request, next: Next) -> Response {
    let Some(pairs) = http.pairs_of(request.uri()) else { return next.run(request).await };
    let Some(caller) = request.extensions().get::<Caller>().cloned() else { return next.run(request).await };
    let address = address_of(request.uri(), &pairs);
    let is_newest = |(name, value): &(String, String)| name == AT && value == NOW;
    let names_none = !pairs.iter().any(|(name, _)| name == AT);
    if pairs.iter().any(is_newest) || (http.is_past && names_none) {
        let (own, scope) = (http.clone(), caller.scope.clone());
        let named =
            pairs.iter().find(|(name, _)| name == "ensemble").map(|(_, named)| named.clone()).unwrap_or_default();
        // Its store is asked, which a disk may delay.
        let newest = http.past_work.ask(&caller.principal.owner, move || own.newest_moment(&scope, &named)).await;
        let at_ms = match newest {
            Ok(at_ms) => at_ms,
            Err(failed) => return failed.into_response(),
        };
        return Redirect::to(&PastView { address, ..PastView::default() }.url(at_ms)).into_response();
    }
    let made = match with_moment(pairs) {
        Ok((pairs, None)) => {
            let page = request.uri().path().to_owned();
            if let Some(section) = over_time_page::of_live_page(&http, &caller, &page, &pairs).await {
                request.extensions_mut().insert(section);
            }
            if page == "/lock"
                && let Some(section) = time_to_lock::in_document(&http, &caller, &pairs).await
            {
                request.extensions_mut().insert(section);
            }
            return next.run(request).await;
        }
        Ok((_, Some(moment))) => {
            let is_of_one = matches!(request.uri().path(), "/lock" | "/session");
            let moment = if is_of_one { moment.of_one() } else { moment };
            let (own, scope) = (http.clone(), caller.scope.clone());
            http.past_work.ask(&caller.principal.owner, move || own.past_page(&moment, &scope, address)).await
        }
        Err(wrong) => return wrong.into_response(),
    };
    let page = match made {
        Ok(Ok(page)) => page,
        Ok(Err(unknown)) => return unknown.respond(&http, &caller),
        Err(failed) => return failed.into_response(),
    };
    let at_ms = page.view.at_ms;
    if let Some(section) = page.over_time.clone() {
        request.extensions_mut().insert(section);
    }
    // The page itself knows of no moment.
    if let Ok(uri) = page.view.address.parse() {
        *request.uri_mut() = uri;
    }
    request.extensions_mut().insert(page);
    with_kept_moment(next.run(request).await, at_ms).await
}

impl Http {
    /// The query of a page that can be shown of the past. One without a query is live where there is a present.
    fn pairs_of(&self, uri: &Uri) -> Option<Vec<(String, String)>> {
        if !PAGES.contains(&uri.path()) || (!self.is_past && uri.query().is_none_or(str::is_empty)) {
            return None;
        }
        Query::<Vec<(String, String)>>::try_from_uri(uri).ok().map(|Query(pairs)| pairs)
    }
}

/// The address of the page without its moment.
fn address_of(uri: &Uri, pairs: &[(String, String)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs.iter().filter(|(name, _)| name != AT));
    let query = query.finish();
    if query.is_empty() { uri.path().to_owned() } else { format!("{}?{query}", uri.path()) }
}

/// A page of the past, whose links keep its moment.
pub(crate) async fn with_kept_moment(response: Response, at_ms: i64) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, PAGE_BYTES_MAX).await else {
        return ErrorResponse::internal("the page is too large; ask for fewer rows").into_response();
    };
    parts.headers.remove(CONTENT_LENGTH);
    let html = keep_moment(&String::from_utf8_lossy(&bytes), at_ms);
    Response::from_parts(parts, Body::from(html))
}

struct UnknownMoment {
    view: PastView,
    error: MomentError,
}

impl UnknownMoment {
    fn respond(self, http: &Http, caller: &Caller) -> Response {
        let Self { view, error } = self;
        let nearest = match &error {
            MomentError::Unknown { why, .. } => why.nearest(),
            MomentError::NoHistory | MomentError::Future | MomentError::NoEnsemble => None,
        };
        let nearest = nearest.map_or_else(Neighbours::default, |nearest| Neighbours {
            before: nearest.before_at_ms,
            after: nearest.after_at_ms,
        });
        let status = ErrorResponse::from(error.clone()).status();
        let page = server_pages::page(http, caller, |plain| no_moment_page(plain, &view, &error.to_string(), nearest));
        match page {
            Ok(page) => (status, page).into_response(),
            Err(_) => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response(),
        }
    }
}

impl Http {
    /// The newest moment that is kept, of the ensemble that is named or of all, and over for a while.
    pub(super) fn newest_moment(&self, scope: &Scope, named: &str) -> i64 {
        // What was recorded before is over to its end.
        let over_ms = self.hub.now_ms() - if self.is_past { 0 } else { OVER_MS };
        let (from_ms, to_ms) = self.moments.as_ref().map_or((0, 0), |moments| moments.kept(scope, named).0);
        // Where nothing is kept, the page of that moment says why.
        if to_ms > 0 { over_ms.min(to_ms).max(from_ms) } else { over_ms }
    }

    /// The instant of a moment of a page that draws itself; where nothing is kept of it, the page that says so.
    pub(crate) async fn kept_moment(&self, caller: &Caller, moment: Moment, address: String) -> Result<i64, Response> {
        let (own, scope) = (self.clone(), caller.scope.clone());
        let find = move || {
            let view = own.view_of(address);
            own.found(&moment, &scope, &view, give_up_at()).map(|(_, past)| past.hub.now_ms())
        };
        match self.past_work.ask(&caller.principal.owner, find).await {
            Ok(found) => found.map_err(|unknown| unknown.respond(self, caller)),
            Err(failed) => Err(failed.into_response()),
        }
    }

    fn view_of(&self, address: String) -> PastView {
        PastView { address, now_ms: self.hub.now_ms(), is_over: self.is_past, ..PastView::default() }
    }

    fn found(
        &self,
        moment: &Moment,
        scope: &Scope,
        view: &PastView,
        give_up_at: Instant,
    ) -> Result<(&Moments, Models), Box<UnknownMoment>> {
        let unknown = |error| Box::new(UnknownMoment { view: view.clone(), error });
        let moments = self.moments.as_deref().ok_or_else(|| unknown(MomentError::NoHistory))?;
        Ok((moments, moments.at(moment, scope, give_up_at).map_err(unknown)?))
    }

    fn past_page(&self, moment: &Moment, scope: &Scope, address: String) -> Result<PastPage, Box<UnknownMoment>> {
        let view = self.view_of(address);
        // One for all that the page needs: it has to come in time.
        let give_up_at = give_up_at();
        let (moments, past) = self.found(moment, scope, &view, give_up_at)?;
        let (kept_ms, gaps_ms) = moments.kept(scope, &moment.ensemble);
        let lock = query_of_lock(&view.address);
        let path = lock.iter().flatten().find(|(name, _)| name == "path").map_or("", |(_, path)| path);
        let (events_ms, changes_ms) = neighbours(moments, (moment, &past), scope, path, (kept_ms.1, give_up_at));
        let Strip { pieces, releases_ms } = strip(moments, scope, (&moment.ensemble, path), kept_ms);
        let at_ms = past.hub.now_ms();
        let over_time = lock.as_ref().and_then(|pairs| self.section_soon(scope, pairs, Some(at_ms)));
        let is_generated = moments.is_generated(at_ms, scope);
        let not_shown = Unanswered::list(&past.unanswered);
        let view = PastView {
            at_ms,
            is_generated,
            not_shown,
            kept_ms,
            gaps_ms,
            pieces,
            releases_ms,
            events_ms,
            changes_ms,
            ..view
        };
        Ok(PastPage { hub: past.hub, view, over_time })
    }
}

/// The query of a lock's page; None on pages of many.
fn query_of_lock(address: &str) -> Option<Vec<(String, String)>> {
    let query = address.strip_prefix("/lock?")?;
    Some(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
}

/// When something happened before and after, and when a verdict changed: at a lock, or where the path is empty, anywhere.
fn neighbours(
    moments: &Moments,
    (moment, past): (&Moment, &Models),
    scope: &Scope,
    path: &str,
    (newest_ms, give_up_at): (i64, Instant),
) -> (Neighbours, Neighbours) {
    let (mut events, mut changes) = (Neighbours::default(), Neighbours::default());
    let at_ms = past.hub.now_ms();
    let query =
        |ensemble: &str| EventsQuery { ensemble: ensemble.to_owned(), path: path.to_owned(), limit: WINDOW_ROWS_MAX };
    let seen = past.hub.projection().events_after(scope, &query(""), None);
    for row in seen.iter().flat_map(|view| &view.events).filter(|row| row.at_ms < at_ms) {
        events.before = events.before.max(Some(row.at_ms));
        if row.kind == EventKind::VerdictChanged {
            changes.before = changes.before.max(Some(row.at_ms));
        }
    }
    for ahead_ms in AHEAD_MS {
        let until = (at_ms + ahead_ms).min(moments.now_ms() - OVER_MS).min(newest_ms);
        let Some(later) = (until > at_ms).then(|| moments.at(&moment.at(until), scope, give_up_at).ok()).flatten()
        else {
            break;
        };
        let after = seen
            .iter()
            .flat_map(|view| later.hub.projection().events_after(scope, &query(&view.ensemble), Some(view.next_after)));
        let rows: Vec<_> = after.flat_map(|view| view.events).filter(|row| row.at_ms > at_ms).collect();
        events.after = rows.iter().map(|row| row.at_ms).min();
        changes.after = rows.iter().filter(|row| row.kind == EventKind::VerdictChanged).map(|row| row.at_ms).min();
        if changes.after.is_some() || rows.len() > MUCH {
            break;
        }
    }
    (events, changes)
}
