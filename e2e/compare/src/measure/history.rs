//! What recording costs: CPU time an event with it and without it, in turn in every round, beside a bare watcher.

use super::events::{Who, cost};
use super::{Setup, zookeeper};
use crate::load::{self, Rate};
use crate::peer::Peer;
use crate::table::{Goal, PeerFigures, Row};

const LOCKS: usize = 16;
const RATES: [Rate; 3] = [Rate::ASecond(1_000), Rate::ASecond(5_000), Rate::Most];
const PEERS: [Peer; 2] = [Peer::Bare, Peer::BareRead];
const WITHOUT: &str = "without history";
/// The goals: how many times the CPU time of a bare watcher that reads, and how many microseconds more than without.
const TIMES: f64 = 1.8;
const MORE_US: f64 = 3.0;

/// CPU time an event, in microseconds, one a round.
#[derive(Default)]
struct Figures {
    with: Vec<f64>,
    without: Vec<f64>,
    /// With less without, of rounds that have both.
    more: Vec<f64>,
    peers: [Vec<f64>; PEERS.len()],
}

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    let server = zookeeper().await;
    let client = load::open(&server.address()).await;
    let (mut rows, mut number) = (Vec::new(), 0);
    for rate in RATES {
        let mut figures = Figures::default();
        for round in 0..setup.rounds {
            let directory = tempfile::tempdir().unwrap();
            let recording = Who::Recording(directory.path().to_str().unwrap());
            let mut all = vec![Who::Lockscope, recording];
            // What a machine does more slowly by and by is nobody's.
            if round % 2 == 1 {
                all.reverse();
            }
            all.extend(PEERS.map(Who::Peer));
            let (mut with, mut without) = (None, None);
            for who in all {
                number += 1;
                let root = format!("/history-{number}");
                load::make_locks(&client, &root, LOCKS).await;
                let cpu_us = cost(setup, &server, &root, who, rate).await.map(|cost| cost.cpu_us);
                match who {
                    Who::Lockscope => without = cpu_us,
                    Who::Recording(_) => with = cpu_us,
                    Who::Peer(peer) => {
                        let at = PEERS.iter().position(|one| *one == peer).unwrap();
                        figures.peers[at].extend(cpu_us);
                    }
                }
            }
            figures.more.extend(with.zip(without).map(|(with, without)| with - without));
            figures.with.extend(with);
            figures.without.extend(without);
        }
        rows.extend(figures.rows(rate));
    }
    rows
}

impl Figures {
    fn rows(self, rate: Rate) -> [Row; 2] {
        let Self { with, without, more, peers } = self;
        let peer = |name, figures| PeerFigures { name, figures, note: String::new() };
        let beside = PEERS.into_iter().map(Peer::name).zip(peers);
        let peers = [(WITHOUT, without)].into_iter().chain(beside).map(|(name, figures)| peer(name, figures)).collect();
        let goal = Goal::Ceiling(TIMES, Peer::BareRead.name());
        let name = rate.name();
        [
            Row { what: format!("CPU time an event with history, {name}"), unit: "µs", ours: with, peers, goal },
            Row {
                what: format!("CPU time an event that history costs, {name}"),
                unit: "µs",
                ours: more,
                peers: Vec::new(),
                goal: Goal::Limit(MORE_US),
            },
        ]
    }
}
