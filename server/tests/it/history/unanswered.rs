//! An ensemble that has nothing of a moment is named and hides no other.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::now_ms;
use super::socket::{connect, look};
use crate::harness::{Truth, signal, zookeeper};
use crate::recipes::lockscope::Lockscope;
use crate::served::{hear, until};

const LOCK: &str = "/order";

fn table(name: &str, zk: &str) -> String {
    format!("[[ensemble]]\nname = \"{name}\"\nzk = \"{zk}\"\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ensemble_added_later_hides_no_earlier_moment() {
    let (one, two) = (zookeeper().await, zookeeper().await);
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("lockscope.toml");
    std::fs::write(&file, table("prod", &one.address())).unwrap();
    let data = place.path().join("data");
    let lockscope = Lockscope::run(&["--config", file.to_str().unwrap(), "--data-dir", data.to_str().unwrap()]).await;
    let truth = Truth::new(&one.address()).await;
    truth.make(LOCK).await;
    let held = truth.queue(&format!("{LOCK}/lock-")).await;
    let newest = async |ensemble: &str| {
        lockscope.ask(&format!("/api/v1/history?ensemble={ensemble}")).await.1["to_at_ms"].as_i64()
    };
    let lock = async |more: &str| lockscope.ask(&format!("/api/v1/lock?path={LOCK}{more}")).await;
    until(async || lock("").await.1["contenders"][0]["path"] == *held).await;
    let at = now_ms();
    until(async || newest("prod").await.is_some_and(|to| to > at)).await;
    assert!(lock(&format!("&at={at}")).await.1["unanswered"].is_null(), "one ensemble answers for itself");

    std::fs::write(&file, table("prod", &one.address()) + &table("test", &two.address())).unwrap();
    signal(lockscope.id(), Signal::HUP);
    until(async || newest("test").await.is_some()).await;

    let began = lockscope.ask("/api/v1/history?ensemble=test").await.1["from_at_ms"].clone();
    let is_told = |answer: &Value| {
        let told = &answer["unanswered"];
        assert_eq!(told.as_array().map(Vec::len), Some(1), "{answer:#}");
        let told = &told[0];
        assert_eq!([&told["ensemble"], &told["reason"]], [&json!("test"), &json!("nothing_kept")], "{told:#}");
        assert_eq!(told["nearest"], json!({ "before_at_ms": null, "after_at_ms": began }), "{told:#}");
    };
    for read in ["status", "locks", "waits", "sessions", "orders"] {
        let (status, answer) = lockscope.ask(&format!("/api/v1/{read}?at={at}")).await;
        assert_eq!(status, 200, "{read}: {answer:#}");
        is_told(&answer);
    }
    let (status, answer) = lock(&format!("&at={at}")).await;
    assert!(status == 200 && answer["contenders"][0]["path"] == *held, "{answer:#}");
    is_told(&answer);

    let (status, answer) = lock(&format!("&ensemble=prod&at={at}")).await;
    assert!(status == 200 && answer["unanswered"].is_null(), "no other ensemble is asked: {answer:#}");

    // The one that is named has to answer, and what nobody has may be where nobody could look.
    let (status, problem) = lockscope.ask(&format!("/api/v1/locks?ensemble=test&at={at}")).await;
    assert_eq!((status, &problem["nearest"]["after_at_ms"]), (404, &began), "{problem:#}");
    let (status, problem) = lockscope.ask(&format!("/api/v1/lock?path=/nothing&at={at}")).await;
    let detail = problem["detail"].as_str().unwrap_or_default();
    assert!(
        status == 404 && detail.ends_with("could not be asked: test (nothing is kept of that moment)"),
        "{problem}"
    );

    let page = lockscope.text(&format!("/?at={at}")).await;
    assert!(page.contains("Not shown: test (nothing is kept of that moment)") && page.contains(LOCK), "{page}");
    let page = lockscope.text(&format!("/lock?ensemble=prod&path={LOCK}&at={at}")).await;
    assert!(page.contains("data-testid=\"past-band\"") && page.contains("lock-"), "{page}");

    let mut client = connect(&format!("{}/api/v1/live", lockscope.address()), None).await;
    look(&mut client, 1, json!({ "kind": "board", "at": at })).await;
    let snapshot = hear(&mut client, "snapshot").await;
    is_told(&snapshot["as_of"]);
    assert_eq!(snapshot["body"]["window"]["rows"][0]["path"], LOCK, "{snapshot:#}");

    // A moment of which both know has nothing to add.
    let both = now_ms();
    until(async || newest("test").await > Some(both) && newest("prod").await > Some(both)).await;
    let (status, answer) = lockscope.ask(&format!("/api/v1/locks?at={both}")).await;
    assert!(status == 200 && answer["unanswered"].is_null(), "{answer:#}");
    let page = lockscope.text(&format!("/?at={both}")).await;
    assert!(!page.contains("past-not-shown"), "{page}");
}
