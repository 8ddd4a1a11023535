//! How long a lock over time takes to be drawn: 30 days of a busy lock, 43,200 minutes and 10,000 holds in the last of
//! them, asked of `lockscope serve` as the page asks.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

#[expect(dead_code, reason = "this one serves with a history")]
mod shared;

use std::process::Stdio;
use std::time::{Duration, Instant};

use lockscope_core::tally::Histogram;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use lockscope_history::derive::{histogram_bytes, top_bytes};
use lockscope_history::store::Store;
use lockscope_history::store::rows::{Minute, Rows, Span, SpanEnd};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_runtime::clock::Clock;
use shared::{WAIT_MAX, directory, line};
use tokio::process::{Child, Command};
use zookeeper_client::Client;

const LOCK: &str = "/locks/busy";
const MINUTES: i64 = 43_200;
const MINUTE_MS: i64 = 60_000;
const HOLDS: i64 = 10_000;
const ROUNDS: usize = 9;
/// The goal.
const MONTH_MAX: Duration = Duration::from_millis(300);

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(run());
    }
}

async fn run() {
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&data.path().join("history"), "default").unwrap();
    fill(&store, Clock::system().now_ms());
    drop(store);
    let zookeeper = PrivateZooKeeper::start(ServerOptions::default()).await.unwrap();
    let client = Client::connect(&zookeeper.address()).await.unwrap();
    client.create("/locks", b"", &directory()).await.unwrap();
    let (_child, url) = serve(&zookeeper.address(), data.path()).await;
    let http = reqwest::Client::new();
    for (query, goal) in [
        ("range=1h", None),
        ("range=24h", None),
        ("range=7d", None),
        ("range=30d", Some(MONTH_MAX)),
        ("range=30d&compare=1d", None),
    ] {
        let mut took = Vec::new();
        let mut bytes = 0;
        for _ in 0..ROUNDS {
            let began = Instant::now();
            let answer = http.get(format!("{url}/lock/over-time?path={LOCK}&{query}")).send().await.unwrap();
            assert!(answer.status().is_success(), "{query}: {}", answer.status());
            let text = answer.text().await.unwrap();
            took.push(began.elapsed());
            assert!(text.contains("ot-share") || text.contains("ot-hold"), "{query}: {text}");
            bytes = text.len();
            // The same is not made again before it has rested.
            tokio::time::sleep(Duration::from_millis(1_200)).await;
        }
        took.sort();
        let (median, most) = (took[ROUNDS / 2], took[ROUNDS - 1]);
        let met = goal.map_or(String::new(), |goal| {
            let met = if median <= goal { "met" } else { "missed" };
            format!(" (at most {goal:?}: {met})")
        });
        println!("over time, {query}: p50 {median:.0?}, most {most:.0?}{met}; {} KB", bytes / 1_000);
    }
}

/// `lockscope serve` over what is in a data directory, as soon as it is ready; killed when dropped.
async fn serve(connect: &str, data: &std::path::Path) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lockscope"))
        .args(["serve", "--zk", connect, "--root", "/locks", "--listen", "127.0.0.1:0"])
        .env("LOCKSCOPE_DATA_DIR", data)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let url = line(&mut child).await.rsplit(' ').next().unwrap().to_owned();
    let deadline = Instant::now() + WAIT_MAX;
    while !reqwest::get(format!("{url}/readyz")).await.is_ok_and(|answer| answer.status().is_success()) {
        assert!(Instant::now() < deadline, "lockscope did not get ready in time");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    (child, url)
}

/// A month of minutes, each with what a busy minute has, and the newest holds one by one.
fn fill(store: &SqliteStore, now_ms: i64) {
    let last = now_ms.div_euclid(MINUTE_MS) * MINUTE_MS;
    let mut histogram = Histogram::default();
    (0..60).for_each(|at| histogram.note(at * at * 7));
    let (waits, top) = (histogram_bytes(&histogram), top_bytes(&[1, 2, 3, 4, 5].map(|at| (SessionId(at), 12_000))));
    let minute = |at: i64| Minute {
        lock: LOCK.into(),
        at: TimeMs(last - (MINUTES - at) * MINUTE_MS),
        arrivals: 60,
        acquired: 60,
        gave_up: 1,
        waits: waits.clone(),
        holds: waits.clone(),
        depth_max: (at % 97) as u32,
        waiting_ms: 100_000,
        worst: if at % 500 == 0 { "stuck".into() } else { "healthy".into() },
        top: top.clone(),
    };
    let span = |at: i64| Span {
        czxid: Zxid(at),
        lock: LOCK.into(),
        recipe: "sequential_mutex".into(),
        node: format!("lock-{at:010}").into(),
        session: Some(SessionId(at % 5 + 1)),
        label: Some(format!("worker-{}", at % 5).into()),
        host: None,
        joined_at: TimeMs(now_ms - (HOLDS - at) * 300 - 900),
        held_at: Some(TimeMs(now_ms - (HOLDS - at) * 300 - 600)),
        left_at: TimeMs(now_ms - (HOLDS - at) * 300 - 310),
        how: SpanEnd::Released,
        charges: None,
        wait_ms: 300,
        is_lower_bound: false,
    };
    let (minutes, spans) = ((0..MINUTES).map(minute).collect(), (0..HOLDS).map(span).collect());
    store.write_rows(&Rows { minutes, spans, facts: Vec::new() }).unwrap();
}
