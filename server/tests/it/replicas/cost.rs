//! What each replica costs ZooKeeper: connections, watches and packets, idle and at 500 changes a second, as `mntr` counts
//! them, beside none, and with one, two and three replicas. `CLUSTER_COST_S=30` is the long form.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lockscope_demo::PrivateZooKeeper;

use super::traffic::{RATE, Traffic};
use super::{Replica, long, turn};
use crate::harness::{Truth, zookeeper};
use crate::served::until;

/// Idle: what a second may cost one replica, packets in. Heartbeats of its sessions, canaries, rounds of questions.
const IDLE_A_SECOND_MAX: f64 = 25.0;
/// Busy: requests of one replica for each change. One read for each created znode, of which many go together.
const BUSY_A_CHANGE_MAX: f64 = 1.0;
const IDS: [&str; 3] = ["a", "b", "c"];

/// What a server counts.
async fn counters(server: &PrivateZooKeeper) -> BTreeMap<String, f64> {
    let text = server.four_letter("mntr").await.unwrap();
    let pairs = text.lines().filter_map(|line| line.split_once('\t'));
    pairs.filter_map(|(key, value)| Some((key.to_owned(), value.trim().parse().ok()?))).collect()
}

/// A second of it.
#[derive(Clone, Copy)]
struct Rates {
    packets_in: f64,
    packets_out: f64,
    changes: f64,
}

/// What happens while `seconds` pass.
async fn rates(server: &PrivateZooKeeper, seconds: u64, traffic: Option<&Traffic>) -> Rates {
    let changes = || traffic.map_or(0, Traffic::changes);
    let (before, begun, begin) = (counters(server).await, changes(), Instant::now());
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let after = counters(server).await;
    let s = begin.elapsed().as_secs_f64();
    let rate = |key: &str| (after[key] - before[key]) / s;
    Rates {
        packets_in: rate("zk_packets_received"),
        packets_out: rate("zk_packets_sent"),
        changes: (changes() - begun) as f64 / s,
    }
}

struct Row {
    connections: f64,
    watches: f64,
    idle: Rates,
    busy: Rates,
}

/// One row for each number of replicas from none on.
async fn table() -> Vec<Row> {
    let (zookeeper, seconds) = (zookeeper().await, long("CLUSTER_COST_S", 3));
    let truth = Truth::new(&zookeeper.address()).await;
    truth.make("/a").await;
    let admin = format!("evidence = \"on\"\nadmin_url = [\"http://127.0.0.1:{}\"]\n", zookeeper.admin_port());
    let mut all: Vec<Replica> = Vec::new();
    let mut rows = Vec::new();
    for replicas in 0..=IDS.len() {
        if let Some(id) = replicas.checked_sub(1).map(|at| IDS[at]) {
            all.push(Replica::start(&zookeeper.address(), id, &format!("history = \"off\"\n{admin}")).await);
            for replica in &all {
                until(async || replica.known().await == replicas).await;
            }
        }
        let idle = rates(&zookeeper, seconds, None).await;
        let traffic = Traffic::start(&zookeeper, &truth).await;
        until(async || traffic.changes() >= RATE / 2).await;
        let busy = rates(&zookeeper, seconds, Some(&traffic)).await;
        let now = counters(&zookeeper).await;
        traffic.end().await;
        let (connections, watches) = (now["zk_num_alive_connections"], now["zk_watch_count"]);
        rows.push(Row { connections, watches, idle, busy });
    }
    eprintln!("{seconds} s each:");
    eprintln!("| replicas | connections | watches | idle: packets/s in, out | changes/s | then packets/s in, out |");
    for (replicas, row) in rows.iter().enumerate() {
        let Row { connections, watches, idle, busy } = row;
        eprintln!(
            "| {replicas} | {connections} | {watches} | {:.1}, {:.1} | {:.0} | {:.0}, {:.0} |",
            idle.packets_in, idle.packets_out, busy.changes, busy.packets_in, busy.packets_out
        );
    }
    rows
}

/// What the last of them added: packets in a second when idle, and for each change.
fn added(pair: &[Row]) -> (f64, f64) {
    let idle = pair[1].idle.packets_in - pair[0].idle.packets_in;
    let of = |row: &Row| row.busy.packets_in / row.busy.changes.max(1.0);
    (idle, of(&pair[1]) - of(&pair[0]))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_replica_costs_zookeeper_is_little_and_the_same_for_each() {
    let _turn = turn().await;
    let rows = table().await;
    for pair in rows.windows(2) {
        let (idle, a_change) = added(pair);
        assert!(idle <= IDLE_A_SECOND_MAX, "idle: {idle} packets a second");
        assert!(a_change <= BUSY_A_CHANGE_MAX, "{a_change} requests for each change");
    }
}
