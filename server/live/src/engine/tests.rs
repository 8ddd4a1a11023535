//! The engine over a stand-in, and over the observatory while a session ends.

use std::thread;

use lockscope_core::change::Change;
use lockscope_core::observation::{Link, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::pending::{Owners, Ownership};
use lockscope_core::znode::{Facts, SessionId, Zxid};

use super::*;
use lockscope_runtime::shutdown;
use lockscope_runtime::task_thread::TaskThread;

#[derive(Default)]
struct Counting {
    roots: u32,
    ticks: u32,
    has_begun: bool,
    /// Pieces of 2 ms that are left of the last observation.
    pieces: u32,
}

impl Owners for Counting {
    fn owner(&self, _root: RootId, _path: &str) -> Ownership {
        Ownership::Nobody
    }

    fn owns_at_least(&self, _session: SessionId, _number: usize) -> bool {
        false
    }

    fn has_unread(&self) -> bool {
        false
    }

    fn has_one_root(&self) -> bool {
        true
    }
}

impl Model for Counting {
    fn apply(&mut self, _now: TimeMs, observation: Observation) -> Vec<Change> {
        match observation {
            Observation::SyncEnded { root } if root == RootId(u32::MAX) => std::panic::panic_any("model broke"),
            Observation::SyncBegan { root, .. } => {
                (self.has_begun, self.pieces) = (true, root.0);
                Vec::new()
            }
            Observation::Tick => {
                self.ticks += 1;
                Vec::new()
            }
            _ => {
                self.roots += 1;
                vec![Change::RootChanged(RootId(0))]
            }
        }
    }

    fn has_backlog(&self) -> bool {
        self.pieces > 0
    }

    fn go_on(&mut self) -> Vec<Change> {
        thread::sleep(Duration::from_millis(2));
        self.pieces -= 1;
        Vec::new()
    }

    fn revision(&self) -> u64 {
        u64::from(self.roots)
    }
}

fn ended(root: u32) -> Observation {
    Observation::SyncEnded { root: RootId(root) }
}

#[tokio::test]
async fn batches_are_applied_in_order_and_published_and_stop_ends_the_task() {
    let (stopper, stop) = shutdown::token();
    let (tx, rx) = mpsc::channel(4);
    let mut engine =
        Engine::start(Counting::default(), rx, Clock::manual(1), stop, &TaskThread::start("engine").unwrap());
    tx.send((0..3_000).map(ended).collect()).await.unwrap();
    let mut revisions = engine.reader.revisions();
    revisions.wait_for(|revision| *revision == 3_000).await.unwrap();
    assert_eq!(engine.reader.read(|model| model.roots), 3_000);
    drop(stopper);
    engine.ended().await.unwrap();
    assert_eq!(engine.reader.revision(), 3_000);
}

#[tokio::test]
async fn a_panic_in_the_model_is_noticed_and_reading_goes_on() {
    let (_stopper, stop) = shutdown::token();
    let (tx, rx) = mpsc::channel(4);
    let mut engine =
        Engine::start(Counting::default(), rx, Clock::manual(1), stop, &TaskThread::start("engine").unwrap());
    tx.send(vec![ended(1), ended(u32::MAX)]).await.unwrap();
    assert!(matches!(engine.ended().await, Err(EngineError::Failed(_))));
    assert_eq!(engine.reader.read(|model| model.roots), 1);
}

#[tokio::test]
async fn an_observer_that_is_gone_is_an_error() {
    let (_stopper, stop) = shutdown::token();
    let (tx, rx) = mpsc::channel(4);
    let mut engine =
        Engine::start(Counting::default(), rx, Clock::manual(1), stop, &TaskThread::start("engine").unwrap());
    drop(tx);
    assert!(matches!(engine.ended().await, Err(EngineError::NoObserver)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_get_their_turn_while_a_long_observation_is_applied() {
    const PIECES: u32 = 500;
    let (_stopper, stop) = shutdown::token();
    let (tx, rx) = mpsc::channel(4);
    let engine = Engine::start(Counting::default(), rx, Clock::manual(1), stop, &TaskThread::start("engine").unwrap());
    let (reader, pulse) = (engine.reader.clone(), engine.pulse());
    let looks = tokio::task::spawn_blocking(move || {
        let mut looks = 0_u32;
        loop {
            match reader.read(|model| (model.has_begun, model.pieces)) {
                (false, _) => thread::yield_now(),
                (true, 0) => return looks,
                (true, _) => looks += 1,
            }
        }
    });
    tx.send(vec![Observation::SyncBegan { root: RootId(PIECES), why: "".into() }]).await.unwrap();
    assert!(looks.await.unwrap() >= 10, "a second of work lets nobody look");
    assert!(pulse.load(Ordering::Relaxed) >= 10, "the watchdog hears nothing");
}

const OWNER: SessionId = SessionId(9);
/// More than are applied in one slice.
const OWNED: usize = 3_000;
const ROOT: RootId = RootId(0);

fn path(at: usize) -> Box<str> {
    format!("/l/{:03}/lock-{at:010}", at % 100).into()
}

/// A live root in which one session owns all.
fn owned() -> Vec<Observation> {
    let node = |at: usize| {
        let zxid = Zxid(at as i64 + 1);
        let (version, cversion, children, payload, payload_bytes) = (0, 0, 0, None, 0);
        let (czxid, mzxid, pzxid, owner) = (zxid, zxid, zxid, Some(OWNER));
        let facts =
            Facts { czxid, mzxid, pzxid, ctime_ms: 1, version, cversion, children, owner, payload, payload_bytes };
        Observation::SyncNode { root: ROOT, path: path(at), facts: Box::new(facts), unreadable: false }
    };
    let began = Observation::SyncBegan { root: ROOT, why: "first sync".into() };
    let live = Observation::Link { link: Link::Live, session: Some(SessionId(1)), why: "".into() };
    std::iter::once(began).chain((0..OWNED).map(node)).chain([Observation::SyncEnded { root: ROOT }, live]).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_sees_a_part_of_the_end_of_a_session() {
    let (_stopper, stop) = shutdown::token();
    let (tx, rx) = mpsc::channel(1);
    let model = Observatory::new(Settings { roots: vec!["/l".into()], ..Settings::default() }, TimeMs(1));
    let engine = Engine::start(model, rx, Clock::manual(1), stop, &TaskThread::start("engine").unwrap());
    let seen = |model: &Observatory| model.roots()[0].mirror.owned(OWNER) as usize;
    tx.send(owned()).await.unwrap();
    engine.reader.revisions().wait_for(|_| engine.reader.read(seen) == OWNED).await.unwrap();

    let reader = engine.reader.clone();
    let (first, looking) = tokio::sync::oneshot::channel();
    let looks = tokio::task::spawn_blocking(move || {
        let mut looks = vec![reader.read(seen)];
        first.send(()).unwrap();
        while looks.last() != Some(&0) {
            looks.push(reader.read(seen));
            looks.dedup();
            thread::yield_now();
        }
        looks
    });
    looking.await.unwrap();
    let pulse = engine.pulse();
    for piece in (0..OWNED).collect::<Vec<_>>().chunks(OWNED / 10) {
        let mut batch = vec![Observation::Asked];
        batch.extend(piece.iter().map(|at| Observation::NodeDeleted { root: ROOT, path: path(*at) }));
        let before = pulse.load(Ordering::Relaxed);
        tx.send(batch).await.unwrap();
        while pulse.load(Ordering::Relaxed) == before {
            tokio::task::yield_now().await;
        }
    }
    tx.send(vec![Observation::Answered, Observation::Asked, Observation::Tick, Observation::Answered]).await.unwrap();
    assert_eq!(looks.await.unwrap(), [OWNED, 0]);
}

/// Takes the instants of deletions; with everything that is applied a millisecond goes by.
struct Instants {
    clock: Clock,
    tell: mpsc::UnboundedSender<TimeMs>,
}

impl ObservationLog<Observatory> for Instants {
    fn record(&mut self, batch: Vec<(TimeMs, Observation)>) {
        let deletions = batch.iter().filter(|(_, observation)| matches!(observation, Observation::NodeDeleted { .. }));
        deletions.for_each(|(at, _)| self.tell.send(*at).unwrap());
    }

    fn changed(&mut self, _: TimeMs, _: &Observatory, _: Option<&Observation>, _: &[Change]) {
        assert!(self.clock.set_ms(self.clock.now_ms() + 1));
    }

    fn wants_checkpoint(&self) -> bool {
        false
    }

    fn checkpoint(&mut self, _: TimeMs, _: &Observatory) {}
}

#[tokio::test]
async fn the_end_of_a_session_has_one_instant() {
    let (_stopper, stop) = shutdown::token();
    let (tx, rx) = mpsc::channel(1);
    let model = Observatory::new(Settings { roots: vec!["/l".into()], ..Settings::default() }, TimeMs(1));
    let clock = Clock::manual(1);
    let (tell, mut instants) = mpsc::unbounded_channel();
    let log = Box::new(Instants { clock: clock.clone(), tell });
    let _engine = Engine::start_recorded(model, rx, clock, stop, &TaskThread::start("engine").unwrap(), Some(log));
    tx.send(owned()).await.unwrap();
    let deleted = (0..OWNED).map(|at| Observation::NodeDeleted { root: ROOT, path: path(at) });
    tx.send(deleted.chain([Observation::Asked, Observation::Answered]).collect()).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < OWNED {
        assert_ne!(instants.recv_many(&mut seen, OWNED).await, 0, "the engine ended");
    }
    assert!(seen.iter().all(|at| *at == seen[0]), "{:?}", &seen[..5]);
}

/// Wants a checkpoint all the while, and tells of when it is.
struct Checkpoints(mpsc::UnboundedSender<TimeMs>);

impl ObservationLog<Counting> for Checkpoints {
    fn record(&mut self, _: Vec<(TimeMs, Observation)>) {}

    fn changed(&mut self, _: TimeMs, _: &Counting, _: Option<&Observation>, _: &[Change]) {}

    fn wants_checkpoint(&self) -> bool {
        true
    }

    fn checkpoint(&mut self, now: TimeMs, _: &Counting) {
        let _ = self.0.send(now);
    }
}

#[tokio::test]
async fn a_checkpoint_that_comes_before_anything_is_of_now() {
    let thread = TaskThread::start("engine").unwrap();
    // Whether the first tick or what is there comes first is chance.
    for _ in 0..20 {
        let (_stopper, stop) = shutdown::token();
        let (tx, rx) = mpsc::channel(1);
        let (tell, mut checkpoints) = mpsc::unbounded_channel();
        tx.send(Vec::new()).await.unwrap();
        let log = Some(Box::new(Checkpoints(tell)) as Box<dyn ObservationLog<Counting>>);
        let _engine = Engine::start_recorded(Counting::default(), rx, Clock::manual(7), stop, &thread, log);
        assert_eq!(checkpoints.recv().await, Some(TimeMs(7)));
    }
}
