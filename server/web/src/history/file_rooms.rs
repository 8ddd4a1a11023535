//! Room for files of the past, which are sent for as long as somebody takes of them: so many at once, each for so long, so
//! that people who take slowly, or stop taking, hold no more memory than is named here.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody as _};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_LENGTH;
use axum::response::Response;
use futures_util::StreamExt as _;
use futures_util::stream::unfold;
use lockscope_audit::QuotaOwner;
use lockscope_runtime::quota::{Full, Permit, Quota};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::problem::ErrorResponse;

/// How long it may take to send one; beyond it the connection is cut, so that others have their turn.
const SENDING_MAX: Duration = Duration::from_secs(600);
/// Texts that are made or sent at once, and those of one caller and of all who share a name or an address: each is in memory
/// until it is sent.
const TEXTS_MAX: usize = 8;
const CALLER_TEXTS_MAX: usize = 4;
const GROUP_TEXTS_MAX: usize = 6;
const PIECE_BYTES: usize = 64 << 10;

/// The room there is. Overflow policy: one more is refused, and may be asked for again.
#[derive(Clone)]
pub(crate) struct FileRooms {
    /// SQLite databases: one at a time is made or sent.
    bundles: Arc<Semaphore>,
    texts: Quota<QuotaOwner>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SendingDeadline(Instant);

impl SendingDeadline {
    pub(super) fn begin() -> Self {
        Self(Instant::now() + SENDING_MAX)
    }

    /// # Errors
    /// It is over.
    pub(super) fn check(self) -> io::Result<()> {
        if Instant::now() < self.0 {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "the file was not read in time"))
    }
}

struct SendingText {
    body: BodyDataStream,
    given: Bytes,
    deadline: SendingDeadline,
    _place: Permit<QuotaOwner>,
}

impl FileRooms {
    pub(crate) fn new() -> Self {
        let texts = Quota::new(TEXTS_MAX, CALLER_TEXTS_MAX, Arc::default());
        Self { bundles: Arc::new(Semaphore::new(1)), texts }
    }

    /// Room for a database, if no other is made or sent.
    pub(super) fn bundle(&self) -> Option<OwnedSemaphorePermit> {
        self.bundles.clone().try_acquire_owned().ok()
    }

    pub(super) fn text(&self, caller: &QuotaOwner) -> Result<Permit<QuotaOwner>, ErrorResponse> {
        self.texts.take_of(caller.payers(CALLER_TEXTS_MAX, GROUP_TEXTS_MAX)).map_err(|why| {
            let most = match why {
                Full::Caller(most) => format!("{most} files of yours"),
                Full::All => format!("{TEXTS_MAX} files of the history"),
            };
            let sentence = format!("{most} are made or sent already; try again when one of them is over");
            ErrorResponse::too_many(sentence, Duration::from_secs(1))
        })
    }
}

/// The same answer, whose place is free once it is sent, and which is cut where that takes too long.
pub(super) fn while_it_is_sent(answer: Response, place: Permit<QuotaOwner>) -> Response {
    sent_until(answer, place, SendingDeadline::begin())
}

fn sent_until(answer: Response, place: Permit<QuotaOwner>, deadline: SendingDeadline) -> Response {
    let length = answer.body().size_hint().exact();
    let mut answer = answer.map(|body| {
        let sending = SendingText { body: body.into_data_stream(), given: Bytes::new(), deadline, _place: place };
        Body::from_stream(unfold(Some(sending), |sending| async {
            let mut sending = sending?;
            match sending.next().await? {
                Ok(bytes) => Some((Ok(bytes), Some(sending))),
                Err(error) => Some((Err(error), None)),
            }
        }))
    });
    // Whoever takes it sees whether it is whole.
    if let Some(length) = length {
        answer.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    answer
}

impl SendingText {
    async fn next(&mut self) -> Option<Result<Bytes, axum::Error>> {
        if self.given.is_empty() {
            match self.body.next().await? {
                Ok(bytes) => self.given = bytes,
                Err(error) => return Some(Err(error)),
            }
        }
        let piece = self.given.split_to(self.given.len().min(PIECE_BYTES));
        Some(self.deadline.check().map(|()| piece).map_err(axum::Error::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn somebody(name: &str) -> QuotaOwner {
        QuotaOwner::Named(name.to_owned())
    }

    #[tokio::test]
    async fn a_text_has_its_place_until_it_is_sent_or_nobody_takes_it() {
        let rooms = FileRooms::new();
        let text = vec![7; 3 * PIECE_BYTES + 5];
        let sent = |name: &str| {
            let place = rooms.text(&somebody(name)).ok()?;
            Some(while_it_is_sent(Response::new(Body::from(text.clone())), place))
        };
        let held: Vec<Response> = (0..CALLER_TEXTS_MAX).filter_map(|_| sent("a")).collect();
        assert_eq!(held.len(), CALLER_TEXTS_MAX);
        assert!(sent("a").is_none(), "one person has no more");
        let others: Vec<Response> = (0..TEXTS_MAX).filter_map(|at| sent(&format!("{at}"))).collect();
        assert_eq!(others.len(), TEXTS_MAX - CALLER_TEXTS_MAX, "nor have all");
        assert!(rooms.text(&somebody("b")).is_err_and(|refused| refused.status() == 429));
        drop(others);
        for response in held {
            let whole = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
            assert!(whole == text);
        }
        assert!(rooms.texts.is_empty());
    }

    #[tokio::test]
    async fn one_that_takes_too_long_is_cut_and_its_place_is_free() {
        let rooms = FileRooms::new();
        let place = rooms.text(&somebody("a")).unwrap();
        let late = sent_until(Response::new(Body::from("all of it")), place, SendingDeadline(Instant::now()));
        assert_eq!(late.headers()[CONTENT_LENGTH], "9");
        assert!(axum::body::to_bytes(late.into_body(), usize::MAX).await.is_err());
        assert!(rooms.texts.is_empty());
    }
}
