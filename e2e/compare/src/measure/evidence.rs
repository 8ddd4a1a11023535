//! What Lockscope's questions to the members cost ZooKeeper: its CPU time while nothing happens, with and without them.

use std::time::Duration;

use futures_util::future::join_all;
use lockscope_demo::PrivateZooKeeper;
use tokio::time::sleep;

use super::{Setup, lockscope, zookeeper};
use crate::load;
use crate::process::{cpu_seconds, java};
use crate::table::{Goal, PeerFigures, Row};

/// How many ephemerals there are, elsewhere in the tree.
const SIZES: [usize; 2] = [100_000, 1_000_000];
const SESSIONS: usize = 20;
/// Creates under way at once, of each session.
const LANES: usize = 8;
const ELSEWHERE: &str = "/elsewhere";
const ROOT: &str = "/evidence";
/// Questions are asked every five seconds or so, of watches every fifteen.
const LASTING: Duration = Duration::from_secs(20);
/// Until what the making of the ephemerals left to do is done, and until Lockscope has asked everything once.
const SETTLED: Duration = Duration::from_secs(10);
/// The goal: percent of a core.
const PERCENT: f64 = 1.0;

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    let mut rows = Vec::new();
    for size in SIZES {
        let server = zookeeper().await;
        let connect = server.address();
        let client = load::open(&connect).await;
        load::make_locks(&client, ROOT, 10).await;
        client.create(ELSEWHERE, b"", &load::directory()).await.unwrap();
        let owners = fill(&connect, size).await;
        let (mut ours, mut without) = (Vec::new(), Vec::new());
        for _ in 0..setup.rounds {
            sleep(SETTLED).await;
            let alone = percent(&server).await;
            let lockscope = lockscope(setup, &connect, &[ROOT.to_owned()]).await;
            sleep(SETTLED).await;
            ours.push(percent(&server).await - alone);
            without.push(alone);
            drop(lockscope);
        }
        drop(owners);
        rows.push(Row {
            what: format!("CPU of ZooKeeper for evidence, {size} ephemerals"),
            unit: "%",
            ours,
            peers: vec![PeerFigures { name: "ZooKeeper alone", figures: without, note: String::new() }],
            goal: Goal::Limit(PERCENT),
        });
    }
    rows
}

/// Makes ephemerals; they live as long as the sessions that are given back.
async fn fill(connect: &str, size: usize) -> Vec<zookeeper_client::Client> {
    let owners = join_all((0..SESSIONS).map(|_| load::open(connect))).await;
    let lanes = owners.iter().flat_map(|owner| std::iter::repeat_n(owner, LANES)).enumerate();
    join_all(lanes.map(|(lane, owner)| async move {
        for _ in 0..size / (SESSIONS * LANES) {
            owner.create(&format!("{ELSEWHERE}/{lane}-"), b"", &load::contender()).await.unwrap();
        }
    }))
    .await;
    owners
}

/// Of a core, over a while.
async fn percent(server: &PrivateZooKeeper) -> f64 {
    let pid = java(&server.folder().to_string_lossy()).unwrap();
    let before = cpu_seconds(pid);
    sleep(LASTING).await;
    (cpu_seconds(pid) - before) * 100.0 / LASTING.as_secs_f64()
}
