//! The pages, rendered on the server. Each answer carries a Content-Security-Policy with a nonce of its own: no
//! script runs without it, no style applies that is not a file of ours.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, Request};
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::{Router, middleware};
use leptos::config::LeptosOptions;
use leptos::nonce::use_nonce;
use leptos::prelude::{provide_context, use_context};
use leptos_axum::{LeptosRoutes as _, ResponseOptions, generate_route_list};
use lockscope_page::ports::Source;
use lockscope_page::{AlertBanner, App, OverTimeMarkup, SessionTimeoutMarkup, TimeToLockMarkup, shell};
use lockscope_view::{LockQuery, Scope, SessionQuery};

use super::caller::Caller;
use super::history::PastPage;
use super::page_source::PageSource;
use super::problem::ErrorResponse;
use super::routes::is_page;
use super::server_pages::{TRUSTED_TYPES, form_tokens};
use super::{assets, session_timeout};
use lockscope_live::Hub;

/// Routes of the pages and their files; every other address gets the page's own "not found".
pub fn pages(hub: Arc<Hub>) -> Router {
    let Some(names) = assets::names() else {
        return Router::new().fallback(not_built);
    };
    let options = LeptosOptions::builder().output_name("app").build();
    let sessions = middleware::from_fn_with_state(Arc::clone(&hub), session_timeout::add);
    let context = move || prepare(&hub);
    // A page without a row in the table has nobody who may see it.
    let routes = generate_route_list(App)
        .into_iter()
        .filter(|route| is_page(if route.path().is_empty() { "/" } else { route.path() }))
        .collect();
    let render = move || shell(names.clone());
    let missing = leptos_axum::render_app_async_with_context(
        {
            let context = context.clone();
            move || {
                context();
                set_status(StatusCode::NOT_FOUND);
            }
        },
        render.clone(),
    );
    Router::new()
        .leptos_routes_with_context(&options, routes, context, render)
        .fallback(move |request: Request<Body>| missing(request))
        .with_state(options)
        .layer(sessions)
        .merge(assets::routes())
}

/// Runs for each request, before anything is rendered.
fn prepare(hub: &Arc<Hub>) {
    let extensions = use_context::<Parts>().map(|parts| parts.extensions).unwrap_or_default();
    // Whom authentication did not let in sees nothing.
    let caller = extensions.get::<Caller>();
    let scope = caller.map_or_else(Scope::nothing, |caller| caller.scope.clone());
    let past = extensions.get::<PastPage>();
    let hub = past.map_or(hub, |past| &past.hub);
    let source: Arc<dyn Source> = Arc::new(PageSource::new(Arc::clone(hub), scope));
    if let Some(past) = past {
        provide_context(past.view.clone());
    }
    if let Some(section) = extensions.get::<OverTimeMarkup>() {
        provide_context(section.clone());
    }
    if let Some(section) = extensions.get::<TimeToLockMarkup>() {
        provide_context(section.clone());
    }
    if let Some(alerts) = extensions.get::<AlertBanner>() {
        provide_context(alerts.clone());
    }
    if let Some(section) = extensions.get::<SessionTimeoutMarkup>() {
        provide_context(section.clone());
    }
    provide_context(Arc::clone(&source));
    if let Some(caller) = caller {
        provide_context(caller.person.clone());
        provide_context(form_tokens(&caller.principal));
    }
    let Some(response) = use_context::<ResponseOptions>() else { return };
    if let Some(policy) = use_nonce().and_then(|nonce| HeaderValue::from_str(&policy(&nonce)).ok()) {
        response.insert_header(CONTENT_SECURITY_POLICY, policy);
    }
    if let Some(status) = use_context::<Parts>().and_then(|parts| trouble(&parts, source.as_ref())) {
        response.set_status(status);
    }
}

/// The status of a page about one thing whose address names none.
fn trouble(parts: &Parts, source: &dyn Source) -> Option<StatusCode> {
    let path = parts.uri.path();
    if !matches!(path, "/lock" | "/session") {
        return None;
    }
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri).ok()?;
    let pairs = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let is_there = if path == "/lock" {
        LockQuery::from_page_pairs(pairs).map(|query| source.lock(&query).value.is_some())
    } else {
        SessionQuery::from_pairs(pairs).map(|query| source.session(&query).value.is_some())
    };
    match is_there {
        Ok(true) => None,
        Ok(false) => Some(StatusCode::NOT_FOUND),
        Err(_) => Some(StatusCode::BAD_REQUEST),
    }
}

fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; img-src 'self' data:; style-src 'self'; font-src 'self'; \
         connect-src 'self'; script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'; {TRUSTED_TYPES}"
    )
}

fn set_status(status: StatusCode) {
    if let Some(response) = use_context::<ResponseOptions>() {
        response.set_status(status);
    }
}

async fn not_built() -> Response {
    ErrorResponse::unavailable(
        "this build carries no page; run `cargo run -p lockscope-style`, then build the server again".to_owned(),
    )
    .into_response()
}
