//! What a gateway costs: sockets at the replica that watches, then the same sockets spread over two that do not, all of real
//! processes with a real ZooKeeper, in turns. Each socket looks at one lock's page while it changes hands.
//!
//! `GATEWAY_SOCKETS` sockets (1,000), `GATEWAY_HANDOFFS` hand-offs (200) a turn, `GATEWAY_TURNS` turns (3), `GATEWAY_BETWEEN_MS` between two (60 and a tenth
//! of the sockets: each hand-off is to reach everybody before the next). It opens as many files as it may (`ulimit -Hn`). Prints latency from the hand-off's acknowledgement to the frame, memory a socket, CPU a message.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

#[expect(dead_code, reason = "this one starts replicas")]
mod shared;

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use demo::{PrivateZooKeeper, ServerOptions};
use futures_util::{SinkExt as _, StreamExt as _};
use lockscope_wire::{ClientFrame, CompactFrame, LockQuery, SUBPROTOCOL_BIN, View, decode_frame, encode_frame};
use serde_json::Value;
use shared::{WAIT_MAX, contender, directory, line};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use zookeeper_client::Client;

/// Whom a socket is of, as a proxy says.
const USER_HEADER: &str = "x-forwarded-user";
/// Sockets of one user: nobody has more than 16 at a replica.
const SOCKETS_EACH: usize = 8;
const LOCK: &str = "/bench/order";
/// Sockets that are opened at once.
const OPENED_AT_ONCE: usize = 64;

fn main() {
    // `cargo test` only wants to know that it builds.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let most = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, most).unwrap();
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(run());
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A replica, as its users run it.
struct Replica {
    child: Child,
    url: String,
    id: &'static str,
    _place: tempfile::TempDir,
}

impl Replica {
    async fn start(id: &'static str, zk: &str, secret: &str, sockets: usize) -> Self {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("lockscope.toml");
        let text = format!(
            "zk = \"{zk}\"\nlisten = \"127.0.0.1:0\"\nroot = [\"/bench\"]\nevidence = \"off\"\nhistory = \"off\"\nsockets_max = {}\n\
             proxy_header = \"X-Forwarded-User\"\nproxy_addresses = [\"127.0.0.1\"]\nbehind_tls_proxy = \"on\"\n\
             data_dir = {:?}\n[cluster]\nroot = \"/lockscope\"\nallow_open_cluster = true\nid = \"{id}\"\nwatch = \"owned\"\nsecret_file = {secret:?}\n",
            sockets + 16,
            place.path().join("data").display().to_string(),
        );
        std::fs::write(&file, text).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_lockscope"))
            .args(["serve", "--config", &file.display().to_string()])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let url = line(&mut child).await.rsplit(' ').next().unwrap().to_owned();
        Self { child, url, id, _place: place }
    }

    async fn json(&self, path: &str) -> Option<Value> {
        let request = reqwest::Client::new().get(format!("{}{path}", self.url)).header(USER_HEADER, "bench");
        request.send().await.ok()?.json().await.ok()
    }

    async fn owners(&self) -> Option<Vec<String>> {
        let view = self.json("/api/v1/cluster").await?;
        let owners = view["assignments"][0]["owners"].as_array()?;
        Some(owners.iter().filter_map(|owner| owner.as_str().map(str::to_owned)).collect())
    }

    /// CPU seconds (user and system) so far; Linux counts them in hundredths.
    fn cpu(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id().unwrap())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
    }

    /// Resident bytes.
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id().unwrap())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1_024
    }
}

/// What sockets of one turn saw.
struct Sockets {
    tasks: Vec<JoinHandle<()>>,
    seen: Arc<Seen>,
    begun: watch::Sender<Option<Instant>>,
}

#[derive(Default)]
struct Seen {
    frames: AtomicU64,
    messages: AtomicU64,
    took_us: std::sync::Mutex<Vec<u32>>,
}

async fn open(urls: &[&str], count: usize) -> Sockets {
    let (begun, watched) = watch::channel(None::<Instant>);
    let seen = Arc::new(Seen::default());
    let opening = futures_util::stream::iter(0..count).map(|at| {
        let url = format!("{}/api/v1/live", urls[at % urls.len()].replace("http", "ws"));
        let (seen, watched) = (seen.clone(), watched.clone());
        async move {
            let mut request = url.into_client_request().unwrap();
            request.headers_mut().insert("sec-websocket-protocol", SUBPROTOCOL_BIN.parse().unwrap());
            // Nobody has more than so many.
            request.headers_mut().insert(USER_HEADER, format!("user-{}", at / SOCKETS_EACH).parse().unwrap());
            let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
            let view = View::Lock(LockQuery { ensemble: String::new(), path: LOCK.to_owned(), offset: 0, limit: 100 });
            let subscribe = encode_frame(&ClientFrame::Subscribe { id: 1, view }).unwrap();
            socket.send(Message::binary(subscribe)).await.unwrap();
            while let Some(Ok(message)) = socket.next().await {
                if let Message::Binary(bytes) = message
                    && matches!(decode_frame(&bytes), Some(CompactFrame::Snapshot { .. }))
                {
                    break;
                }
            }
            // It reads on by itself.
            let task = tokio::spawn(async move {
                let mut last = None;
                while let Some(Ok(message)) = socket.next().await {
                    let Message::Binary(bytes) = message else { continue };
                    seen.messages.fetch_add(1, Ordering::Relaxed);
                    let is_change = bytes.get(1) == Some(&2);
                    let begun: Option<Instant> = *watched.borrow();
                    // The first change after each hand-off.
                    if let Some(at) = begun.filter(|at| is_change && last != Some(*at)) {
                        last = begun;
                        seen.frames.fetch_add(1, Ordering::Relaxed);
                        let took = u32::try_from(at.elapsed().as_micros()).unwrap_or(u32::MAX);
                        seen.took_us.lock().unwrap().push(took);
                    }
                }
            });
            [task]
        }
    });
    let tasks: Vec<_> = opening.buffer_unordered(OPENED_AT_ONCE).collect().await;
    let tasks = tasks.into_iter().flatten().collect();
    Sockets { tasks, seen, begun }
}

/// Figures of one turn.
struct Figures {
    p50_us: u32,
    p99_us: u32,
    lost: usize,
    bytes_a_socket: u64,
    cpu_us_a_message: f64,
}

/// One turn: sockets at these replicas while the lock changes hands.
async fn turn(client: &Client, replicas: &[&Replica], count: usize, hand_offs: usize) -> Figures {
    // Each hand-off is to be a frame of its own, that comes before the next.
    let between = Duration::from_millis(number("GATEWAY_BETWEEN_MS", 60 + count / 10) as u64);
    let memory = || replicas.iter().map(|replica| replica.memory()).sum::<u64>();
    let cpu = || replicas.iter().map(|replica| replica.cpu()).sum::<f64>();
    let before = memory();
    let urls: Vec<&str> = replicas.iter().map(|replica| &*replica.url).collect();
    let sockets = open(&urls, count).await;
    let bytes_a_socket = memory().saturating_sub(before) / count.max(1) as u64;
    let cpu_before = cpu();
    let mut queue = Vec::new();
    for _ in 0..3 {
        queue.push(enqueue(client).await);
    }
    tokio::time::sleep(between * 5).await;
    sockets.seen.messages.store(0, Ordering::Relaxed);
    for _ in 0..hand_offs {
        sockets.begun.send_replace(Some(Instant::now()));
        client.delete(&queue.remove(0), None).await.unwrap();
        tokio::time::sleep(between).await;
        // No hand-off: who comes last changes nothing of who holds, and is not timed.
        sockets.begun.send_replace(None);
        queue.push(enqueue(client).await);
        tokio::time::sleep(between).await;
    }
    let cpu_us = (cpu() - cpu_before) * 1e6;
    for path in queue {
        client.delete(&path, None).await.unwrap();
    }
    sockets.tasks.iter().for_each(JoinHandle::abort);
    let mut took = std::mem::take(&mut *sockets.seen.took_us.lock().unwrap());
    took.sort_unstable();
    let at =
        |percent: usize| took.get((took.len() * percent / 100).min(took.len().saturating_sub(1))).copied().unwrap_or(0);
    let messages = sockets.seen.messages.load(Ordering::Relaxed).max(1);
    Figures {
        p50_us: at(50),
        p99_us: at(99),
        lost: (count * hand_offs).saturating_sub(took.len()),
        bytes_a_socket,
        cpu_us_a_message: cpu_us / messages as f64,
    }
}

async fn enqueue(client: &Client) -> String {
    let prefix = format!("{LOCK}/lock-");
    let (_, sequence) = client.create(&prefix, b"w", &contender()).await.unwrap();
    format!("{prefix}{sequence}")
}

async fn run() {
    let (count, hand_offs, turns) =
        (number("GATEWAY_SOCKETS", 1_000), number("GATEWAY_HANDOFFS", 200), number("GATEWAY_TURNS", 3));
    let zookeeper = PrivateZooKeeper::start(ServerOptions::default()).await.unwrap();
    let address = zookeeper.address();
    let client = Client::connect(&address).await.unwrap();
    for path in ["/bench", LOCK] {
        client.create(path, b"", &directory()).await.unwrap();
    }
    let _stays = enqueue(&client).await;
    let place = tempfile::tempdir().unwrap();
    let secret = place.path().join("secret");
    std::fs::write(&secret, "0123456789abcdef0123456789abcdef").unwrap();
    let secret = secret.display().to_string();
    let mut replicas = Vec::new();
    for id in ["a", "b", "c", "d"] {
        replicas.push(Replica::start(id, &address, &secret, count).await);
    }
    // Two own it, and two are gateways, once who is new counts.
    let begin = Instant::now();
    let mut same_since = Instant::now();
    let mut owners = None;
    while same_since.elapsed() < Duration::from_secs(12) {
        assert!(begin.elapsed() < WAIT_MAX, "no two owners: {owners:?}");
        let mut told = Vec::new();
        for replica in &replicas {
            told.push(replica.owners().await);
        }
        let is_same = told.iter().all(|one| *one == told[0] && one.as_ref().is_some_and(|owners| owners.len() == 2));
        if !is_same || owners != told[0] {
            same_since = Instant::now();
        }
        owners = told.swap_remove(0);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let owners = owners.unwrap();
    let (owning, gateways): (Vec<&Replica>, Vec<&Replica>) =
        replicas.iter().partition(|replica| owners.iter().any(|id| id == replica.id));
    let direct: Vec<&Replica> = owning.into_iter().take(1).collect();
    println!("{count} sockets, {hand_offs} hand-offs a turn; at the owner, then over two gateways, in turns");
    for turn_number in 1..=turns {
        let ours = turn(&client, &direct, count, hand_offs).await;
        let theirs = turn(&client, &gateways, count, hand_offs).await;
        for (name, figures) in [("direct  ", &ours), ("gateways", &theirs)] {
            println!(
                "{turn_number} {name} p50 {:.2} ms, p99 {:.2} ms, {} frames lost, {} bytes a socket, {:.1} µs of CPU a message",
                f64::from(figures.p50_us) / 1e3,
                f64::from(figures.p99_us) / 1e3,
                figures.lost,
                figures.bytes_a_socket,
                figures.cpu_us_a_message,
            );
        }
        println!("{turn_number} ratio    p99 {:.2}", f64::from(theirs.p99_us) / f64::from(ours.p99_us.max(1)));
    }
}
