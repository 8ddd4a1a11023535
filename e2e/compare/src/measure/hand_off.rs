//! A lock changes hands: how long after ZooKeeper's acknowledgement a browser shows it, beside a bare watcher's event,
//! alone and while other locks change 5,000 times a second, and how many bytes that takes on the lock's page and on the
//! board.

use std::collections::VecDeque;
use std::time::Duration;

use lockscope_view::{BoardQuery, Body, LockQuery, View};
use tokio::time::{Instant, MissedTickBehavior, interval};
use zookeeper_client::{AddWatchMode, Client, EventType, WatchedEvent};

use super::socket::{Encoding, Socket};
use super::{Setup, lockscope, zookeeper};
use crate::load::{self, Rate, enter};
use crate::table::{Goal, PeerFigures, Row, median, percentile};

const ROOT: &str = "/hand-off";
const LOCK: &str = "/hand-off/0";
const BARE: &str = "bare";
/// The queue's length while it is timed, and how often it changes: in turn somebody comes, and the lock changes hands.
const QUEUE: usize = 3;
const EVERY: Duration = Duration::from_millis(20);
/// Queues whose bytes are counted, with the goal on the lock's page.
const LENGTHS: [usize; 2] = [3, 50];
const PAGE_BYTES: f64 = 250.0;
const BOARD_BYTES: f64 = 150.0;
/// Boards have so many locks.
const BOARD: usize = 100;
/// After so long nothing more comes of a hand-off.
const SETTLED: Duration = Duration::from_millis(400);
const COUNTED: usize = 8;
/// The goals: how much later than a bare watcher's event, in milliseconds.
const LATER_P50: f64 = 1.0;
const LATER_P99: f64 = 5.0;
const LATER_P99_BESIDE: f64 = 20.0;
/// What else changes then, in other locks of the same root.
const OTHERS: Rate = Rate::ASecond(5_000);
const OTHER_LOCKS: usize = 16;

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    let server = zookeeper().await;
    let client = load::open(&server.address()).await;
    load::make_locks(&client, ROOT, BOARD).await;
    for lock in 1..BOARD {
        enter(&client, &format!("{ROOT}/{lock}")).await;
    }
    let quiet = timed(setup, &server.address(), None).await;
    let mut rows = vec![
        quiet.row("50 changes/s, p50", 50, LATER_P50),
        quiet.row("50 changes/s, p99", 99, LATER_P99),
        beside_others(setup).await,
    ];
    rows.extend(bytes(setup, &server.address(), &client).await);
    rows
}

/// The same on a server of its own, while other locks of the root change.
async fn beside_others(setup: &Setup) -> Row {
    let server = zookeeper().await;
    load::make_locks(&load::open(&server.address()).await, ROOT, 1).await;
    let took = timed(setup, &server.address(), Some(OTHERS)).await;
    took.row(&format!("50 changes/s beside {} in other locks, p99", OTHERS.name()), 99, LATER_P99_BESIDE)
}

/// How long hand-offs took in each round, in milliseconds.
struct Took {
    ours: Vec<Vec<f64>>,
    bare: Vec<Vec<f64>>,
}

impl Took {
    fn row(&self, name: &str, percent: usize, later: f64) -> Row {
        let figures = |rounds: &[Vec<f64>]| rounds.iter().map(|took| percentile(took, percent)).collect::<Vec<_>>();
        let (ours, bare) = (figures(&self.ours), figures(&self.bare));
        let limit = median(&bare).unwrap_or(0.0) + later;
        let peers = vec![PeerFigures { name: BARE, figures: bare, note: String::new() }];
        Row {
            what: format!("acknowledged hand-off → page, {name}"), unit: "ms", ours, peers, goal: Goal::Limit(limit)
        }
    }
}

async fn timed(setup: &Setup, connect: &str, others: Option<Rate>) -> Took {
    let mut took = Took { ours: Vec::new(), bare: Vec::new() };
    // Each contender has a session of its own, as most have: one whose session owns more is shown to go a little later.
    let mut sessions = Vec::new();
    for _ in 0..=QUEUE {
        sessions.push(load::open(connect).await);
    }
    for round in 0..setup.rounds {
        let watcher = load::open(connect).await;
        let mut events = watcher.watch(ROOT, AddWatchMode::PersistentRecursive).await.unwrap();
        let bare = hand_offs(setup, &sessions, async |gone, path, _| {
            let is_shown = |event: WatchedEvent| event.event_type == EventType::NodeDeleted && event.path == path;
            while !is_shown(events.changed().await) {}
            gone
        });
        took.bare.push(beside(setup, connect, others, &format!("{ROOT}/bare-{round}"), bare).await);
        drop((events, watcher));
        let lockscope = lockscope(setup, connect, &[ROOT.to_owned()]).await;
        let view = View::Lock(LockQuery { path: LOCK.to_owned(), ..LockQuery::default() });
        let mut socket = Socket::open(&lockscope.url(), view, Encoding::Binary).await;
        let ours = hand_offs(setup, &sessions, async |gone, _, heir| {
            socket.until(|body| is_held_by(body, &heir)).await;
            gone
        });
        took.ours.push(beside(setup, connect, others, &format!("{ROOT}/ours-{round}"), ours).await);
    }
    took
}

/// What hand-offs give, while other locks change as long as they last.
async fn beside(
    setup: &Setup,
    connect: &str,
    others: Option<Rate>,
    root: &str,
    hand_offs: impl Future<Output = Vec<f64>>,
) -> Vec<f64> {
    let Some(rate) = others else { return hand_offs.await };
    load::make_locks(&load::open(connect).await, root, OTHER_LOCKS).await;
    let (took, _) = tokio::join!(hand_offs, load::run(connect, root, OTHER_LOCKS, rate, setup.lasting));
    took
}

fn is_held_by(body: &Body, node: &str) -> bool {
    matches!(body, Body::Lock(Some(page)) if page.head.row.holders.iter().any(|holder| holder.node.as_deref() == Some(node)))
}

/// Hands the lock on, again and again; how long each time, in milliseconds, until `shown` has shown the next holder.
async fn hand_offs(
    setup: &Setup,
    sessions: &[Client],
    mut shown: impl AsyncFnMut(Instant, String, String) -> Instant,
) -> Vec<f64> {
    let mut sessions = sessions.iter().cycle();
    let mut queue = VecDeque::new();
    let join = async |client: &Client| (enter(client, LOCK).await, client.clone());
    for session in sessions.by_ref().take(QUEUE) {
        queue.push_back(join(session).await);
    }
    let mut pulse = interval(EVERY);
    pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (begin, mut took) = (Instant::now(), Vec::new());
    while begin.elapsed() < setup.lasting {
        pulse.tick().await;
        queue.push_back(join(sessions.next().unwrap()).await);
        pulse.tick().await;
        let (path, owner) = queue.pop_front().unwrap();
        owner.delete(&path, None).await.unwrap();
        let heir = queue[0].0.rsplit('/').next().unwrap().to_owned();
        let gone = shown(Instant::now(), path, heir).await;
        took.push(gone.elapsed().as_secs_f64() * 1_000.0);
    }
    for (path, owner) in queue {
        owner.delete(&path, None).await.unwrap();
    }
    took
}

async fn bytes(setup: &Setup, connect: &str, client: &Client) -> Vec<Row> {
    let lockscope = lockscope(setup, connect, &[ROOT.to_owned()]).await;
    let mut rows = Vec::new();
    for encoding in Encoding::ALL {
        for length in LENGTHS {
            let mut queue = Vec::new();
            for _ in 0..length {
                queue.push(enter(client, LOCK).await);
            }
            let page = View::Lock(LockQuery { path: LOCK.to_owned(), ..LockQuery::default() });
            let ours = counted(&lockscope.url(), page, encoding, client, &mut queue).await;
            let what = format!("bytes of a hand-off, page of a lock of {length}, {}", encoding.name());
            rows.push(Row { what, unit: "B", ours, peers: Vec::new(), goal: Goal::Limit(PAGE_BYTES) });
            if length == LENGTHS[0] {
                let board = View::Board(BoardQuery::default());
                let ours = counted(&lockscope.url(), board, encoding, client, &mut queue).await;
                let what = format!("bytes of a hand-off, board of {BOARD}, {}", encoding.name());
                rows.push(Row { what, unit: "B", ours, peers: Vec::new(), goal: Goal::Limit(BOARD_BYTES) });
            }
            for path in queue {
                client.delete(&path, None).await.unwrap();
            }
        }
    }
    rows
}

/// Bytes that each of some hand-offs brings to a view. Whoever comes to the end of the queue is not counted.
async fn counted(url: &str, view: View, encoding: Encoding, client: &Client, queue: &mut Vec<String>) -> Vec<f64> {
    let mut socket = Socket::open(url, view, encoding).await;
    let mut all = Vec::new();
    for _ in 0..COUNTED {
        queue.push(enter(client, LOCK).await);
        socket.take_for(SETTLED).await;
        socket.bytes = 0;
        client.delete(&queue.remove(0), None).await.unwrap();
        socket.take_for(SETTLED).await;
        all.push(socket.bytes as f64);
    }
    all
}
