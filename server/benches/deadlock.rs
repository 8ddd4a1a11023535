//! How soon a deadlock is shown: from the acknowledgement of the create that closes a circle of two or three real
//! sessions to the first look at the view of waits that has it. Observer, model and feed hub run in this process, on a
//! private ZooKeeper.
//!
//! Prints figures; fails when another cycle is shown than the one there is, or one before it closed. A browser is sent
//! it by the feed's pump, which adds its own pulse.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

#[expect(dead_code, reason = "this one needs no `lockscope serve`")]
mod shared;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use lockscope_live::engine::{Engine, TICK_MS};
use lockscope_live::project::EnsembleInfo;
use lockscope_live::{About, Ensemble, Projector};
use lockscope_live::{Hub, random_epoch};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::{self, DropGuard};
use lockscope_runtime::task_thread::TaskThread;
use lockscope_view::{Scope, SessionId, Waits, WaitsQuery};
use lockscope_zookeeper::{BATCHES_MAX, ObserverConfig, observe};
use shared::{WAIT_MAX, contender, directory};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use zookeeper_client::Client;

const ROOT: &str = "/locks";
/// Locks and sessions in the circle.
const SIZES: [usize; 2] = [2, 3];
const ROUNDS: usize = 20;
const TARGET: &str = "target 1,000 ms";
/// Pause between two looks: how exact the figures are.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// The longest a server with ticks of 500 ms grants.
const SESSION: Duration = Duration::from_secs(10);

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(run());
    }
}

async fn run() {
    let server = PrivateZooKeeper::start(ServerOptions::default()).await.unwrap();
    let address = server.address();
    let most = SIZES.into_iter().max().unwrap();
    let clients = join_all((0..most).map(|_| connect(&address))).await;
    clients[0].create(ROOT, b"", &directory()).await.unwrap();
    for lock in 0..most {
        clients[0].create(&path(lock), b"", &directory()).await.unwrap();
    }
    let watcher = Watcher::start(&address);
    watcher.until_ready().await;
    println!(
        "from the acknowledgement of the create that closes the circle to a view of waits that has it, {ROUNDS} rounds each"
    );
    for size in SIZES {
        let mut ms = Vec::new();
        for _ in 0..ROUNDS {
            ms.push(round(&watcher, &clients[..size]).await);
        }
        ms.sort_by(f64::total_cmp);
        println!(
            "  deadlock of {size} locks: median {:.0} ms, worst {:.0} ms ({TARGET})",
            ms[ms.len() / 2],
            ms[ms.len() - 1]
        );
    }
    watcher.end().await;
}

async fn connect(address: &str) -> Client {
    Client::connector().with_session_timeout(SESSION).connect(address).await.unwrap()
}

fn path(lock: usize) -> String {
    format!("{ROOT}/{lock}")
}

/// Queues up as Curator does; gives the znode's path.
async fn queue_up(client: &Client, lock: usize) -> String {
    let prefix = format!("{}/_c_{:08x}-0000-4a4a-8b8b-0123456789ab-lock-", path(lock), rand::random::<u32>());
    let (_, sequence) = client.create(&prefix, b"10.1.2.3", &contender()).await.unwrap();
    format!("{prefix}{sequence}")
}

/// Each session holds its own lock and waits for the next one's; gives how long the circle went untold.
async fn round(watcher: &Watcher, clients: &[Client]) -> f64 {
    let size = clients.len();
    let mut nodes = Vec::new();
    for (at, client) in clients.iter().enumerate() {
        nodes.push(queue_up(client, at).await);
    }
    for (at, client) in clients[..size - 1].iter().enumerate() {
        nodes.push(queue_up(client, at + 1).await);
    }
    watcher.until(|waits| waits.edges.len() == size - 1).await;
    // The last cycle was shown at a tick: without a pause of chance each would close soon after one.
    tokio::time::sleep(Duration::from_millis(TICK_MS).mul_f64(rand::random())).await;
    assert!(watcher.waits().cycles.is_empty(), "a circle was told before it closed");
    nodes.push(queue_up(&clients[size - 1], 0).await);
    let closed_at = Instant::now();
    let told = watcher.until(|waits| !waits.cycles.is_empty()).await;
    let ms = closed_at.elapsed().as_secs_f64() * 1_000.0;
    let mut sessions = told.cycles[0].sessions.clone();
    let mut expected: Vec<SessionId> = clients.iter().map(|client| SessionId(client.session_id().0)).collect();
    sessions.sort_unstable();
    expected.sort_unstable();
    assert_eq!((told.cycles.len(), sessions), (1, expected), "another circle was told");
    for (at, node) in nodes.iter().enumerate() {
        clients[at % size].delete(node, None).await.unwrap();
    }
    watcher.until(|waits| waits.cycles.is_empty() && waits.nodes.is_empty()).await;
    ms
}

/// Observer, model and hub, put together as `lockscope serve` does.
struct Watcher {
    hub: Arc<Hub>,
    engine: Engine<Observatory>,
    observer: JoinHandle<()>,
    stopper: DropGuard,
}

impl Watcher {
    fn start(address: &str) -> Self {
        let (stopper, stop) = shutdown::token();
        let (sink, inbox) = mpsc::channel(BATCHES_MAX);
        let clock = Clock::system();
        let now_ms = clock.now_ms();
        let observatory =
            Observatory::new(Settings { roots: vec![ROOT.into()], ..Settings::default() }, TimeMs(now_ms));
        let engine =
            Engine::start(observatory, inbox, clock.clone(), stop.clone(), &TaskThread::start("engine").unwrap());
        let config = ObserverConfig::new(address, vec![ROOT.into()], SESSION).unwrap();
        let observer = tokio::spawn(observe(config, clock.clone(), Arc::default(), sink, stop.clone()));
        let info = EnsembleInfo {
            name: "default".into(),
            connect: address.into(),
            color: None,
            has_others: false,
            labels: Default::default(),
            excluded: None,
            proof: Default::default(),
        };
        let about = About {
            version: env!("CARGO_PKG_VERSION").into(),
            started_at_ms: now_ms,
            read_only: std::sync::Arc::default(),
        };
        let projector = Projector::new(vec![Ensemble { info, reader: engine.reader.clone() }], about, clock.clone());
        Self { hub: Hub::new(Arc::new(projector), clock, random_epoch()), engine, observer, stopper }
    }

    async fn until_ready(&self) {
        let deadline = Instant::now() + WAIT_MAX;
        while !self.hub.projection().is_ready() {
            assert!(Instant::now() < deadline, "the first sync did not end in time");
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn waits(&self) -> Waits {
        *self.hub.look(WaitsQuery::default(), &Scope::ALL).unwrap().1.body
    }

    /// Looks again and again until the view is as wanted.
    async fn until(&self, done: impl Fn(&Waits) -> bool) -> Waits {
        let deadline = Instant::now() + WAIT_MAX;
        let mut pulse = tokio::time::interval(LOOK_EVERY);
        pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            pulse.tick().await;
            let waits = self.waits();
            if done(&waits) {
                return waits;
            }
            assert!(Instant::now() < deadline, "the view of waits did not get there in time: {waits:?}");
        }
    }

    async fn end(mut self) {
        drop(self.stopper);
        self.engine.ended().await.unwrap();
        self.observer.await.unwrap();
    }
}
