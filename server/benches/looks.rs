//! What a script that asks for much costs others: 80 `GET /api/v1/waits` a second for 20 s on 10,000 locks with 10
//! contenders each, beside a live socket that follows a lock changing hands, page loads and `/healthz`.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

mod shared;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{SinkExt as _, StreamExt as _};
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use lockscope_view::{Body, ClientFrame, CompactFrame, LockQuery, View, decode_frame, encode_frame};
use shared::{Lockscope, WAIT_MAX, contender, directory};
use tokio::net::TcpStream;
use tokio::time::{Instant, interval, sleep, sleep_until, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use zookeeper_client::Client;

const LOCKS: usize = 10_000;
const CONTENDERS: usize = 10;
const SESSIONS: usize = 20;
const ASKED_FOR: Duration = Duration::from_secs(20);
const ASKS_A_SECOND: u32 = 80;
const HAND_OFF_EVERY: Duration = Duration::from_millis(230);
const HANDED: &str = "/locks/handed-over";
const PULSE: Duration = Duration::from_millis(20);
/// The goals: p99 of a hand-off until it is shown, and the longest `/healthz`.
const SHOWN_P99: Duration = Duration::from_millis(300);
const HEALTHZ_MAX: Duration = Duration::from_millis(50);

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(run());
    }
}

async fn run() {
    let server = PrivateZooKeeper::start(ServerOptions { heap_mb: 1_024, ..ServerOptions::default() }).await.unwrap();
    let clients = join_all((0..SESSIONS).map(|_| open(server.address()))).await;
    clients[0].create("/locks", b"", &directory()).await.unwrap();
    join_all(clients.iter().enumerate().map(|(at, client)| fill(client, at))).await;
    clients[0].create(HANDED, b"", &directory()).await.unwrap();
    let lockscope = Lockscope::serve(&server.address(), "/locks", Duration::from_millis(100)).await;
    for asks_a_second in [0, ASKS_A_SECOND] {
        measure(&lockscope, &clients[0], asks_a_second).await;
    }
}

async fn measure(lockscope: &Lockscope, client: &Client, asks_a_second: u32) {
    let ends_at = Instant::now() + ASKED_FOR;
    let (answered, refused) = (AtomicU64::new(0), AtomicU64::new(0));
    let asks = async {
        let http = reqwest::Client::new();
        let began = Instant::now();
        let count = asks_a_second * u32::try_from(ASKED_FOR.as_secs()).unwrap();
        join_all((0..count).map(async |at| {
            sleep_until(began + Duration::from_secs(1) * at / asks_a_second).await;
            let answer = http.get(format!("{}/api/v1/waits", lockscope.url)).send().await.unwrap();
            let counter = if answer.status().is_success() { &answered } else { &refused };
            answer.bytes().await.unwrap();
            counter.fetch_add(1, Ordering::Relaxed);
        }))
        .await;
    };
    let pages = slowest(&lockscope.url, "/", Duration::from_secs(1), ends_at);
    let health = slowest(&lockscope.url, "/healthz", PULSE, ends_at);
    let (mut shown, (), page, health) = tokio::join!(hand_offs(&lockscope.url, client, ends_at), asks, pages, health);
    shown.sort();
    let percentile = |percent: usize| shown[(shown.len() * percent / 100).min(shown.len() - 1)];
    let met = |is_met: bool| if is_met { "met" } else { "missed" };
    println!(
        "{asks_a_second} looks a second at the waits of {LOCKS} locks with {CONTENDERS} contenders: {} answered, {} refused; {} hand-offs, all shown, \
         p50 {:.0?}, p99 {:.0?} (at most {SHOWN_P99:?}: {}); slowest page {page:.0?}, slowest /healthz {health:.0?} (at most {HEALTHZ_MAX:?}: {}); {} MB resident",
        answered.into_inner(),
        refused.into_inner(),
        shown.len(),
        percentile(50),
        percentile(99),
        met(percentile(99) <= SHOWN_P99),
        met(health <= HEALTHZ_MAX),
        resident_mb(lockscope),
    );
}

/// Memory that it holds.
fn resident_mb(lockscope: &Lockscope) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", lockscope.child.id().unwrap())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1_000
}

/// The first of a queue goes, again and again; how long each time until the next one is shown to hold.
async fn hand_offs(url: &str, client: &Client, ends_at: Instant) -> Vec<Duration> {
    let mut queue = vec![enter(client, HANDED).await];
    let mut socket = follow(url).await;
    let mut body = None;
    until_holds(&mut socket, &mut body, &queue[0]).await;
    let mut took = Vec::new();
    let mut pulse = interval(HAND_OFF_EVERY);
    while Instant::now() < ends_at {
        queue.push(enter(client, HANDED).await);
        pulse.tick().await;
        client.delete(&queue.remove(0), None).await.unwrap();
        let gone = Instant::now();
        timeout(WAIT_MAX, until_holds(&mut socket, &mut body, &queue[0])).await.unwrap();
        took.push(gone.elapsed());
    }
    client.delete(&queue[0], None).await.unwrap();
    took
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A live socket that looks at the lock which is handed over.
async fn follow(url: &str) -> Socket {
    let mut request = format!("{}/api/v1/live", url.replace("http", "ws")).into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("lockscope.v1.bin"));
    let (mut socket, _) = connect_async(request).await.unwrap();
    let view = View::Lock(LockQuery { path: HANDED.to_owned(), ..LockQuery::default() });
    socket.send(Message::binary(encode_frame(&ClientFrame::Subscribe { id: 1, view }).unwrap())).await.unwrap();
    socket
}

/// Takes frames until the lock is held by this znode.
async fn until_holds(socket: &mut Socket, body: &mut Option<Body>, path: &str) {
    let node = path.rsplit('/').next().unwrap();
    loop {
        if let Some(Body::Lock(Some(page))) = body
            && page.head.row.holders.iter().any(|holder| holder.node.as_deref() == Some(node))
        {
            return;
        }
        let Message::Binary(bytes) = socket.next().await.unwrap().unwrap() else { continue };
        match decode_frame(&bytes).unwrap() {
            CompactFrame::Snapshot { body: whole, .. } => *body = Some(*whole),
            CompactFrame::Delta { body: delta, .. } => {
                assert!(body.as_mut().unwrap().apply_patch(delta), "a difference leads nowhere")
            }
            _ => {}
        }
    }
}

/// Asks for an address again and again; the longest that an answer took.
async fn slowest(url: &str, path: &str, every: Duration, ends_at: Instant) -> Duration {
    let http = reqwest::Client::new();
    let mut longest = Duration::ZERO;
    while Instant::now() < ends_at {
        let began = Instant::now();
        let answer = http.get(format!("{url}{path}")).send().await.unwrap();
        assert!(answer.status().is_success() && !answer.bytes().await.unwrap().is_empty(), "{path} has no answer");
        longest = longest.max(began.elapsed());
        sleep(every).await;
    }
    longest
}

async fn open(address: String) -> Client {
    Client::connector().with_session_timeout(Duration::from_secs(10)).connect(&address).await.unwrap()
}

async fn enter(client: &Client, lock: &str) -> String {
    let prefix = format!("{lock}/_c_6f1e2d3c-0000-4a4a-8b8b-000000000000-lock-");
    let (_, number) = client.create(&prefix, b"10.1.2.3", &contender()).await.unwrap();
    format!("{prefix}{number}")
}

/// One session's share of the locks: it waits for nobody but itself.
async fn fill(client: &Client, at: usize) {
    for lock in (at..LOCKS).step_by(SESSIONS) {
        let path = format!("/locks/{lock:05}");
        client.create(&path, b"", &directory()).await.unwrap();
        join_all((0..CONTENDERS).map(|_| enter(client, &path))).await;
    }
}
