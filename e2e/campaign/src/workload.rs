//! What goes on in ZooKeeper all the while: real kazoo and Curator clients, and queues that move fast. Everything
//! happens at moments that the seed decides; clients connect to the members directly, so that faults of Lockscope's
//! links do not touch them.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use zookeeper_client::{Acls, Client, CreateMode};

use crate::DEADLINE;
use crate::clients::{self, Library};

/// Contenders of a queue at most and at least.
const DEPTH: std::ops::Range<usize> = 1..6;
/// How long somebody slow holds, in ms, and rests, mostly and now and then.
const STAYS: std::ops::Range<u64> = 300..9_000;
const RESTS: std::ops::Range<u64> = 100..2_500;
const LONG_RESTS: std::ops::Range<u64> = 15_000..20_000;
/// How long a session of a queue lives without a word.
const SESSION: Duration = Duration::from_secs(30);
/// How long one request may take before the queue's session counts as lost.
const REQUEST_MAX: Duration = Duration::from_secs(10);
/// Pause before something is tried again.
const AGAIN: Duration = Duration::from_millis(100);

/// A lock, and who contends there.
#[derive(Clone, Debug)]
pub struct Contention {
    pub path: String,
    pub who: Who,
}

/// Who contends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// So many clients of a library's mutex.
    Library(Library, usize),
    /// One session that makes and removes contenders, with a rest up to this long, in ms.
    Queue(u64),
    /// A session after another that queues up, holds for seconds, and leaves.
    Slow,
}

/// Everything that contends.
#[derive(Debug)]
pub struct Workload {
    tasks: JoinSet<()>,
    stop: watch::Sender<bool>,
}

impl Workload {
    /// Begins; every contender is connected when this returns.
    pub async fn start(connect: &str, contentions: &[Contention], seed: u64) -> Self {
        let stop = watch::Sender::new(false);
        let mut tasks = JoinSet::new();
        let mut seeds = StdRng::seed_from_u64(seed);
        for Contention { path, who } in contentions {
            match *who {
                Who::Library(library, count) => {
                    for _ in 0..count {
                        let client = contender(library, connect, path).await;
                        let rng = StdRng::seed_from_u64(seeds.random());
                        tasks.spawn(contend(library, connect.to_owned(), path.clone(), client, rng, stop.subscribe()));
                    }
                }
                Who::Queue(rest_ms) => {
                    let rng = StdRng::seed_from_u64(seeds.random());
                    tasks.spawn(queue(connect.to_owned(), path.clone(), rest_ms, rng, stop.subscribe()));
                }
                Who::Slow => {
                    let rng = StdRng::seed_from_u64(seeds.random());
                    tasks.spawn(slow(connect.to_owned(), path.clone(), rng, stop.subscribe()));
                }
            }
        }
        Self { tasks, stop }
    }

    /// Lets everybody finish what they are at.
    pub async fn end(mut self) {
        self.stop.send_replace(true);
        let all = async { while self.tasks.join_next().await.is_some() {} };
        // Who is stuck in a request to a member that is gone is left behind.
        let _ = timeout(REQUEST_MAX, all).await;
        self.tasks.abort_all();
    }
}

async fn contender(library: Library, connect: &str, path: &str) -> clients::Client {
    let recipe = match library {
        Library::Kazoo => format!("lock {path}"),
        Library::Curator => format!("mutex {path}"),
    };
    library.client(connect, &recipe).await
}

/// Takes the lock and gives it back, again and again; a client that failed is replaced by another.
async fn contend(
    library: Library,
    connect: String,
    path: String,
    mut client: clients::Client,
    mut rng: StdRng,
    stop: watch::Receiver<bool>,
) {
    while !*stop.borrow() {
        let rests = [rng.random_range(5..120), rng.random_range(5..60)].map(Duration::from_millis);
        let is_well = async {
            client.order("acquire");
            if !client.answer().await.starts_with("held") {
                return false;
            }
            sleep(rests[0]).await;
            client.order("release");
            client.answer().await == "released"
        };
        let is_well = timeout(DEADLINE, is_well).await.unwrap_or(false);
        sleep(rests[1]).await;
        if !is_well && !*stop.borrow() {
            client = contender(library, &connect, &path).await;
        }
    }
}

/// Makes contenders and removes them, mostly the first one.
async fn queue(connect: String, path: String, rest_ms: u64, mut rng: StdRng, stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        // What a request did whose answer was lost is not known: a new session begins anew, and the old one's znodes
        // fall when it is dropped or runs out.
        if let Ok(client) = Client::connector().with_session_timeout(SESSION).connect(&connect).await {
            let _ = move_on(&client, &path, rest_ms, &mut rng, &stop).await;
        }
        sleep(AGAIN).await;
    }
}

/// Until a request fails, or the end.
async fn move_on(
    client: &Client,
    path: &str,
    rest_ms: u64,
    rng: &mut StdRng,
    stop: &watch::Receiver<bool>,
) -> Option<()> {
    let persistent = CreateMode::Persistent.with_acls(Acls::anyone_all());
    timeout(REQUEST_MAX, client.mkdir(path, &persistent)).await.ok()?.ok()?;
    let mut line: Vec<String> = Vec::new();
    while !*stop.borrow() {
        let grows = line.len() <= DEPTH.start || (line.len() < DEPTH.end && rng.random_bool(0.5));
        if grows {
            line.push(enqueue(client, path, rng).await?);
        } else {
            let at = if rng.random_bool(0.8) { 0 } else { rng.random_range(0..line.len()) };
            remove(client, &line.remove(at)).await?;
        }
        sleep(Duration::from_millis(rng.random_range(rest_ms / 4..=rest_ms))).await;
    }
    for node in line {
        remove(client, &node).await?;
    }
    Some(())
}

/// Holds for long enough to be worth an alert, and sometimes not; rests so long that it is over, and mostly not.
async fn slow(connect: String, path: String, mut rng: StdRng, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        if let Ok(client) = Client::connector().with_session_timeout(SESSION).connect(&connect).await {
            let _ = stand(&client, &path, &mut rng, &mut stop).await;
        }
        let rests = if rng.random_bool(0.2) { LONG_RESTS } else { RESTS };
        rest(Duration::from_millis(rng.random_range(rests)), &mut stop).await;
    }
}

/// Queues up, waits, and leaves one by one; the rest goes with the session where a request fails, and now and then as well
/// where none does.
async fn stand(client: &Client, path: &str, rng: &mut StdRng, stop: &mut watch::Receiver<bool>) -> Option<()> {
    let persistent = CreateMode::Persistent.with_acls(Acls::anyone_all());
    timeout(REQUEST_MAX, client.mkdir(path, &persistent)).await.ok()?.ok()?;
    let mut line = Vec::new();
    for _ in 0..rng.random_range(DEPTH) {
        line.push(enqueue(client, path, rng).await?);
        rest(Duration::from_millis(rng.random_range(0..150)), stop).await;
    }
    rest(Duration::from_millis(rng.random_range(STAYS)), stop).await;
    let leaves_at_once = rng.random_bool(0.3);
    for node in line {
        if leaves_at_once && !*stop.borrow() {
            break;
        }
        remove(client, &node).await?;
        rest(Duration::from_millis(rng.random_range(0..1_500)), stop).await;
    }
    Some(())
}

/// Rests, but not when all is to end.
async fn rest(lasts: Duration, stop: &mut watch::Receiver<bool>) {
    let _ = timeout(lasts, stop.wait_for(|is_over| *is_over)).await;
}

async fn remove(client: &Client, node: &str) -> Option<()> {
    timeout(REQUEST_MAX, client.delete(node, None)).await.ok()?.ok()
}

/// A contender named as kazoo names them.
async fn enqueue(client: &Client, path: &str, rng: &mut StdRng) -> Option<String> {
    let prefix = format!("{path}/{:032x}__lock__", rng.random::<u128>());
    let mode = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let made = timeout(REQUEST_MAX, client.create(&prefix, b"host", &mode)).await.ok()?;
    made.ok().map(|(_, number)| format!("{prefix}{number}"))
}
