//! What a replica shows of owners that lie, hang, or send what they must not, over real sockets: who is all right stays
//! live, the other is named with the reason in time, and nothing grows.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "tests fail by panicking, and say what they measured")]

mod owner;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cluster::ReplicaSecret;
use feed::{About, Ensembles, FeedError, Projection as _, Projector, Views as _, VisibilityScope};
use gateway::{Directory, Foreign, Gateway, GatewaySettings, OwnerAddress, VIEWS_MAX};
use lockscope_wire::{BoardQuery, LockQuery, RootState, View};
use owner::{Habit, Owner};
use runtime::clock::Clock;
use runtime::shutdown::{CancellationToken, DropGuard};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const DEADLINE: Duration = Duration::from_secs(60);
/// Whoever looks is told within this time; a busy machine is in it too.
const TOLD_WITHIN: Duration = Duration::from_secs(4);
/// Views that a hasty viewer asks for.
const MANY: usize = 10_000;

struct House {
    gateway: Arc<Gateway>,
    _stop: DropGuard,
}

/// A replica that watches nothing, with ensembles of one owner each.
fn house(owners: &[(&str, &OwnerAddress)]) -> House {
    let about = About { version: String::new(), started_at_ms: 0, read_only: Arc::new(AtomicBool::new(true)) };
    let clock = Clock::system();
    let local = Arc::new(Projector::new(Vec::new(), about, clock.clone()));
    let settings = GatewaySettings { id: "us".to_owned(), secret: ReplicaSecret::new(SECRET.as_bytes()).unwrap() };
    let gateway = Gateway::new(settings, local, Ensembles::from(Vec::new()), clock).unwrap();
    let foreign = owners.iter().map(|(name, owner)| Foreign {
        name: (*name).to_owned(),
        color: None,
        connect: String::new(),
        labels: Default::default(),
        owners: vec![(*owner).clone()],
    });
    gateway.set_directory(Directory { foreign: foreign.collect(), why: String::new() });
    let stop = CancellationToken::new();
    tokio::spawn(gateway.clone().run(stop.clone()));
    House { gateway, _stop: stop.drop_guard() }
}

impl House {
    /// State, reason and locks of an ensemble's board.
    fn board(&self, ensemble: &str) -> (RootState, String, u32) {
        let query = BoardQuery { ensemble: ensemble.to_owned(), ..BoardQuery::default() };
        let now_ms = Clock::system().now_ms();
        let shown = self.gateway.board(&query, &VisibilityScope::ALL);
        let is_over = shown.known.is_over(now_ms);
        let head = shown.body.head;
        let state = if is_over { RootState::Stale } else { head.as_of.state };
        (state, head.as_of.why, head.totals.locks)
    }

    async fn until(&self, ensemble: &str, what: &str, is_so: impl Fn(&(RootState, String, u32)) -> bool) -> Duration {
        let begin = Instant::now();
        loop {
            let shown = self.board(ensemble);
            if is_so(&shown) {
                return begin.elapsed();
            }
            assert!(begin.elapsed() < DEADLINE, "not {what}: {shown:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// As a request asks, which waits for the first answer.
    async fn look(&self, view: View) -> Result<(), FeedError> {
        let gateway = self.gateway.clone();
        tokio::task::spawn_blocking(move || {
            gateway.prepare(&view, &VisibilityScope::ALL)?;
            gateway.project(&view, &VisibilityScope::ALL);
            Ok(())
        })
        .await
        .unwrap()
    }
}

fn is_live(shown: &(RootState, String, u32)) -> bool {
    shown.0 == RootState::Live
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_misbehaves_is_named_and_leaves_the_others_alone() {
    let good = Owner::start("good", SECRET, Habit::Honest, 0).await;
    let cases = [
        (Habit::Deaf, "has answered nothing for"),
        (Habit::Silent, "has answered nothing for"),
        (Habit::Garbage, "another version of Lockscope"),
        (Habit::Endless, "a message of more than 16 MiB"),
        (Habit::Huge, "a message of more than 16 MiB"),
        (Habit::OtherKind, "answers something else than it was asked"),
    ];
    for (habit, why) in cases {
        let bad = Owner::start("bad", SECRET, habit, 0).await;
        let house = house(&[("good", &good.address), ("bad", &bad.address)]);
        house.until("good", "live", is_live).await;
        let named = |shown: &(RootState, String, u32)| {
            assert!(!is_live(shown), "{habit:?} is shown as live");
            shown.1.contains(why) && shown.1.contains("the replica bad at http://")
        };
        let took = house.until("bad", why, named).await;
        eprintln!("{habit:?}: named after {took:?}");
        assert!(took < TOLD_WITHIN, "{habit:?}: {took:?}");
        assert!(is_live(&house.board("good")), "{habit:?} hurt the other");
        good.locks.fetch_add(1, Ordering::Relaxed);
        let locks = good.locks.load(Ordering::Relaxed);
        let took = house.until("good", "new", |shown| shown.2 == locks).await;
        assert!(took < Duration::from_secs(2), "{habit:?} keeps the other waiting: {took:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_secret_and_a_clock_that_is_an_hour_off_are_said() {
    let other = Owner::start("other", "fedcba9876543210fedcba9876543210", Habit::Honest, 0).await;
    let ahead = Owner::start("ahead", SECRET, Habit::Honest, 3_600_000).await;
    let behind = Owner::start("behind", SECRET, Habit::Honest, -3_600_000).await;
    // Within what is allowed nothing follows from it.
    let near = Owner::start("near", SECRET, Habit::Honest, 240_000).await;
    let house = house(&[
        ("other", &other.address),
        ("ahead", &ahead.address),
        ("behind", &behind.address),
        ("near", &near.address),
    ]);
    house.until("other", "told of the secret", |shown| shown.1.contains("another `secret_file`")).await;
    for name in ["ahead", "behind"] {
        let is_said = |shown: &(RootState, String, u32)| shown.1.contains("the clocks of the two replicas differ by");
        house.until(name, "told of the clock", is_said).await;
        assert!(!is_live(&house.board(name)));
    }
    house.until("near", "live", is_live).await;
    assert_eq!((other.views.load(Ordering::Relaxed), ahead.views.load(Ordering::Relaxed)), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_who_asks_for_ten_thousand_locks_keeps_nobody_else_from_looking() {
    let owner = Owner::start("owner", SECRET, Habit::Honest, 0).await;
    let house = house(&[("it", &owner.address)]);
    house.until("it", "live", is_live).await;
    let lock = |path: String| View::Lock(LockQuery { ensemble: "it".to_owned(), path, ..LockQuery::default() });
    let begin = Instant::now();
    let mut refused = 0;
    for at in 0..MANY {
        match house.look(lock(format!("/{at}"))).await {
            Ok(()) => {}
            Err(FeedError::TooManyElsewhere(why)) => {
                assert!(why.contains("the replica owner at http://"), "{why}");
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
        if at % 500 == 0 {
            assert!(is_live(&house.board("it")), "whoever looks stays live, after {at}");
            house.look(lock(format!("/of another/{at}"))).await.unwrap();
        }
        let asked = house.gateway.foreign_counts().unwrap().views;
        assert!(asked <= VIEWS_MAX, "{asked}");
    }
    eprintln!("{MANY} locks in {:?}, {refused} refused", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_comes_back_with_something_else_is_believed_and_what_was_is_not_live_meanwhile() {
    let owner = Owner::start("owner", SECRET, Habit::Honest, 0).await;
    let at = owner.address.address.trim_start_matches("http://").to_owned();
    let house = house(&[("it", &owner.address)]);
    owner.locks.store(7, Ordering::Relaxed);
    house.until("it", "live with 7", |shown| is_live(shown) && shown.2 == 7).await;
    drop(owner);
    let took = house.until("it", "not live", |shown| !is_live(shown)).await;
    eprintln!("the owner ends: not live after {took:?}");
    assert_eq!(house.board("it").2, 7, "what was there stays");
    let owner = Owner::at(&at, "owner", SECRET, Habit::Honest, 0).await;
    owner.locks.store(3, Ordering::Relaxed);
    house.until("it", "live with 3", |shown| is_live(shown) && shown.2 == 3).await;
}
