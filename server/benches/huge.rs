//! A root `/` with very many znodes that are no locks, beside some that are: how long until it is ready, and the memory
//! that takes. With the number of znodes in `HUGE_ZNODES` (2,000,000 unless set); their names have 17 letters and they
//! lie 1,000 to a directory. Goal: bounded by what `zookeeper::ZNODES_MAX` lets in.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

mod shared;

use std::time::{Duration, Instant};

use demo::{PrivateZooKeeper, ServerOptions};
use futures_util::stream::{self, StreamExt as _};
use shared::{Lockscope, contender, directory};
use zookeeper_client::Client;

const ZNODES: usize = 2_000_000;
const IN_A_DIRECTORY: usize = 1_000;
/// Creations under way.
const AT_ONCE: usize = 512;
/// Of ZooKeeper.
const HEAP_MB: u32 = 3_072;
const LOOK_EVERY: Duration = Duration::from_millis(20);

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(run());
    }
}

async fn run() {
    let znodes = std::env::var("HUGE_ZNODES").map_or(ZNODES, |number| number.parse().unwrap());
    let options = ServerOptions { heap_mb: HEAP_MB, ..ServerOptions::default() };
    let mut server = PrivateZooKeeper::start(options).await.unwrap();
    let client = Client::connect(&server.address()).await.unwrap();
    for path in ["/data", "/locks", "/locks/a"] {
        client.create(path, b"", &directory()).await.unwrap();
    }
    client.create("/locks/a/lock-", b"10.1.2.3", &contender()).await.unwrap();
    let make = async |path: String| _ = client.create(&path, b"", &directory()).await.unwrap();
    let directories = (0..znodes.div_ceil(IN_A_DIRECTORY)).map(|number| format!("/data/{number}"));
    stream::iter(directories).for_each_concurrent(AT_ONCE, make).await;
    let paths = (0..znodes).map(|number| format!("/data/{}/znode-{number:010}x", number / IN_A_DIRECTORY));
    stream::iter(paths).for_each_concurrent(AT_ONCE, make).await;
    println!("{znodes} znodes below / that are no locks");
    let begun = Instant::now();
    let lockscope = Lockscope::serve(&server.address(), "/", LOOK_EVERY).await;
    println!("  started and ready: {:.1} s", begun.elapsed().as_secs_f64());
    let status = std::fs::read_to_string(format!("/proc/{}/status", lockscope.child.id().unwrap())).unwrap();
    for what in ["VmRSS:", "VmHWM:"] {
        println!("  {what} {}", status.lines().find_map(|line| line.strip_prefix(what)).unwrap().trim());
    }
    let status = lockscope.get("/api/v1/status").await.unwrap();
    println!("  {}", status["ensembles"][0]["roots"]);
    drop(lockscope);
    server.stop().await.unwrap();
}
