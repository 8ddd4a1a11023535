//! The whole way: what is found is kept, and told over real connections to a receiver that fails, over restarts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lockscope_alerts::deliver::Delivery;
use lockscope_alerts::duty::Duty;
use lockscope_alerts::evaluator::{ActiveAlert, AlertEnd, AlertNews};
use lockscope_alerts::route::{Route, RouteKind};
use lockscope_alerts::service::{Alerts, Links, RouteShown};
use lockscope_core::time::TimeMs;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_view::AlertState;
use tokio::task::JoinHandle;

use crate::book::{fired, rules};
use crate::receiver::{Answer, Receiver, Told};

/// The instant at which it all happens. Its jitter is none.
pub(crate) const NOW_MS: i64 = 1_790_000_000_000;
/// Longer than anything here takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A process of the server.
pub(crate) struct Process {
    pub(crate) alerts: Alerts,
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

impl Process {
    pub(crate) fn start(dir: &Path, receiver: &Receiver) -> Self {
        Self::start_among(dir, receiver, None)
    }

    /// One of several that tell the same.
    pub(crate) fn start_among(dir: &Path, receiver: &Receiver, duty: Option<Arc<dyn Duty>>) -> Self {
        let url = format!("http://{}/", receiver.address);
        let url = Route::check_url(RouteKind::Webhook, &url, false).unwrap();
        let route = Route { name: "team".to_owned(), kind: RouteKind::Webhook, url, secret: None };
        let shown = RouteShown { name: route.name.clone(), kind: route.kind.name(), url: route.shown() };
        let links = Links { lock: |_, lock, _| format!("/lock?{lock}"), origin: None };
        let clock = Clock::manual(NOW_MS);
        let alerts = Alerts::open(Some(dir.to_owned()), &rules(), vec![shown], links, clock);
        let stop = CancellationToken::new();
        let delivery = Delivery::new(alerts.clone(), route, None).unwrap().with_duty(duty);
        let tasks = vec![tokio::spawn(alerts.clone().run(stop.clone())), tokio::spawn(delivery.run(stop.clone()))];
        Self { alerts, stop, tasks }
    }

    /// Ends as a server that is told to stop.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        for task in self.tasks {
            tokio::time::timeout(DEADLINE, task).await.expect("it stops").unwrap();
        }
    }

    /// Ends in the middle of what it does.
    pub(crate) async fn kill(self) {
        for task in self.tasks {
            task.abort();
            let _ = task.await;
        }
    }

    fn fires(&self, numbers: std::ops::Range<i64>) {
        self.find(numbers.map(|number| AlertNews { alert: alert(number), end: None }));
    }

    fn is_over(&self, numbers: std::ops::Range<i64>) {
        let over = |number| Some(AlertEnd::Resolved(TimeMs(NOW_MS + number)));
        self.find(numbers.map(|number| AlertNews { alert: alert(number), end: over(number) }));
    }

    pub(crate) fn find(&self, news: impl Iterator<Item = AlertNews>) {
        let ensemble: Arc<str> = "prod".into();
        news.for_each(|one| self.alerts.found(&ensemble, vec![one]));
    }

    pub(crate) fn waiting(&self) -> u64 {
        self.alerts.view().routes[0].waiting
    }

    /// So many alerts fire, so many are over, and all of them are told.
    async fn until_told(&self, firing: usize, over: usize) {
        let counts = || {
            let alerts = self.alerts.view().alerts;
            let count = |state| alerts.iter().filter(|alert| alert.state == state).count();
            (count(AlertState::Firing), count(AlertState::Resolved))
        };
        until("all is told", || counts() == (firing, over) && self.waiting() == 0).await;
    }
}

fn alert(number: i64) -> ActiveAlert {
    fired(&format!("/{number}"), NOW_MS - 100_000 + number)
}

pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let seen = async {
        while !is_so() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    tokio::time::timeout(DEADLINE, seen).await.unwrap_or_else(|_| panic!("waited for: {what}"));
}

/// What was taken of each lock, in order: whether it was over.
pub(crate) fn by_lock(taken: &[Told]) -> BTreeMap<String, Vec<bool>> {
    let mut locks = BTreeMap::<String, Vec<bool>>::new();
    for told in taken {
        locks.entry(told.lock.clone()).or_default().push(told.is_over);
    }
    locks
}

#[tokio::test]
async fn a_receiver_that_fails_in_every_way_is_told_once_of_everything() {
    let (dir, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let process = Process::start(dir.path(), &receiver);
    receiver.answer(&[Answer::Status(503), Answer::Take, Answer::Reset, Answer::Take, Answer::Half]);
    process.fires(0..10);
    until("the first are taken", || receiver.taken().len() >= 10).await;
    process.fires(10..30);
    process.is_over(0..5);
    process.until_told(25, 5).await;
    // It stops while its receiver does not answer, and another goes on with what is kept.
    receiver.answer(&[Answer::Hang, Answer::Status(429), Answer::Take, Answer::Status(500)]);
    let before = receiver.requests();
    process.is_over(5..10);
    until("it hangs", || receiver.requests() > before).await;
    process.fires(30..40);
    process.stop().await;
    let process = Process::start(dir.path(), &receiver);
    assert_eq!(process.alerts.active_in("prod").len(), 30);
    process.is_over(10..40);
    process.until_told(0, 40).await;
    let mut count = 40;
    while !receiver.has_answered() {
        process.fires(count..count + 1);
        process.is_over(count..count + 1);
        count += 1;
        process.until_told(0, count as usize).await;
    }
    let locks = by_lock(&receiver.taken());
    assert_eq!(locks.len(), count as usize);
    for (lock, told) in &locks {
        // What was over before it was taken is told to be over alone.
        assert!(*told == [false, true] || *told == [true], "{lock}: {told:?}");
    }
    assert!((0..30).all(|number| locks[&format!("/{number}")] == [false, true]), "{locks:?}");
    let keys: std::collections::BTreeSet<_> = receiver.taken().into_iter().map(|told| told.key).collect();
    assert_eq!(keys.len(), count as usize, "a lock's alert has one key in both processes");
    process.stop().await;
}

#[tokio::test]
async fn nothing_is_told_again_after_any_number_of_restarts() {
    let (dir, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let mut process = Process::start(dir.path(), &receiver);
    for round in 0..12 {
        process.fires(round * 5..round * 5 + 5);
        if round % 3 == 2 {
            process.is_over(round * 5 - 5..round * 5);
        }
        let before = receiver.taken().len();
        until("something is taken", || receiver.taken().len() > before).await;
        // At this moment it is noted, and stored.
        process.stop().await;
        process = Process::start(dir.path(), &receiver);
    }
    process.until_told(40, 20).await;
    for (lock, told) in by_lock(&receiver.taken()) {
        assert!([&[false][..], &[true], &[false, true]].contains(&&*told), "{lock}: {told:?}");
    }
    process.stop().await;
}

#[tokio::test]
async fn nothing_is_lost_by_a_process_that_is_killed() {
    let (dir, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let mut process = Process::start(dir.path(), &receiver);
    let rounds = 10;
    for round in 0..rounds {
        // Whatever is told is stored, or it would have another key in the next process.
        let numbers = round * 5..round * 5 + 5;
        process.fires(numbers.clone());
        let before = receiver.requests();
        until("it is told", || receiver.requests() > before).await;
        process.kill().await;
        process = Process::start(dir.path(), &receiver);
        let known = process.alerts.active_in("prod");
        let told = receiver.taken();
        let is_known = |one: &Told| known.iter().any(|alert| *alert.lock == *one.lock);
        assert!(told.iter().all(is_known), "{told:?} {known:?}");
        // What was found and is not stored is found again.
        process.fires(numbers);
    }
    process.is_over(0..rounds * 5);
    process.until_told(0, rounds as usize * 5).await;
    for (lock, told) in by_lock(&receiver.taken()) {
        assert!(told.is_sorted() && told.last() == Some(&true), "{lock}: {told:?}");
        assert_eq!(told.iter().filter(|is_over| **is_over).count(), 1, "{lock}: {told:?}");
    }
    process.stop().await;
}

#[tokio::test]
async fn what_is_refused_for_good_keeps_nothing_else_back() {
    let (dir, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    receiver.refuse("/bad");
    let process = Process::start(dir.path(), &receiver);
    // More than one message has, and older than the rest.
    let bad = |number: i64| fired(&format!("/bad/{number}"), NOW_MS - 500_000 + number);
    process.find((0..60).map(|number| AlertNews { alert: bad(number), end: None }));
    process.fires(0..10);
    until("the rest is taken", || by_lock(&receiver.taken()).len() == 10).await;
    assert!(by_lock(&receiver.taken()).values().all(|told| *told == [false]));
    until("it is told that something is not taken", || process.waiting() == 60).await;
    process.stop().await;
}

#[tokio::test]
async fn whoever_hangs_up_while_something_is_stored_stops_nothing() {
    let (dir, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let process = Process::start(dir.path(), &receiver);
    process.fires(0..1);
    process.until_told(1, 0).await;
    let key = process.alerts.view().alerts[0].key.clone();
    let mut unfinished = 0;
    for round in 0..50 {
        let asked = process.alerts.acknowledge(&key, "anna".to_owned(), format!("{round}"));
        // It is begun, and whoever asked for it is gone.
        unfinished += usize::from(tokio::time::timeout(Duration::ZERO, asked).await.is_err());
    }
    assert!(unfinished > 0);
    process.fires(1..2);
    process.until_told(2, 0).await;
    process.stop().await;
    let process = Process::start(dir.path(), &receiver);
    let acked_by = process.alerts.alert(&key).unwrap().acked_by.unwrap();
    assert_eq!((&*acked_by.by, &*acked_by.reason), ("anna", "49"));
    process.stop().await;
}

#[tokio::test]
async fn what_was_acknowledged_is_stored_when_that_is_answered() {
    let (dir, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let process = Process::start(dir.path(), &receiver);
    process.fires(0..20);
    until("all are there", || process.alerts.view().alerts.len() == 20).await;
    let keys: Vec<String> = process.alerts.view().alerts.into_iter().map(|alert| alert.key).collect();
    let asked = keys.iter().map(|key| {
        let (alerts, key) = (process.alerts.clone(), key.clone());
        tokio::spawn(async move { alerts.acknowledge(&key, "anna".to_owned(), String::new()).await.unwrap() })
    });
    let asked: Vec<_> = asked.collect();
    for one in asked {
        one.await.unwrap();
    }
    process.kill().await;
    let process = Process::start(dir.path(), &receiver);
    let alerts = process.alerts.view().alerts;
    assert_eq!(alerts.iter().filter(|alert| alert.acked_by.is_some()).count(), 20);
    process.stop().await;
}

#[tokio::test]
async fn a_directory_that_can_not_be_used_is_told_and_receivers_are_too() {
    let (dir, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let process = Process::start(&file, &receiver);
    process.fires(0..3);
    process.until_told(3, 0).await;
    let view = process.alerts.view();
    assert!(view.trouble.contains("alerts.db"), "{}", view.trouble);
    assert!(view.alerts.iter().all(|alert| alert.state == AlertState::Firing));
    // It can be used again, and nothing is told twice.
    std::fs::remove_file(&file).unwrap();
    process.fires(3..4);
    process.until_told(4, 0).await;
    until("it is kept", || process.alerts.view().trouble.is_empty()).await;
    process.stop().await;
    let process = Process::start(&file, &receiver);
    assert_eq!(process.alerts.active_in("prod").len(), 4);
    process.fires(4..5);
    process.until_told(5, 0).await;
    assert!(by_lock(&receiver.taken()).values().all(|told| *told == [false]));
    process.stop().await;
}
