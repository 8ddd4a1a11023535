//! Time to lock on a recording of real sessions: of what would have been told of each wait, how much was right, by four
//! kinds of load on one real ZooKeeper. For figures: `cargo test --locked -p lockscope --test it -- --ignored calibration`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;
use zookeeper_client::{Acls, LockOptions, LockPrefix};

use crate::harness::{Truth, open};
use crate::recipes::lockscope::{Lockscope, shared_zookeeper};
use crate::served::until;

/// Waits of each load: as many as are judged at most, and some before them to learn from.
const WAITS: u64 = 600;
const JUDGED_MIN: u64 = 200;
/// What is told is right of so many of a hundred, give or take five.
const RIGHT: std::ops::RangeInclusive<u64> = 75..=85;

/// Numbers from a seed (PCG's multiplier).
struct Random(u64);

impl Random {
    /// Between 0 and 1, neither included.
    fn part(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64 + 0.5) / (1_u64 << 31) as f64
    }

    fn exponential(&mut self, mean_ms: f64) -> f64 {
        -mean_ms * self.part().ln()
    }
}

/// How long a client is away before it asks for the lock again, and how long it holds it, ms.
struct Load {
    name: &'static str,
    clients: u64,
    away_ms: fn(&mut Random) -> f64,
    hold_ms: fn(&mut Random) -> f64,
}

/// Each about 150 lives a minute: of more than 600 in an ensemble not all are stored.
const LOADS: [Load; 4] = [
    Load {
        name: "steady",
        clients: 6,
        away_ms: |random| random.exponential(1_700.0),
        hold_ms: |random| random.exponential(250.0),
    },
    Load { name: "alike", clients: 6, away_ms: |random| random.exponential(1_800.0), hold_ms: |_| 250.0 },
    Load {
        name: "two-kinds",
        clients: 6,
        away_ms: |random| random.exponential(1_800.0),
        hold_ms: |random| if random.part() < 0.1 { 1_500.0 } else { 120.0 },
    },
    // Each comes at once again most times, and sometimes stays away for long: short queues and long ones.
    Load {
        name: "bursts",
        clients: 8,
        away_ms: |random| if random.part() < 0.6 { 50.0 } else { random.exponential(4_000.0) },
        hold_ms: |random| random.exponential(250.0),
    },
];

fn ms(ms: f64) -> Duration {
    Duration::from_secs_f64(ms.clamp(0.0, 10_000.0) / 1_000.0)
}

/// One session that contends until all together waited often enough.
async fn contend(zk: String, path: String, load: &'static Load, seed: u64, had: Arc<AtomicU64>) {
    let (client, mut random) = (open(&zk).await, Random(seed));
    while had.load(Ordering::Relaxed) < WAITS {
        tokio::time::sleep(ms((load.away_ms)(&mut random))).await;
        let prefix = LockPrefix::new_curator(&path, "lock-").unwrap();
        let lock = client.lock(prefix, b"", LockOptions::new(Acls::anyone_all())).await.unwrap();
        had.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(ms((load.hold_ms)(&mut random))).await;
        drop(lock);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes five minutes; for figures"]
async fn what_is_told_of_real_sessions_is_right_as_often_as_it_says() {
    const ROOT: &str = "/calibration";
    let server = shared_zookeeper().await;
    let (zk, dir) = (server.address(), tempfile::tempdir().unwrap());
    let truth = Truth::new(&zk).await;
    truth.make(ROOT).await;
    let data = dir.path().display().to_string();
    let lockscope = Lockscope::run(&["--zk", &zk, "--root", ROOT, "--data-dir", &data]).await;
    let mut clients = JoinSet::new();
    for (load, number) in LOADS.iter().zip(1..) {
        let (path, had) = (format!("{ROOT}/{}", load.name), Arc::default());
        truth.make(&path).await;
        for client in 0..load.clients {
            clients.spawn(contend(zk.clone(), path.clone(), load, number * 1_000 + client, Arc::clone(&had)));
        }
    }
    while let Some(ended) = clients.join_next().await {
        ended.unwrap();
    }
    let mut wrong = Vec::new();
    for load in &LOADS {
        let target = format!("/api/v1/time-to-lock?path={ROOT}/{}", load.name);
        let figure = |told: &Value, key: &str| told["calibration"][key].as_u64().unwrap_or(0);
        until(async || figure(&lockscope.ask(&target).await.1, "judged") >= JUDGED_MIN).await;
        let (_, told) = lockscope.ask(&target).await;
        let [judged, right, sooner, later] = ["judged", "right", "sooner", "later"].map(|key| figure(&told, key));
        let percent = right * 100 / judged;
        eprintln!("{:<10} {judged} judged, {percent} % right, {sooner} sooner, {later} later", load.name);
        if !RIGHT.contains(&percent) {
            wrong.push(format!("{}: {percent} %", load.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
