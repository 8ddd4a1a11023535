//! Who is it, and when will it go: how soon a new client's address is shown, how exact the announced end of a dead one
//! is, and what asking the members costs them. `lockscope serve` beside real sessions; four-letter words, as Debian's
//! package lets them be allowed.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

mod shared;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use shared::{Lockscope, WAIT_MAX, contender, directory};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use zookeeper_client::Client;

const ROUNDS: usize = 8;
/// The tick of the server: sessions run out on one.
const TICK_MS: u32 = 500;
const SESSION: Duration = Duration::from_secs(8);
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long questions are counted.
const IDLE: Duration = Duration::from_secs(30);
const LOCK: &str = "/api/v1/lock?path=/locks/x";

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(run());
    }
}

async fn run() {
    let server = PrivateZooKeeper::start(ServerOptions { tick_ms: TICK_MS, ..ServerOptions::default() }).await.unwrap();
    let witness = connect(&server.address()).await;
    witness.create("/locks", b"", &directory()).await.unwrap();
    witness.create("/locks/x", b"", &directory()).await.unwrap();
    let line = Line::open(server.address()).await;
    let mut lockscope = Lockscope::serve(&line.address, "/locks", Duration::from_millis(50)).await;
    let (mut known_ms, mut wrong_ms) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mortal = Line::open(server.address()).await;
        let connected_at = Instant::now();
        let client = connect(&mortal.address).await;
        let (_, sequence) = client.create("/locks/x/lock-", b"", &contender()).await.unwrap();
        let node = format!("/locks/x/lock-{sequence}");
        until(&lockscope, |holder| holder["client"]["address"].is_string()).await;
        known_ms.push(ms(connected_at.elapsed()));
        let (_, watcher) = witness.check_and_watch_stat(&node).await.unwrap();
        mortal.cut();
        let holder =
            until(&lockscope, |holder| holder["liveness"] == "disconnected" && holder["expires_in_ms"].is_i64()).await;
        let announced = Instant::now() + Duration::from_millis(holder["expires_in_ms"].as_u64().unwrap());
        watcher.changed().await;
        let gone = Instant::now();
        wrong_ms.push(ms(announced.saturating_duration_since(gone)).max(ms(gone.saturating_duration_since(announced))));
        drop(client);
    }
    assert!(lockscope.child.try_wait().unwrap().is_none(), "lockscope ended");
    println!("one member, questions by four-letter words about every 5 s, {ROUNDS} rounds");
    print("  from connecting to its host:port in the API (target 6,000 ms)", known_ms);
    print(
        &format!(
            "  announced end of a dead holder against the deletion of its znode (a tick is {TICK_MS} ms, printed dates are whole seconds)"
        ),
        wrong_ms,
    );
    let before = line.connections.load(Ordering::Relaxed);
    tokio::time::sleep(IDLE).await;
    let asked = line.connections.load(Ordering::Relaxed) - before;
    println!("  questions to an idle member: {:.2} a second (target at most 2)", asked as f64 / IDLE.as_secs_f64());
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

fn print(what: &str, mut ms: Vec<f64>) {
    ms.sort_by(f64::total_cmp);
    println!("{what}: median {:.0} ms, worst {:.0} ms", ms[ms.len() / 2], ms[ms.len() - 1]);
}

async fn connect(address: &str) -> Client {
    Client::connector().with_session_timeout(SESSION).connect(address).await.unwrap()
}

/// Waits until the API says so of the holder.
async fn until(lockscope: &Lockscope, done: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
    let deadline = Instant::now() + WAIT_MAX;
    loop {
        if let Some(lock) = lockscope.get(LOCK).await
            && done(&lock["holders"][0])
        {
            return lock["holders"][0].clone();
        }
        assert!(Instant::now() < deadline, "lockscope never said so");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// A way to the server that counts connections and can be cut for good.
struct Line {
    address: String,
    connections: Arc<AtomicU64>,
    whole: watch::Sender<bool>,
}

impl Line {
    async fn open(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (whole, state) = watch::channel(true);
        let connections = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((mut inbound, _)) = listener.accept().await {
                if !*state.borrow() {
                    return;
                }
                count.fetch_add(1, Ordering::Relaxed);
                let (server, mut state) = (server.clone(), state.clone());
                tokio::spawn(async move {
                    let Ok(mut outbound) = TcpStream::connect(server).await else { return };
                    let _ = (inbound.set_nodelay(true), outbound.set_nodelay(true));
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut inbound, &mut outbound) => {}
                        _ = state.wait_for(|whole| !*whole) => {}
                    }
                });
            }
        });
        Self { address, connections, whole }
    }

    fn cut(&self) {
        self.whole.send_replace(false);
    }
}
