//! The first sync of 100,000 lock znodes in 1,000 locks, by how many sessions own them, and of 1,000,000 in 10,000;
//! beside a walk that lists every lock and reads nothing.

use futures_util::stream::{self, StreamExt as _};
use tokio::time::Instant;
use zookeeper_client::Client;

use super::{Setup, zookeeper_of};
use crate::load::{self, enter};
use crate::process::resident_bytes;
use crate::table::{Goal, PeerFigures, Row};
use lockscope_campaign::lockscope::Lockscope;

const ROOT: &str = "/sync";
const CONTENDERS: usize = 100;
/// Locks, the sessions of their contenders, and the goal in seconds.
const TREES: [(usize, usize, f64); 5] =
    [(1_000, 1, 0.6), (1_000, 200, 0.6), (1_000, 1_000, 0.6), (1_000, SESSIONS_MOST, 0.6), (LOCKS_MOST, 1_000, 5.5)];
const LOCKS_MOST: usize = 10_000;
const SESSIONS_MOST: usize = 10_000;
/// The goal for the most: resident memory.
const MEMORY_MB: f64 = 400.0;
const UNDER_WAY: usize = 256;
/// Of ZooKeeper, for the most.
const HEAP_MB: u32 = 3_072;
/// Sessions that are being made at once.
const CONNECTING: usize = 64;

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    let mut rows = Vec::new();
    lockscope_runtime::file_descriptors::make_room(SESSIONS_MOST as u64 + 1_000).unwrap();
    for (locks, sessions, seconds_max) in TREES {
        let server = zookeeper_of(HEAP_MB).await;
        let connect = server.address();
        let owners = fill(&connect, locks, sessions).await;
        let (mut ours, mut walks, mut memory) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..setup.rounds {
            walks.push(walk(&connect, locks).await);
            let args = ["--zk", &connect, "--root", ROOT].map(str::to_owned);
            let begin = Instant::now();
            let lockscope = Lockscope::start(&setup.program, &args).await;
            lockscope.until_ready().await;
            ours.push(begin.elapsed().as_secs_f64());
            memory.push(resident_bytes(lockscope.pid().unwrap()) as f64 / 1e6);
        }
        drop(owners);
        let tree = format!("{} znodes in {locks} locks, {sessions} sessions", locks * CONTENDERS);
        let what = format!("first sync of {tree}, with the start");
        let peers = vec![PeerFigures { name: "walk", figures: walks, note: "lists only".to_owned() }];
        rows.push(Row { what, unit: "s", ours, peers, goal: Goal::Limit(seconds_max) });
        if locks == LOCKS_MOST {
            let what = format!("memory with {tree}");
            rows.push(Row { what, unit: "MB", ours: memory, peers: Vec::new(), goal: Goal::Limit(MEMORY_MB) });
        }
    }
    rows
}

async fn fill(connect: &str, count: usize, sessions: usize) -> Vec<Client> {
    let opened = (0..sessions).map(|_| load::open(connect));
    let owners: Vec<Client> = stream::iter(opened).buffer_unordered(CONNECTING).collect().await;
    load::make_locks(&owners[0], ROOT, count).await;
    let places = (0..count * CONTENDERS).map(|at| {
        let (owner, lock) = (owners[at % sessions].clone(), format!("{ROOT}/{}", at % count));
        async move { drop(enter(&owner, &lock).await) }
    });
    stream::iter(places).buffer_unordered(UNDER_WAY).collect::<Vec<()>>().await;
    owners
}

/// Seconds from connecting until every lock is listed.
async fn walk(connect: &str, count: usize) -> f64 {
    let begin = Instant::now();
    let client = load::open(connect).await;
    let locks = client.list_children(ROOT).await.unwrap();
    let lists = locks.iter().map(|lock| {
        let (client, path) = (client.clone(), format!("{ROOT}/{lock}"));
        async move { client.list_children(&path).await.unwrap().len() }
    });
    let counts: Vec<usize> = stream::iter(lists).buffer_unordered(UNDER_WAY).collect().await;
    assert_eq!(counts.iter().sum::<usize>(), count * CONTENDERS);
    begin.elapsed().as_secs_f64()
}
