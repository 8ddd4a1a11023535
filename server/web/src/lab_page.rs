//! The lab's pages, for people: the runs that are kept and the form that starts one, and one run. What may be done is
//! decided where it is done; here forms become requests.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::HOST;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use lockscope_page::{LabSight, LabView, lab_gone_page, lab_page, lab_run_page, run_url};
use lockscope_view::{Fault, FaultOrder, LabRun, Strategy};

use super::caller::Caller;
use super::forms::{Typed, typed_in, value};
use super::lab_form::{draft, order};
use super::problem::{ErrorResponse, echo};
use super::redirect::see_other;
use super::{Http, server_pages};
use lockscope_audit::{Actor, Right};

type Found = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// `GET /lab`, and `GET /lab?run=ID` for one run.
pub(super) async fn show(
    State(http): State<Http>,
    caller: Caller,
    headers: HeaderMap,
    found: Found,
) -> Result<Response, ErrorResponse> {
    let pairs = queried(found)?;
    match value(&pairs, "run") {
        None => {
            let view = view(&http, &caller);
            server_pages::page(&http, &caller, |of| lab_page(of, &view))
        }
        Some(id) => one(&http, &caller, &headers, id, None),
    }
}

/// `POST /lab/run`.
pub(super) async fn start(State(http): State<Http>, caller: Caller, typed: Typed) -> Result<Response, ErrorResponse> {
    let draft = draft(&typed_in(typed)?);
    let started = match order(&draft) {
        Ok(order) => http.lab.start(&caller.actor, order).await.map_err(ErrorResponse::from),
        Err(sentence) => Err(ErrorResponse::new(StatusCode::UNPROCESSABLE_ENTITY, sentence)),
    };
    match started {
        Ok(id) => Ok(see_other(&run_url(&id))),
        Err(refused) => {
            let view = LabView { draft, error: refused.sentence().to_owned(), ..view(&http, &caller) };
            let page = server_pages::page(&http, &caller, |of| lab_page(of, &view))?;
            Ok((refused.status(), page).into_response())
        }
    }
}

/// `POST /lab/stop`.
pub(super) async fn stop(
    State(http): State<Http>,
    caller: Caller,
    headers: HeaderMap,
    typed: Typed,
) -> Result<Response, ErrorResponse> {
    let pairs = typed_in(typed)?;
    let id = value(&pairs, "run").unwrap_or_default();
    match http.lab.stop(&caller.actor, &caller.scope, id).await {
        Ok(_) => Ok(see_other(&run_url(id))),
        Err(denied) => one(&http, &caller, &headers, id, Some(denied.into())),
    }
}

/// `POST /lab/fault`.
pub(super) async fn throw(
    State(http): State<Http>,
    caller: Caller,
    headers: HeaderMap,
    typed: Typed,
) -> Result<Response, ErrorResponse> {
    let pairs = typed_in(typed)?;
    let id = value(&pairs, "run").unwrap_or_default();
    let fault = value(&pairs, "fault").and_then(|name| Fault::ALL.into_iter().find(|fault| fault.name() == name));
    let fault =
        fault.ok_or_else(|| ErrorResponse::bad_request("`fault` names no fault; use a button of the run's page"))?;
    let strategy =
        value(&pairs, "strategy").and_then(|name| Strategy::ALL.into_iter().find(|strategy| strategy.name() == name));
    match http.lab.throw(&caller.actor, &caller.scope, id, FaultOrder { fault, strategy }).await {
        Ok(_) => Ok(see_other(&run_url(id))),
        Err(denied) => one(&http, &caller, &headers, id, Some(denied.into())),
    }
}

/// The page of one run, with why a button did nothing.
fn one(
    http: &Http,
    caller: &Caller,
    headers: &HeaderMap,
    id: &str,
    refused: Option<ErrorResponse>,
) -> Result<Response, ErrorResponse> {
    let Ok(run) = http.lab.run(&caller.scope, id) else {
        let page = server_pages::page(http, caller, |of| lab_gone_page(of, &echo(id)))?;
        return Ok((StatusCode::NOT_FOUND, page).into_response());
    };
    let share = share(http, headers, &run.id);
    let error = refused.as_ref().map(|refused| refused.sentence().to_owned()).unwrap_or_default();
    let page = server_pages::living(http, caller, |of| {
        lab_run_page(of, &run, sight(&caller.actor, &run), http.hub.now_ms(), &share, &error)
    })?;
    Ok((refused.map_or(StatusCode::OK, |refused| refused.status()), page).into_response())
}

fn view(http: &Http, caller: &Caller) -> LabView {
    LabView {
        runs: http.lab.runs(&caller.scope),
        has_lab: http.lab.is_on(),
        may_run: caller.actor.may(Right::RunLab),
        can_sign_in: http.access.can_sign_in(),
        draft: lockscope_page::LabDraft::default(),
        error: String::new(),
    }
}

fn sight(actor: &Actor, run: &LabRun) -> LabSight {
    LabSight { may_run: actor.may_at(Right::RunLab, &run.ensemble, &run.root), has_many: run.ensemble != "default" }
}

/// A run's whole address, as whoever asks reached this server.
fn share(http: &Http, headers: &HeaderMap, id: &str) -> String {
    let scheme = if http.origins.is_encrypted() { "https" } else { "http" };
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if host.is_empty() { run_url(id) } else { format!("{scheme}://{host}{}", run_url(id)) }
}

fn queried(found: Found) -> Result<Vec<(String, String)>, ErrorResponse> {
    let Query(pairs) = found
        .map_err(|error| ErrorResponse::bad_request(format!("the query could not be read: {}", error.body_text())))?;
    Ok(pairs)
}
