//! CPU time and requests that an event costs whoever watches, at everyday rates, at most, and where Curator contends.
//! Each alone with the same load, all of them in turn in every round.

use std::collections::HashMap;

use lockscope_campaign::lockscope::Lockscope;
use lockscope_demo::PrivateZooKeeper;

use super::{Setup, lockscope, lockscope_with, status_until, zookeeper};
use crate::load::{self, Rate};
use crate::peer::{Peer, Watcher};
use crate::process::cpu_seconds;
use crate::table::{Goal, PeerFigures, Row};

const LOCKS: usize = 16;
const RATES: [Rate; 4] = [Rate::ASecond(1_000), Rate::ASecond(5_000), Rate::Most, Rate::Curator(1_000)];
/// The goals: how many times a bare watcher's CPU time, and how many requests a change.
const TIMES: f64 = 1.5;

fn requests_goal(rate: Rate) -> f64 {
    if rate == Rate::Most { 0.02 } else { 0.2 }
}

/// What one watcher used in one round.
pub(super) struct Cost {
    pub(super) cpu_us: f64,
    requests: f64,
    /// Of the changes there were, in percent.
    seen: f64,
}

/// Who watches.
#[derive(Clone, Copy)]
pub(super) enum Who<'a> {
    Lockscope,
    /// The same, and it records what it sees in this directory.
    Recording(&'a str),
    Peer(Peer),
}

/// Lockscope or a peer, while it watches.
enum Watching {
    Lockscope(Box<Lockscope>),
    Peer(Box<Watcher>),
}

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    let server = zookeeper().await;
    let client = load::open(&server.address()).await;
    let mut rows = Vec::new();
    let mut number = 0;
    for rate in RATES {
        let mut ours = Vec::new();
        let mut peers: Vec<(Peer, Vec<Cost>)> = Peer::ALL.iter().map(|peer| (*peer, Vec::new())).collect();
        for _ in 0..setup.rounds {
            let mut all: Vec<(Who<'_>, &mut Vec<Cost>)> = vec![(Who::Lockscope, &mut ours)];
            all.extend(peers.iter_mut().map(|(peer, costs)| (Who::Peer(*peer), costs)));
            for (who, costs) in all {
                number += 1;
                let root = format!("/events-{number}");
                load::make_locks(&client, &root, LOCKS).await;
                costs.extend(cost(setup, &server, &root, who, rate).await);
            }
        }
        rows.extend(rows_of(rate, &ours, &peers));
    }
    rows
}

/// What it costs somebody to watch a load; None when they did not get to its end.
pub(super) async fn cost(
    setup: &Setup,
    server: &PrivateZooKeeper,
    root: &str,
    who: Who<'_>,
    rate: Rate,
) -> Option<Cost> {
    let connect = server.address();
    let roots = [root.to_owned()];
    let mut watching = match who {
        Who::Peer(peer) => Watching::Peer(Box::new(Watcher::start(peer, &connect, root).await)),
        Who::Lockscope => Watching::Lockscope(Box::new(lockscope(setup, &connect, &roots).await)),
        Who::Recording(directory) => {
            let flags = ["--data-dir", directory];
            Watching::Lockscope(Box::new(lockscope_with(setup, &connect, &roots, &flags).await))
        }
    };
    let pid = match &watching {
        Watching::Lockscope(lockscope) => lockscope.pid().unwrap(),
        Watching::Peer(watcher) => watcher.pid(),
    };
    let (cpu, before) = (cpu_seconds(pid), requests_by_connection(server).await);
    let done = load::run(&connect, root, LOCKS, rate, setup.lasting).await;
    let seen = match &mut watching {
        Watching::Lockscope(lockscope) => {
            let status = status_until(lockscope, |status| status["events"].as_u64() >= Some(done.changes)).await;
            status["events"].as_u64()?
        }
        Watching::Peer(watcher) => watcher.seen().await?,
    };
    let changes = done.changes as f64;
    // The connections of the load are younger.
    let after = requests_by_connection(server).await;
    let requests: u64 = before.iter().map(|(peer, before)| after.get(peer).unwrap_or(before) - before).sum();
    Some(Cost {
        cpu_us: (cpu_seconds(pid) - cpu) * 1e6 / changes,
        requests: requests as f64 / changes,
        seen: 100.0 * seen as f64 / changes,
    })
}

/// How many requests came over each connection, by its client's address.
async fn requests_by_connection(server: &PrivateZooKeeper) -> HashMap<String, u64> {
    let table = server.four_letter("cons").await.unwrap();
    let one = |line: &str| {
        let (peer, rest) = line.trim().split_once('[')?;
        let (_, received) = rest.split_once("recved=")?;
        Some((peer.to_owned(), received.split(',').next()?.parse().ok()?))
    };
    table.lines().filter_map(one).collect()
}

fn rows_of(rate: Rate, ours: &[Cost], peers: &[(Peer, Vec<Cost>)]) -> Vec<Row> {
    let row = |what: &str, unit, figure: fn(&Cost) -> f64, goal| Row {
        what: format!("{what}, {}", rate.name()),
        unit,
        ours: ours.iter().map(figure).collect(),
        peers: peers
            .iter()
            .map(|(peer, costs)| {
                let least = costs.iter().map(|cost| cost.seen).fold(100.0, f64::min);
                let note = if least < 100.0 { format!("saw {least:.0} %") } else { String::new() };
                PeerFigures { name: peer.name(), figures: costs.iter().map(figure).collect(), note }
            })
            .collect(),
        goal,
    };
    let cpu = row("CPU time an event", "µs", |cost| cost.cpu_us, Goal::Ceiling(TIMES, Peer::BareRead.name()));
    let requests = row("requests a change", "", |cost| cost.requests, Goal::Limit(requests_goal(rate)));
    vec![cpu, requests]
}
