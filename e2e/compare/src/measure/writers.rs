//! What ZooKeeper's writers get done beside whoever watches: all on two cores, and with ZooKeeper on a core of its own,
//! where only its own work for the watcher can hold them up.

use std::process::Command;

use lockscope_demo::PrivateZooKeeper;

use super::{Setup, lockscope, zookeeper};
use crate::load::{self, Rate};
use crate::peer::{Peer, Watcher};
use crate::process::java;
use crate::table::{Goal, PeerFigures, Row};

const LOCKS: usize = 16;
const NOBODY: &str = "nobody";
const PEERS: [Peer; 2] = [Peer::Bare, Peer::BareRead];
/// The goals: of the rate without any watcher, and of that beside a bare one.
const OF_NOBODY: f64 = 0.85;
const OF_BARE: f64 = 0.98;

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    let server = zookeeper().await;
    let both = figures(setup, &server, "both").await;
    pin(java(&server.folder().to_string_lossy()).unwrap(), "0");
    pin(std::process::id(), "1");
    let apart = figures(setup, &server, "apart").await;
    pin(std::process::id(), "0,1");
    vec![
        row("all on two cores", both, Goal::Floor(OF_NOBODY, NOBODY)),
        row("ZooKeeper on a core of its own", apart, Goal::Floor(OF_BARE, Peer::Bare.name())),
    ]
}

fn row(what: &str, (ours, peers): (Vec<f64>, Vec<PeerFigures>), goal: Goal) -> Row {
    Row { what: format!("changes that writers get done beside it, {what}"), unit: "/s", ours, peers, goal }
}

async fn figures(setup: &Setup, server: &PrivateZooKeeper, name: &str) -> (Vec<f64>, Vec<PeerFigures>) {
    let connect = server.address();
    let client = load::open(&connect).await;
    let mut ours = Vec::new();
    let names = [NOBODY].into_iter().chain(PEERS.map(Peer::name));
    let mut peers: Vec<PeerFigures> =
        names.map(|name| PeerFigures { name, figures: Vec::new(), note: String::new() }).collect();
    for round in 0..setup.rounds {
        let root = |who: &str| format!("/writers-{name}-{round}-{who}");
        for (figures, peer) in peers.iter_mut().zip([None].into_iter().chain(PEERS.map(Some))) {
            let root = root(figures.name);
            load::make_locks(&client, &root, LOCKS).await;
            let watching = match peer {
                Some(peer) => Some(Watcher::start(peer, &connect, &root).await),
                None => None,
            };
            figures.figures.push(rate(setup, &connect, &root).await);
            drop(watching);
        }
        let root = root("lockscope");
        load::make_locks(&client, &root, LOCKS).await;
        let watching = lockscope(setup, &connect, std::slice::from_ref(&root)).await;
        ours.push(rate(setup, &connect, &root).await);
        drop(watching);
    }
    (ours, peers)
}

async fn rate(setup: &Setup, connect: &str, root: &str) -> f64 {
    let done = load::run(connect, root, LOCKS, Rate::Most, setup.lasting).await;
    done.changes as f64 / done.took.as_secs_f64()
}

/// Lets all threads of a process run on these cores only; what it starts from then on inherits that.
fn pin(pid: u32, cores: &str) {
    let output = Command::new("taskset").args(["-a", "-c", "-p", cores, &pid.to_string()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
