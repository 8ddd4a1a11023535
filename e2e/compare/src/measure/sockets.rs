//! Browsers: memory that one takes, what stays when they have left, and CPU time that a message costs; beside a bare
//! WebSocket server of axum that sends as many of the same size.

use std::net::Ipv4Addr;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use lockscope_view::{BoardQuery, View};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval};
use zookeeper_client::Client;

use super::socket::{Encoding, Socket, connect};
use super::{Setup, lockscope_with, zookeeper};
use crate::load::{self, enter};
use crate::process::{cpu_seconds, resident_bytes};
use crate::table::{Goal, PeerFigures, Row};

const ROOT: &str = "/sockets";
const LOCKS: usize = 100;
/// How many, how they are written to, and the goal in KB for each.
const SOCKETS: [(usize, Encoding, f64); 4] = [
    (200, Encoding::Binary, 24.0),
    (2_000, Encoding::Binary, 24.0),
    (2_000, Encoding::Json, 40.0),
    (MANY, Encoding::Binary, 24.0),
];
/// As many as one process is to carry.
const MANY: usize = 10_000;
const AT_ONCE: usize = 16;
/// Sockets from one address.
const AN_ADDRESS: usize = 32;
/// The goals: MB that stay, and how many times the CPU time of a bare server.
const STAY_MB: f64 = 20.0;
const TIMES: f64 = 1.5;
const BARE: &str = "bare axum";
/// Of a hand-off on a board.
const MESSAGE_BYTES: usize = 100;
const FOR_EVER: Duration = Duration::from_secs(86_400);
/// Until allocators and kernel have settled.
const SETTLED: Duration = Duration::from_secs(3);

/// What so many sockets cost in one round.
struct Cost {
    each_kb: f64,
    stay_mb: f64,
    /// CPU time of a message; not of those in JSON, which a script reads.
    message_us: f64,
}

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    lockscope_runtime::file_descriptors::make_room(2 * MANY as u64).unwrap();
    let server = zookeeper().await;
    let client = load::open(&server.address()).await;
    load::make_locks(&client, ROOT, LOCKS).await;
    for lock in 0..LOCKS {
        enter(&client, &format!("{ROOT}/{lock}")).await;
    }
    let mut rows = Vec::new();
    for (count, encoding, each_kb) in SOCKETS {
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..setup.rounds {
            bare.push(of_bare(setup, count).await);
            ours.push(of_lockscope(setup, &server.address(), &client, count, encoding).await);
        }
        rows.extend(rows_of(&format!("{count} sockets, {}", encoding.name()), &ours, &bare, encoding, each_kb));
    }
    rows
}

fn rows_of(name: &str, ours: &[Cost], bare: &[Cost], encoding: Encoding, each_kb: f64) -> Vec<Row> {
    let row = |what: &str, unit, figure: fn(&Cost) -> f64, goal| Row {
        what: format!("{what}, {name}"),
        unit,
        ours: ours.iter().map(figure).collect(),
        peers: vec![PeerFigures { name: BARE, figures: bare.iter().map(figure).collect(), note: String::new() }],
        goal,
    };
    let mut rows = vec![
        row(&format!("memory of a socket on a board of {LOCKS}"), "KB", |cost| cost.each_kb, Goal::Limit(each_kb)),
        row("memory that stays when all have left", "MB", |cost| cost.stay_mb, Goal::Limit(STAY_MB)),
    ];
    if encoding == Encoding::Binary {
        rows.push(row("CPU time of a message", "µs", |cost| cost.message_us, Goal::Ceiling(TIMES, BARE)));
    }
    rows
}

/// Where the socket of this number comes from.
fn source(at: usize) -> Ipv4Addr {
    let [.., high, low] = (at / AN_ADDRESS + 1).to_be_bytes();
    Ipv4Addr::new(127, 1, high, low)
}

/// Messages a second to each: as many as two cores can send to that many.
fn rate(count: usize) -> f64 {
    (20_000.0 / count as f64).clamp(2.0, 20.0)
}

async fn of_lockscope(setup: &Setup, zk: &str, client: &Client, count: usize, encoding: Encoding) -> Cost {
    let most = (count + 1).to_string();
    let lockscope = lockscope_with(setup, zk, &[ROOT.to_owned()], &["--sockets-max", &most]).await;
    let (pid, url) = (lockscope.pid().unwrap(), lockscope.url());
    // The view is there before the many come.
    let first = Socket::open(&url, View::Board(BoardQuery::default()), encoding).await;
    let before = resident_bytes(pid);
    let counted = Arc::new(AtomicU64::new(0));
    let opened = (0..count).map(|at| Socket::open_from(source(at), &url, View::Board(BoardQuery::default()), encoding));
    // Each is read all the time, as by a browser: one that answers no ping is closed.
    let mut readers = JoinSet::new();
    let mut opened = stream::iter(opened).buffer_unordered(AT_ONCE);
    while let Some(mut socket) = opened.next().await {
        socket.counted = Some(Arc::clone(&counted));
        readers.spawn(async move { socket.take_for(FOR_EVER).await });
    }
    tokio::time::sleep(SETTLED).await;
    assert_eq!(readers.try_join_next().map(|_| ()), None, "a socket was closed");
    let each_kb = resident_bytes(pid).saturating_sub(before) as f64 / count as f64 / 1_000.0;
    let idle = idle_rate(setup, pid).await;
    let (cpu, messages, begin) = (cpu_seconds(pid), counted.load(Ordering::Relaxed), Instant::now());
    let mut pulse = interval(Duration::from_secs_f64(1.0 / rate(count)));
    let lock = format!("{ROOT}/0");
    let mut holder = enter(client, &lock).await;
    while begin.elapsed() < setup.lasting {
        pulse.tick().await;
        let next = enter(client, &lock).await;
        client.delete(&std::mem::replace(&mut holder, next), None).await.unwrap();
    }
    client.delete(&holder, None).await.unwrap();
    tokio::time::sleep(SETTLED).await;
    let spent = cpu_seconds(pid) - cpu - idle * begin.elapsed().as_secs_f64();
    let messages = counted.load(Ordering::Relaxed) - messages;
    drop(first);
    readers.shutdown().await;
    tokio::time::sleep(SETTLED).await;
    let stay_mb = resident_bytes(pid).saturating_sub(before) as f64 / 1e6;
    Cost { each_kb, stay_mb, message_us: spent.max(0.0) * 1e6 / messages.max(1) as f64 }
}

async fn of_bare(setup: &Setup, count: usize) -> Cost {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let command = command.arg("broadcast").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let (pid, mut input) = (child.id().unwrap(), child.stdin.take().unwrap());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = format!("http://{}", lines.next_line().await.unwrap().unwrap());
    let (before, counted) = (resident_bytes(pid), Arc::new(AtomicU64::new(0)));
    let mut readers = JoinSet::new();
    let mut opened = stream::iter((0..count).map(|at| connect(source(at), &url, None))).buffer_unordered(AT_ONCE);
    while let Some(mut socket) = opened.next().await {
        let counted = Arc::clone(&counted);
        readers.spawn(async move {
            while let Some(Ok(_)) = socket.next().await {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    tokio::time::sleep(SETTLED).await;
    let each_kb = resident_bytes(pid).saturating_sub(before) as f64 / count as f64 / 1_000.0;
    let (cpu, begin) = (cpu_seconds(pid), Instant::now());
    let mut pulse = interval(Duration::from_secs_f64(1.0 / rate(count)));
    let line = format!("{}\n", "x".repeat(MESSAGE_BYTES));
    while begin.elapsed() < setup.lasting {
        pulse.tick().await;
        input.write_all(line.as_bytes()).await.unwrap();
    }
    tokio::time::sleep(SETTLED).await;
    let spent = cpu_seconds(pid) - cpu;
    let messages = counted.load(Ordering::Relaxed);
    readers.shutdown().await;
    tokio::time::sleep(SETTLED).await;
    let stay_mb = resident_bytes(pid).saturating_sub(before) as f64 / 1e6;
    Cost { each_kb, stay_mb, message_us: spent * 1e6 / messages.max(1) as f64 }
}

/// CPU time that a process takes a second while nothing happens: heartbeats, above all.
async fn idle_rate(setup: &Setup, pid: u32) -> f64 {
    let (before, begin) = (cpu_seconds(pid), Instant::now());
    tokio::time::sleep(setup.lasting).await;
    (cpu_seconds(pid) - before) / begin.elapsed().as_secs_f64()
}
