//! `/alerts`, for people: what fires and who looks at it, and the forms that operators send.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use lockscope_page::{AlertDone, AlertFilter, AlertsView, alerts_page};
use lockscope_wire::AlertMatchers;

use super::view::StateFilter;
use crate::api::{Pairs, read, wrong};
use crate::caller::Caller;
use crate::forms::{Typed, typed_in, value};
use crate::problem::{ErrorResponse, echo};
use crate::redirect::see_other;
use crate::{Http, server_pages};
use identity::Right;

/// `GET /alerts`.
pub(crate) async fn show(State(http): State<Http>, caller: Caller, pairs: Pairs) -> Result<Response, ErrorResponse> {
    let (mut filter, mut done) = (AlertFilter::All, None);
    for (name, value) in read(pairs)? {
        match (name.as_str(), value.as_str()) {
            (_, "") => {}
            ("state", name) => {
                let remedy = AlertFilter::ALL.map(AlertFilter::name).join(", ");
                filter = AlertFilter::named(name).ok_or_else(|| wrong("state", name, &format!("one of {remedy}")))?;
            }
            ("done", name) => done = AlertDone::named(name),
            (other, _) => {
                let other = echo(other);
                return Err(ErrorResponse::bad_request(format!("`{other}` is not a parameter here; there is state")));
            }
        }
    }
    let view = AlertsView { filter, done, ..view(&http, &caller)? };
    server_pages::page(&http, &caller.actor, |of| alerts_page(of, &view))
}

/// `POST /alerts/ack`.
pub(crate) async fn acknowledge(
    State(http): State<Http>,
    caller: Caller,
    typed: Typed,
) -> Result<Response, ErrorResponse> {
    let pairs = typed_in(typed)?;
    let field = |name: &str| value(&pairs, name).unwrap_or_default();
    let done = http.acknowledge(&caller.actor, &caller.scope, field("key"), field("reason")).await.map(drop);
    outcome(&http, &caller, done, AlertDone::Acknowledged)
}

/// `POST /alerts/silences`.
pub(crate) async fn silence(State(http): State<Http>, caller: Caller, typed: Typed) -> Result<Response, ErrorResponse> {
    let pairs = typed_in(typed)?;
    let field = |name: &str| value(&pairs, name).filter(|text| !text.is_empty());
    let owned = |name: &str| field(name).map(str::to_owned);
    let matchers = AlertMatchers { rule: owned("rule"), ensemble: owned("ensemble"), path: owned("path") };
    let for_ms = field("for_ms").and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
    let until_at_ms = http.alert_desk()?.alerts.now_ms().saturating_add(for_ms);
    let done = http.silence(&caller.actor, matchers, until_at_ms, field("reason").unwrap_or_default()).await.map(drop);
    outcome(&http, &caller, done, AlertDone::Silenced)
}

/// `POST /alerts/silences/end`.
pub(crate) async fn end_silence(
    State(http): State<Http>,
    caller: Caller,
    typed: Typed,
) -> Result<Response, ErrorResponse> {
    let pairs = typed_in(typed)?;
    let id = value(&pairs, "id").and_then(|text| text.parse().ok()).unwrap_or(0);
    let done = http.end_silence(&caller.actor, id).await.map(drop);
    outcome(&http, &caller, done, AlertDone::SilenceEnded)
}

/// Back to the page, which says what was done; or why not.
fn outcome(
    http: &Http,
    caller: &Caller,
    done: Result<(), ErrorResponse>,
    what: AlertDone,
) -> Result<Response, ErrorResponse> {
    let Err(refused) = done else { return Ok(see_other(&what.url())) };
    let view = AlertsView { wrong: Some(refused.sentence().to_owned()), ..view(http, caller)? };
    let page = server_pages::page(http, &caller.actor, |of| alerts_page(of, &view))?;
    Ok((refused.status(), page).into_response())
}

fn view(http: &Http, caller: &Caller) -> Result<AlertsView, ErrorResponse> {
    Ok(AlertsView {
        alerts: http.alerts_for(&caller.actor, &caller.scope, StateFilter::All)?,
        now_ms: http.alert_desk()?.alerts.now_ms(),
        may_act: caller.actor.may(Right::Release),
        is_signed_in: caller.principal.is_signed_in(),
        ..AlertsView::default()
    })
}
