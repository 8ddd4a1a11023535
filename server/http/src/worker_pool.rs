//! What takes a while to answer: off the runtime's threads, a few at a time, one of each caller at a time, so that
//! nobody waits long for what another asks. Excess requests are rejected with the reason.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Mutex as Line, Semaphore};

use super::problem::ErrorResponse;
use identity::QuotaOwner;
use runtime::clock;
use runtime::quota::{Full, Permit, Quota, Refusals};
use runtime::rate::RateLimit;

/// Requests that wait or are worked on.
const WAITING_MAX: usize = 2_048;
/// Of these, requests of one caller.
const CALLER_WAITING_MAX: usize = 128;
/// Requests of one caller in a second, for long and at once.
const CALLER_PER_SECOND: u32 = 200;
const CALLER_BURST: u32 = 600;
/// Answers worked on at once, at most; half of the processors, so that the watch always has some.
const AT_ONCE_MAX: usize = 4;

/// Does what takes a while; cheap to clone.
#[derive(Clone)]
pub(super) struct WorkerPool(Arc<Inner>);

struct Inner {
    places: Quota<QuotaOwner>,
    rates: Mutex<RateLimit<QuotaOwner>>,
    /// Refused for the rate, too.
    refusals: Arc<Refusals>,
    turns: Arc<Semaphore>,
    /// Of each caller that waits, who is next; never more than places, and as many again that are over.
    lines: Mutex<HashMap<QuotaOwner, Weak<Line<()>>>>,
}

/// A place among those who wait.
pub(super) type WaitingPermit = Permit<QuotaOwner>;

impl WorkerPool {
    pub(super) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self::with_turns((processors / 2).clamp(1, AT_ONCE_MAX))
    }

    /// One that makes so many answers at once.
    pub(super) fn with_turns(turns: usize) -> Self {
        let refusals = Arc::<Refusals>::default();
        Self(Arc::new(Inner {
            places: Quota::new(WAITING_MAX, CALLER_WAITING_MAX, refusals.clone()),
            rates: Mutex::new(RateLimit::new(CALLER_PER_SECOND, CALLER_BURST)),
            refusals,
            turns: Arc::new(Semaphore::new(turns)),
            lines: Mutex::default(),
        }))
    }

    /// Requests that were refused: for all, and for one caller.
    pub(super) fn refused(&self) -> (u64, u64) {
        self.0.refusals.counted()
    }

    /// Lets somebody ask, or says why not.
    pub(super) fn admit(&self, caller: &QuotaOwner) -> Result<WaitingPermit, ErrorResponse> {
        if let Err(wait) = lock(&self.0.rates).take(caller, clock::instant()) {
            self.0.refusals.count(Full::Caller);
            return Err(ErrorResponse::too_many(
                format!("more than {CALLER_PER_SECOND} requests a second; ask less often, or open a live socket"),
                wait,
            ));
        }
        self.0.places.take(Some(caller.clone())).map_err(|why| {
            let detail = match why {
                Full::Caller => format!(
                    "{CALLER_WAITING_MAX} requests of yours wait for an answer already; ask again when some have one"
                ),
                Full::All => format!("{WAITING_MAX} requests wait for an answer already; try again in a moment"),
            };
            ErrorResponse::too_many(detail, Duration::from_secs(1))
        })
    }

    /// Admits somebody and makes an answer for them.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        caller: &QuotaOwner,
        make: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ErrorResponse> {
        let _waiting = self.admit(caller)?;
        self.make(caller, make).await
    }

    /// Makes an answer when it is the caller's turn.
    pub(super) async fn make<T: Send + 'static>(
        &self,
        caller: &QuotaOwner,
        make: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ErrorResponse> {
        let line = self.line(caller);
        let _mine = line.lock().await;
        self.make_now(make).await
    }

    /// Makes an answer for whoever is next of their own already: see [`WorkerPool::line`].
    pub(super) async fn make_now<T: Send + 'static>(
        &self,
        make: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ErrorResponse> {
        let turn = self.0.turns.clone().acquire_owned().await;
        let made = tokio::task::spawn_blocking(move || {
            let made = make();
            // Also when nobody waits for it any more: it is worked on all the same.
            drop(turn);
            made
        });
        made.await.map_err(|error| {
            tracing::error!(%error, "an answer could not be made");
            ErrorResponse::internal("the server failed while it made this answer; report this")
        })
    }

    /// Where requests of one caller wait for each other.
    pub(super) fn line(&self, caller: &QuotaOwner) -> Arc<Line<()>> {
        let mut lines = lock(&self.0.lines);
        if let Some(line) = lines.get(caller).and_then(Weak::upgrade) {
            return line;
        }
        if lines.len() >= 2 * WAITING_MAX {
            lines.retain(|_, line| line.strong_count() > 0);
        }
        let line = Arc::<Line<()>>::default();
        lines.insert(caller.clone(), Arc::downgrade(&line));
        line
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn caller(name: &str) -> QuotaOwner {
        QuotaOwner::Named(name.to_owned())
    }

    #[tokio::test]
    async fn one_caller_has_one_turn_at_a_time_and_others_are_next() {
        let work = WorkerPool::new();
        let done = Arc::new(AtomicUsize::new(0));
        let greedy: Vec<_> = (0..50)
            .map(|_| {
                let (work, done) = (work.clone(), done.clone());
                tokio::spawn(async move {
                    let make = move || {
                        std::thread::sleep(Duration::from_millis(20));
                        done.fetch_add(1, Ordering::Relaxed)
                    };
                    work.make(&caller("greedy"), make).await.unwrap()
                })
            })
            .collect();
        while done.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let count = done.clone();
        let before = work.make(&caller("good"), move || count.load(Ordering::Relaxed)).await.unwrap();
        assert!(before < 10, "{before} answers of another came first");
        for one in greedy {
            one.await.unwrap();
        }
    }

    #[test]
    fn whoever_asks_too_much_is_refused_and_others_are_not() {
        let work = WorkerPool::new();
        let waiting: Vec<_> = (0..CALLER_WAITING_MAX).map(|_| work.admit(&caller("greedy")).unwrap()).collect();
        let refused = work.admit(&caller("greedy")).unwrap_err();
        assert_eq!(refused.status(), 429);
        assert!(work.admit(&caller("good")).is_ok());
        drop(waiting);
        let asked = (0..2 * CALLER_BURST).filter(|_| work.admit(&caller("greedy")).is_ok()).count();
        assert!(asked < 2 * CALLER_BURST as usize && work.admit(&caller("good")).is_ok(), "{asked}");
        assert!(work.refused().1 > 1);
    }

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let work = WorkerPool::new();
        let refused = work.make(&caller("a"), || "planted".parse::<u8>().unwrap()).await.unwrap_err();
        assert_eq!(refused.status(), 500);
        assert_eq!(work.make(&caller("a"), || 7).await.unwrap(), 7, "and the next one goes on");
    }
}
