//! Pages that the server draws alone: no script but the header's (theme, times, whether the server is there), and, where a
//! page changes while it is looked at, the one that follows it.

pub(super) mod fleet;

use axum::http::HeaderValue;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse as _, Response};
use leptos::nonce::Nonce;
use lockscope_page::ports::FormTokens;
use lockscope_page::{DocumentTitle, ServerPage};
use lockscope_view::{BoardQuery, Person, Scope};

use super::caller::Caller;
use super::problem::ErrorResponse;
use super::{Http, assets};
use lockscope_access::Principal;

/// No text becomes a script; the page's own policy is made by its first one.
pub(super) const TRUSTED_TYPES: &str = "require-trusted-types-for 'script'; trusted-types default";

pub(super) fn page(
    http: &Http,
    caller: &Caller,
    draw: impl FnOnce(&ServerPage<'_>) -> String,
) -> Result<Response, ErrorResponse> {
    answer(http, caller, draw, "")
}

/// Answers with a page that follows: it may load the page's code.
#[cfg(feature = "lab")]
pub(super) fn living(
    http: &Http,
    caller: &Caller,
    draw: impl FnOnce(&ServerPage<'_>) -> String,
) -> Result<Response, ErrorResponse> {
    answer(http, caller, draw, " 'strict-dynamic' 'wasm-unsafe-eval'")
}

fn answer(
    http: &Http,
    Caller { actor, scope, principal, .. }: &Caller,
    draw: impl FnOnce(&ServerPage<'_>) -> String,
    more: &str,
) -> Result<Response, ErrorResponse> {
    let Some(assets) = assets::names() else {
        return Err(ErrorResponse::unavailable(
            "this build carries no page; run `cargo run -p lockscope-style`, then build the server again",
        ));
    };
    let has_fleet = http.hub.projection().has_fleet(scope);
    let (nonce, person) = (Nonce::new().to_string(), Person { has_fleet, ..http.access.person(actor) });
    let (tab, alerts) = (tab(http, scope), http.alert_banner(scope));
    let forms = form_tokens(principal);
    let mut response =
        Html(draw(&ServerPage { assets: &assets, nonce: &nonce, person: &person, tab, alerts, forms })).into_response();
    let policy = format!(
        "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; img-src 'self'; style-src 'self'; connect-src 'self'; script-src 'nonce-{nonce}'{more}; {TRUSTED_TYPES}"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

pub(super) fn form_tokens(principal: &Principal) -> FormTokens {
    let forms = principal.forms.clone();
    FormTokens::new(move |action| forms.token(action))
}

/// What is the matter with any lock that somebody may see.
fn tab(http: &Http, scope: &Scope) -> DocumentTitle {
    let look = http.hub.look(BoardQuery { limit: 1, ..BoardQuery::default() }, scope);
    look.map(|(_, board)| DocumentTitle::of(&board.body.head)).unwrap_or_default()
}
