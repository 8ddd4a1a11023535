//! Browsers: memory that one takes, and what stays when they have left.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use lockscope_wire::{BoardQuery, View};
use tokio::task::JoinSet;

use super::socket::{Encoding, Socket};
use super::{Setup, lockscope_with, zookeeper};
use crate::load::{self, enter};
use crate::process::resident_bytes;
use crate::table::{Goal, Row};

const ROOT: &str = "/sockets";
const LOCKS: usize = 100;
const SOCKETS: usize = 1_000;
/// As many as one process is to carry.
const MANY: usize = 10_000;
const AT_ONCE: usize = 16;
/// Sockets from one address.
const AN_ADDRESS: usize = 32;
/// The goals: KB a socket, and MB that stay.
const BINARY_KB: f64 = 24.0;
const JSON_KB: f64 = 40.0;
const STAY_MB: f64 = 20.0;
const FOR_EVER: Duration = Duration::from_secs(86_400);
/// Until allocators and kernel have settled.
const SETTLED: Duration = Duration::from_secs(3);

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    runtime::file_descriptors::make_room(2 * MANY as u64).unwrap();
    let server = zookeeper().await;
    let client = load::open(&server.address()).await;
    load::make_locks(&client, ROOT, LOCKS).await;
    for lock in 0..LOCKS {
        enter(&client, &format!("{ROOT}/{lock}")).await;
    }
    let mut rows = Vec::new();
    let all = [
        (Encoding::Binary, SOCKETS, BINARY_KB),
        (Encoding::Json, SOCKETS, JSON_KB),
        (Encoding::Binary, MANY, BINARY_KB),
    ];
    for (encoding, count, goal) in all {
        let (mut each, mut stay) = (Vec::new(), Vec::new());
        for _ in 0..setup.rounds {
            let most = (count + 1).to_string();
            let flags = ["--sockets-max", &most];
            let lockscope = lockscope_with(setup, &server.address(), &[ROOT.to_owned()], &flags).await;
            let (pid, url) = (lockscope.pid().unwrap(), lockscope.url());
            // The view is there before the many come.
            let first = Socket::open(&url, View::Board(BoardQuery::default()), encoding).await;
            let before = resident_bytes(pid);
            let opened = (0..count).map(|at| {
                let [.., high, low] = (at / AN_ADDRESS + 1).to_be_bytes();
                let source = Ipv4Addr::new(127, 1, high, low);
                Socket::open_from(source, &url, View::Board(BoardQuery::default()), encoding)
            });
            // Each is read all the time, as by a browser: one that answers no ping is closed.
            let mut readers = JoinSet::new();
            let mut opened = stream::iter(opened).buffer_unordered(AT_ONCE);
            while let Some(mut socket) = opened.next().await {
                readers.spawn(async move { socket.take_for(FOR_EVER).await });
            }
            tokio::time::sleep(SETTLED).await;
            assert_eq!(readers.try_join_next().map(|_| ()), None, "a socket was closed");
            each.push(resident_bytes(pid).saturating_sub(before) as f64 / count as f64 / 1_000.0);
            drop(first);
            readers.shutdown().await;
            tokio::time::sleep(SETTLED).await;
            stay.push(resident_bytes(pid).saturating_sub(before) as f64 / 1e6);
        }
        let what = format!("memory of a socket on a board of {LOCKS}, {count} of them, {}", encoding.name());
        rows.push(Row { what, unit: "KB", ours: each, peers: Vec::new(), goal: Goal::Limit(goal) });
        let what = format!("memory that stays when {count} have left, {}", encoding.name());
        rows.push(Row { what, unit: "MB", ours: stay, peers: Vec::new(), goal: Goal::Limit(STAY_MB) });
    }
    rows
}
