//! What many ensembles cost: a thousand chroots of one ZooKeeper, each with one lock that is held. From starting
//! `lockscope serve` to every root read, and what it takes while nothing happens: memory, threads, CPU time, requests.
//! Beside it the same of one ensemble, so that what each takes is a difference.
//!
//! Goals: ready within 30 s, 1 MB of resident memory each.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

#[expect(dead_code, reason = "this one waits for all ensembles")]
mod shared;

use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt as _};
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use shared::{Lockscope, contender, directory};
use zookeeper_client::Client;

const ENSEMBLES: usize = 1_000;
/// Chroots being made at once.
const AT_ONCE: usize = 64;
/// After this nothing of the start is left.
const SETTLED: Duration = Duration::from_secs(15);
/// For so long it is looked at what it takes.
const IDLE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Clock ticks a second, of `/proc`: the same on every Linux.
const TICKS_A_SECOND: f64 = 100.0;

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(run());
    }
}

async fn run() {
    let mut server = PrivateZooKeeper::start(ServerOptions::default()).await.unwrap();
    let owner = Client::connect(&server.address()).await.unwrap();
    owner.create("/fleet", b"", &directory()).await.unwrap();
    let make = async |at: usize| {
        for path in [format!("/fleet/{at}"), format!("/fleet/{at}/order")] {
            owner.create(&path, b"", &directory()).await.unwrap();
        }
        owner.create(&format!("/fleet/{at}/order/lock-"), b"10.1.2.3", &contender()).await.unwrap();
    };
    stream::iter(0..ENSEMBLES).for_each_concurrent(AT_ONCE, make).await;
    println!("ensembles as chroots of one ZooKeeper, each with one lock, no history");
    let one = measure(&server.address(), 1).await;
    let all = measure(&server.address(), ENSEMBLES).await;
    println!("  each further one: {:.0} KiB", (all - one) / (ENSEMBLES - 1) as f64);
    server.stop().await.unwrap();
}

/// Starts beside so many; gives resident memory when idle, KiB.
async fn measure(address: &str, ensembles: usize) -> f64 {
    let dir = tempfile::tempdir().unwrap();
    let many = dir.path().join("ensembles.d");
    std::fs::create_dir(&many).unwrap();
    for at in 0..ensembles {
        let text =
            format!("[[ensemble]]\nname = \"e{at}\"\nzk = \"{address}/fleet/{at}\"\nlabels = {{ env = \"bench\" }}\n");
        std::fs::write(many.join(format!("{at}.toml")), text).unwrap();
    }
    let file = dir.path().join("lockscope.toml");
    std::fs::write(&file, "session_timeout_ms = 30000\n").unwrap();
    let begun = Instant::now();
    let lockscope = Lockscope::start(&["--config", file.to_str().unwrap()]).await;
    while reqwest::get(format!("{}/readyz", lockscope.url)).await.unwrap().status() != 200 {
        assert!(begun.elapsed() < Duration::from_secs(300), "it is not ready");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let ready = begun.elapsed();
    tokio::time::sleep(SETTLED).await;
    let (cpu, asked) = (cpu_s(&lockscope), requests(&lockscope).await);
    tokio::time::sleep(IDLE).await;
    let (cpu, asked) = (cpu_s(&lockscope) - cpu, requests(&lockscope).await - asked);
    let (resident, threads) = (of_status(&lockscope, "VmRSS:"), of_status(&lockscope, "Threads:"));
    let looked = Instant::now();
    let fleet = lockscope.get("/api/v1/fleet").await.unwrap();
    assert_eq!(fleet["all"], ensembles);
    println!(
        "  {ensembles}: ready {:.2} s, resident {:.1} MiB, {threads} threads; idle {:.1} % of a core, {:.1} requests/s; GET /api/v1/fleet {:.0} ms",
        ready.as_secs_f64(),
        resident / 1024.0,
        cpu / IDLE.as_secs_f64() * 100.0,
        asked / IDLE.as_secs_f64(),
        looked.elapsed().as_secs_f64() * 1_000.0
    );
    resident
}

fn of_status(lockscope: &Lockscope, key: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", lockscope.child.id().unwrap())).unwrap();
    let value = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    value.trim().trim_end_matches(" kB").parse().unwrap()
}

fn cpu_s(lockscope: &Lockscope) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", lockscope.child.id().unwrap())).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    [11, 12].into_iter().map(|at: usize| fields[at].parse::<f64>().unwrap()).sum::<f64>() / TICKS_A_SECOND
}

/// Requests to ZooKeeper so far.
async fn requests(lockscope: &Lockscope) -> f64 {
    let answer = reqwest::get(format!("{}/metrics", lockscope.url)).await.unwrap();
    let text = answer.text().await.unwrap();
    let counts = text.lines().filter(|line| line.starts_with("lockscope_zookeeper_requests_total{"));
    counts.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}
