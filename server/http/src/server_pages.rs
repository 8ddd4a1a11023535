//! Pages that the server draws alone: no script but the header's (theme, times, whether the server is there), and, where a
//! page changes while it is looked at, the one that follows it.

pub(super) mod fleet;

use axum::http::HeaderValue;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse as _, Response};
use leptos::nonce::Nonce;
use lockscope_page::{DocumentTitle, ServerPage};
use lockscope_wire::{BoardQuery, Person};

use super::problem::ErrorResponse;
use super::{Http, assets};
use identity::Actor;

/// No text becomes a script; the page's own policy is made by its first one.
pub(super) const TRUSTED_TYPES: &str = "require-trusted-types-for 'script'; trusted-types default";

/// Answers with a page, for somebody.
pub(super) fn page(
    http: &Http,
    actor: &Actor,
    draw: impl FnOnce(&ServerPage<'_>) -> String,
) -> Result<Response, ErrorResponse> {
    answer(http, actor, draw, "")
}

/// Answers with a page that follows: it may load the page's code.
#[cfg(feature = "lab")]
pub(super) fn living(
    http: &Http,
    actor: &Actor,
    draw: impl FnOnce(&ServerPage<'_>) -> String,
) -> Result<Response, ErrorResponse> {
    answer(http, actor, draw, " 'strict-dynamic' 'wasm-unsafe-eval'")
}

fn answer(
    http: &Http,
    actor: &Actor,
    draw: impl FnOnce(&ServerPage<'_>) -> String,
    more: &str,
) -> Result<Response, ErrorResponse> {
    let Some(assets) = assets::names() else {
        return Err(ErrorResponse::unavailable(
            "this build carries no page; run `cargo run -p style`, then build the server again",
        ));
    };
    let has_fleet = http.hub.projection().has_fleet(&http.scope_of(actor));
    let (nonce, person) = (Nonce::new().to_string(), Person { has_fleet, ..http.access.person(actor) });
    let (tab, alerts) = (tab(http, actor), http.alert_banner(&http.scope_of(actor), &http.last_alerts_elsewhere()));
    let mut response =
        Html(draw(&ServerPage { assets: &assets, nonce: &nonce, person: &person, tab, alerts })).into_response();
    let policy = format!(
        "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; img-src 'self'; style-src 'self'; connect-src 'self'; script-src 'nonce-{nonce}'{more}; {TRUSTED_TYPES}"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

/// What is the matter with any lock that somebody may see.
fn tab(http: &Http, actor: &Actor) -> DocumentTitle {
    let look = http.hub.look(BoardQuery { limit: 1, ..BoardQuery::default() }, &http.scope_of(actor));
    look.map(|(_, board)| DocumentTitle::of(&board.body.head)).unwrap_or_default()
}
