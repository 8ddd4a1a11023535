//! What takes a while to answer: off the runtime's threads, a few at a time, one of each caller at a time, so that
//! nobody waits long for what another asks. Excess requests are rejected with the reason. What nobody waits for any more is
//! cancelled.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::ErrorResponse;
use lockscope_audit::QuotaOwner;
use lockscope_runtime::quota::{Full, Permit, Quota, Refusals};
use lockscope_runtime::rate::RateLimit;
use lockscope_runtime::{cancel, clock};

/// Requests that wait or are worked on.
const WAITING_MAX: usize = 2_048;
/// Of these, requests of one caller, and of all who share a name or an address.
const CALLER_WAITING_MAX: usize = 128;
const GROUP_WAITING_MAX: usize = 256;
/// Requests of one caller in a second, for long and at once.
const CALLER_PER_SECOND: u32 = 200;
const CALLER_BURST: u32 = 600;
/// How much more these may have in a second, and under way, than one caller.
const GROUP_SHARES: usize = 4;
/// Answers worked on at once, at most; half of the processors, so that the watch always has some.
const AT_ONCE_MAX: usize = 4;
/// How long an answer may take, with its wait.
const ANSWER_MAX: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub(super) struct WorkerPool(Arc<Inner>);

struct Inner {
    places: Quota<QuotaOwner>,
    rates: Mutex<RateLimit<QuotaOwner>>,
    /// Refused for the rate, too.
    refusals: Arc<Refusals>,
    turns: Arc<Semaphore>,
    /// Of each caller and group that waits; never more than places, and as many again that are over.
    queues: Mutex<HashMap<QuotaOwner, Weak<Semaphore>>>,
}

pub(super) type WaitingPermit = Permit<QuotaOwner>;

/// The turn of a caller among their own.
pub(super) type CallerTurn = Vec<OwnedSemaphorePermit>;

impl WorkerPool {
    pub(super) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self::with_turns((processors / 2).clamp(1, AT_ONCE_MAX))
    }

    pub(super) fn with_turns(turns: usize) -> Self {
        let refusals = Arc::<Refusals>::default();
        Self(Arc::new(Inner {
            places: Quota::new(WAITING_MAX, CALLER_WAITING_MAX, refusals.clone()),
            rates: Mutex::new(RateLimit::new(CALLER_PER_SECOND, CALLER_BURST)),
            refusals,
            turns: Arc::new(Semaphore::new(turns)),
            queues: Mutex::default(),
        }))
    }

    /// Requests that were refused: for all, and for one caller.
    pub(super) fn refused(&self) -> (u64, u64) {
        self.0.refusals.counted()
    }

    pub(super) fn admit(&self, caller: &QuotaOwner) -> Result<WaitingPermit, ErrorResponse> {
        let (now, mut rates) = (clock::instant(), self.0.rates.lock());
        for (owner, shares) in caller.payers(1, GROUP_SHARES) {
            let most = CALLER_PER_SECOND as usize * shares;
            rates.take(&owner, u32::try_from(shares).unwrap_or(1), now).map_err(|wait| {
                self.0.refusals.count(Full::Caller(most));
                let sentence = format!("more than {most} requests a second; ask less often, or open a live socket");
                ErrorResponse::too_many(sentence, wait)
            })?;
        }
        drop(rates);
        self.0.places.take_of(caller.payers(CALLER_WAITING_MAX, GROUP_WAITING_MAX)).map_err(|why| {
            let detail = match why {
                Full::Caller(most) => {
                    format!("{most} requests of yours wait for an answer already; ask again when some have one")
                }
                Full::All => format!("{WAITING_MAX} requests wait for an answer already; try again in a moment"),
            };
            ErrorResponse::too_many(detail, Duration::from_secs(1))
        })
    }

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
        let answer = async { self.make_in(self.enter(caller).await, make).await };
        let late = |_| Err(ErrorResponse::unavailable(format!("no answer was ready within {ANSWER_MAX:?}; try again")));
        tokio::time::timeout(ANSWER_MAX, answer).await.unwrap_or_else(late)
    }

    /// Waits until a caller has none under way, and all who share their name or address few: only those who are first there
    /// wait with others.
    pub(super) async fn enter(&self, caller: &QuotaOwner) -> CallerTurn {
        let mut turn = CallerTurn::new();
        for (owner, most) in caller.payers(1, GROUP_SHARES) {
            turn.extend(self.queue(owner, most).acquire_owned().await);
        }
        turn
    }

    /// Where those wait who have so many under way together.
    fn queue(&self, owner: QuotaOwner, most: usize) -> Arc<Semaphore> {
        let mut queues = self.0.queues.lock();
        if let Some(queue) = queues.get(&owner).and_then(Weak::upgrade) {
            return queue;
        }
        if queues.len() >= 2 * WAITING_MAX {
            queues.retain(|_, queue| queue.strong_count() > 0);
        }
        let queue = Arc::new(Semaphore::new(most));
        queues.insert(owner, Arc::downgrade(&queue));
        queue
    }

    /// Makes an answer for whoever is next of their own already. Dropping the future cancels what is made.
    pub(super) async fn make_in<T: Send + 'static>(
        &self,
        own: CallerTurn,
        make: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ErrorResponse> {
        let turn = self.0.turns.clone().acquire_owned().await;
        let made = cancel::spawn_blocking(move || {
            // They are held as long as it is worked on, also when nobody waits for it any more.
            let _held = (turn, own);
            make()
        });
        made.await.map_err(|error| {
            tracing::error!(%error, "an answer could not be made");
            ErrorResponse::internal("the server failed while it made this answer; report this")
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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

    /// Jobs of several callers that hold their turns until the end, and how many of them run.
    struct Blocked {
        work: WorkerPool,
        running: Arc<AtomicUsize>,
        end: Arc<AtomicBool>,
    }

    impl Blocked {
        async fn make(&self, caller: QuotaOwner) {
            let (running, end) = (self.running.clone(), self.end.clone());
            let hold = move || {
                running.fetch_add(1, Ordering::SeqCst);
                while !cancel::is_cancelled() && !end.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                running.fetch_sub(1, Ordering::SeqCst)
            };
            self.work.make(&caller, hold).await.unwrap();
        }

        async fn run(&self, count: usize) {
            while self.running.load(Ordering::SeqCst) != count {
                tokio::task::yield_now().await;
            }
        }
    }

    fn blocked(turns: usize) -> Blocked {
        Blocked { work: WorkerPool::with_turns(turns), running: Arc::default(), end: Arc::default() }
    }

    #[tokio::test]
    async fn work_of_a_client_that_left_is_cancelled() {
        let blocked = blocked(1);
        for _ in 0..20 {
            // A reload: the question before is left alone.
            let reloaded = tokio::select! {
                () = blocked.make(caller("reloads")) => false,
                () = blocked.run(1) => true,
            };
            assert!(reloaded);
            assert_eq!(blocked.work.make(&caller("good"), || 7).await.unwrap(), 7, "the turn is free");
        }
        blocked.run(0).await;
    }

    #[tokio::test]
    async fn one_address_has_few_turns_however_many_clients() {
        let (blocked, network) = (blocked(8), QuotaOwner::Network([10, 0, 0, 1].into()));
        let house = (0..20).map(|at| blocked.make(network.member(format!("{at}"))));
        let good = async {
            blocked.run(GROUP_SHARES).await;
            for _ in 0..20 {
                assert_eq!(blocked.work.make(&caller("good"), || 7).await.unwrap(), 7);
            }
            blocked.run(GROUP_SHARES).await;
            blocked.end.store(true, Ordering::SeqCst);
        };
        tokio::join!(futures_util::future::join_all(house), good);
    }

    #[tokio::test]
    async fn clients_behind_one_proxy_have_turns_of_their_own() {
        let (blocked, network) = (blocked(2), QuotaOwner::Network([10, 0, 0, 1].into()));
        let greedy = (0..50).map(|_| blocked.make(network.member("greedy".to_owned())));
        let good = async {
            blocked.run(1).await;
            assert_eq!(blocked.work.make(&network.member("good".to_owned()), || 7).await.unwrap(), 7);
            blocked.end.store(true, Ordering::SeqCst);
        };
        tokio::join!(futures_util::future::join_all(greedy), good);
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

    #[test]
    fn clients_behind_one_proxy_are_not_one_caller() {
        let (work, network) = (WorkerPool::new(), QuotaOwner::Network([10, 0, 0, 1].into()));
        let greedy: Vec<_> =
            (0..CALLER_WAITING_MAX).map(|_| work.admit(&network.member("greedy".to_owned())).unwrap()).collect();
        assert!(work.admit(&network.member("greedy".to_owned())).is_err());
        let house: Vec<_> =
            (0..2 * CALLER_WAITING_MAX).map_while(|at| work.admit(&network.member(format!("{at}"))).ok()).collect();
        assert_eq!(greedy.len() + house.len(), GROUP_WAITING_MAX, "nor may all of them take everything");
        assert!(work.admit(&caller("good")).is_ok());
    }

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let work = WorkerPool::new();
        let refused = work.make(&caller("a"), || "planted".parse::<u8>().unwrap()).await.unwrap_err();
        assert_eq!(refused.status(), 500);
        assert_eq!(work.make(&caller("a"), || 7).await.unwrap(), 7, "and the next one goes on");
    }
}
