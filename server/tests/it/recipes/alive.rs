//! Who is it, is it alive, and who really waits on whom: what the API says of clients must be what the server says of
//! them, and what becomes of them.

use std::cell::RefCell;

use serde_json::Value;
use zookeeper_client::{Acls, CreateMode};

use super::host::{Host, Library};
use super::lockscope::{Lockscope, Scene};
use crate::harness::open;

/// Watchers of one znode.
const HERD: usize = 500;

/// What the API says of one lock; null when there is none.
async fn lock(lockscope: &Lockscope, path: &str) -> Value {
    lockscope.ask(&format!("/api/v1/lock?path={path}&limit=500")).await.1
}

/// Waits until the API says so of a lock; gives what it said.
async fn until(scene: &Scene, lockscope: &Lockscope, path: &str, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let last = RefCell::new(Value::Null);
    scene
        .until(what, async || {
            let told = lock(lockscope, path).await;
            let other = (!fits(&told)).then(|| format!("{told:#}"));
            last.replace(told);
            other
        })
        .await;
    last.into_inner()
}

fn holder<'a>(told: &'a Value, field: &str) -> &'a Value {
    &told["holders"][0][field]
}

/// `host:port` of a session, as the server lists it.
async fn address(scene: &Scene, session: &str) -> String {
    let listed = scene.word("cons").await;
    let line = listed
        .lines()
        .find(|line| line.contains(&format!("sid={session},")))
        .unwrap_or_else(|| panic!("{session} in {listed}"));
    line.trim().trim_start_matches('/').split('[').next().unwrap().to_owned()
}

async fn dies(scene: Scene, lockscope: &Lockscope, library: Library, recipe: &str) {
    let path = &scene.path("lock");
    let victim = library.slow_victim();
    let dying = victim.client(&scene.zk, &format!("{recipe} {path}")).await;
    dying.does("acquire", "held").await;
    let heir = library.client(&scene.zk, &format!("{recipe} {path}")).await;
    heir.order("acquire");
    let told =
        until(&scene, lockscope, path, "the holder is connected", |told| holder(told, "liveness") == "connected").await;
    assert_eq!(holder(&told, "client")["address"], address(&scene, &dying.session).await);
    assert_eq!(holder(&told, "client")["timeout_ms"], 18_000);
    assert_eq!(holder(&told, "expires_in_ms"), &Value::Null);

    victim.kill_minus_9();
    let told =
        until(&scene, lockscope, path, "the holder is dead", |told| holder(told, "liveness") == "disconnected").await;
    assert_eq!(told["verdict"], "expiring", "{told:#}");
    assert!(told["sentence"].as_str().unwrap().contains("is connected to no server"), "{told:#}");
    let left_ms = holder(&told, "expires_in_ms").as_i64().expect("the leader tells the end");
    assert!(left_ms <= 19_000 && holder(&told, "expires_in_is_upper_bound") == false, "{told:#}");
    assert!(lock(lockscope, path).await["holders"][0]["session_id"] == dying.session.as_str(), "it holds until then");

    heir.says("held").await;
    until(&scene, lockscope, path, "the lock passed on", |told| holder(told, "session_id") == heir.session.as_str())
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_kazoo_holder_is_called_dead_with_its_end() {
    let scene = Scene::new("dead-kazoo").await;
    let lockscope = &scene.newcomer().await;
    dies(scene, lockscope, Library::Kazoo, "lock").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_curator_holder_is_called_dead_with_its_end_by_the_admin_server() {
    let scene = Scene::new("dead-curator").await;
    let lockscope = &Lockscope::start_with(&scene.zk, &scene.root, &["--admin-url", &scene.admin_url()]).await;
    dies(scene, lockscope, Library::Curator, "mutex").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_holder_is_silent_and_comes_back() {
    let scene = Scene::new("stopped").await;
    let path = &scene.path("lock");
    let sleeper = Library::Kazoo.slow_victim();
    let holding = sleeper.client(&scene.zk, &format!("lock {path}")).await;
    holding.does("acquire", "held").await;
    until(&scene, &scene.lockscope, path, "the holder is connected", |told| holder(told, "liveness") == "connected")
        .await;
    sleeper.stop();
    let told =
        until(&scene, &scene.lockscope, path, "the holder is silent", |told| holder(told, "liveness") == "silent")
            .await;
    assert_ne!(told["verdict"], "expiring", "it may only be slow");
    sleeper.go_on();
    until(&scene, &scene.lockscope, path, "it is heard again, or lost its session", |told| {
        holder(told, "liveness") == "connected" || told["holder_count"] == 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waits_of_real_libraries_are_confirmed() {
    let scene = Scene::new("confirmed").await;
    for (library, recipe) in [(Library::Kazoo, "lock"), (Library::Curator, "mutex")] {
        let path = &scene.path(&format!("{recipe}-queue"));
        let [first, second, third] = &scene.clients(library, &format!("{recipe} {path}")).await;
        first.does("acquire", "held").await;
        for waiter in [second, third] {
            waiter.order("acquire");
            waiter.made().await;
        }
        let told = until(&scene, &scene.lockscope, path, "both edges are confirmed", |told| {
            let edges = told["edges"].as_array().map(Vec::as_slice).unwrap_or_default();
            edges.len() == 2 && edges.iter().all(|edge| edge["evidence"] == "confirmed")
        })
        .await;
        assert_eq!((&told["herd"]["wakes"], &told["herd"]["known"]), (&1.into(), &"counted".into()), "{told:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiter_without_its_watch_is_told() {
    let scene = Scene::new("unwatched").await;
    let path = &scene.path("lock");
    let [first] = &scene.clients(Library::Kazoo, &format!("lock {path}")).await;
    first.does("acquire", "held").await;
    // Its client lost the wake-up: the znode is there, the watch is not.
    let forgetful = open(&scene.zk).await;
    let node = format!("{path}/{:032x}__lock__", 7);
    forgetful
        .create(&node, b"forgetful", &CreateMode::EphemeralSequential.with_acls(Acls::anyone_all()))
        .await
        .unwrap();
    let told =
        until(&scene, &scene.lockscope, path, "its edge is missing", |told| told["edges"][0]["evidence"] == "missing")
            .await;
    assert_eq!(told["edges"].as_array().unwrap().len(), 1);
    until(&scene, &scene.lockscope, path, "the finding", |told| {
        told["findings"]
            .as_array()
            .is_some_and(|findings| findings.iter().any(|finding| finding["code"] == "missing_watch"))
    })
    .await;
}

/// kazoo issue 649: a reader that is woken watches the last writer, also one that came after it and waits for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_of_old_kazoo_and_a_writer_wait_for_each_other() {
    let scene = Scene::new("inverted").await;
    let path = &scene.path("rw");
    let old = Host::kazoo_2_8();
    let (first, reader, writer) = (
        old.client(&scene.zk, &format!("write {path}")).await,
        old.client(&scene.zk, &format!("read {path}")).await,
        old.client(&scene.zk, &format!("write {path}")).await,
    );
    first.does("acquire", "held").await;
    reader.order("acquire");
    let read = reader.made().await;
    writer.order("acquire");
    let write = writer.made().await;
    scene
        .until("the writer watches the reader", async || {
            (!scene.is_watching(&writer.session, &read).await).then(|| "not yet".to_owned())
        })
        .await;
    first.does("release", "released").await;
    let told = until(&scene, &scene.lockscope, path, "the finding", |told| {
        let findings = told["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
        findings.iter().any(|finding| finding["code"] == "watch_inversion")
    })
    .await;
    let findings = told["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["code"] == "watch_inversion").unwrap();
    assert_eq!((&finding["severity"], &finding["paths"]), (&"critical".into(), &serde_json::json!([read, write])));
    assert!(scene.is_watching(&reader.session, &write).await, "the server says the same");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_watchers_of_one_znode_are_a_herd_of_five_hundred() {
    let scene = Scene::new("herd").await;
    let path = &scene.path("master");
    let master = open(&scene.zk).await;
    master.create(path, b"master-1", &CreateMode::Ephemeral.with_acls(Acls::anyone_all())).await.unwrap();
    let mut herd = Vec::with_capacity(HERD);
    for _ in 0..HERD {
        let client = open(&scene.zk).await;
        let (_, watcher) = client.check_and_watch_stat(path).await.unwrap();
        herd.push((client, watcher));
    }
    let hidden = |told: &Value| {
        told["contenders"].as_array().unwrap().iter().filter(|row| row["node"].is_null()).cloned().collect::<Vec<_>>()
    };
    // A round is taken in a piece at a time: the waiters of a lock follow the table that they are counted by, and who
    // they are may be of the round before, in which the last of them had not come yet.
    let all = |told: &Value| {
        let are_known = || hidden(told).iter().all(|row| row["client"]["address"].is_string());
        told["herd"]["wakes"] == HERD && told["hidden_waiter_count"] == HERD && are_known()
    };
    let told = until(&scene, &scene.lockscope, path, "the herd is counted", all).await;
    assert_eq!(told["herd"]["known"], "counted");
    let hidden = hidden(&told);
    assert_eq!(hidden.len(), HERD - 1, "a page of 500 rows, the holder's among them");
    assert!(hidden.iter().all(|row| row["path"] == path.as_str()), "{:#}", hidden[0]);
    drop(herd);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_evidence_everything_else_is_told_and_this_is_unknown() {
    let scene = Scene::new("no-evidence").await;
    let lockscope = Lockscope::start_with(&scene.zk, &scene.root, &["--evidence", "off"]).await;
    let path = &scene.path("lock");
    let [first, second] = &scene.clients(Library::Kazoo, &format!("lock {path}")).await;
    first.does("acquire", "held").await;
    second.order("acquire");
    let told = until(&scene, &lockscope, path, "holder and waiter", |told| {
        told["holder_count"] == 1 && told["waiter_count"] == 1
    })
    .await;
    assert_eq!((holder(&told, "liveness"), holder(&told, "client")), (&"unknown".into(), &Value::Null));
    assert_eq!(told["edges"][0]["evidence"], "inferred");
    assert_eq!(told["herd"]["known"], "by_rule");
    assert_eq!(told["trust"]["members"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clocks_are_compared_where_that_is_allowed_and_nothing_stays_behind() {
    let scene = Scene::new("clocks").await;
    let scratch = scene.path("scratch");
    scene.truth.make(&scratch).await;
    let lockscope = Lockscope::start_with(&scene.zk, &scene.root, &["--clock-scratch", &scratch]).await;
    scene
        .until("the error is known", async || {
            let status = lockscope.ask("/api/v1/status").await.1;
            let error_ms = &status["ensembles"][0]["clock_error_ms"];
            error_ms.is_null().then(|| format!("{status:#}"))
        })
        .await;
    let status = lockscope.ask("/api/v1/status").await.1;
    let of = |name: &str| status["ensembles"][0][name].as_i64().unwrap();
    assert!(of("clock_offset_ms").abs() <= of("clock_error_ms"), "one machine has one clock: {status:#}");
    assert_eq!(lockscope.ask("/api/v1/locks").await.1["total"], 0, "its znodes are no lock");
    lockscope.end();
    scene
        .until("nothing stays behind", async || {
            let left = scene.truth.client.list_children(&scratch).await.unwrap();
            (!left.is_empty()).then(|| left.join(" "))
        })
        .await;
}
