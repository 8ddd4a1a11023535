//! `GET /api/v1/orders`: in which order sessions take locks, and where that may end in a deadlock; and which of these
//! warnings somebody silenced.

pub(super) mod snooze;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_page::lock_orders_markup;
use lockscope_view::{LockOrders, Scope};

use super::Http;
use super::api::share_at;
use super::caller::Caller;
use super::history::with_moment;
use super::params::{Params, short};
use super::problem::{ErrorResponse, echo};
use super::server_pages::form_tokens;
use super::shared_answers::{Answer, AnswerRequest};
use lockscope_audit::Right;
use lockscope_live::{FILTER_CHARS_MAX, Hub};

const MEDIA_TYPE: &str = "text/html; charset=utf-8";

pub(super) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (pairs, moment) = with_moment(pairs)?;
    let mut ensemble = String::new();
    for (name, value) in pairs {
        ensemble = short(&name, &value, FILTER_CHARS_MAX)?;
    }
    Ok(share_at(&http, asked, moment, move |models, scope| orders(&models.hub, &scope, &ensemble).map(Json)).await)
}

pub(super) async fn section(
    State(http): State<Http>,
    caller: Caller,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (_, moment) = with_moment(pairs)?;
    let may_act = moment.is_none() && !http.is_past && caller.actor.may(Right::Release);
    let forms = may_act.then(|| form_tokens(&caller.principal));
    // No address has a fragment: who may act shares with nobody else, whose forms have other tokens.
    let id = caller.principal.forms.id();
    let asked = if may_act { AnswerRequest { address: asked.address + "#" + &id, ..asked } } else { asked };
    let (own, scope) = (http.clone(), asked.scope.clone());
    let answers = if moment.is_some() { &http.past_shared } else { &http.shared };
    let make = move || {
        let models = own.models(moment.as_ref(), &scope)?;
        Ok::<_, ErrorResponse>(lock_orders_markup(&orders(&models.hub, &scope, "")?, models.hub.now_ms(), forms))
    };
    Ok(answers.answer(asked, move || Answer::text(MEDIA_TYPE, make())).await)
}

fn orders(hub: &Hub, scope: &Scope, ensemble: &str) -> Result<LockOrders, ErrorResponse> {
    hub.projection().orders(scope, ensemble).ok_or_else(|| {
        ErrorResponse::not_found(format!("there is no ensemble {}; GET /api/v1/status lists them", echo(ensemble)))
    })
}
