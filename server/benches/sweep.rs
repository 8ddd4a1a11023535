//! What it costs to know of children that may not be read, and how soon they are seen: an observer of many idle
//! directories behind a relay that counts bytes, then a denied contender in each of a thousand locks.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use lockscope_core::observation::Observation;
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use lockscope_runtime::clock::Clock;
use lockscope_zookeeper::{BATCHES_MAX, ObserverConfig, RequestCounts, observe};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use zookeeper_client::{Acl, Acls, AuthId, Client, CreateMode, Permission};

const DIRECTORIES: usize = 10_000;
const LOCKS: usize = 1_000;
const IDLE: Duration = Duration::from_secs(10);
/// How long anything may take before this fails.
const WAIT_MAX: Duration = Duration::from_secs(60);

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(run());
    }
}

async fn run() {
    let server = PrivateZooKeeper::start(ServerOptions { heap_mb: 512, ..ServerOptions::default() }).await.unwrap();
    let client =
        Client::connector().with_session_timeout(Duration::from_secs(10)).connect(&server.address()).await.unwrap();
    let directory = CreateMode::Persistent.with_acls(Acls::anyone_all());
    client.create("/locks", b"", &directory).await.unwrap();
    for some in (0..DIRECTORIES).collect::<Vec<_>>().chunks(500) {
        join_all(some.iter().map(|at| {
            let (client, directory) = (&client, &directory);
            async move { client.create(&path(*at), b"", directory).await.unwrap() }
        }))
        .await;
    }
    let (address, bytes) = relay(server.address()).await;
    let (sink, mut batches) = mpsc::channel::<Vec<Observation>>(BATCHES_MAX);
    let (_stop, stopped) = lockscope_runtime::shutdown::token();
    let counts = Arc::<RequestCounts>::default();
    let config = ObserverConfig::new(&address, vec!["/locks".to_owned()], Duration::from_secs(10)).unwrap();
    tokio::spawn(observe(config, Clock::system(), Arc::clone(&counts), sink, stopped));
    until(&mut batches, 1, |observation| matches!(observation, Observation::SyncEnded { .. })).await;
    idle(&counts, &bytes, &mut batches).await;
    denied(&client, &mut batches).await;
}

fn path(at: usize) -> String {
    format!("/locks/orders-of-shop-{at:05}")
}

/// Requests, bytes and observations a second while nothing happens.
async fn idle(counts: &RequestCounts, bytes: &[Arc<AtomicU64>; 2], batches: &mut mpsc::Receiver<Vec<Observation>>) {
    tokio::time::sleep(Duration::from_secs(2)).await;
    let look =
        || (counts.requests().collect::<Vec<_>>(), [0, 1].map(|way| bytes[way].load(Ordering::Relaxed)), cpu_ms());
    let (before, mut observations) = (look(), 0);
    let begin = Instant::now();
    while let Ok(batch) = tokio::time::timeout(IDLE.saturating_sub(begin.elapsed()), batches.recv()).await {
        observations += batch.unwrap().len();
    }
    let after = look();
    let a_second = |count: u64| count as f64 / begin.elapsed().as_secs_f64();
    println!("idle, {DIRECTORIES} directories, a second:");
    for ((kind, now, _), (_, then, _)) in after.0.into_iter().zip(before.0) {
        println!("  {kind:6} {:8.1} requests", a_second(now - then));
    }
    println!(
        "  {:.0} bytes out, {:.0} bytes in",
        a_second(after.1[0] - before.1[0]),
        a_second(after.1[1] - before.1[1])
    );
    println!(
        "  {:.1} observations, {:.1} ms of CPU of this process",
        a_second(observations as u64),
        a_second(after.2 - before.2)
    );
}

/// How soon denied contenders are shown.
async fn denied(client: &Client, batches: &mut mpsc::Receiver<Vec<Observation>>) {
    client.auth("digest", b"app:secret").await.unwrap();
    let secret = [Acl::new(Permission::ALL, AuthId::authed())];
    let options = CreateMode::EphemeralSequential.with_acls(Acls::new(&secret));
    let step = DIRECTORIES / LOCKS;
    let made = join_all((0..LOCKS).map(|at| {
        let (options, path) = (&options, format!("{}/n-", path(at * step)));
        async move {
            client.create(&path, b"", options).await.unwrap();
            Instant::now()
        }
    }))
    .await;
    let (first, last) = (*made.iter().min().unwrap(), *made.iter().max().unwrap());
    let said = until(
        batches,
        LOCKS,
        |observation| matches!(observation, Observation::Incomplete { missing, .. } if !missing.is_empty()),
    )
    .await;
    println!(
        "{LOCKS} denied contenders: the last lock is said to be incomplete {} ms after the first creation, {} ms after the last",
        ms(first, said),
        ms(last, said)
    );
}

fn ms(from: Instant, to: Instant) -> u128 {
    to.saturating_duration_since(from).as_millis()
}

/// Waits for so many observations of a kind.
async fn until(
    batches: &mut mpsc::Receiver<Vec<Observation>>,
    count: usize,
    fits: impl Fn(&Observation) -> bool,
) -> Instant {
    let mut seen = 0;
    while seen < count {
        let batch = tokio::time::timeout(WAIT_MAX, batches.recv()).await.unwrap().unwrap();
        seen += batch.iter().filter(|observation| fits(observation)).count();
    }
    Instant::now()
}

/// User and system time of this process.
fn cpu_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // Clock ticks are hundredths of a second.
    (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()) * 10
}

/// Forwards to the server and counts bytes: to it, and from it.
async fn relay(target: String) -> (String, [Arc<AtomicU64>; 2]) {
    let bytes: [Arc<AtomicU64>; 2] = Default::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let counted = bytes.clone();
    tokio::spawn(async move {
        while let Ok((inbound, _)) = listener.accept().await {
            let outbound = TcpStream::connect(&target).await.unwrap();
            let (in_read, in_write) = inbound.into_split();
            let (out_read, out_write) = outbound.into_split();
            tokio::spawn(forward(in_read, out_write, Arc::clone(&counted[0])));
            tokio::spawn(forward(out_read, in_write, Arc::clone(&counted[1])));
        }
    });
    (address, bytes)
}

async fn forward(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    bytes: Arc<AtomicU64>,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        bytes.fetch_add(count as u64, Ordering::Relaxed);
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
