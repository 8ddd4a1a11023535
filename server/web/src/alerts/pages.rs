//! `/alerts`, for people: what fires and who looks at it, and the forms that operators send.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use lockscope_page::{AlertDone, AlertFilter, AlertsView, TriedView, alert_test_page, alerts_page};
use lockscope_view::AlertMatchers;

use super::backtest::TestOrder;
use super::view::StateFilter;
use crate::caller::Caller;
use crate::forms::{Typed, typed_in, value};
use crate::params::{Params, short};
use crate::problem::{ErrorResponse, wrong};
use crate::redirect::see_other;
use crate::{Http, server_pages};
use lockscope_audit::Right;

/// `GET /alerts`.
pub(crate) async fn show(
    State(http): State<Http>,
    caller: Caller,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (mut filter, mut done) = (AlertFilter::All, None);
    for (name, value) in pairs {
        match (name.as_str(), value.as_str()) {
            (_, "") => {}
            ("state", name) => {
                let remedy = AlertFilter::ALL.map(AlertFilter::name).join(", ");
                filter = AlertFilter::named(name).ok_or_else(|| wrong("state", name, &format!("one of {remedy}")))?;
            }
            ("done", name) => done = AlertDone::named(name),
            _ => {}
        }
    }
    let view = AlertsView { filter, done, ..view(&http, &caller).await? };
    server_pages::page(&http, &caller, |of| alerts_page(of, &view))
}

const RULE_CHARS_MAX: usize = 4_096;
const HOUR_MS: i64 = 3_600_000;
/// What the form begins with.
const EXAMPLE: &str = "[[alert]]\nname = \"long-waits\"\nwhen = [\"waiting > 30s\"]\npath = \"**\"\nfor = \"10s\"\n";

/// `GET /alerts/test`.
pub(crate) async fn try_rule(
    State(http): State<Http>,
    caller: Caller,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (mut toml, mut hours) = (None, 1);
    for (name, value) in pairs {
        match (name.as_str(), value.as_str()) {
            (_, "") => {}
            ("toml", text) => toml = Some(short("toml", text, RULE_CHARS_MAX)?),
            ("hours", text) => {
                let known = TriedView::HOURS.into_iter().find(|hours| hours.to_string() == text);
                hours = known.ok_or_else(|| wrong("hours", text, "1, 6, 24 or 168"))?;
            }
            _ => {}
        }
    }
    let now_ms = http.hub.now_ms();
    let begun = TriedView { toml: EXAMPLE.to_owned(), hours, now_ms, ..TriedView::default() };
    let view = match toml {
        None => begun,
        Some(toml) => {
            let from = now_ms.saturating_sub(i64::from(hours).saturating_mul(HOUR_MS)).max(0);
            let order = TestOrder {
                ensemble: String::new(),
                rule: None,
                toml: Some(toml.clone()),
                from: Some(from),
                to: Some(now_ms),
            };
            let begun = TriedView { toml, ..begun };
            match http.try_rule(&caller, order).await {
                Ok(tried) => TriedView { tried: Some(tried), ..begun },
                Err(refused) => TriedView { wrong: Some(refused.sentence().to_owned()), ..begun },
            }
        }
    };
    server_pages::page(&http, &caller, |of| alert_test_page(of, &view))
}

/// `POST /alerts/ack`.
pub(crate) async fn acknowledge(
    State(http): State<Http>,
    caller: Caller,
    typed: Typed,
) -> Result<Response, ErrorResponse> {
    let pairs = typed_in(typed)?;
    let field = |name: &str| value(&pairs, name).unwrap_or_default();
    let done = http.acknowledge(&caller, field("key"), field("reason")).await.map(drop);
    outcome(&http, &caller, done, AlertDone::Acknowledged).await
}

/// `POST /alerts/silences`.
pub(crate) async fn silence(State(http): State<Http>, caller: Caller, typed: Typed) -> Result<Response, ErrorResponse> {
    let pairs = typed_in(typed)?;
    let field = |name: &str| value(&pairs, name).filter(|text| !text.is_empty());
    let owned = |name: &str| field(name).map(str::to_owned);
    let matchers = AlertMatchers { rule: owned("rule"), ensemble: owned("ensemble"), path: owned("path") };
    let for_ms = field("for_ms").and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
    let until_at_ms = http.alert_desk()?.alerts.now_ms().saturating_add(for_ms);
    let done = http.silence(&caller, matchers, until_at_ms, field("reason").unwrap_or_default()).await.map(drop);
    outcome(&http, &caller, done, AlertDone::Silenced).await
}

/// `POST /alerts/silences/end`.
pub(crate) async fn end_silence(
    State(http): State<Http>,
    caller: Caller,
    typed: Typed,
) -> Result<Response, ErrorResponse> {
    let pairs = typed_in(typed)?;
    let id = value(&pairs, "id").and_then(|text| text.parse().ok()).unwrap_or(0);
    let done = http.end_silence(&caller, id).await.map(drop);
    outcome(&http, &caller, done, AlertDone::SilenceEnded).await
}

/// Back to the page, which says what was done; or why not.
async fn outcome(
    http: &Http,
    caller: &Caller,
    done: Result<(), ErrorResponse>,
    what: AlertDone,
) -> Result<Response, ErrorResponse> {
    let Err(refused) = done else { return Ok(see_other(&what.url())) };
    let view = AlertsView { wrong: Some(refused.sentence().to_owned()), ..view(http, caller).await? };
    let page = server_pages::page(http, caller, |of| alerts_page(of, &view))?;
    Ok((refused.status(), page).into_response())
}

async fn view(http: &Http, caller: &Caller) -> Result<AlertsView, ErrorResponse> {
    Ok(AlertsView {
        alerts: http.alerts_for(&caller.actor, &caller.scope, StateFilter::All)?,
        now_ms: http.alert_desk()?.alerts.now_ms(),
        may_act: caller.actor.may(Right::Release),
        is_signed_in: caller.principal.is_signed_in(),
        ..AlertsView::default()
    })
}
