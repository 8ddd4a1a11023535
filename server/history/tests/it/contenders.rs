//! Who is taken for a contender, and whose wait a semaphore's lease ends, whichever is reported first.

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};
use lockscope_history::derive::{Deriver, Tap, apply};
use lockscope_history::store::rows::Minute;

use crate::historian::START;
use crate::replay::model;

const ROOT: RootId = RootId(0);
/// A name as Curator's semaphore gives it, but for its number.
const LOCK: &str = "_c_11111111-2222-3333-4444-555555555555-lock-";
const LEASE: &str = "_c_11111111-2222-3333-4444-555555555555-lease-";

struct Run {
    model: Observatory,
    tap: Tap,
    deriver: Deriver,
    now: TimeMs,
    zxid: i64,
}

impl Run {
    fn new() -> Self {
        let (model, now) = (model(TimeMs(START)), TimeMs(START));
        let mut run = Self { model, tap: Tap::default(), deriver: Deriver::default(), now, zxid: 0 };
        run.tell(Observation::SyncBegan { root: ROOT, why: "first sync".into() });
        run.tell(Observation::SyncEnded { root: ROOT });
        run.tell(Observation::Link { link: Link::Live, session: None, why: "".into() });
        run.tell(Observation::ClockRead { sent_at: run.now, told_at: run.now, ctime_ms: run.now.0 });
        run
    }

    fn tell(&mut self, observation: Observation) {
        let mut events = Vec::new();
        apply(&mut self.tap, &mut self.model, self.now, observation, &mut events);
        events.into_iter().for_each(|(at, event)| self.deriver.take(at, event));
        self.deriver.advance(self.now);
    }

    fn create(&mut self, path: &str) {
        self.tell(Observation::NodeCreated { root: ROOT, path: path.into() });
    }

    fn read(&mut self, path: &str, owner: Option<i64>) {
        self.zxid += 1;
        let (zxid, owner) = (Zxid(self.zxid), owner.map(SessionId));
        let (version, cversion, children, payload, payload_bytes) = (0, 0, 0, Some((*b"me").into()), 2);
        let (czxid, mzxid, pzxid, ctime_ms) = (zxid, zxid, zxid, self.now.0);
        let facts = Facts { czxid, mzxid, pzxid, ctime_ms, version, cversion, children, owner, payload, payload_bytes };
        self.tell(Observation::NodeRead { root: ROOT, path: path.into(), facts: Box::new(facts), unreadable: false });
    }

    fn pass(&mut self, ms: i64) {
        self.now = self.now + ms;
        self.tell(Observation::Tick);
    }

    /// The minute that is under way.
    fn minute(&mut self) -> Minute {
        self.deriver.finish().minutes.pop().unwrap()
    }
}

fn queued(number: u32) -> String {
    format!("/locks/s/locks/{LOCK}{number:010}")
}

fn lease(number: u32) -> String {
    format!("/locks/s/leases/{LEASE}{number:010}")
}

#[test]
fn a_lease_by_which_a_semaphore_is_recognised_ends_the_wait_of_its_own_session() {
    let mut run = Run::new();
    run.read(&queued(0), Some(1));
    run.read(&queued(1), Some(2));
    // Now both directories are one lock, of which all is told at once: leases first.
    run.read(&lease(0), Some(2));
    run.pass(1_000);
    let minute = run.minute();
    assert_eq!((&*minute.lock, minute.depth_max, minute.waiting_ms), ("/locks/s", 1, 1_000));
}

#[test]
fn whoever_holds_a_lease_and_queues_for_another_waits() {
    let mut run = Run::new();
    run.read(&lease(0), Some(1));
    run.read(&queued(0), Some(1));
    // Everything that is there, as another process begins with it.
    let mut events = Vec::new();
    Tap::default().all(&run.model, run.now, &mut events);
    run.deriver = Deriver::default();
    run.deriver.begin(run.now, events);
    run.pass(1_000);
    let minute = run.minute();
    assert_eq!((&*minute.lock, minute.depth_max, minute.waiting_ms), ("/locks/s", 1, 1_000));
}

#[test]
fn one_that_turns_out_to_be_no_contender_does_not_wait_for_good() {
    let mut run = Run::new();
    run.create("/locks/a/write-0000000000");
    run.read("/locks/a/write-0000000000", Some(1));
    run.create("/locks/a/write-0000000001");
    run.pass(20);
    run.read("/locks/a/write-0000000001", None);
    run.pass(5_000);
    let minute = run.minute();
    // Until it was read nothing showed what it is.
    assert_eq!((minute.arrivals, minute.acquired, minute.waiting_ms, minute.depth_max), (1, 1, 20, 1));
    run.pass(60_000);
    assert_eq!(run.minute().at, minute.at, "and nobody waits in the next one");
}
