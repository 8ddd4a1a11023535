//! Two servers that find the same alerts, and one receiver that must be told once.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lockscope_alerts::duty::{Duty, DutyAnswer, Ledger};
use lockscope_alerts::evaluator::{AlertEnd, AlertNews};
use lockscope_core::time::TimeMs;

use crate::book::fired;
use crate::delivery::{NOW_MS, Process, by_lock, until};
use crate::receiver::Receiver;

/// What both share.
#[derive(Debug, Default)]
struct Shared {
    ledger: Mutex<Vec<u8>>,
    leader: AtomicUsize,
    /// Nobody can write or read it.
    is_lost: AtomicBool,
    /// Neither heard of the other for long.
    is_cut_off: AtomicBool,
}

/// One of both.
#[derive(Debug)]
struct One(usize, Arc<Shared>);

impl Duty for One {
    fn is_ours(&self, _: i64) -> bool {
        self.1.leader.load(Ordering::SeqCst) == self.0
    }

    fn is_cut_off(&self) -> bool {
        self.1.is_cut_off.load(Ordering::SeqCst)
    }

    fn told<'a>(&'a self, _route: &'a str) -> DutyAnswer<'a, Ledger> {
        Box::pin(async { Ok(Ledger::parse(&self.1.ledger.lock().unwrap())) })
    }

    fn note<'a>(&'a self, _route: &'a str, told: Ledger) -> DutyAnswer<'a, ()> {
        Box::pin(async move {
            if self.1.is_lost.load(Ordering::SeqCst) {
                return Err("nobody answers".to_owned());
            }
            let mut ledger = self.1.ledger.lock().unwrap();
            *ledger = Ledger::parse(&ledger).with(&told).to_bytes();
            Ok(())
        })
    }
}

/// Both find it, the second some milliseconds later and with a key of its own.
fn find(all: &[&Process], numbers: std::ops::Range<i64>, is_over: bool) {
    for (late_ms, process) in all.iter().enumerate() {
        let late_ms = 3 * i64::try_from(late_ms).unwrap();
        process.find(numbers.clone().map(|number| AlertNews {
            alert: fired(&format!("/{number}"), NOW_MS - 100_000 + number + late_ms),
            end: is_over.then_some(AlertEnd::Resolved(TimeMs(NOW_MS - 50_000 + number + late_ms))),
        }));
    }
}

async fn until_told(both: [&Process; 2], alerts: usize) {
    until("nothing waits in either", || {
        both.iter().all(|process| process.alerts.view().alerts.len() == alerts && process.waiting() == 0)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_leads_tells_and_whoever_comes_next_goes_on_there() {
    let (dirs, receiver) = ([tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()], Receiver::start().await);
    let shared = Arc::<Shared>::default();
    let start = |at: usize| {
        let duty: Arc<dyn Duty> = Arc::new(One(at, Arc::clone(&shared)));
        Process::start_among(dirs[at].path(), &receiver, Some(duty))
    };
    let (a, b) = (start(0), start(1));
    find(&[&a, &b], 0..10, false);
    until_told([&a, &b], 10).await;
    assert!(by_lock(&receiver.taken()).values().all(|told| *told == [false]), "{:?}", receiver.taken());
    // The other leads: it tells what comes, and nothing that was told.
    shared.leader.store(1, Ordering::SeqCst);
    find(&[&a, &b], 0..10, true);
    find(&[&a, &b], 10..15, false);
    until_told([&a, &b], 15).await;
    let locks = by_lock(&receiver.taken());
    assert!((0..10).all(|number| locks[&format!("/{number}")] == [false, true]), "{locks:?}");
    assert!((10..15).all(|number| locks[&format!("/{number}")] == [false]), "{locks:?}");
    // Killed after it told and before that was noted: those are told again, and nothing else.
    shared.is_lost.store(true, Ordering::SeqCst);
    find(&[&a, &b], 15..20, false);
    until("they are told", || receiver.taken().len() == 30).await;
    b.kill().await;
    shared.is_lost.store(false, Ordering::SeqCst);
    shared.leader.store(0, Ordering::SeqCst);
    find(&[&a], 20..21, false);
    until("nothing waits", || a.waiting() == 0 && a.alerts.view().alerts.len() == 21).await;
    let locks = by_lock(&receiver.taken());
    assert!((15..20).all(|number| locks[&format!("/{number}")] == [false, false]), "told twice: {locks:?}");
    assert_eq!(locks.values().map(Vec::len).sum::<usize>(), 20 + 5 + 10 + 1, "and nothing else: {locks:?}");
    a.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_nobody_leads_nobody_is_told_and_all_is_told_afterwards() {
    let (dir, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let shared = Arc::<Shared>::default();
    shared.leader.store(9, Ordering::SeqCst);
    let a = Process::start_among(dir.path(), &receiver, Some(Arc::new(One(0, Arc::clone(&shared)))));
    find(&[&a], 0..3, false);
    until("they wait", || a.waiting() == 3).await;
    assert_eq!(receiver.requests(), 0);
    shared.leader.store(0, Ordering::SeqCst);
    until("they are told", || a.waiting() == 0).await;
    assert_eq!(by_lock(&receiver.taken()).len(), 3);
    // Where the cluster is gone for long, each tells by itself.
    shared.leader.store(9, Ordering::SeqCst);
    shared.is_cut_off.store(true, Ordering::SeqCst);
    find(&[&a], 3..4, false);
    until("it is told all the same", || receiver.taken().len() == 4).await;
    a.stop().await;
}
