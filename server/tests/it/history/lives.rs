//! The past of a real lock over HTTP: who held, who gave up, whose session ended.

use serde_json::Value;

use crate::harness::Truth;
use crate::recipes::lockscope::{Lockscope, shared_zookeeper};
use crate::served::until;

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

fn how<'a>(holds: &'a Value, node: &str) -> Option<&'a str> {
    holds["holds"].as_array()?.iter().find(|hold| hold["node"] == node)?["how"].as_str()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lives_that_ended_are_told_with_how_they_ended() {
    let zk = shared_zookeeper().await.address();
    let truth = Truth::new(&zk).await;
    for lock in ["/past/a", "/past/b"] {
        truth.make(lock).await;
    }
    let directory = tempfile::tempdir().unwrap();
    let lockscope =
        Lockscope::run(&["--zk", &zk, "--root", "/past", "--data-dir", directory.path().to_str().unwrap()]).await;
    until(async || lockscope.ask("/api/v1/history").await.1["why"] == "").await;

    let first = truth.queue("/past/a/lock-").await;
    let second = truth.queue("/past/a/lock-").await;
    let other = Truth::new(&zk).await;
    let ended = [other.queue("/past/a/lock-").await, other.queue("/past/b/lock-").await];
    let stays = truth.queue("/past/a/lock-").await;
    let all = "/api/v1/history/holds?path=/past/a";
    until(async || how(&lockscope.ask(all).await.1, name(&stays)) == Some("still")).await;
    // One session stands there several times, which is found a moment later.
    until(async || codes(&lockscope.ask("/api/v1/lock?path=/past/a").await.1["findings"]) == ["duplicate_session"])
        .await;
    let all_there_ms = super::now_ms();
    // One gives up, one lets go, and the session of the next ends while it holds.
    truth.delete(&second).await;
    truth.delete(&first).await;
    until(async || {
        let held = lockscope.ask(all).await.1;
        let row = held["holds"].as_array().unwrap().iter().find(|hold| hold["node"] == name(&ended[0])).cloned();
        row.is_some_and(|row| row["held_at_ms"].is_i64())
    })
    .await;
    drop(other);
    until(async || how(&lockscope.ask(all).await.1, name(&ended[0])) == Some("session_ended")).await;

    let (status, holds) = lockscope.ask(all).await;
    assert_eq!(status, 200);
    let ends = [(&first, "released"), (&second, "gave_up"), (&ended[0], "session_ended"), (&stays, "still")];
    for (path, end) in ends {
        assert_eq!(how(&holds, name(path)), Some(end), "{holds}");
    }
    for hold in holds["holds"].as_array().unwrap() {
        assert!(hold["wait_ms"].as_i64().unwrap() >= 0 && hold["czxid"].as_str().unwrap().starts_with("0x"));
        let is_held = hold["how"] != "gave_up";
        assert_eq!((hold["held_at_ms"].is_i64(), hold["hold_ms"].is_i64()), (is_held, is_held), "{hold}");
    }
    let session = holds["holds"][0]["session_id"].as_str().unwrap();
    let (_, of_session) = lockscope.ask(&format!("/api/v1/history/holds?session={session}")).await;
    assert_eq!(of_session["holds"].as_array().unwrap().len(), 2, "{of_session}");
    // Page by page the same come, in the same order.
    let (_, page) = lockscope.ask("/api/v1/history/holds?path=/past/a&limit=2").await;
    let next = page["next_before"].as_str().unwrap();
    let (_, rest) = lockscope.ask(&format!("/api/v1/history/holds?path=/past/a&limit=2&before={next}")).await;
    let nodes = |holds: &Value| -> Vec<Value> {
        let ended = holds["holds"].as_array().unwrap().iter().filter(|hold| hold["how"] != "still");
        ended.map(|hold| hold["node"].clone()).collect()
    };
    assert_eq!([nodes(&page), nodes(&rest)].concat(), nodes(&holds));

    two_moments(&lockscope, all_there_ms, &nodes(&holds), name(&stays)).await;
    minutes_and_marks(&lockscope).await;
    as_files(&lockscope, &nodes(&holds)).await;
}

/// Codes of findings.
fn codes(findings: &Value) -> Vec<&str> {
    findings.as_array().into_iter().flatten().filter_map(|finding| finding["code"].as_str()).collect()
}

/// All that ended was there at the first moment, and one holds since.
async fn two_moments(lockscope: &Lockscope, from: i64, ended: &[Value], stays: &str) {
    let ask = async || lockscope.ask(&format!("/api/v1/history/diff?path=/past/a&from={from}")).await.1;
    // What is kept reaches up to the end after a moment.
    until(async || {
        let diff = ask().await;
        let has_left = diff["left"].as_array().is_some_and(|left| left.len() == ended.len());
        has_left && codes(&diff["findings_cleared"]) == ["duplicate_session"]
    })
    .await;
    let diff = ask().await;
    let [change] = &diff["holder_changed"].as_array().unwrap()[..] else { panic!("{diff}") };
    assert_eq!(
        (change["lock"].as_str(), change["after"][0]["node"].as_str()),
        (Some("/past/a"), Some(stays)),
        "{diff}"
    );
    assert_eq!(codes(&diff["findings_raised"]), ["double_owner_window"], "its session ended while it held: {diff}");
    let empty = [&diff["joined"], &diff["sessions_new"]];
    assert!(empty.iter().all(|rows| rows.as_array().is_some_and(Vec::is_empty)) && diff["complete"] == true, "{diff}");
    assert_eq!(lockscope.ask("/api/v1/history/diff?from=1&to=2").await.0, 404);
    assert_eq!(lockscope.ask("/api/v1/history/diff?from=2&to=1").await.0, 400);
}

/// The same lives as a table and as a trace.
async fn as_files(lockscope: &Lockscope, ended: &[Value]) {
    let table = lockscope.text("/api/v1/history/export?path=/past/a").await;
    let mut lines = table.lines();
    assert!(lines.next().unwrap().starts_with("czxid,lock,node,session_id,label,client,joined_at_ms,"), "{table}");
    let nodes: Vec<&str> =
        lines.filter(|line| !line.contains(",still,")).map(|line| line.split(',').nth(2).unwrap()).collect();
    assert_eq!(nodes, ended.iter().map(|node| node.as_str().unwrap()).collect::<Vec<_>>(), "{table}");
    let (_, trace) = lockscope.ask("/api/v1/history/export?format=perfetto").await;
    let events = trace["traceEvents"].as_array().unwrap();
    for lock in ["/past/a", "/past/b"] {
        assert!(events.iter().any(|event| event["name"] == "process_name" && event["args"]["name"] == lock), "{trace}");
    }
    let holds = events.iter().filter(|event| event["name"] == "holds" && event["dur"].as_i64().is_some());
    assert!(holds.count() >= 3, "{trace}");
    assert_eq!(lockscope.ask("/api/v1/history/export?format=xml").await.0, 400);
}

async fn minutes_and_marks(lockscope: &Lockscope) {
    let of_lock = "/api/v1/history/lock?path=/past/a";
    let sum = |over_time: &Value, what: &str| -> i64 {
        over_time["points"].as_array().unwrap().iter().map(|point| point[what].as_i64().unwrap()).sum()
    };
    // The minute that is under way is written now and then.
    until(async || sum(&lockscope.ask(of_lock).await.1, "acquired") == 3).await;
    let (_, over_time) = lockscope.ask(of_lock).await;
    assert_eq!((sum(&over_time, "arrivals"), sum(&over_time, "gave_up")), (4, 1), "{over_time}");
    assert!(over_time["coverage"]["part"].as_f64().unwrap() > 0.0);
    let (_, marks) = lockscope.ask("/api/v1/history/marks").await;
    let events: i64 =
        marks["buckets"].as_array().unwrap().iter().map(|bucket| bucket["events"].as_i64().unwrap()).sum();
    assert!(events >= 8, "{marks}");
    assert!(marks["marks"].as_array().unwrap().iter().any(|mark| mark["kind"] == "link"), "{marks}");
    for (target, status) in [
        ("/api/v1/history/lock", 400),
        ("/api/v1/history/lock?path=/past/a&grain=1", 400),
        ("/api/v1/history/holds?from=2&to=1", 400),
        ("/api/v1/history/holds?limit=0", 400),
        ("/api/v1/history/holds?before=x", 400),
        ("/api/v1/history/marks?q=x", 400),
        ("/api/v1/history/marks?ensemble=none", 404),
    ] {
        assert_eq!(lockscope.ask(target).await.0, status, "{target}");
    }
}
