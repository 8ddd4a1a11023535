//! Those who wait at a fixed znode have none of their own: they watch the holder's, and count everywhere all the same.

use serde_json::Value;
use zookeeper_client::{Acls, Client, CreateMode, CreateOptions, OneshotWatcher};

use super::host::Library;
use super::lockscope::{Lockscope, Scene};
use crate::cli::lockscope;
use crate::harness::open;

const WAITERS: usize = 3;
/// Holds before what is usual is believed, and one more.
const HOLDS: usize = 9;

/// A client of a home-made exclusive lock that waits: it tried to make the znode and watches the one that is there.
async fn waiter(scene: &Scene, node: &str) -> (Client, OneshotWatcher) {
    let client = open(&scene.zk).await;
    client.create(node, b"", &ephemeral()).await.expect_err("it is held");
    let (stat, watcher) = client.check_and_watch_stat(node).await.unwrap();
    assert!(stat.is_some(), "it is held");
    (client, watcher)
}

fn ephemeral() -> CreateOptions<'static> {
    CreateMode::Ephemeral.with_acls(Acls::anyone_all())
}

/// The locks' rows: nobody looks at a lock's own page.
async fn row(lockscope: &Lockscope, path: &str) -> Value {
    let mut answer = lockscope.ask("/api/v1/locks").await.1;
    let rows = answer["locks"].as_array_mut().unwrap();
    rows.iter_mut().find(|row| row["path"] == path).map(Value::take).unwrap_or_default()
}

async fn until(scene: &Scene, path: &str, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let told = std::cell::RefCell::new(Value::Null);
    scene
        .until(what, async || {
            let row = row(&scene.lockscope, path).await;
            let wrong = (!fits(&row)).then(|| format!("{row:#}"));
            told.replace(row);
            wrong
        })
        .await;
    told.into_inner()
}

async fn says(server: &Lockscope, args: &[&str]) -> String {
    let output = lockscope(args).env("LOCKSCOPE_SERVER", server.address()).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_at_an_exclusive_lock_counts_everywhere_and_it_turns_slow_once_the_usual_is_known() {
    let scene = Scene::new("watchers").await;
    let path = &scene.path("exclusive_lock");
    let node = &format!("{path}/lock");
    scene.truth.make(path).await;
    let holder = open(&scene.zk).await;
    // Enough short holds for what is usual to be known.
    for _ in 0..HOLDS {
        holder.create(node, b"app-1", &ephemeral()).await.unwrap();
        until(&scene, path, "it is held", |row| row["holder_count"] == 1).await;
        holder.delete(node, None).await.unwrap();
        until(&scene, path, "it is free", |row| row["holder_count"] == 0).await;
    }
    holder.create(node, b"app-1", &ephemeral()).await.unwrap();
    let mut waiters = Vec::new();
    for _ in 0..WAITERS {
        waiters.push(waiter(&scene, node).await);
    }
    let beside = &scene.path("kazoo");
    let [first, second] = &scene.clients(Library::Kazoo, &format!("lock {beside}")).await;
    first.does("acquire", "held").await;
    second.order("acquire");

    let told = until(&scene, path, "all three are counted", |row| row["waiter_count"] == WAITERS).await;
    assert!(
        told["oldest_wait_ms"].is_u64() && told["total_wait_ms"].as_u64() >= told["oldest_wait_ms"].as_u64(),
        "{told:#}"
    );
    assert_eq!((&told["wait_is_lower_bound"], told["holder_count"].as_u64()), (&true.into(), Some(1)));
    until(&scene, path, "nothing is missing", |row| {
        row["complete"] == true && row["missing"].as_array().is_some_and(Vec::is_empty)
    })
    .await;
    let metrics = scene.lockscope.text("/metrics").await;
    assert!(
        metrics.contains(&format!("lockscope_lock_waiters{{ensemble=\"default\",path=\"{path}\"}} {WAITERS}\n")),
        "{metrics}"
    );
    assert!(metrics.contains("lockscope_waiters{ensemble=\"default\"} 4\n"), "the kazoo lock's as well: {metrics}");
    let who = says(&scene.lockscope, &["who", path]).await;
    assert!(who.contains("; 3 wait, the longest for ≥ "), "{who}");
    let lock = says(&scene.lockscope, &["lock", path]).await;
    assert!(lock.contains("Queue (3)") && lock.contains("\n  waiting   3, "), "{lock}");
    let (_, page) = scene.lockscope.ask(&format!("/api/v1/lock?path={path}")).await;
    let edges: Vec<&Value> = page["edges"].as_array().unwrap().iter().map(|edge| &edge["evidence"]).collect();
    assert_eq!(edges, ["shared"; WAITERS], "one znode wakes them all");

    let is_slow = |row: &Value| row["verdict"] == "slow" || row["verdict"] == "stuck";
    let told = until(&scene, path, "the exclusive one is slow", is_slow).await;
    assert!(told["sentence"].as_str().unwrap().contains("longer than usual"), "{told:#}");
    assert!(told["sentence"].as_str().unwrap().contains("3 wait"), "{told:#}");
    let row = row(&scene.lockscope, beside).await;
    assert_eq!(row["verdict"], "healthy", "what is usual there is not known: {row:#}");

    holder.delete(node, None).await.unwrap();
    let (heir, _) = &waiters[0];
    heir.create(node, b"app-2", &ephemeral()).await.unwrap();
    let told = until(&scene, path, "it changed hands", |row| row["holders"][0]["label"] == "app-2").await;
    assert!(
        told["waiter_count"].is_null() || told["waiter_count"] == 0,
        "those that watched the old znode were woken: {told:#}"
    );
    let _watchers = [watch(&waiters[1].0, node).await, watch(&waiters[2].0, node).await];
    let told = until(&scene, path, "two wait again", |row| row["waiter_count"] == 2 && row["complete"] == true).await;
    assert!(told["oldest_wait_ms"].as_i64() > Some(1_000), "they wait since before the lock changed hands: {told:#}");
}

async fn watch(client: &Client, node: &str) -> OneshotWatcher {
    client.check_and_watch_stat(node).await.unwrap().1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_no_table_is_read_waiters_of_a_fixed_znode_are_unknown_not_none() {
    let scene = Scene::new("unseen-watchers").await;
    let blind = Lockscope::start_with(&scene.zk, &scene.root, &["--evidence", "off"]).await;
    let path = &scene.path("exclusive_lock");
    let node = &format!("{path}/lock");
    scene.truth.make(path).await;
    let holder = open(&scene.zk).await;
    holder.create(node, b"app-1", &ephemeral()).await.unwrap();
    let _waiter = waiter(&scene, node).await;
    let told = std::cell::RefCell::new(Value::Null);
    scene
        .until("the lock is there", async || {
            told.replace(row(&blind, path).await);
            (told.borrow()["holder_count"] != 1).then(|| format!("{:#}", told.borrow()))
        })
        .await;
    let told = told.into_inner();
    for count in ["waiter_count", "oldest_wait_ms", "total_wait_ms"] {
        assert!(told[count].is_null(), "{count}: {told:#}");
    }
    assert_eq!((&told["complete"], &told["missing"]), (&false.into(), &serde_json::json!(["watches_not_read"])));
    assert_eq!(told["sentence"], "app-1 holds it. Waiters can't be counted here.");
    assert!(says(&blind, &["who", path]).await.contains("; waiters can't be seen here"));
    let metrics = blind.text("/metrics").await;
    assert!(!metrics.contains(&format!("lockscope_lock_waiters{{ensemble=\"default\",path=\"{path}\"")), "{metrics}");
    assert!(
        metrics.contains("lockscope_locks_incomplete{ensemble=\"default\",missing=\"watches_not_read\"} 1\n"),
        "{metrics}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_herd_on_the_list_of_children_is_in_no_table_and_never_told_as_nobody() {
    let scene = Scene::new("herd-on-children").await;
    let path = &scene.path("lock");
    scene.truth.make(path).await;
    let mut herd = Vec::new();
    for _ in 0..12 {
        let client = open(&scene.zk).await;
        client
            .create(&format!("{path}/lock-"), b"", &CreateMode::EphemeralSequential.with_acls(Acls::anyone_all()))
            .await
            .unwrap();
        let (.., watcher) = client.get_and_watch_children(path).await.unwrap();
        herd.push((client, watcher));
    }
    let told = std::cell::RefCell::new(Value::Null);
    scene
        .until("tables and counters were read", async || {
            told.replace(scene.lockscope.ask(&format!("/api/v1/lock?path={path}")).await.1);
            let told = told.borrow();
            let is_read = !told["trust"]["watches_at_ms"].is_null()
                && told["fired"].as_array().is_some_and(|rows| !rows.is_empty());
            (!is_read).then(|| format!("{told:#}"))
        })
        .await;
    let told = told.into_inner();
    assert_eq!(told["herd"], serde_json::json!({ "wakes": null, "known": "unknown", "bytes": null }), "{told:#}");
    assert_eq!((told["waiter_count"].as_u64(), &told["complete"]), (Some(11), &true.into()));
}
