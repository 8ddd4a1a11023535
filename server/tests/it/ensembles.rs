//! Two ensembles in one server: nothing of one is taken for the other's, although paths are equal.

use std::io::Write as _;

use serde_json::Value;

use crate::cli::check;
use crate::harness::{Truth, zookeeper};
use crate::recipes::lockscope::Lockscope;
use crate::served::until;

async fn json(lockscope: &Lockscope, target: &str) -> Value {
    let (status, value) = lockscope.ask(target).await;
    assert_eq!(status, 200, "{target}: {value:#}");
    value
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_paths_in_two_ensembles_are_two_locks() {
    let (one, mut two) = (zookeeper().await, zookeeper().await);
    let (first, second) = (Truth::new(&one.address()).await, Truth::new(&two.address()).await);
    for truth in [&first, &second] {
        truth.make("/order").await;
        truth.queue("/order/lock-").await;
    }
    second.queue("/order/lock-").await;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(
        file,
        "[[ensemble]]\nname = \"prod\"\ncolor = \"red\"\nzk = \"{}\"\n[[ensemble]]\nname = \"test\"\nzk = \"{}\"\n",
        one.address(),
        two.address()
    )
    .unwrap();
    let lockscope = Lockscope::run(&["--config", file.path().to_str().unwrap()]).await;

    let board = json(&lockscope, "/api/v1/locks?sort=path").await;
    let names: Vec<&Value> = board["locks"].as_array().unwrap().iter().map(|lock| &lock["ensemble"]).collect();
    assert_eq!(names, ["prod", "test"], "{board:#}");
    let only = json(&lockscope, "/api/v1/locks?ensemble=test").await;
    assert_eq!((&only["total"], &only["locks"][0]["waiter_count"]), (&1.into(), &1.into()));
    for (name, waiters) in [("prod", 0), ("test", 1)] {
        let lock = json(&lockscope, &format!("/api/v1/lock?ensemble={name}&path=/order")).await;
        assert_eq!((&lock["ensemble"], &lock["waiter_count"]), (&name.into(), &waiters.into()));
    }
    assert_eq!(lockscope.ask("/api/v1/lock?ensemble=other&path=/order").await.0, 404);
    let (status, problem) = lockscope.ask("/api/v1/lock?path=/order").await;
    let detail = "several ensembles have it: prod, test; name one with `ensemble`";
    assert_eq!((status, problem["detail"].as_str()), (400, Some(detail)));
    let server = lockscope.address();
    check(
        &["who", "/order", "--server", server],
        64,
        "/order is a lock in prod and in test; say which with --ensemble NAME",
    )
    .await;
    check(&["who", "/order", "--server", server, "--ensemble", "test"], 0, "").await;
    check(
        &["who", "/order", "--server", server, "--ensemble", "tset"],
        64,
        "--ensemble \"tset\" is not watched there; use one of prod, test",
    )
    .await;
    assert_eq!(json(&lockscope, "/api/v1/sessions").await["total"], 2);
    let status = json(&lockscope, "/api/v1/status").await;
    let colors: Vec<&Value> = status["ensembles"].as_array().unwrap().iter().map(|one| &one["color"]).collect();
    assert_eq!(colors, ["red", "teal"]);

    two.kill_minus_9().await.unwrap();
    until(async || {
        let status = json(&lockscope, "/api/v1/status").await;
        status["ensembles"][0]["link"] == "live" && status["ensembles"][1]["link"] != "live"
    })
    .await;
    // The other's trouble is not its own.
    until(async || json(&lockscope, "/api/v1/lock?ensemble=prod&path=/order").await["as_of"]["state"] == "live").await;
    let lock = json(&lockscope, "/api/v1/lock?ensemble=test&path=/order").await;
    assert_eq!(lock["as_of"]["state"], "stale");
}
