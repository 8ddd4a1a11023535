//! What a small ensemble costs: from starting `lockscope serve` to ready on a tree of ten locks, next to a bare session
//! that connects and reads the same znodes; and what the server takes of memory when nothing happens. The same start on
//! 300 sessions that stand in 40 locks each and wait for one another in circles.
//!
//! Goals: ready within 1 s, 40 MB of resident memory; ready within 2 s with the circles.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

mod shared;

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use futures_util::stream::{self, StreamExt as _};
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use shared::{Lockscope, WAIT_MAX, contender, directory};
use zookeeper_client::Client;

const LOCKS: usize = 10;
const CONTENDERS: usize = 10;
const ROUNDS: usize = 9;
/// Sessions that wait for one another; six of them in each lock.
const SESSIONS: usize = 300;
const LOCKS_OF_A_SESSION: usize = 40;
const IN_A_LOCK: usize = 6;
/// Locks being made at once.
const AT_ONCE: usize = 64;
const ROUNDS_WITH_CIRCLES: usize = 3;
/// After this nothing of the start is left.
const IDLE: Duration = Duration::from_secs(10);
/// Pause between two looks at whether it is ready: how exact the figure is.
const LOOK_EVERY: Duration = Duration::from_millis(2);

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(run());
    }
}

async fn run() {
    let mut server = PrivateZooKeeper::start(ServerOptions::default()).await.unwrap();
    let owner = Client::connect(&server.address()).await.unwrap();
    owner.create("/locks", b"", &directory()).await.unwrap();
    for lock in 0..LOCKS {
        owner.create(&format!("/locks/{lock}"), b"", &directory()).await.unwrap();
        for _ in 0..CONTENDERS {
            owner.create(&format!("/locks/{lock}/lock-"), b"10.1.2.3", &contender()).await.unwrap();
        }
    }
    let (mut ours, mut bares) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let read = read_all(&server.address()).await;
        bares.push(begun.elapsed().as_secs_f64() * 1_000.0);
        assert_eq!(read, LOCKS * CONTENDERS);
        let begun = Instant::now();
        let lockscope = Lockscope::serve(&server.address(), "/locks", LOOK_EVERY).await;
        ours.push(begun.elapsed().as_secs_f64() * 1_000.0);
        drop(lockscope);
    }
    println!("{LOCKS} locks with {CONTENDERS} contenders each, {ROUNDS} starts");
    print("lockscope started, connected, live", ours);
    print("a bare session connected and has read the same", bares);
    let lockscope = Lockscope::serve(&server.address(), "/locks", LOOK_EVERY).await;
    tokio::time::sleep(IDLE).await;
    let status = std::fs::read_to_string(format!("/proc/{}/status", lockscope.child.id().unwrap())).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    println!("  resident when idle: {}", resident.trim());
    drop(lockscope);
    circles(&owner, &server.address()).await;
    server.stop().await.unwrap();
}

/// Starts beside sessions that are entangled; how long until it is ready, and until it shows a deadlock.
async fn circles(owner: &Client, address: &str) {
    let sessions = try_join_all((0..SESSIONS).map(|_| Client::connect(address))).await.unwrap();
    owner.create("/circles", b"", &directory()).await.unwrap();
    let locks = SESSIONS * LOCKS_OF_A_SESSION / IN_A_LOCK;
    let make = async |lock: usize| {
        let path = format!("/circles/{lock}");
        owner.create(&path, b"", &directory()).await.unwrap();
        for place in 0..IN_A_LOCK {
            let session = &sessions[(lock + place * (lock / SESSIONS + 1) * 7) % SESSIONS];
            session.create(&format!("{path}/lock-"), b"10.1.2.3", &contender()).await.unwrap();
        }
    };
    stream::iter(0..locks).for_each_concurrent(AT_ONCE, make).await;
    let (mut ready, mut shown) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS_WITH_CIRCLES {
        let begun = Instant::now();
        let lockscope = Lockscope::serve(address, "/circles", LOOK_EVERY).await;
        ready.push(begun.elapsed().as_secs_f64() * 1_000.0);
        while lockscope
            .get("/api/v1/waits")
            .await
            .is_none_or(|waits| waits["cycles"].as_array().is_none_or(Vec::is_empty))
        {
            assert!(begun.elapsed() < WAIT_MAX, "no deadlock is shown");
        }
        shown.push(begun.elapsed().as_secs_f64() * 1_000.0);
    }
    println!(
        "{SESSIONS} sessions in {LOCKS_OF_A_SESSION} of {locks} locks each, in circles, {ROUNDS_WITH_CIRCLES} starts"
    );
    print("lockscope started, connected, live", ready);
    print("lockscope started, deadlocks in the graph of waits", shown);
}

/// Contenders that a session finds after it connected.
async fn read_all(address: &str) -> usize {
    let client = Client::connect(address).await.unwrap();
    let mut read = 0;
    for lock in client.list_children("/locks").await.unwrap() {
        for node in client.list_children(&format!("/locks/{lock}")).await.unwrap() {
            client.get_data(&format!("/locks/{lock}/{node}")).await.unwrap();
            read += 1;
        }
    }
    read
}

fn print(what: &str, mut ms: Vec<f64>) {
    ms.sort_by(f64::total_cmp);
    println!("  {what}: median {:.0} ms, worst {:.0} ms", ms[ms.len() / 2], ms[ms.len() - 1]);
}
