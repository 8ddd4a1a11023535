//! One answer for all who asked the same before it was made. Nobody is given what is older than their question; the
//! same is not made again before it has rested, so that it never takes more than a fifth of a processor, however many
//! ask.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::FromRequestParts;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::Mutex as Line;

use super::caller::Caller;
use super::csv::{self, Table};
use super::problem::ErrorResponse;
use super::worker_pool::WorkerPool;
use lockscope_audit::QuotaOwner;
use lockscope_live::REST_FACTOR;
use lockscope_runtime::clock;
use lockscope_view::Scope;

/// Addresses that are asked for now, or rest; beyond it answers are made for each.
const SHARED_MAX: usize = 512;
/// A longer address is not shared.
const ADDRESS_BYTES_MAX: usize = 1_024;
const REST_MAX: Duration = Duration::from_secs(1);

/// What is asked for, by whom it can be seen.
type Key = (String, Scope);

#[derive(Clone, Debug)]
pub(super) struct AnswerRequest {
    pub(super) caller: QuotaOwner,
    /// Path and query.
    pub(super) address: String,
    pub(super) scope: Scope,
}

impl<S: Sync> FromRequestParts<S> for AnswerRequest {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ErrorResponse> {
        let Caller { principal, scope, .. } = Caller::from_request_parts(parts, state).await?;
        let address = parts.uri.path_and_query().map_or("/", |address| address.as_str());
        Ok(Self { caller: principal.owner, address: address.to_owned(), scope })
    }
}

#[derive(Clone)]
pub(super) struct SharedAnswers {
    work: WorkerPool,
    slots: Arc<Mutex<HashMap<Key, Arc<Line<Slot>>>>>,
}

#[derive(Default)]
struct Slot {
    /// None: nobody waits for it any more.
    answer: Option<Answer>,
    began: Option<Instant>,
    rests_until: Option<Instant>,
}

#[derive(Clone, Debug)]
pub(super) enum Answer {
    Text(&'static str, Bytes),
    File { media_type: &'static str, file_name: String, text: Bytes },
    Refused(ErrorResponse),
}

impl Answer {
    pub(super) fn json(made: Result<impl Serialize, ErrorResponse>) -> Self {
        let written = made.and_then(|value| {
            serde_json::to_vec(&value)
                .map_err(|error| ErrorResponse::internal(format!("an answer has no JSON form: {error}")))
        });
        written.map_or_else(Self::Refused, |text| Self::Text("application/json", text.into()))
    }

    pub(super) fn text(media_type: &'static str, made: Result<String, ErrorResponse>) -> Self {
        made.map_or_else(Self::Refused, |text| Self::Text(media_type, text.into()))
    }

    pub(super) fn table(made: Result<Table, ErrorResponse>) -> Self {
        made.map_or_else(Self::Refused, |table| Self::file(csv::MEDIA_TYPE, table.file_name, table.text))
    }

    pub(super) fn file(media_type: &'static str, file_name: String, text: impl Into<Bytes>) -> Self {
        Self::File { media_type, file_name, text: text.into() }
    }

    fn respond(self) -> Response {
        match self {
            Self::Text(kind, text) => ([(CONTENT_TYPE, kind)], text).into_response(),
            Self::File { media_type, file_name, text } => {
                let name = format!("attachment; filename=\"{file_name}\"");
                ([(CONTENT_TYPE, media_type), (CONTENT_DISPOSITION, name.as_str())], text).into_response()
            }
            Self::Refused(refused) => refused.into_response(),
        }
    }
}

impl SharedAnswers {
    pub(super) fn new(work: WorkerPool) -> Self {
        Self { work, slots: Arc::default() }
    }

    /// Answers somebody; `make` is used when nobody else is about to make the same.
    pub(super) async fn answer(
        &self,
        asked: AnswerRequest,
        make: impl FnOnce() -> Answer + Send + 'static,
    ) -> Response {
        let waiting = match self.work.admit(&asked.caller) {
            Ok(waiting) => waiting,
            Err(refused) => return refused.into_response(),
        };
        let asked_at = clock::instant();
        let caller = asked.caller.clone();
        let made = match self.slot(asked) {
            None => self.work.make(&caller, make).await,
            Some(slot) => self.of_slot(&slot, &caller, asked_at, make).await,
        };
        drop(waiting);
        made.unwrap_or_else(Answer::Refused).respond()
    }

    /// The first answer that was begun after a moment.
    async fn of_slot(
        &self,
        slot: &Arc<Line<Slot>>,
        caller: &QuotaOwner,
        asked_at: Instant,
        make: impl FnOnce() -> Answer + Send + 'static,
    ) -> Result<Answer, ErrorResponse> {
        let (answer, mut held) = loop {
            // First those of the same caller: what they have to wait for holds nobody else up.
            let own = self.work.enter(caller).await;
            let mut held = slot.lock().await;
            if let Some(answer) = held.answer.clone().filter(|_| held.began.is_some_and(|began| began >= asked_at)) {
                break (answer, held);
            }
            // Whoever waits for its rest holds nothing meanwhile, or the caller's other requests would wait for it too.
            if let Some(until) = held.rests_until.filter(|until| *until > clock::instant()) {
                drop((held, own));
                tokio::time::sleep_until(until.into()).await;
                continue;
            }
            let timed = move || {
                let began = clock::instant();
                (make(), began, began.elapsed())
            };
            let (answer, began, took) = self.work.make_in(own, timed).await?;
            let rests_until = clock::instant() + (took * REST_FACTOR).min(REST_MAX);
            *held = Slot { answer: Some(answer.clone()), began: Some(began), rests_until: Some(rests_until) };
            break (answer, held);
        };
        // The table's own, and ours: nobody who asked before it was begun is left, and nobody else is given it.
        if Arc::strong_count(slot) <= 2 {
            held.answer = None;
        }
        Ok(answer)
    }

    /// Where those meet who ask for the same; None: there are too many already.
    fn slot(&self, asked: AnswerRequest) -> Option<Arc<Line<Slot>>> {
        if asked.address.len() > ADDRESS_BYTES_MAX {
            return None;
        }
        let mut slots = self.slots.lock();
        let key = (asked.address, asked.scope);
        if let Some(slot) = slots.get(&key) {
            return Some(slot.clone());
        }
        if slots.len() >= SHARED_MAX {
            let now = clock::instant();
            slots.retain(|_, slot| {
                Arc::strong_count(slot) > 1
                    || slot.try_lock().is_ok_and(|slot| slot.rests_until.is_some_and(|until| until > now))
            });
        }
        if slots.len() >= SHARED_MAX {
            return None;
        }
        Some(slots.entry(key).or_default().clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn asked(caller: &str, address: &str) -> AnswerRequest {
        AnswerRequest { caller: QuotaOwner::Named(caller.to_owned()), address: address.to_owned(), scope: Scope::ALL }
    }

    #[tokio::test]
    async fn many_share_an_answer_that_is_never_older_than_their_question() {
        let shared = SharedAnswers::new(WorkerPool::new());
        let made = Arc::new(AtomicUsize::new(0));
        let ask = |caller: &str| {
            let (shared, made, asked) = (shared.clone(), made.clone(), asked(caller, "/a"));
            async move {
                let before = made.load(Ordering::SeqCst);
                let count = made.clone();
                let make = move || {
                    std::thread::sleep(Duration::from_millis(5));
                    Answer::json(Ok(count.fetch_add(1, Ordering::SeqCst)))
                };
                let body = shared.answer(asked, make).await.into_body();
                let text = axum::body::to_bytes(body, 100).await.unwrap();
                let number: usize = serde_json::from_slice(&text).unwrap();
                assert!(number >= before, "what was made before was given");
            }
        };
        let asks = (0..100).map(|at| ask(if at % 2 == 0 { "a" } else { "b" }));
        futures_util::future::join_all(asks).await;
        assert!(made.load(Ordering::SeqCst) <= 4, "{} were made for 100", made.load(Ordering::SeqCst));
        ask("c").await;
        assert!(
            shared.slots.lock().values().all(|slot| slot.try_lock().unwrap().answer.is_none()),
            "nobody is left to be given it"
        );
    }

    #[tokio::test]
    async fn a_rest_holds_up_no_other_question() {
        let shared = SharedAnswers::new(WorkerPool::new());
        let long = || {
            std::thread::sleep(Duration::from_millis(250));
            Answer::json(Ok(1))
        };
        shared.answer(asked("a", "/long"), long).await;
        let mut again = std::pin::pin!(shared.answer(asked("a", "/long"), long));
        assert!(futures_util::poll!(&mut again).is_pending(), "it rests");
        let caller = asked("a", "/short").caller;
        assert!(futures_util::poll!(std::pin::pin!(shared.work.enter(&caller))).is_ready(), "and holds nothing");
        assert_eq!(again.await.status(), 200);
    }

    #[tokio::test]
    async fn addresses_have_a_maximum_and_all_are_answered() {
        let shared = SharedAnswers::new(WorkerPool::new());
        for at in 0..SHARED_MAX + 20 {
            let caller = format!("{}", at % 50);
            let response = shared.answer(asked(&caller, &format!("/{at}")), || Answer::json(Ok(1))).await;
            assert_eq!(response.status(), 200);
        }
        assert!(shared.slots.lock().len() <= SHARED_MAX);
    }
}
