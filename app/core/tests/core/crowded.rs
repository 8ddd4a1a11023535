//! Many locks and many sessions: what is done stays bounded, in steps and in time. Bounds are generous: an exact figure
//! is a benchmark's.

use std::time::{Duration, Instant};

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;
use lockscope_core::verdict::Verdict;
use lockscope_core::znode::{Facts, SessionId, Zxid};

const ROOT: RootId = RootId(0);

struct Crowd {
    observatory: Observatory,
    now: i64,
    zxid: i64,
}

impl Crowd {
    fn new() -> Self {
        let mut observatory = Observatory::new(Settings { roots: vec!["/".into()], ..Settings::default() }, TimeMs(0));
        observatory.apply(TimeMs(0), Observation::Link { link: Link::Live, session: None, why: "".into() });
        observatory.apply(TimeMs(0), Observation::SyncBegan { root: ROOT, why: "test".into() });
        Self { observatory, now: 1, zxid: 0 }
    }

    fn facts(&mut self, owner: i64) -> Box<Facts> {
        self.zxid += 1;
        let zxid = Zxid(self.zxid);
        let owner = (owner != 0).then_some(SessionId(owner));
        let (payload, ctime_ms) = (Some(b"w".as_slice().into()), self.now);
        Box::new(Facts {
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime_ms,
            version: 0,
            cversion: 0,
            children: 0,
            owner,
            payload,
            payload_bytes: 1,
        })
    }

    fn apply(&mut self, observation: Observation) {
        self.observatory.apply(TimeMs(self.now), observation);
    }

    fn synced(&mut self, path: &str, owner: i64) {
        let facts = self.facts(owner);
        self.apply(Observation::SyncNode { root: ROOT, path: path.into(), facts, unreadable: false });
    }

    /// Locks on a znode of their own, each held by a session of its own.
    fn alone(locks: usize) -> Self {
        let mut crowd = Self::new();
        for at in 0..locks {
            crowd.synced(&format!("/jobs/{at:06}-lock"), at as i64 + 1);
        }
        crowd
    }

    /// Each lock is held by one session and waited for by others, so that all wait for each other.
    fn entangled(sessions: i64, locks: i64) -> Self {
        let mut crowd = Self::new();
        for lock in 0..sessions * locks / 6 {
            for place in 0..6 {
                // Six sessions a lock, with steps that lead everywhere.
                let session = (lock + place * (lock / sessions + 1) * 7) % sessions + 1;
                crowd.synced(&format!("/l/{lock:05}/lock-{place:010}"), session);
            }
        }
        crowd
    }

    fn tick(&mut self) {
        self.now += 250;
        self.apply(Observation::Tick);
    }
}

#[test]
fn a_circle_among_sessions_that_all_wait_for_each_other_is_found_at_once() {
    let mut crowd = Crowd::entangled(300, 40);
    let began = Instant::now();
    crowd.apply(Observation::SyncEnded { root: ROOT });
    for _ in 0..64 {
        crowd.tick();
    }
    assert!(!crowd.observatory.cycles().is_empty(), "no circle among 2,000 locks");
    assert!(crowd.observatory.cycles().iter().all(|cycle| !cycle.is_certain), "each session contends for 40 locks");
    assert!(crowd.observatory.locks().all(|lock| lock.assessment.verdict != Verdict::Deadlocked));
    let cycles = crowd.observatory.cycles().to_vec();
    for _ in 0..16 {
        crowd.tick();
    }
    assert_eq!(cycles, crowd.observatory.cycles(), "nothing moves");
    assert!(began.elapsed() < Duration::from_secs(20), "took {:?}", began.elapsed());
}

#[test]
fn one_certain_deadlock_is_told_among_all_that_may_be_some() {
    let mut crowd = Crowd::entangled(300, 40);
    for (path, session) in [("/z/a", 9_001), ("/z/b", 9_002)] {
        crowd.synced(&format!("{path}/lock-0000000000"), session);
        crowd.synced(&format!("{path}/lock-0000000001"), 18_003 - session);
    }
    crowd.apply(Observation::SyncEnded { root: ROOT });
    for _ in 0..16 {
        crowd.tick();
    }
    for path in ["/z/a", "/z/b"] {
        assert_eq!(crowd.observatory.lock(path).unwrap().assessment.verdict, Verdict::Deadlocked);
    }
}

/// The shortest of some batches of creations, reads and deletions.
fn batch(crowd: &mut Crowd) -> Duration {
    let one = |crowd: &mut Crowd| {
        let began = Instant::now();
        for at in 0..200 {
            let path: Box<str> = format!("/jobs/x{at:06}-lock").into();
            crowd.apply(Observation::NodeCreated { root: ROOT, path: path.clone() });
            let facts = crowd.facts(1_000_000 + at);
            crowd.apply(Observation::NodeRead { root: ROOT, path: path.clone(), facts, unreadable: false });
            crowd.apply(Observation::NodeDeleted { root: ROOT, path });
        }
        began.elapsed()
    };
    (0..8).map(|_| one(crowd)).min().unwrap()
}

#[test]
fn an_event_among_fifty_thousand_locks_costs_what_it_costs_among_a_few() {
    let (mut few, mut many) = (Crowd::alone(500), Crowd::alone(50_000));
    let began = Instant::now();
    few.apply(Observation::SyncEnded { root: ROOT });
    many.apply(Observation::SyncEnded { root: ROOT });
    assert!(began.elapsed() < Duration::from_secs(20), "the first sync took {:?}", began.elapsed());
    assert_eq!(many.observatory.locks().count(), 50_000);
    let (few, many) = (batch(&mut few), batch(&mut many));
    assert!(many < few * 8, "{few:?} among 500 locks, {many:?} among 50,000");
}

#[test]
fn directories_that_are_reaped_cost_the_same_however_many_locks_there_are() {
    const LOCKS: usize = 20_000;
    let mut crowd = Crowd::new();
    for lock in 0..LOCKS {
        crowd.synced(&format!("/l/{lock:06}"), 0);
        crowd.synced(&format!("/l/{lock:06}/lock-0000000000"), 7);
    }
    crowd.apply(Observation::SyncEnded { root: ROOT });
    let began = Instant::now();
    for lock in 0..LOCKS {
        crowd.apply(Observation::NodeDeleted { root: ROOT, path: format!("/l/{lock:06}/lock-0000000000").into() });
        crowd.apply(Observation::NodeDeleted { root: ROOT, path: format!("/l/{lock:06}").into() });
    }
    assert_eq!(crowd.observatory.locks().count(), 0);
    assert!(began.elapsed() < Duration::from_secs(20), "took {:?}", began.elapsed());
}

#[test]
fn a_large_sync_is_taken_in_piece_by_piece_and_until_then_the_root_is_being_read() {
    let (mut crowd, mut whole) = (Crowd::alone(2_000), Crowd::alone(2_000));
    whole.apply(Observation::SyncEnded { root: ROOT });
    let (now, model) = (TimeMs(crowd.now), &mut crowd.observatory);
    model.begin(now, Observation::SyncEnded { root: ROOT });
    let mut rounds = 0;
    while model.has_backlog() {
        let told = model.locks().count();
        assert_eq!(
            model.root_state(ROOT, now).0,
            RootState::Syncing,
            "{told} of 2,000 locks are told as all there are"
        );
        let before = model.locks().count();
        model.go_on();
        assert!(model.locks().count() - before <= 64);
        rounds += 1;
    }
    assert!(rounds >= 2_000 / 64 && model.is_ready());
    model.apply(now, Observation::Synced { sent_at: now });
    assert_eq!(model.root_state(ROOT, now).0, RootState::Live);
    let show = |model: &Observatory| {
        model
            .locks()
            .map(|lock| (lock.path.to_string(), lock.assessment.verdict, lock.holders.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(show(model), show(&whole.observatory), "the same as in one go");
}

#[test]
fn what_is_told_during_a_large_sync_waits_for_its_end() {
    let mut crowd = Crowd::alone(2_000);
    crowd.observatory.begin(TimeMs(crowd.now), Observation::SyncEnded { root: ROOT });
    assert!(crowd.observatory.has_backlog());
    crowd.apply(Observation::NodeDeleted { root: ROOT, path: "/jobs/001999-lock".into() });
    let lock = crowd.observatory.lock("/jobs/001999-lock").unwrap();
    assert_eq!((lock.assessment.verdict, lock.tally.past.len()), (Verdict::Free, 1), "it was held before it went");
}
