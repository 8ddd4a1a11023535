//! The first sync of 100,000 lock znodes in 1,000 locks, by how many sessions own them; beside a walk that lists every
//! lock and reads nothing.

use futures_util::stream::{self, StreamExt as _};
use tokio::time::Instant;
use zookeeper_client::Client;

use super::{Setup, zookeeper};
use crate::load::{self, enter};
use crate::table::{Goal, PeerFigures, Row};
use campaign::lockscope::Lockscope;

const ROOT: &str = "/sync";
const LOCKS: usize = 1_000;
const CONTENDERS: usize = 100;
const SESSIONS: [usize; 3] = [1, 200, 1_000];
const UNDER_WAY: usize = 256;
const SECONDS_MAX: f64 = 0.6;

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    let mut rows = Vec::new();
    for sessions in SESSIONS {
        let server = zookeeper().await;
        let connect = server.address();
        let owners = fill(&connect, sessions).await;
        let (mut ours, mut walks) = (Vec::new(), Vec::new());
        for _ in 0..setup.rounds {
            walks.push(walk(&connect).await);
            let args = ["--zk", &connect, "--root", ROOT].map(str::to_owned);
            let begin = Instant::now();
            let lockscope = Lockscope::start(&setup.program, &args).await;
            lockscope.until_ready().await;
            ours.push(begin.elapsed().as_secs_f64());
        }
        drop(owners);
        let what = format!(
            "first sync of {} znodes in {LOCKS} locks, {sessions} sessions, with the start",
            LOCKS * CONTENDERS
        );
        let peers = vec![PeerFigures { name: "walk", figures: walks, note: "lists only".to_owned() }];
        rows.push(Row { what, unit: "s", ours, peers, goal: Goal::Limit(SECONDS_MAX) });
    }
    rows
}

async fn fill(connect: &str, sessions: usize) -> Vec<Client> {
    let mut owners = Vec::new();
    for _ in 0..sessions {
        owners.push(load::open(connect).await);
    }
    load::make_locks(&owners[0], ROOT, LOCKS).await;
    let places = (0..LOCKS * CONTENDERS).map(|at| {
        let (owner, lock) = (owners[at % sessions].clone(), format!("{ROOT}/{}", at % LOCKS));
        async move { drop(enter(&owner, &lock).await) }
    });
    stream::iter(places).buffer_unordered(UNDER_WAY).collect::<Vec<()>>().await;
    owners
}

/// Seconds from connecting until every lock is listed.
async fn walk(connect: &str) -> f64 {
    let begin = Instant::now();
    let client = load::open(connect).await;
    let locks = client.list_children(ROOT).await.unwrap();
    let lists = locks.iter().map(|lock| {
        let (client, path) = (client.clone(), format!("{ROOT}/{lock}"));
        async move { client.list_children(&path).await.unwrap().len() }
    });
    let counts: Vec<usize> = stream::iter(lists).buffer_unordered(UNDER_WAY).collect().await;
    assert_eq!(counts.iter().sum::<usize>(), LOCKS * CONTENDERS);
    begin.elapsed().as_secs_f64()
}
