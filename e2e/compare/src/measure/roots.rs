//! Many roots, and many locks in one: ready after the start, and exact again after a cut in which nothing changed.

use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};
use lockscope_campaign::lockscope::Lockscope;
use lockscope_campaign::relay::{Grants, Link, Relay};
use lockscope_demo::PrivateZooKeeper;
use serde_json::Value;
use tokio::time::{Instant, sleep};
use zookeeper_client::Client;

use super::{Setup, packets, status_until, zookeeper};
use crate::load::{self, enter};
use crate::table::{Goal, Row};

/// Roots, and locks in one root; contenders in each.
const MANY: usize = 1_000;
const CONTENDERS: usize = 10;
/// Sessions that own them: each contends in many roots.
const SESSIONS: usize = 50;
const UNDER_WAY: usize = 256;
/// Long enough that every socket has broken, and shorter than the session.
const CUT: Duration = Duration::from_secs(2);
/// The goals.
const READY_S: f64 = 1.5;
const BACK_MS: f64 = 150.0;
const BACK_ONE_ROOT_MS: f64 = 100.0;
const REQUESTS: f64 = 30.0;

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    let server = zookeeper().await;
    let _clients = fill(&server.address()).await;
    let all: Vec<String> = (0..MANY).map(|at| format!("/roots/{at}")).collect();
    let mut rows = Vec::new();
    for (roots, what, back_ms) in [
        (all, format!("{MANY} roots"), BACK_MS),
        (vec!["/roots".to_owned()], format!("{MANY} locks in one root"), BACK_ONE_ROOT_MS),
    ] {
        let (mut ready, mut back, mut requests) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..setup.rounds {
            let one = round(setup, &server, &roots).await;
            ready.push(one.ready_s);
            back.push(one.back_ms);
            requests.push(one.requests);
        }
        let row =
            |what: String, unit, ours, limit| Row { what, unit, ours, peers: Vec::new(), goal: Goal::Limit(limit) };
        rows.push(row(format!("{what} x {CONTENDERS}: ready, with the start"), "s", ready, READY_S));
        rows.push(row(
            format!("{what} x {CONTENDERS}: exact again after a cut, from the open line"),
            "ms",
            back,
            back_ms,
        ));
        rows.push(row(format!("{what} x {CONTENDERS}: requests for that"), "", requests, REQUESTS));
    }
    rows
}

/// Makes them; gives the clients whose they are.
async fn fill(connect: &str) -> Vec<Client> {
    let clients = join_all((0..SESSIONS).map(|_| load::open(connect))).await;
    let client = &clients[0];
    client.create("/roots", b"", &load::directory()).await.unwrap();
    let own = |at: usize, number: usize| &clients[number * (SESSIONS / CONTENDERS) + at % (SESSIONS / CONTENDERS)];
    let places = (0..MANY).map(|at| async move {
        let root = format!("/roots/{at}");
        client.create(&root, b"", &load::directory()).await.unwrap();
        for number in 0..CONTENDERS {
            enter(own(at, number), &root).await;
        }
    });
    stream::iter(places).buffer_unordered(UNDER_WAY).collect::<Vec<()>>().await;
    clients
}

struct Round {
    ready_s: f64,
    back_ms: f64,
    requests: f64,
}

async fn round(setup: &Setup, server: &PrivateZooKeeper, roots: &[String]) -> Round {
    let relay = Relay::start(server.address(), Grants::default()).await;
    let mut args = vec!["--zk".to_owned(), relay.address(), "--evidence".to_owned(), "off".to_owned()];
    args.extend(roots.iter().flat_map(|root| ["--root".to_owned(), root.clone()]));
    let begin = Instant::now();
    let lockscope = Lockscope::start(&setup.program, &args).await;
    lockscope.until_ready().await;
    let ready_s = begin.elapsed().as_secs_f64();
    relay.set(Link::CUT);
    status_until(&lockscope, |status| status["link"] != "live").await;
    sleep(CUT).await;
    let before = packets(server).await;
    relay.set(Link::OPEN);
    let begin = Instant::now();
    status_until(&lockscope, is_live).await;
    let back_ms = begin.elapsed().as_secs_f64() * 1_000.0;
    Round { ready_s, back_ms, requests: packets(server).await.saturating_sub(before) as f64 }
}

/// The link and every root are live.
fn is_live(status: &Value) -> bool {
    let are_live = status["roots"].as_array().is_some_and(|roots| roots.iter().all(|root| root["state"] == "live"));
    status["link"] == "live" && are_live
}
