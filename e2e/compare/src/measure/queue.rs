//! What a change costs where there is much beside it: one lock of 50,000 contenders, and 50,000 locks of one znode;
//! beside the same change where there is little.

use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use lockscope_campaign::lockscope::Lockscope;
use lockscope_view::{LockQuery, View};
use tokio::time::{Instant, interval};
use zookeeper_client::{Acls, Client, CreateMode};

use super::socket::{Encoding, Socket};
use super::{Setup, lockscope, status_until, zookeeper};
use crate::load::{self, enter};
use crate::peer::{Peer, Watcher};
use crate::process::cpu_seconds;
use crate::table::{Goal, PeerFigures, Row};

const MANY: usize = 50_000;
const FEW: usize = 5;
const UNDER_WAY: usize = 256;
/// Creations and deletions that are counted, and how far apart.
const CHANGES: u32 = 1_000;
const EVERY: Duration = Duration::from_millis(4);
/// Until what the first sync leaves behind is done.
const SETTLED: Duration = Duration::from_secs(3);
/// The goals: µs of CPU time a change, and seconds to be ready.
const QUEUE_US: f64 = 100.0;
const SINGLE_US: f64 = 60.0;
const SINGLE_READY_S: f64 = 0.5;

/// Who watches a few beside it.
const PEERS: [Peer; 2] = [Peer::RawRead, Peer::BareRead];

/// How the znodes lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One queue.
    Queue,
    /// As many locks of one znode, in one directory.
    Single,
}

pub(super) async fn run(setup: &Setup) -> Vec<Row> {
    let server = zookeeper().await;
    let client = load::open(&server.address()).await;
    let connect = server.address();
    let mut rows = Vec::new();
    for form in [Form::Queue, Form::Single] {
        for count in [FEW, MANY] {
            let root = format!("/{form:?}-{count}").to_lowercase();
            fill(&client, form, &root, count).await;
        }
        let [few, many] = [FEW, MANY].map(|count| format!("/{form:?}-{count}").to_lowercase());
        let (mut ready, mut alone, mut viewed, mut small) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut peers = PEERS.map(|peer| (peer, Vec::new()));
        for _ in 0..setup.rounds {
            let begin = Instant::now();
            let lockscope = lockscope(setup, &connect, std::slice::from_ref(&many)).await;
            ready.push(begin.elapsed().as_secs_f64());
            alone.push(change_us(&lockscope, &client, form, &many).await);
            if form == Form::Queue {
                let view = View::Lock(LockQuery { path: format!("{many}/lock"), ..LockQuery::default() });
                let mut socket = Socket::open(&lockscope.url(), view, Encoding::Binary).await;
                let watched = tokio::spawn(async move { socket.take_for(Duration::from_secs(3_600)).await });
                viewed.push(change_us(&lockscope, &client, form, &many).await);
                watched.abort();
            }
            drop(lockscope);
            let lockscope = super::lockscope(setup, &connect, std::slice::from_ref(&few)).await;
            small.push(change_us(&lockscope, &client, form, &few).await);
            drop(lockscope);
            for (peer, figures) in &mut peers {
                let watcher = Watcher::start(*peer, &connect, &few).await;
                figures.push(peer_us(watcher.pid(), &client, form, &few).await);
            }
        }
        let (what, limit) = match form {
            Form::Queue => (format!("a lock of {MANY}"), QUEUE_US),
            Form::Single => (format!("{MANY} locks of one znode"), SINGLE_US),
        };
        let row = |what: String, ours: Vec<f64>| {
            let small = ("Lockscope with 5", small.clone());
            let peers = peers.iter().map(|(peer, figures)| (peer.name(), figures.clone()));
            let figures = |(name, figures)| PeerFigures { name, figures, note: String::new() };
            let peers = [small].into_iter().chain(peers).map(figures).collect();
            Row { what, unit: "µs of CPU", ours, peers, goal: Goal::Limit(limit) }
        };
        rows.push(row(format!("{what}: a change"), alone));
        match form {
            Form::Queue => rows.push(row(format!("{what}: a change, its page open"), viewed)),
            Form::Single => {
                let what = format!("{what}: ready, with the start");
                rows.push(Row { what, unit: "s", ours: ready, peers: Vec::new(), goal: Goal::Limit(SINGLE_READY_S) });
            }
        }
    }
    rows
}

async fn fill(client: &Client, form: Form, root: &str, count: usize) {
    client.create(root, b"", &load::directory()).await.unwrap();
    if form == Form::Queue {
        client.create(&format!("{root}/lock"), b"", &load::directory()).await.unwrap();
    }
    let places = (0..count).map(|at| async move {
        match form {
            Form::Queue => drop(enter(client, &format!("{root}/lock")).await),
            Form::Single => single(client, &format!("{root}/lock-of-{at}")).await,
        }
    });
    stream::iter(places).buffer_unordered(UNDER_WAY).collect::<Vec<()>>().await;
}

async fn single(client: &Client, path: &str) {
    client.create(path, b"10.1.2.3", &CreateMode::Ephemeral.with_acls(Acls::anyone_all())).await.unwrap();
}

/// CPU time that one creation or deletion costs at an everyday rate, in microseconds, what runs anyway deducted.
async fn change_us(lockscope: &Lockscope, client: &Client, form: Form, root: &str) -> f64 {
    let pid = lockscope.pid().unwrap();
    let idle = idle_seconds(pid).await;
    let events = |status: &serde_json::Value| status["events"].as_u64();
    let before = events(&status_until(lockscope, |status| events(status).is_some()).await).unwrap();
    let cpu = cpu_seconds(pid);
    change(client, form, root).await;
    status_until(lockscope, |status| events(status) >= Some(before + u64::from(CHANGES))).await;
    (cpu_seconds(pid) - cpu - idle).max(0.0) * 1e6 / f64::from(CHANGES)
}

/// The same of a peer, beside a few.
async fn peer_us(pid: u32, client: &Client, form: Form, root: &str) -> f64 {
    let idle = idle_seconds(pid).await;
    let cpu = cpu_seconds(pid);
    change(client, form, root).await;
    (cpu_seconds(pid) - cpu - idle).max(0.0) * 1e6 / f64::from(CHANGES)
}

/// CPU time of a process while nothing happens, for as long as the changes take.
async fn idle_seconds(pid: u32) -> f64 {
    tokio::time::sleep(SETTLED).await;
    let before = cpu_seconds(pid);
    tokio::time::sleep(EVERY * CHANGES).await;
    cpu_seconds(pid) - before
}

async fn change(client: &Client, form: Form, root: &str) {
    let mut pulse = interval(EVERY * 2);
    for at in 0..CHANGES / 2 {
        pulse.tick().await;
        let path = match form {
            Form::Queue => enter(client, &format!("{root}/lock")).await,
            Form::Single => {
                let path = format!("{root}/lock-of-new-{at}");
                single(client, &path).await;
                path
            }
        };
        client.delete(&path, None).await.unwrap();
    }
}
