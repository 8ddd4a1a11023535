//! Errors as RFC 9457 answers. Knows no route. Input is echoed cut, and never with characters that hide or
//! move others.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lockscope_view::past::Unanswered;
use lockscope_view::{NearestMoments, Problem, visible};

/// Longest sentence; longer ones echo too much.
const DETAIL_CHARS_MAX: usize = 1_000;
const ECHO_CHARS_MAX: usize = 100;

/// An answer that says in one sentence what was wrong and what to do.
#[derive(Clone, Debug)]
pub(super) struct ErrorResponse {
    problem: Problem,
    retry_s: Option<u64>,
}

impl ErrorResponse {
    pub(super) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Error").to_owned();
        let detail = cut(&visible(&detail.into()), DETAIL_CHARS_MAX);
        Self {
            problem: Problem { kind: "about:blank".to_owned(), title, status: status.as_u16(), detail, nearest: None },
            retry_s: None,
        }
    }

    pub(super) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(super) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    pub(super) fn with_nearest(mut self, nearest: NearestMoments) -> Self {
        self.problem.nearest = Some(Box::new(nearest));
        self
    }

    /// A thing that was not found may be in an ensemble that could not be asked.
    pub(super) fn beside(self, unanswered: &[Unanswered]) -> Self {
        if unanswered.is_empty() || self.status() != StatusCode::NOT_FOUND {
            return self;
        }
        let detail = format!("{}; could not be asked: {}", self.problem.detail, Unanswered::list(unanswered));
        Self { problem: Problem { detail: cut(&visible(&detail), DETAIL_CHARS_MAX), ..self.problem }, ..self }
    }

    pub(super) fn sentence(&self) -> &str {
        &self.problem.detail
    }

    /// With the nearest moments, where no field has them.
    pub(super) fn sentence_with_nearest(&self) -> String {
        let nearest = self.problem.nearest.as_deref();
        let moments = nearest.map(|nearest| [nearest.before_at_ms, nearest.after_at_ms]).into_iter().flatten();
        let moments: Vec<String> = moments.flatten().map(|at_ms| at_ms.to_string()).collect();
        let detail = &self.problem.detail;
        match moments.as_slice() {
            [] => detail.clone(),
            [one] => format!("{detail}; the nearest moment that is kept is {one}"),
            more => format!("{detail}; the nearest moments that are kept are {}", more.join(" and ")),
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(super) fn internal(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    }

    pub(super) fn too_many(detail: impl Into<String>, wait: Duration) -> Self {
        let retry_s = Some(wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).map(|seconds| seconds.max(1));
        Self { retry_s, ..Self::new(StatusCode::TOO_MANY_REQUESTS, detail) }
    }

    pub(super) fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let status = self.status();
        let mut response = (status, axum::Json(self.problem)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Input as it may be echoed: in one piece, with nothing hidden in it.
pub(super) fn echo(input: &str) -> String {
    cut(&visible(input), ECHO_CHARS_MAX)
}

fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}\u{2026}", text.get(..at).unwrap_or_default()),
    }
}

pub(super) fn wrong(name: &str, value: &str, remedy: &str) -> ErrorResponse {
    ErrorResponse::bad_request(format!("`{}` is not a value of `{}`; use {remedy}", echo(value), echo(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_in_is_told_back_visible_and_cut() {
        assert_eq!(echo("a\u{202e}b\n"), "a\u{2425}b\u{240a}");
        let ErrorResponse { problem, .. } = ErrorResponse::not_found(format!("{}\u{1b}[31m", "x".repeat(5_000)));
        assert_eq!((problem.detail.chars().count(), problem.detail.contains('\u{1b}')), (DETAIL_CHARS_MAX + 1, false));
        assert_eq!(echo(&"\u{9580}".repeat(200)).chars().count(), ECHO_CHARS_MAX + 1);
    }
}
