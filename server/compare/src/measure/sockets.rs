//! Browsers: memory that one takes, and what stays when they have left.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use lockscope_wire::{BoardQuery, View};

use super::socket::{Encoding, Socket};
use super::{Setup, lockscope, zookeeper};
use crate::load::{self, enter};
use crate::process::resident_bytes;
use crate::table::{Goal, Row};

const ROOT: &str = "/sockets";
const LOCKS: usize = 100;
const SOCKETS: usize = 1_000;
const AT_ONCE: usize = 16;
/// Sockets from one address.
const AN_ADDRESS: usize = 32;
/// The goals: KB a socket, and MB that stay.
const BINARY_KB: f64 = 24.0;
const JSON_KB: f64 = 40.0;
const STAY_MB: f64 = 20.0;
/// Until allocators and kernel have settled.
const SETTLED: Duration = Duration::from_secs(3);

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    let server = zookeeper().await;
    let client = load::open(&server.address()).await;
    load::make_locks(&client, ROOT, LOCKS).await;
    for lock in 0..LOCKS {
        enter(&client, &format!("{ROOT}/{lock}")).await;
    }
    let mut rows = Vec::new();
    for (encoding, goal) in Encoding::ALL.into_iter().zip([BINARY_KB, JSON_KB]) {
        let (mut each, mut stay) = (Vec::new(), Vec::new());
        for _ in 0..setup.rounds {
            let lockscope = lockscope(setup, &server.address(), &[ROOT.to_owned()]).await;
            let (pid, url) = (lockscope.pid().unwrap(), lockscope.url());
            // The view is there before the many come.
            let first = Socket::open(&url, View::Board(BoardQuery::default()), encoding).await;
            let before = resident_bytes(pid);
            let opened = (0..SOCKETS).map(|at| {
                let source = Ipv4Addr::new(127, 0, 1, u8::try_from(1 + at / AN_ADDRESS).unwrap());
                Socket::open_from(source, &url, View::Board(BoardQuery::default()), encoding)
            });
            let sockets: Vec<Socket> = stream::iter(opened).buffer_unordered(AT_ONCE).collect().await;
            tokio::time::sleep(SETTLED).await;
            each.push(resident_bytes(pid).saturating_sub(before) as f64 / SOCKETS as f64 / 1_000.0);
            drop((first, sockets));
            tokio::time::sleep(SETTLED).await;
            stay.push(resident_bytes(pid).saturating_sub(before) as f64 / 1e6);
        }
        let what = format!("memory of a socket on a board of {LOCKS}, {SOCKETS} of them, {}", encoding.name());
        rows.push(Row { what, unit: "KB", ours: each, peers: Vec::new(), goal: Goal::Limit(goal) });
        let what = format!("memory that stays when they have left, {}", encoding.name());
        rows.push(Row { what, unit: "MB", ours: stay, peers: Vec::new(), goal: Goal::Limit(STAY_MB) });
    }
    rows
}
