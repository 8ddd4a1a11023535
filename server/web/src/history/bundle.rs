//! `GET /api/v1/history/export?format=sqlite`: a window of the past as a file that is a history of its own.
//!
//! It is made on a thread beside the pool of the past, one at a time: it takes seconds, and others look back meanwhile.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::unfold;
use lockscope_core::time::TimeMs;
use lockscope_history::store::StoreError;
use lockscope_history::store::bundle::{BundleError, BundleQuery};
use tokio::io::AsyncReadExt as _;
use tokio::sync::OwnedSemaphorePermit;

use super::ask::{Asked, refused};
use super::file_rooms::SendingDeadline;
use crate::Http;
use crate::problem::ErrorResponse;
use crate::shared_answers::AnswerRequest;
use lockscope_runtime::{cancel, clock};
use lockscope_view::Scope;

const BYTES_MAX: u64 = 512 << 20;
const MAKING_MAX: Duration = Duration::from_secs(60);
const PIECE_BYTES: usize = 64 << 10;

pub(super) async fn show(http: &Http, asked: AnswerRequest, of: Asked) -> Result<Response, ErrorResponse> {
    if of.session.is_some() || !of.client.is_empty() {
        let detail = "an SQLite file can't be cut by `session` or `client`; leave them out, or use format=csv";
        return Err(ErrorResponse::bad_request(detail));
    }
    let waiting = http.past_work.admit(&asked.caller)?;
    let Some(turn) = http.files.bundle() else {
        return Err(ErrorResponse::unavailable("another SQLite file is being made or sent; try again in a moment"));
    };
    let http = http.clone();
    // It is cancelled when nobody waits for it any more; until it has ended there is no other.
    let made = cancel::spawn_blocking(move || (make(&http, &asked.scope, &of), turn)).await;
    drop(waiting);
    let (made, turn) = made.map_err(|error| {
        tracing::error!(%error, "a bundle could not be made");
        ErrorResponse::internal("the server failed while it made this file; report this")
    })?;
    let (file, name) = made?;
    send(file, name, turn).map_err(|error| ErrorResponse::unavailable(format!("the file can't be read: {error}")))
}

fn make(http: &Http, scope: &Scope, asked: &Asked) -> Result<(File, &'static str), ErrorResponse> {
    let (ensemble, store) = http.recorded(scope, &asked.ensemble)?;
    let range = asked.range(http.hub.now_ms())?;
    let with_chunks = asked.path.is_empty() && scope.covers(&ensemble, "/") && scope.payloads();
    let sees = |path: &str| (asked.path.is_empty() || asked.path == path) && scope.covers(&ensemble, path);
    let query = BundleQuery {
        range: range.clone(),
        with_chunks,
        sees: &sees,
        with_labels: scope.payloads(),
        bytes_max: BYTES_MAX,
        give_up_at: clock::instant() + MAKING_MAX,
    };
    let file = store.bundle(&query).map_err(|error| unmade(error, &range))?;
    Ok((file, if with_chunks { "lockscope-history.db" } else { "lockscope-rows.db" }))
}

fn unmade(error: BundleError, range: &Range<TimeMs>) -> ErrorResponse {
    let shorter =
        |from_ms: i64, why: &str| format!("{why}; a shorter range would do, such as from={from_ms}&to={}", range.end.0);
    let an_eighth = range.end.0 - (range.end.since(range.start) / 8).max(60_000);
    let limit = format!("that range takes more than {} MiB", BYTES_MAX >> 20);
    match error {
        BundleError::TooLarge { fits_from } => {
            ErrorResponse::bad_request(shorter(fits_from.map_or(an_eighth, |from| from.0), &limit))
        }
        BundleError::Store(StoreError::TooLong) => {
            let why = format!("that takes more than {} s", MAKING_MAX.as_secs());
            ErrorResponse::unavailable(shorter(an_eighth, &why))
        }
        BundleError::Store(error) => refused(error, range),
    }
}

struct Sending {
    file: tokio::fs::File,
    deadline: SendingDeadline,
    _turn: OwnedSemaphorePermit,
}

fn send(file: File, name: &str, turn: OwnedSemaphorePermit) -> io::Result<Response> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/vnd.sqlite3"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(file.metadata()?.len()));
    if let Ok(name) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(CONTENT_DISPOSITION, name);
    }
    let sending = Sending { file: tokio::fs::File::from_std(file), deadline: SendingDeadline::begin(), _turn: turn };
    let pieces = unfold(Some(sending), |sending| async {
        let mut sending = sending?;
        match piece(&mut sending).await {
            Ok(bytes) if bytes.is_empty() => None,
            Ok(bytes) => Some((Ok(bytes), Some(sending))),
            Err(error) => Some((Err(error), None)),
        }
    });
    Ok((headers, Body::from_stream(pieces)).into_response())
}

async fn piece(sending: &mut Sending) -> io::Result<Bytes> {
    sending.deadline.check()?;
    let mut bytes = Vec::with_capacity(PIECE_BYTES);
    sending.file.read_buf(&mut bytes).await?;
    Ok(bytes.into())
}
