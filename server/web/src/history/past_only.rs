//! Where nothing is live, what is only of the present is answered with one sentence.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::ACCEPT;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use lockscope_page::no_moment_page;
use lockscope_page::ports::{Neighbours, PastView};

use crate::caller::Caller;
use crate::problem::ErrorResponse;
use crate::{Http, server_pages};

/// What is of the present alone, by the beginning of its address, and what it is called. What takes more than the right to
/// look, such as releasing, leads to signing in or is refused before.
const PRESENT: [(&str, &str); 9] = [
    ("/alerts", "no alerts: /alerts/test says when a rule would have fired"),
    ("/api/v1/alerts", "no alerts: POST /api/v1/alerts/test says when a rule would have fired"),
    ("/api/v1/orders/snooze", "nothing to snooze"),
    ("/waits/orders/snooze", "nothing to snooze"),
    ("/wall", "no wallboard"),
    ("/status", "no status page: GET /api/v1/history says what was read"),
    ("/lab", "no lab"),
    ("/api/v1/lab", "no lab"),
    ("/sign-in", "nothing to sign in for: it is read-only"),
];
/// What of that asks for the past.
const PAST: [&str; 2] = ["/alerts/test", "/api/v1/alerts/test"];

/// Answers what is asked of the present, where there is none, and passes all else on.
pub(crate) async fn refuse_the_present(State(http): State<Http>, request: Request, next: Next) -> Response {
    let Some(what) = what(request.uri().path()).filter(|_| http.is_past) else { return next.run(request).await };
    let sentence = format!("an autopsy is of the past and has {what}");
    let wants_page = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
    if let Some(caller) = request.extensions().get::<Caller>()
        && wants_page.is_some_and(|accept| accept.contains("text/html"))
    {
        let at_ms = http.newest_moment(&caller.scope, "");
        let view = PastView {
            address: "/".to_owned(),
            now_ms: at_ms,
            is_over: true,
            kept_ms: (at_ms, at_ms),
            ..PastView::default()
        };
        let nearest = Neighbours { before: Some(at_ms), after: None };
        let page = server_pages::page(&http, caller, |plain| no_moment_page(plain, &view, &sentence, nearest));
        if let Ok(page) = page {
            return (StatusCode::NOT_FOUND, page).into_response();
        }
    }
    ErrorResponse::not_found(sentence).into_response()
}

fn what(path: &str) -> Option<&'static str> {
    let is_at = |begin: &str| path.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let is_of_present = PRESENT.into_iter().find(|(begin, _)| is_at(begin));
    is_of_present.filter(|_| !PAST.contains(&path)).map(|(_, what)| what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_of_the_present_is_refused() {
        for path in
            ["/wall", "/lab/run", "/api/v1/lab/runs", "/sign-in/once", "/status", "/alerts", "/api/v1/alerts/ack"]
        {
            assert!(what(path).is_some(), "{path}");
        }
        for path in
            ["/", "/lock", "/api/v1/status", "/labels", "/api/v1/history", "/healthz", "/statuses", "/alerts/test"]
        {
            assert!(what(path).is_none(), "{path}");
        }
    }
}
