//! What is measured: each measure makes its own ZooKeeper, runs Lockscope and its peers one after the other in every
//! round, and gives rows.

mod events;
mod evidence;
mod hand_off;
mod history;
mod idle;
mod queue;
mod roots;
mod socket;
mod sockets;
mod sustained;
mod sync;
mod writers;

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use lockscope_campaign::lockscope::Lockscope;
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::table::Row;

const STEP: Duration = Duration::from_millis(20);
const WAIT_MAX: Duration = Duration::from_secs(120);

/// What is run, how often and for how long.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) program: PathBuf,
    pub(crate) rounds: usize,
    pub(crate) lasting: Duration,
    /// Changes a second of loads that go on.
    pub(crate) rates: Vec<u32>,
}

/// One quantity or a few that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measure {
    /// CPU time and requests an event, at three rates.
    Events,
    /// A hand-off, from its acknowledgement to the socket; bytes of it.
    HandOff,
    /// Bytes of a board on which nothing happens.
    Idle,
    /// The first sync of 100,000 lock znodes.
    Sync,
    /// A change among 50,000 contenders, and among 50,000 locks.
    Queue,
    /// 1,000 roots, and 1,000 locks: ready, and back after a cut.
    Roots,
    /// Memory of browsers.
    Sockets,
    /// ZooKeeper's CPU time for the questions to its members.
    Evidence,
    /// What writers get done beside it.
    Writers,
    /// CPU time an event with its recording and without.
    History,
    /// A load that goes on: bytes on disk, what is dropped, memory.
    Sustained,
}

impl Measure {
    pub(crate) const ALL: &[Self] = &[
        Self::Events,
        Self::Writers,
        Self::HandOff,
        Self::Idle,
        Self::Sync,
        Self::Queue,
        Self::Roots,
        Self::Sockets,
        Self::Evidence,
        Self::History,
        Self::Sustained,
    ];

    pub(crate) async fn run(self, setup: &Setup) -> Vec<Row> {
        match self {
            Self::Events => events::run(setup).await,
            Self::HandOff => hand_off::run(setup).await,
            Self::Idle => idle::run(setup).await,
            Self::Sync => sync::run(setup).await,
            Self::Queue => queue::run(setup).await,
            Self::Roots => roots::run(setup).await,
            Self::Sockets => sockets::run(setup).await,
            Self::Evidence => evidence::run(setup).await,
            Self::Writers => writers::run(setup).await,
            Self::History => history::run(setup).await,
            Self::Sustained => sustained::run(setup).await,
        }
    }
}

/// A ZooKeeper of its own, as in FINDINGS' measurements: one server that waits for no disk.
async fn zookeeper() -> PrivateZooKeeper {
    zookeeper_of(1_024).await
}

/// The same with so much memory.
async fn zookeeper_of(heap_mb: u32) -> PrivateZooKeeper {
    let options = ServerOptions {
        heap_mb,
        config: vec![("maxSessionTimeout".to_owned(), "60000".to_owned())],
        java: vec!["-Dzookeeper.forceSync=no".to_owned()],
        ..ServerOptions::default()
    };
    PrivateZooKeeper::start(options).await.unwrap()
}

/// Lockscope on some roots, when it has read them.
async fn lockscope(setup: &Setup, connect: &str, roots: &[String]) -> Lockscope {
    lockscope_with(setup, connect, roots, &[]).await
}

/// The same with more flags.
async fn lockscope_with(setup: &Setup, connect: &str, roots: &[String], flags: &[&str]) -> Lockscope {
    let roots = roots.iter().flat_map(|root| ["--root", root]);
    let args: Vec<String> =
        ["--zk", connect].into_iter().chain(roots).chain(flags.iter().copied()).map(str::to_owned).collect();
    let lockscope = Lockscope::start(&setup.program, &args).await;
    lockscope.until_ready().await;
    lockscope
}

/// The ensemble's part of the status, when it is as wanted.
async fn status_until(lockscope: &Lockscope, done: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + WAIT_MAX;
    loop {
        let answer = lockscope.http.get(format!("{}/api/v1/status", lockscope.url())).send().await.unwrap();
        let status: Value = answer.json().await.unwrap();
        if done(&status["ensembles"][0]) {
            return status["ensembles"][0].clone();
        }
        assert!(Instant::now() < deadline, "lockscope did not get there in time: {status}");
        sleep(STEP).await;
    }
}

/// Requests that a server got so far, by its own count.
async fn packets(server: &PrivateZooKeeper) -> u64 {
    let counters = server.four_letter("mntr").await.unwrap();
    let line = counters.lines().find_map(|line| line.strip_prefix("zk_packets_received")).unwrap();
    line.trim().parse::<f64>().unwrap() as u64
}
