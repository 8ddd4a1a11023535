//! The section of a session's page on its time-out: `GET /session/timeout`, and the same for a document.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use lockscope_page::{SessionTimeoutMarkup, session_timeout_markup};
use lockscope_view::{Scope, SessionQuery};

use super::Http;
use super::caller::Caller;
use super::history::{Moment, PastPage, with_moment};
use super::params::Params;
use super::problem::ErrorResponse;
use super::shared_answers::{Answer, AnswerRequest};
use lockscope_live::Hub;

const MEDIA_TYPE: &str = "text/html; charset=utf-8";

/// The section as markup; nothing of a session that owns nothing: that is no error of whoever looks at its page.
pub(super) async fn section(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (pairs, moment) = with_moment(pairs)?;
    let moment = moment.map(Moment::of_one);
    let query = SessionQuery::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    let (own, scope) = (http.clone(), asked.scope.clone());
    let answers = if moment.is_some() { &http.past_shared } else { &http.shared };
    let make = move || {
        let models = own.models(moment.as_ref(), &scope)?;
        Ok::<_, ErrorResponse>(drawn(&models.hub, &scope, &query).map_or_else(String::new, |told| told.0))
    };
    Ok(answers.answer(asked, move || Answer::text(MEDIA_TYPE, make())).await)
}

/// Gives requests for a session's page the section that its document has: it is drawn before the page is, since neither may
/// be drawn within the other.
pub(super) async fn add(State(hub): State<Arc<Hub>>, mut request: Request, next: Next) -> Response {
    if let Some(section) = in_page(&hub, &request) {
        request.extensions_mut().insert(section);
    }
    next.run(request).await
}

fn in_page(hub: &Hub, request: &Request) -> Option<SessionTimeoutMarkup> {
    let query = request.uri().query().filter(|_| request.uri().path() == "/session")?;
    let scope = &request.extensions().get::<Caller>()?.scope;
    let hub = request.extensions().get::<PastPage>().map_or(hub, |past| &past.hub);
    let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
    let query = SessionQuery::from_pairs(pairs.iter().map(|(name, value)| (&**name, &**value))).ok()?;
    drawn(hub, scope, &query)
}

fn drawn(hub: &Hub, scope: &Scope, query: &SessionQuery) -> Option<SessionTimeoutMarkup> {
    let told = hub.projection().session_timeout(scope, query)?;
    Some(SessionTimeoutMarkup(session_timeout_markup(&told)))
}
