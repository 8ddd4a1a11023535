//! The HTTP API from outside, over a model of our own.

use lockscope_view::Problem;
use lockscope_web::Limits;
use serde_json::{Value, json};

use crate::served::Served;

#[track_caller]
fn problem(answer: (u16, String, String), status: u16, detail: &str) {
    assert_eq!((answer.0, answer.1.as_str()), (status, "application/problem+json"), "{}", answer.2);
    let problem: Problem = serde_json::from_str(&answer.2).unwrap();
    assert_eq!((problem.status, problem.detail.as_str()), (status, detail));
}

/// No part of the proof is known: no ensemble is asked.
fn missing() -> Value {
    json!({ "answer": "missing", "epoch": "missing", "quorum": "missing" })
}

#[tokio::test]
async fn locks_carry_ages_at_the_answer() {
    let served = Served::start(Limits::default()).await;
    served.fake.set(&["/a".to_owned(), "/b".to_owned()]);
    let (status, _, text) = served.get("/api/v1/locks?limit=1&offset=1").await;
    assert_eq!(status, 200);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&value["seq"], &value["total"]), (&json!(1), &json!(2)));
    let expected = json!([{
        "ensemble": "default", "path": "/b", "root": "/", "recipe": "sequential_mutex", "recipe_label": "kazoo Lock", "confidence": "high",
        "verdict": "healthy", "sentence": "held",
        "as_of": { "state": "live", "zxid": "0x0", "at_ms": 1_000_000, "age_ms": 0, "why": "", "proof": missing() },
        "holders": [], "holder_count": 1, "waiter_count": 2, "oldest_wait_ms": 500, "wait_is_lower_bound": false,
        "total_wait_ms": 700, "hold_ms": 900, "hold_is_lower_bound": true, "complete": true, "missing": [], "findings": [],
    }]);
    assert_eq!(value["locks"], expected);
}

#[tokio::test]
async fn one_lock_carries_everything_and_says_how_old_it_is() {
    let served = Served::start(Limits::default()).await;
    served.fake.set(&["/a".to_owned()]);
    let (status, _, text) = served.get("/api/v1/lock?path=/a").await;
    assert_eq!(status, 200);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        value["as_of"],
        json!({ "state": "stale", "zxid": "0x10", "at_ms": 77, "age_ms": 999_923, "why": "silent", "proof": missing() })
    );
    for list in ["contenders", "edges", "foreign", "findings"] {
        assert_eq!(value[list], json!([]), "{list}");
    }
    assert_eq!(value["stat"], Value::Null);
    problem(
        served.get("/api/v1/lock?path=/none").await,
        404,
        "no lock is known at /none; GET /api/v1/locks lists every lock that is",
    );
}

#[tokio::test]
async fn every_mistake_is_a_problem_with_a_remedy() {
    let served = Served::start(Limits::default()).await;
    problem(
        served.get("/api/v1/locks?sort=size").await,
        400,
        "`size` is not a value of `sort`; use one of worst, damage, oldest_wait, depth, hold, path, recipe, holder",
    );
    problem(
        served.get("/api/v1/lock?path=a").await,
        400,
        "`a` is not a value of `path`; use the absolute path of a lock, like /order",
    );
    problem(served.get("/api/v1/status?x=1").await, 400, "`x` is not a parameter of /api/v1/status; it takes at");
    let (status, _, text) = served.get("/api/v1/lokcs").await;
    let unknown: Problem = serde_json::from_str(&text).unwrap();
    assert_eq!((status, unknown.status), (404, 404));
    assert!(
        unknown.detail.starts_with(
            "there is nothing at /api/v1/lokcs; the API has /api/v1/status, /api/v1/fleet, /api/v1/locks, "
        ),
        "{}",
        unknown.detail
    );
    let post = reqwest::Client::new().post(format!("http://{}/api/v1/locks", served.address)).send().await.unwrap();
    let kind = post.headers()["content-type"].to_str().unwrap().to_owned();
    problem(
        (post.status().as_u16(), kind, post.text().await.unwrap()),
        405,
        "POST is not allowed at /api/v1/locks; use GET",
    );
    let (status, kind, _) = served.get("/api/v1/live").await;
    assert_eq!((status, kind.as_str()), (400, "application/problem+json"));
}

#[tokio::test]
async fn waits_tell_nodes_edges_and_deadlocks() {
    let served = Served::start(Limits::default()).await;
    served.fake.set(&["/a".to_owned(), "/b".to_owned()]);
    let (status, _, text) = served.get("/api/v1/waits").await;
    assert_eq!(status, 200);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&value["seq"], &value["left_out"], &value["locks"]), (&json!(1), &json!(0), &json!(2)));
    let cycle = &value["cycles"][0];
    assert_eq!(
        (&cycle["sessions"], &cycle["locks"], &cycle["sentence"]),
        (&json!(["0x11", "0x22"]), &json!(["/a", "/b"]), &json!("Deadlocked."))
    );
    assert_eq!((&cycle["victim"], &cycle["confidence"]), (&json!("0x22"), &json!("high")));
    let edge = json!({ "from": "0x22", "to": "0x11", "lock": "/a", "since_ms": 999_500, "in_cycle": true, "cycle_verdict": "deadlocked" });
    assert_eq!(value["edges"][0], edge);
    let holds = json!([
        { "lock": "/a", "node": "/a/n-0", "access": "exclusive", "since_ms": 999_500 },
        { "lock": "/b", "node": "/b/n-0", "access": "exclusive", "since_ms": 999_500 },
    ]);
    assert_eq!((&value["nodes"][0]["holds"], &value["nodes"][0]["layer"]), (&holds, &json!(0)));
    problem(served.get("/api/v1/waits?x=1").await, 400, "`x` is not a parameter of /api/v1/waits; it takes at");
}

#[tokio::test]
async fn events_are_asked_for_in_a_known_way() {
    let served = Served::start(Limits::default()).await;
    problem(
        served.get("/api/v1/events?x=1").await,
        400,
        "`x` is not a parameter of /api/v1/events; it takes ensemble, path, after, from, to, before and limit",
    );
    problem(
        served.get("/api/v1/events?after=-1").await,
        400,
        "`-1` is not a value of `after`; use a whole number from 0 to 18446744073709551615",
    );
    problem(
        served.get("/api/v1/events?ensemble=none").await,
        404,
        "there is no ensemble none; GET /api/v1/status lists them",
    );
}

#[tokio::test]
async fn sessions_are_listed_filtered_and_windowed() {
    let served = Served::start(Limits::default()).await;
    served.fake.set(&["/a".to_owned()]);
    let (status, _, text) = served.get("/api/v1/sessions?sort=id&q=0x&offset=1&limit=1").await;
    assert_eq!(status, 200);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&value["total"], &value["session_count"], &value["holding_count"], &value["waiting_count"]),
        (&json!(2), &json!(2), &json!(1), &json!(1))
    );
    assert_eq!(value["sessions"].as_array().map(Vec::len), Some(1));
    let row = &value["sessions"][0];
    assert_eq!(
        (&row["session_id"], &row["holds"], &row["waits"], &row["locks"]),
        (&json!("0x22"), &json!(0), &json!(1), &json!(["/a"]))
    );
    let (_, _, text) = served.get("/api/v1/sessions?group=application").await;
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&value["total"], &value["sessions"]), (&json!(1), &json!([])));
    assert_eq!((&value["groups"][0]["sessions"], &value["groups"][0]["blocks"]), (&json!(2), &json!(1)));
    problem(
        served.get("/api/v1/sessions?sort=size").await,
        400,
        "`size` is not a value of `sort`; use one of worst, blocks, holds, oldest_wait, ephemerals, id",
    );
    problem(
        served.get("/api/v1/sessions?query=a").await,
        400,
        "`query` is not a parameter of /api/v1/sessions; it takes ensemble, q, sort, group, host, application, offset, limit, format and at",
    );
}

#[tokio::test]
async fn one_session_tells_its_places_and_its_past() {
    let served = Served::start(Limits::default()).await;
    served.fake.set(&["/a".to_owned(), "/b".to_owned()]);
    let (status, _, text) = served.get("/api/v1/session?id=0x11").await;
    assert_eq!(status, 200);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&value["session_id"], &value["spot_count"], &value["in_cycle"]),
        (&json!("0x11"), &json!(2), &json!(true))
    );
    let spot = &value["spots"][1];
    assert_eq!(
        (&spot["lock"], &spot["verdict"], &spot["contender"]["holding_ms"]),
        (&json!("/b"), &json!("healthy"), &json!(900))
    );
    assert_eq!(value["history"], json!([{ "at_ms": 999_100, "lock": "/a", "node": "n-0", "what": "joined" }]));
    problem(
        served.get("/api/v1/session?id=0x99").await,
        404,
        "session 0x99 owns nothing under the watched roots, and nothing is known of it; GET /api/v1/sessions lists those that do",
    );
    for (query, given) in
        [("", ""), ("?id=", ""), ("?id=abc", "abc"), ("?id=0xfffffffffffffffff", "0xfffffffffffffffff")]
    {
        let (status, kind, text) = served.get(&format!("/api/v1/session{query}")).await;
        assert_eq!((status, kind.as_str()), (400, "application/problem+json"), "{query}: {text}");
        let problem: Problem = serde_json::from_str(&text).unwrap();
        assert!(problem.detail.starts_with(&format!("`{given}` is not a value of `id`; use ")), "{}", problem.detail);
    }
}

#[tokio::test]
async fn health_readiness_metrics_and_headers() {
    let served = Served::start(Limits::default()).await;
    assert_eq!(served.get("/healthz").await.0, 200);
    assert_eq!(served.get("/readyz").await.0, 200);
    served.fake.set_ready(false);
    problem(served.get("/readyz").await, 503, "a root is still in its first sync; /api/v1/status names it");
    let (status, kind, text) = served.get("/metrics").await;
    assert_eq!((status, kind.starts_with("text/plain; version=0.0.4")), (200, true));
    assert!(text.contains("# TYPE lockscope_events_total counter\n") && text.contains("lockscope_ready 0\n"), "{text}");
    let answer = reqwest::get(format!("http://{}/api/v1/status", served.address)).await.unwrap();
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(answer.headers()[name], value, "{name}");
    }
    let status: Value = answer.json().await.unwrap();
    assert_eq!((&status["read_only"], &status["ensembles"][0]["link"]), (&json!(true), &json!("live")));
}

#[tokio::test]
async fn lists_come_as_tables_too() {
    let served = Served::start(Limits::default()).await;
    served.fake.set(&["/a".to_owned(), "/b,\"c\"".to_owned()]);
    let answer =
        reqwest::get(format!("http://{}/api/v1/locks?limit=1&offset=1&format=csv", served.address)).await.unwrap();
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/csv; charset=utf-8; header=present");
    assert_eq!(header("content-disposition"), "attachment; filename=\"lockscope-locks-2-to-2-of-2.csv\"");
    let text = answer.text().await.unwrap();
    let (head, row) = text.strip_suffix("\r\n").unwrap().split_once("\r\n").unwrap();
    assert!(head.starts_with("ensemble,path,root,recipe,recipe_label,verdict,sentence,state,age_ms,zxid,"), "{head}");
    let expected =
        "default,\"/b,\"\"c\"\"\",/,sequential_mutex,kazoo Lock,healthy,held,live,0,0x0,,,,1,2,500,700,900,true,true,,";
    assert_eq!(row, expected);
    for target in
        ["/api/v1/sessions?format=csv", "/api/v1/sessions?group=host&format=csv", "/api/v1/lock?path=/a&format=csv"]
    {
        let (status, kind, text) = served.get(target).await;
        assert_eq!((status, kind.as_str()), (200, "text/csv; charset=utf-8; header=present"), "{target}: {text}");
        let cells = text.lines().next().unwrap().split(',').count();
        assert!(cells >= 9, "{target}: {text}");
    }
    problem(served.get("/api/v1/locks?format=xml").await, 400, "`xml` is not a value of `format`; use json or csv");
    let none = "no lock is known at /none; GET /api/v1/locks lists every lock that is";
    problem(served.get("/api/v1/lock?path=/none&format=csv").await, 404, none);
    let (_, kind, _) = served.get("/api/v1/locks?format=json").await;
    assert_eq!(kind, "application/json");
}
