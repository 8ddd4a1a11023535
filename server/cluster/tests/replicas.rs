//! Replicas on a real ZooKeeper: they find each other, one leads, and whoever loses its session knows.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::time::{Duration, Instant};

use lockscope_cluster::{Cluster, MutexError, Settings};
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::{CancellationToken, DropGuard};
use lockscope_view::{Cluster as View, ClusterState};
use lockscope_zookeeper::{Credentials, Login};
use zookeeper_client::{Acl, Acls, AuthId, Client, CreateMode, Permission};

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
        ensemble: "default".to_owned(),
        watched: vec!["default".to_owned(), "other".to_owned()],
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
    let is_told = |view: &View| view.is_leader && view.leader.as_deref() == Some("a");
    let alone = until("a leads, and is told so", &a.cluster, is_told).await;
    assert!(alone.is_alone && alone.state == ClusterState::Member);
    let b = run(patient("b"));
    let both = until("b is there", &b.cluster, |view| ids(view) == ["a", "b"] && view.leader.is_some()).await;
    assert!(!both.is_leader && both.leader.as_deref() == Some("a") && !both.is_alone);
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
    CreateMode::Ephemeral.with_acls(Acls::anyone_all())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_created_belongs_to_the_identity_and_all_may_read_it() {
    let server = zookeeper().await;
    let a = run(signed_in(&server.address(), "a"));
    until("a leads", &a.cluster, |view| view.is_leader).await;
    let stranger = Client::connect(&server.address()).await.unwrap();
    assert!(stranger.get_data("/tools/lockscope/members/a").await.is_ok(), "the board shows it");
    assert!(stranger.delete("/tools/lockscope/members/a", None).await.is_err());
    let b = run(settings(&server.address(), "b"));
    let denied = until("b is kept out", &b.cluster, |view| view.state == ClusterState::Lost).await;
    assert!(denied.why.starts_with("ZooKeeper denies us CREATE at /tools/lockscope/members; "), "{}", denied.why);
}

/// The same as somebody whom ZooKeeper knows.
fn signed_in(connect: &str, id: &str) -> Settings {
    let credentials = Credentials { digest: Some(Login::parse("ops:secret").unwrap()), ..Credentials::default() };
    Settings { credentials, ..settings(connect, id) }
}

const ROOT: &str = "/tools/lockscope";

async fn make(client: &Client, path: &str, mode: CreateMode, acl: &[Acl]) {
    client.create(path, b"", &mode.with_acls(Acls::new(acl))).await.unwrap();
}

/// Every znode of the cluster with its ACL and how often that was set.
async fn acls(client: &Client) -> Vec<(String, Vec<Acl>, i32)> {
    let (mut paths, mut found) = (vec![ROOT.to_owned()], Vec::new());
    while let Some(path) = paths.pop() {
        let (acl, stat) = client.get_acl(&path).await.unwrap();
        let names = client.list_children(&path).await.unwrap();
        paths.extend(names.into_iter().map(|name| format!("{path}/{name}")));
        found.push((path, acl, stat.aversion));
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_strangers_made_is_ours_after_joining() {
    let server = zookeeper().await;
    let stranger = Client::connect(&server.address()).await.unwrap();
    let all = [Acl::new(Permission::ALL, AuthId::anyone())];
    {
        let trial = run(settings(&server.address(), "a"));
        until("the trial leads", &trial.cluster, |view| view.is_leader).await;
        trial.cluster.act_mutex("default", "/locks/order", DEADLINE).await.unwrap();
        let act = stranger.list_children("/tools/lockscope/acts").await.unwrap().pop().unwrap();
        // One of each of these blocks leader, act and id for ever.
        for mode in [CreateMode::EphemeralSequential, CreateMode::PersistentSequential] {
            make(&stranger, &format!("{ROOT}/leader/_c_0-latch-"), mode, &all).await;
            make(&stranger, &format!("{ROOT}/acts/{act}/_c_0-lock-"), mode, &all).await;
        }
        let below = format!("{ROOT}/leader/_c_1-latch-0000000000");
        make(&stranger, &below, CreateMode::Persistent, &all).await;
        make(&stranger, &format!("{below}/x"), CreateMode::Persistent, &all).await;
        make(&stranger, &format!("{ROOT}/limits"), CreateMode::Persistent, &all).await;
        make(&stranger, &format!("{ROOT}/told"), CreateMode::Persistent, &all).await;
    }
    make(&stranger, &format!("{ROOT}/members/b"), CreateMode::Persistent, &all).await;
    let b = run(signed_in(&server.address(), "b"));
    until("b leads", &b.cluster, |view| view.is_leader && ids(view) == ["b"]).await;
    b.cluster.act_mutex("default", "/locks/order", DEADLINE).await.unwrap();
    for (path, acl, _) in acls(&stranger).await {
        let writes = acl.iter().filter(|entry| entry.permission() != Permission::READ);
        assert!(writes.map(Acl::scheme).eq(["digest"]), "{path}: {acl:?}");
    }
    assert!(stranger.create(&format!("{ROOT}/leader/_c_0-latch-"), b"", &ephemeral()).await.is_err());
    assert!(stranger.set_data(&format!("{ROOT}/limits"), b"{}", None).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_strangers_znode_is_refused_by_name() {
    let server = zookeeper().await;
    let stranger = Client::connector().with_auth("digest", b"x:y").connect(&server.address()).await.unwrap();
    let open = Permission::READ | Permission::WRITE | Permission::CREATE | Permission::DELETE;
    let theirs = [Acl::new(Permission::ALL, AuthId::authed()), Acl::new(open, AuthId::anyone())];
    let all = [Acl::new(Permission::ALL, AuthId::anyone())];
    make(&stranger, "/tools", CreateMode::Persistent, &all).await;
    make(&stranger, ROOT, CreateMode::Persistent, &theirs).await;
    make(&stranger, "/tools/lockscope/acts", CreateMode::Persistent, &theirs).await;
    let a = run(signed_in(&server.address(), "a"));
    for path in [ROOT, "/tools/lockscope/acts"] {
        let begins = format!("the ACL of {path} is not ours to change, so others could forge ");
        let refused = |view: &View| view.state == ClusterState::Refused && view.why.starts_with(&begins);
        let view = until(path, &a.cluster, refused).await;
        assert!(view.why.contains(&format!("; delete {path}, or give the identity for releases ADMIN there")));
        assert!(!view.is_leader && a.cluster.act_mutex("default", "/a", DEADLINE).await.is_err());
        assert_eq!(a.cluster.check().await, Err(view.why));
        stranger.set_acl(path, &all, None).await.unwrap();
    }
    until("a joins by itself", &a.cluster, |view| view.is_leader).await;
    assert_eq!(a.cluster.check().await, Ok(()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_changes_nothing() {
    let server = zookeeper().await;
    let checked = Cluster::new(signed_in(&server.address(), "a"), Clock::system());
    assert_eq!(checked.check().await, Ok(()));
    let client = Client::connect(&server.address()).await.unwrap();
    assert!(client.check_stat("/tools").await.unwrap().is_none());
    let all = [Acl::new(Permission::ALL, AuthId::anyone())];
    make(&client, "/tools", CreateMode::Persistent, &all).await;
    make(&client, ROOT, CreateMode::Persistent, &all).await;
    make(&client, "/tools/lockscope/leader", CreateMode::Persistent, &all).await;
    make(&client, "/tools/lockscope/leader/_c_0-latch-0000000000", CreateMode::Persistent, &all).await;
    let before = acls(&client).await;
    assert_eq!(checked.check().await, Ok(()));
    assert_eq!(acls(&client).await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_joins_leaves_the_others_alone() {
    let server = zookeeper().await;
    let (a, b) = (run(signed_in(&server.address(), "a")), signed_in(&server.address(), "b"));
    until("a leads", &a.cluster, |view| view.is_leader).await;
    let held = a.cluster.act_mutex("default", "/locks/order", DEADLINE).await.unwrap();
    let client = Client::connect(&server.address()).await.unwrap();
    let before = acls(&client).await;
    let b = run(b);
    until("b joins", &b.cluster, |view| ids(view) == ["a", "b"]).await;
    let after = acls(&client).await;
    assert!(before.iter().all(|znode| after.contains(znode)), "{before:?} {after:?}");
    assert!(a.cluster.is_leader() && client.check_stat(held.path()).await.unwrap().is_some());
    assert_eq!((a.cluster.counts().joins, a.cluster.counts().leaderships), (1, 1));
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
