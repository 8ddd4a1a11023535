//! Many ensembles: files of a directory come, change and go while the server runs, and no other ensemble notices; paths
//! that are left out; the fleet page and its API.

use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{self, Truth};
use crate::recipes::lockscope::{Lockscope, shared_zookeeper};
use crate::served::until;

async fn json(lockscope: &Lockscope, target: &str) -> Value {
    let (status, value) = lockscope.ask(target).await;
    assert_eq!(status, 200, "{target}: {value:#}");
    value
}

async fn names(lockscope: &Lockscope) -> Vec<String> {
    let status = json(lockscope, "/api/v1/status").await;
    let all = status["ensembles"].as_array().unwrap().iter();
    all.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

fn write(dir: &Path, file: &str, text: &str) {
    std::fs::write(dir.join(file), text).unwrap();
}

/// A server with a directory of ensembles, and a folder of this test's own in the shared ZooKeeper.
async fn scene(name: &str) -> (tempfile::TempDir, String, Truth) {
    let zk = shared_zookeeper().await.address();
    let truth = Truth::new(&zk).await;
    let folder = format!("/fleet-{name}");
    for chroot in ["a", "b", "c"] {
        truth.make(&format!("{folder}/{chroot}/order")).await;
        truth.queue(&format!("{folder}/{chroot}/order/lock-")).await;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("ensembles.d")).unwrap();
    write(dir.path(), "lockscope.toml", "");
    (dir, format!("{zk}{folder}"), truth)
}

fn table(name: &str, zk: &str, more: &str) -> String {
    format!("[[ensemble]]\nname = \"{name}\"\nzk = \"{zk}/{name}\"\n{more}\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_ensembles_come_change_and_go_and_no_other_notices() {
    let (dir, zk, truth) = scene("reload").await;
    let many = dir.path().join("ensembles.d");
    write(&many, "a.toml", &table("a", &zk, "labels = { env = \"prod\" }"));
    write(&many, "b.toml", &table("b", &zk, ""));
    write(&many, ".hidden.toml", "no TOML");
    let file = dir.path().join("lockscope.toml");
    let lockscope = Lockscope::run(&["--config", file.to_str().unwrap()]).await;
    assert_eq!(names(&lockscope).await, ["a", "b"]);
    let session = async |name: &str| {
        let status = json(&lockscope, "/api/v1/status").await;
        let all = status["ensembles"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).map(|one| one["session_id"].clone())
    };
    let reload = || harness::signal(lockscope.id(), Signal::HUP);
    let before = session("a").await;

    // One more, one that is gone, one that can't be read: the first goes on with its session.
    write(&many, "c.toml", &table("c", &zk, ""));
    std::fs::remove_file(many.join("b.toml")).unwrap();
    write(&many, "a.toml", &format!("{}colour = 1\n", table("a", &zk, "")));
    reload();
    until(async || names(&lockscope).await == ["a", "c"]).await;
    // It has to be read first.
    until(async || lockscope.ask("/api/v1/lock?ensemble=c&path=/order").await.1["as_of"]["state"] == "live").await;
    until(async || json(&lockscope, "/api/v1/status").await["config"]["error"].is_string()).await;
    assert_eq!(session("a").await, before);
    let config = json(&lockscope, "/api/v1/status").await["config"].clone();
    let error = config["error"].as_str().unwrap();
    let bad = format!("{}:5: `colour` in [[ensemble]] 1 is no setting; write `color`", many.join("a.toml").display());
    assert!(error.starts_with(&bad) && error.contains("stay as they were"), "{error}");
    assert_eq!(lockscope.ask("/api/v1/lock?ensemble=b&path=/order").await.0, 404);

    // Mended, and with another label: still the same session. Another root is watched anew.
    write(&many, "a.toml", &table("a", &zk, "labels = { env = \"test\" }"));
    write(&many, "c.toml", &table("c", &zk, "root = [\"/order\"]"));
    let other = session("c").await;
    reload();
    until(async || json(&lockscope, "/api/v1/status").await["config"]["error"].is_null()).await;
    assert_eq!((session("a").await, session("c").await == other), (before.clone(), false));
    until(async || json(&lockscope, "/api/v1/fleet?label=env:test").await["total"] == 1).await;

    // What happens there is still seen, and a release would find it.
    truth.queue("/fleet-reload/a/order/lock-").await;
    until(async || json(&lockscope, "/api/v1/lock?ensemble=a&path=/order").await["waiter_count"] == 1).await;

    // A directory that is gone takes nobody down.
    std::fs::rename(&many, dir.path().join("elsewhere")).unwrap();
    reload();
    until(async || json(&lockscope, "/api/v1/status").await["config"]["error"].is_string()).await;
    assert_eq!(names(&lockscope).await, ["a", "c"]);
    assert_eq!(session("a").await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_left_out_is_counted_and_never_shown() {
    let (dir, zk, truth) = scene("exclude").await;
    let folder = "/fleet-exclude/a";
    for path in ["tables/one", "tables/two", "other/tmp-1"] {
        truth.make(&format!("{folder}/{path}")).await;
        truth.queue(&format!("{folder}/{path}/lock-")).await;
    }
    truth.make(&format!("{folder}/other/kept")).await;
    truth.queue(&format!("{folder}/other/kept/lock-")).await;
    let exclude = "exclude = [\"/tables/**\", \"/other/tmp-*\"]";
    write(&dir.path().join("ensembles.d"), "a.toml", &table("a", &zk, exclude));
    let file = dir.path().join("lockscope.toml");
    let lockscope = Lockscope::run(&["--config", file.to_str().unwrap()]).await;
    let paths = async || {
        let locks = json(&lockscope, "/api/v1/locks?sort=path").await;
        let all = locks["locks"].as_array().unwrap().iter();
        all.map(|lock| lock["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(paths().await, ["/order", "/other/kept"]);
    let excluded = async || json(&lockscope, "/api/v1/status").await["ensembles"][0]["excluded"].clone();
    assert_eq!(excluded().await["paths"], 3, "two tables, and one beside what is kept");
    assert!(lockscope.text("/status").await.contains("/tables/**"), "the page names what is left out");

    // Events of it change the counters of its directory, and nothing else; a lock beside it is followed as before.
    let gone = truth.queue(&format!("{folder}/tables/one/lock-")).await;
    truth.make(&format!("{folder}/other/tmp-2")).await;
    truth.make(&format!("{folder}/tables/three")).await;
    until(async || excluded().await["paths"] == 5).await;
    truth.delete(&gone).await;
    truth.queue(&format!("{folder}/other/kept/lock-")).await;
    until(async || json(&lockscope, "/api/v1/lock?path=/other/kept").await["waiter_count"] == 1).await;
    assert_eq!(paths().await, ["/order", "/other/kept"]);
    let status = json(&lockscope, "/api/v1/status").await;
    let ensemble = &status["ensembles"][0];
    assert_eq!((&ensemble["missed"], &ensemble["resyncs"]), (&0.into(), &0.into()), "{ensemble:#}");
    assert!(ensemble["excluded"]["events"].as_u64().unwrap() >= 4, "{ensemble:#}");
    assert_eq!(json(&lockscope, "/api/v1/lock?path=/other/kept").await["complete"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fleet_is_shown_the_worst_first_with_filters() {
    let (dir, zk, _truth) = scene("page").await;
    let many = dir.path().join("ensembles.d");
    let tables = [("a", "env = \"prod\", region = \"eu\""), ("b", "env = \"prod\""), ("c", "env = \"test\"")];
    let text: Vec<String> =
        tables.iter().map(|(name, labels)| table(name, &zk, &format!("labels = {{ {labels} }}"))).collect();
    write(&many, "all.toml", &text.join(""));
    // Nobody is there: what is not known comes before what is well.
    write(&many, "dead.toml", "[[ensemble]]\nname = \"dead\"\nzk = \"127.0.0.1:1\"\n");
    let file = dir.path().join("lockscope.toml");
    let lockscope = Lockscope::unready(&["--config", file.to_str().unwrap()]).await;
    until(async || json(&lockscope, "/api/v1/fleet").await["not_live"] == 1).await;
    let fleet = json(&lockscope, "/api/v1/fleet").await;
    let names = |fleet: &Value| -> Vec<String> {
        let all = fleet["ensembles"].as_array().unwrap().iter();
        all.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((names(&fleet), &fleet["total"]), (["dead", "a", "b", "c"].map(str::to_owned).to_vec(), &4.into()));
    assert_eq!((&fleet["ensembles"][1]["locks"], &fleet["ensembles"][1]["worst"]), (&1.into(), &"healthy".into()));
    assert_eq!(fleet["labels"][0]["ensembles"], 2, "{fleet:#}");
    for (query, expected) in [
        ("label=env:prod", vec!["a", "b"]),
        ("label=env:prod,region:eu", vec!["a"]),
        ("label=env:none", vec![]),
        ("q=A", vec!["dead", "a"]),
        ("verdict=healthy&limit=1&offset=1", vec!["b"]),
    ] {
        assert_eq!(names(&json(&lockscope, &format!("/api/v1/fleet?{query}")).await), expected, "{query}");
    }
    for wrong in ["label=env", "verdict=odd", "limit=0", "limit=201", "colour=red", "label=a:b&label=c:d"] {
        let (status, problem) = lockscope.ask(&format!("/api/v1/fleet?{wrong}")).await;
        assert_eq!(status, 400, "{wrong}: {problem}");
    }
    let page = lockscope.text("/fleet?label=env:prod").await;
    assert!(page.contains("data-name=\"a\"") && !page.contains("data-name=\"c\""), "{page}");
    assert!(lockscope.text("/").await.contains("href=\"/fleet\""), "the header leads there");
}
