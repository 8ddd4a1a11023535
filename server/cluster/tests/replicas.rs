//! Replicas on a real ZooKeeper: they find each other, one leads, and whoever loses its session knows.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::time::{Duration, Instant};

use cluster::{Cluster, MutexError, Settings};
use demo::{PrivateZooKeeper, ServerOptions};
use lockscope_wire::{Cluster as View, ClusterState};
use runtime::clock::Clock;
use runtime::shutdown::{CancellationToken, DropGuard};
use zookeeper::{Credentials, Login};
use zookeeper_client::Client;

const TIMEOUT: Duration = Duration::from_secs(2);
const DEADLINE: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(5);

async fn zookeeper() -> PrivateZooKeeper {
    PrivateZooKeeper::start(ServerOptions { tick_ms: 200, ..ServerOptions::default() }).await.unwrap()
}

fn settings(connect: &str, id: &str) -> Settings {
    Settings {
        connect: connect.to_owned(),
        credentials: Credentials::default(),
        session_timeout: TIMEOUT,
        root: "/tools/lockscope".to_owned(),
        id: id.to_owned(),
        address: format!("http://{id}:3000"),
        version: "0.1.0".to_owned(),
        capacity: 1,
        ensemble: "default".to_owned(),
        units: vec!["default".to_owned(), "other".to_owned()],
    }
}

/// A replica that runs until it is dropped.
struct Running {
    cluster: Cluster,
    _stop: DropGuard,
}

fn run(settings: Settings) -> Running {
    let (cluster, stop) = (Cluster::new(settings, Clock::system()), CancellationToken::new());
    tokio::spawn(cluster.clone().run(stop.clone()));
    Running { cluster, _stop: stop.drop_guard() }
}

async fn until(what: &str, cluster: &Cluster, is_so: impl Fn(&View) -> bool) -> View {
    let begin = Instant::now();
    loop {
        let view = cluster.view();
        if is_so(&view) {
            return view;
        }
        assert!(begin.elapsed() < DEADLINE, "{what}: {view:?}");
        tokio::time::sleep(STEP).await;
    }
}

fn ids(view: &View) -> Vec<&str> {
    view.replicas.iter().map(|replica| replica.id.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_find_each_other_and_one_leads() {
    let server = PrivateZooKeeper::start(ServerOptions { tick_ms: 2_000, ..ServerOptions::default() }).await.unwrap();
    let patient = |id| Settings { session_timeout: 20 * TIMEOUT, ..settings(&server.address(), id) };
    let a = run(patient("a"));
    let is_told = |view: &View| view.is_leader && view.leader.as_deref() == Some("a") && !view.assignments.is_empty();
    let alone = until("a leads, and is told so", &a.cluster, is_told).await;
    assert!(alone.is_alone && alone.state == ClusterState::Member);
    assert!(alone.assignments.iter().all(|unit| unit.owners == ["a"]));
    let b = run(patient("b"));
    let both = until("b is there", &b.cluster, |view| ids(view) == ["a", "b"] && view.leader.is_some()).await;
    assert!(!both.is_leader && both.leader.as_deref() == Some("a") && !both.is_alone);
    assert!(both.assignments.iter().all(|unit| unit.owners.len() == 2), "who finds another gives it its share at once");
    assert!(both.replicas.iter().all(|replica| replica.watches_same));
    let begin = Instant::now();
    drop(a);
    until("b leads", &b.cluster, |view| view.is_leader && ids(view) == ["b"]).await;
    assert!(begin.elapsed() < 10 * TIMEOUT, "whoever ends well hands over at once: {:?}", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_whose_server_is_silent_leads_no_longer_than_its_session() {
    let mut server = zookeeper().await;
    let a = run(settings(&server.address(), "a"));
    until("a leads", &a.cluster, |view| view.is_leader).await;
    server.pause().unwrap();
    let begin = Instant::now();
    loop {
        let asked = begin.elapsed();
        if !a.cluster.is_leader() {
            break;
        }
        assert!(asked < TIMEOUT, "it leads {asked:?} after the last answer that it can have got");
        tokio::time::sleep(STEP).await;
    }
    assert_eq!(a.cluster.view().leader, None, "nobody is shown to lead");
    server.resume().unwrap();
    until("a leads again by itself", &a.cluster, |view| view.is_leader).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_of_one_id_is_refused_and_joins_when_the_first_has_gone() {
    let server = zookeeper().await;
    let first = run(settings(&server.address(), "a"));
    until("the first joins", &first.cluster, |view| view.state == ClusterState::Member).await;
    let second = run(settings(&server.address(), "a"));
    let waits = until("the second waits", &second.cluster, |view| view.state == ClusterState::Waiting).await;
    assert!(waits.why.contains("http://a:3000") && waits.why.contains("if that was killed"), "{}", waits.why);
    let refused = until("the second is refused", &second.cluster, |view| view.state == ClusterState::Refused).await;
    assert!(refused.why.ends_with("which is alive; give each replica an id of its own with `id` in [cluster]"));
    assert!(!refused.is_leader && !refused.replicas[0].is_this && first.cluster.is_leader());
    drop(first);
    until("the second joins", &second.cluster, |view| view.is_leader).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whose_znodes_are_deleted_joins_again() {
    let server = zookeeper().await;
    let a = run(settings(&server.address(), "a"));
    until("a leads", &a.cluster, |view| view.is_leader).await;
    let foreign = Client::connect(&server.address()).await.unwrap();
    foreign.delete("/tools/lockscope/members/a", None).await.unwrap();
    until("a has joined twice", &a.cluster, |view| view.is_leader && a.cluster.counts().joins == 2).await;
    let latch = foreign.list_children("/tools/lockscope/leader").await.unwrap();
    foreign.delete(&format!("/tools/lockscope/leader/{}", latch[0]), None).await.unwrap();
    until("a contends again", &a.cluster, |view| view.is_leader && a.cluster.counts().leaderships == 3).await;
    foreign.create("/tools/lockscope/members/x", &[b'x'; 100_000], &ephemeral()).await.unwrap();
    let view = until("a stranger is counted", &a.cluster, |view| view.strangers == 1).await;
    assert_eq!(ids(&view), ["a"]);
}

fn ephemeral() -> zookeeper_client::CreateOptions<'static> {
    zookeeper_client::CreateMode::Ephemeral.with_acls(zookeeper_client::Acls::anyone_all())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_created_belongs_to_the_identity_and_all_may_read_it() {
    let server = zookeeper().await;
    let credentials = Credentials { digest: Some(Login::parse("ops:secret").unwrap()), ..Credentials::default() };
    let a = run(Settings { credentials, ..settings(&server.address(), "a") });
    until("a leads", &a.cluster, |view| view.is_leader).await;
    let stranger = Client::connect(&server.address()).await.unwrap();
    assert!(stranger.get_data("/tools/lockscope/members/a").await.is_ok(), "the board shows it");
    assert!(stranger.delete("/tools/lockscope/members/a", None).await.is_err());
    let b = run(settings(&server.address(), "b"));
    let denied = until("b is kept out", &b.cluster, |view| view.state == ClusterState::Lost).await;
    assert!(denied.why.starts_with("ZooKeeper denies us CREATE at /tools/lockscope/members; "), "{}", denied.why);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_acts_on_a_lock_at_a_time() {
    let mut server = zookeeper().await;
    let (a, b) = (run(settings(&server.address(), "a")), run(settings(&server.address(), "b")));
    until("both are there", &a.cluster, |view| ids(view) == ["a", "b"]).await;
    until("both are there", &b.cluster, |view| ids(view) == ["a", "b"]).await;
    let within = Duration::from_millis(300);
    let held = a.cluster.act_mutex("default", "/locks/order", DEADLINE).await.unwrap();
    assert!(held.path().starts_with("/tools/lockscope/acts/default.locks.order."), "{}", held.path());
    let busy = b.cluster.act_mutex("default", "/locks/order", within).await.unwrap_err();
    assert_eq!(busy, MutexError::Busy(within));
    b.cluster.act_mutex("default", "/locks/other", DEADLINE).await.unwrap();
    drop(held);
    b.cluster.act_mutex("default", "/locks/order", DEADLINE).await.unwrap();
    server.stop().await.unwrap();
    let gone = a.cluster.act_mutex("default", "/locks/order", DEADLINE / 4).await.unwrap_err();
    assert!(matches!(&gone, MutexError::NotConnected { ensemble, .. } if ensemble == "default"), "{gone}");
}
