//! Incidents of a real ensemble: found while they last, told of after a kill, and over when they are.

use rustix::process::Signal;
use serde_json::Value;
use zookeeper_client::{Acls, Client, CreateMode};

use super::{Recorded, now_ms};
use crate::harness::open;
use crate::served::until;

const FIRST: &str = "/a/first";
const SECOND: &str = "/a/second";

async fn enter(session: &Client, lock: &str) -> String {
    let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let (_, sequence) = session.create(&format!("{lock}/lock-"), b"", &options).await.unwrap();
    format!("{lock}/lock-{sequence}")
}

/// The only incident, if there is one.
async fn only(recorded: &Recorded) -> Value {
    let answer = recorded.json("/api/v1/incidents").await.1;
    let incidents = answer["incidents"].as_array().cloned().unwrap_or_default();
    assert!(incidents.len() < 2, "one deadlock is one incident: {incidents:?}");
    incidents.into_iter().next().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadlock_is_one_incident_over_a_kill_and_until_somebody_leaves() {
    let mut recorded = Recorded::start("").await;
    for lock in [FIRST, SECOND] {
        recorded.truth.make(lock).await;
    }
    let (stays, leaves) = (open(&recorded.zookeeper.address()).await, open(&recorded.zookeeper.address()).await);
    let node = enter(&stays, FIRST).await;
    recorded.until_holds(FIRST, &node).await;
    let node = enter(&leaves, SECOND).await;
    recorded.until_holds(SECOND, &node).await;
    enter(&stays, SECOND).await;
    enter(&leaves, FIRST).await;

    until(async || {
        let one = only(&recorded).await;
        one["worst"] == "deadlocked" && one["locks"].as_array().is_some_and(|locks| locks.len() == 2)
    })
    .await;
    let one = only(&recorded).await;
    assert_eq!((&one["ended_by"], &one["to_at_ms"]), (&"still".into(), &Value::Null), "{one}");
    assert!(one["sentence"].as_str().unwrap().contains("1 other lock have been deadlocked for"), "{one}");
    let id = one["id"].as_str().unwrap().to_owned();

    // What is known of it survives, and it goes on.
    recorded.until_kept(now_ms()).await;
    recorded.end(Signal::KILL).await;
    recorded.run().await;
    until(async || only(&recorded).await["ended_by"] == "still").await;
    assert_eq!(only(&recorded).await["id"], id.as_str());

    drop(leaves);
    until(async || only(&recorded).await["ended_by"] == "session_ended").await;
    let over = only(&recorded).await;
    assert_eq!((&over["id"], over["to_at_ms"].is_null()), (&id.as_str().into(), false), "{over}");
    assert!(over["victims"].as_u64().unwrap() <= 2 && over["waiting_ms"].as_i64().unwrap() > 0, "{over}");

    let (status, told) = recorded.json(&format!("/api/v1/incident?id={id}")).await;
    assert_eq!((status, &told["id"], told["lives"].as_array().unwrap().len()), (200, &over["id"], 4), "{told}");
    assert_eq!(told["earlier"], Value::Array(Vec::new()), "it never was so before");
    // By a lock and a moment near it, to which alerts and releases lead.
    let began = told["from_at_ms"].as_i64().unwrap();
    let near = |lock: &str, at_ms: i64| format!("/api/v1/incident?path={lock}&around={at_ms}");
    let (status, same) = recorded.json(&near(FIRST, began - 30_000)).await;
    assert_eq!((status, &same["id"], &same["releases"]), (200, &over["id"], &Value::Array(Vec::new())), "{same}");
    assert_eq!(recorded.json(&near(FIRST, began - 90_000)).await.0, 404);
    assert_eq!(recorded.get(&format!("/api/v1/incident?path={FIRST}")).await.0, 400);
    let (status, text) = recorded.get(&format!("/api/v1/incident?id={id}&format=markdown")).await;
    assert!(status == 200 && text.starts_with("# `/a/") && text.contains(&format!("/incident?id={id}")), "{text}");
    let (status, page) = recorded.get("/incidents").await;
    assert!(status == 200 && page.contains(&format!("/incident?id={id}")) && page.contains("session ended"), "{page}");
    let (status, page) = recorded.get(&format!("/incident?id={id}")).await;
    assert!(status == 200 && page.contains("data-lane=\"holds\"") && page.contains("were deadlocked for"), "{page}");
    assert!(!page.contains("data-lane=\"root\""), "of two who wait for each other no one is at fault: {page}");
    assert_eq!(recorded.get("/api/v1/incident?id=1").await.0, 404);
    let (status, why) = recorded.get("/api/v1/incident").await;
    assert!(status == 400 && why.contains("`id` is missing"), "{why}");

    // Who may see one of the locks is told of that one.
    let token = recorded.token("viewer", FIRST).await;
    for target in [
        "/api/v1/incidents".to_owned(),
        "/incidents".to_owned(),
        format!("/api/v1/incident?id={id}"),
        format!("/api/v1/incident?id={id}&format=markdown"),
        format!("/incident?id={id}"),
    ] {
        let (_, told) = recorded.text_as(&token, &target).await;
        assert!(!told.contains(SECOND), "{target}: {told}");
    }
    let (status, why) = recorded.text_as(&token, &near(SECOND, began)).await;
    assert_eq!(status, 404, "{why}");
    let (_, told) = recorded.text_as(&token, "/api/v1/incidents").await;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["incidents"][0]["locks"], Value::from(vec![FIRST]));
}
