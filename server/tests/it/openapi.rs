//! The API's document against a whole server with a ZooKeeper: what it answers is what is described, frames of the live
//! socket included; the examples of the documents run; and a tester that reads nothing but the document finds nothing.

mod examples;
mod plant;
mod property;

use std::collections::BTreeSet;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::harness::DEADLINE;
use crate::served::until;
use plant::{Plant, Socket, python};

/// Values and what they are to be.
#[derive(Default)]
struct Held(Vec<Value>);

impl Held {
    fn schema(&mut self, name: &str, what: &str, value: Value) {
        self.0.push(json!({ "of": format!("#/components/schemas/{name}"), "name": what, "value": value }));
    }

    /// Answers of the first version 1, which are never taken anew: each of their fields is described today as well, and may
    /// have such a value. Fields may have been added since.
    fn first_answers(&mut self, document: &Value) {
        let paths = document["paths"].as_object().unwrap();
        let verbs =
            paths.iter().flat_map(|(path, of)| of.as_object().unwrap().iter().map(move |(verb, of)| (path, verb, of)));
        let operations: Vec<_> = verbs.collect();
        for file in std::fs::read_dir(plant::repository().join("server/tests/it/openapi/v1")).unwrap() {
            let file = file.unwrap().path();
            let (id, status) = file.file_stem().unwrap().to_str().unwrap().split_once('-').unwrap();
            let of = operations.iter().find(|(_, _, of)| of["operationId"] == id);
            let (path, verb, _) = of.unwrap_or_else(|| panic!("version 1 has {id}, and the document has not"));
            let value: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
            let of = schema_of(verb, path, status, &value);
            self.0.push(
                json!({ "of": of, "name": format!("version 1: {id} {status}"), "value": value, "is_first": true }),
            );
        }
    }

    /// Holds all of them against the document, with the document itself.
    async fn check(self, document: &Value) {
        let mut lines = document.to_string();
        for value in self.0 {
            lines.push('\n');
            lines.push_str(&value.to_string());
        }
        let told = python(&["-c", include_str!("openapi/check.py")], &lines).await;
        assert_eq!(told, "", "\n{told}");
    }
}

/// Where the document says what such an answer is.
fn schema_of(verb: &str, path: &str, status: impl std::fmt::Display, value: &Value) -> String {
    let media = if value["detail"].is_string() { "application~1problem+json" } else { "application~1json" };
    format!("#/paths/{}/{verb}/responses/{status}/content/{media}/schema", path.replace('/', "~1"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_document_is_true_and_its_examples_run() {
    let plant = Plant::open().await;
    let locks = plant.contend().await;
    let document = plant.json("/api/v1/openapi.json").await;
    let mut held = Held::default();
    let asked = answers(&plant, &locks, &document, &mut held).await;
    let gets: BTreeSet<_> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, of)| of.get("get").is_some())
        .map(|(path, _)| path.clone())
        .collect();
    let not_json = ["/healthz", "/readyz", "/metrics", "/api/v1/live", "/api/v1/audit/export", "/api/v1/openapi.json"];
    let left: Vec<_> =
        gets.iter().filter(|path| !asked.contains(*path) && !not_json.contains(&path.as_str())).collect();
    assert!(left.is_empty(), "nothing was asked of {left:?}");
    frames(&plant, &locks, &mut held).await;
    held.first_answers(&document);
    held.check(&document).await;
    examples::run(&plant, &locks).await;
    let operations = document["paths"].as_object().unwrap().values().map(|of| of.as_object().unwrap().len()).sum();
    property::nothing_is_found(&plant, operations).await;
}

#[test]
fn the_page_for_people_names_every_route_and_shows_the_example() {
    let text = |file: &str| std::fs::read_to_string(plant::repository().join(file)).unwrap();
    let (page, example) = (text("docs/api.md"), text("docs/examples/live.py"));
    for route in lockscope_web::routes().filter(|route| route.path.starts_with("/api/v1/")) {
        assert!(page.contains(&route.path.replace("{id}", "ID")), "{} is not in docs/api.md", route.path);
    }
    let shown = page.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(example.contains(shown), "docs/api.md shows other code than docs/examples/live.py has");
}

/// Asks every route that answers JSON, those that act included; gives their paths.
async fn answers(plant: &Plant, locks: &[String], document: &Value, held: &mut Held) -> BTreeSet<String> {
    let mut asked = BTreeSet::new();
    let mut keep = |verb: &str, path: &str, status: u16, value: &Value| {
        let of = schema_of(verb, path, status, value);
        assert!(
            document.pointer(&of[1..]).is_some(),
            "{verb} {path} answered {status}, which is not described: {value}"
        );
        held.0.push(json!({ "of": of, "name": format!("{verb} {path} {status}"), "value": value }));
        asked.insert(path.to_owned());
        plant::keep_example(plant, document, verb, path, status, value);
    };
    let session = plant.json("/api/v1/sessions").await["sessions"][0]["session_id"].as_str().unwrap().to_owned();
    let (status, started) =
        plant.ask("POST", "/api/v1/lab/runs", &json!({ "strategies": ["predecessor"], "clients": 3, "seed": 1 })).await;
    keep("post", "/api/v1/lab/runs", status, &started);
    let run = format!("/api/v1/lab/runs/{}", started["id"].as_str().unwrap());
    until(async || plant.json(&run).await["state"] == "finished").await;
    for path in [
        "/api/v1/status",
        "/api/v1/locks",
        "/api/v1/waits",
        "/api/v1/fleet",
        "/api/v1/orders",
        "/api/v1/cluster",
        "/api/v1/sessions",
        "/api/v1/events",
        "/api/v1/history",
        "/api/v1/alerts",
        "/api/v1/me",
        "/api/v1/preferences",
        "/api/v1/lab/runs",
    ] {
        keep("get", path, 200, &plant.json(path).await);
    }
    for (path, query) in [
        ("/api/v1/history/holds", String::new()),
        ("/api/v1/history/marks", String::new()),
        ("/api/v1/history/blame", String::new()),
        ("/api/v1/incidents", String::new()),
        ("/api/v1/incident", "?id=1".to_owned()),
        ("/api/v1/history/diff", String::new()),
        ("/api/v1/history/differs", "?min_wait_ms=1000".to_owned()),
        ("/api/v1/history/export", "?format=perfetto".to_owned()),
        ("/api/v1/history/lock", format!("?path={}", locks[0])),
    ] {
        let (status, answer) = plant.ask("GET", &format!("{path}{query}"), &Value::Null).await;
        keep("get", path, status, &answer);
    }
    let none = plant.ask("GET", "/api/v1/lock?path=/none", &Value::Null).await;
    keep("get", "/api/v1/lock", none.0, &none.1);
    let time = plant.json(&format!("/api/v1/time-to-lock?path={}", locks[0])).await;
    keep("get", "/api/v1/time-to-lock", 200, &time);
    keep("get", "/api/v1/lock", 200, &plant.json(&format!("/api/v1/lock?path={}", locks[0])).await);
    keep("get", "/api/v1/session", 200, &plant.json(&format!("/api/v1/session?id={session}")).await);
    keep("get", "/api/v1/lab/runs/{id}", 200, &plant.json(&run).await);
    let wrong = plant.ask("GET", "/api/v1/locks?sort=size", &Value::Null).await;
    keep("get", "/api/v1/locks", wrong.0, &wrong.1);
    let late = plant.ask("POST", &format!("{run}/faults"), &json!({ "fault": "kill" })).await;
    keep("post", "/api/v1/lab/runs/{id}/faults", late.0, &late.1);
    let over = plant.ask("DELETE", &run, &Value::Null).await;
    keep("delete", "/api/v1/lab/runs/{id}", over.0, &over.1);
    // The holder of the last lock goes.
    let detail = plant.json(&format!("/api/v1/lock?path={}", locks[1])).await;
    let (status, plan) =
        plant.ask("POST", "/api/v1/release/plan", &json!({ "path": detail["holders"][0]["path"] })).await;
    keep("post", "/api/v1/release/plan", status, &plan);
    let order = json!({ "plan_id": plan["plan_id"], "confirm": plan["lock"], "reason": "to see what is answered" });
    let (status, result) = plant.ask("POST", "/api/v1/release/execute", &order).await;
    assert_eq!((status, &result["outcome"]), (200, &json!("released")), "{result}");
    keep("post", "/api/v1/release/execute", status, &result);
    for path in ["/api/v1/release/execute", "/api/v1/release/revoke", "/api/v1/release/approve"] {
        let (status, answer) = plant.ask("POST", path, &json!({ "plan_id": "none" })).await;
        keep("post", path, status, &answer);
    }
    for (verb, path, of, body) in [
        ("POST", "/api/v1/alerts/ack", "/api/v1/alerts/ack", json!({ "key": "none", "reason": "to see" })),
        (
            "POST",
            "/api/v1/alerts/silences",
            "/api/v1/alerts/silences",
            json!({ "matchers": { "path": "/none" }, "for_ms": 60_000, "reason": "to see" }),
        ),
        ("DELETE", "/api/v1/alerts/silences/1", "/api/v1/alerts/silences/{id}", Value::Null),
        ("POST", "/api/v1/alerts/test", "/api/v1/alerts/test", json!({ "rule": { "when": "stuck" } })),
    ] {
        let (status, answer) = plant.ask(verb, path, &body).await;
        keep(&verb.to_lowercase(), of, status, &answer);
    }
    keep("get", "/api/v1/audit", 200, &plant.json("/api/v1/audit").await);
    asked
}

/// Every view of the live socket, and every kind of frame.
async fn frames(plant: &Plant, locks: &[String], held: &mut Held) {
    let mut socket = plant.socket().await;
    let session = plant.json("/api/v1/sessions").await["sessions"][0]["session_id"].clone();
    let run = plant.json("/api/v1/lab/runs").await["runs"][0]["id"].clone();
    let views = [
        json!({ "kind": "board", "limit": 10 }),
        json!({ "kind": "lock", "path": locks[0] }),
        json!({ "kind": "lock", "path": "/none" }),
        json!({ "kind": "status" }),
        json!({ "kind": "waits" }),
        json!({ "kind": "sessions", "sort": "holds" }),
        json!({ "kind": "session", "id": session }),
        json!({ "kind": "lab", "run": run }),
        json!({ "kind": "lab", "run": "none" }),
        json!({ "kind": "events" }),
        json!({ "kind": "queue_map", "path": locks[0] }),
    ];
    for (view, id) in views.iter().zip(1..) {
        say(&mut socket, held, json!({ "type": "subscribe", "id": id, "view": view })).await;
    }
    say(
        &mut socket,
        held,
        json!({ "type": "resume_after", "id": 20, "view": { "kind": "board" }, "epoch": "0x1", "seq": 1 }),
    )
    .await;
    for at in [json!(1000), json!("zxid:0x1")] {
        say(&mut socket, held, json!({ "type": "subscribe", "id": 22, "view": { "kind": "board", "at": at } })).await;
    }
    say(&mut socket, held, json!({ "type": "subscribe", "id": 21, "view": { "kind": "status" } })).await;
    say(&mut socket, held, json!({ "type": "pause", "id": 21 })).await;
    say(&mut socket, held, json!({ "type": "resume", "id": 21 })).await;
    say(&mut socket, held, json!({ "type": "unsubscribe", "id": 21 })).await;
    say(&mut socket, held, json!({ "type": "unsubscribe", "id": 21 })).await;
    // What changes before a view is there is no delta of it.
    let there: Vec<_> = (1..=views.len()).chain([20]).map(|id| format!("snapshot {id}")).collect();
    let mut heard = BTreeSet::new();
    hear(&mut socket, held, &mut heard, there.iter().map(String::as_str)).await;
    // One more waits: a delta of the board, of its lock and of the sessions.
    plant.queue(&locks[0]).await;
    let changes = ["delta 1 board", "delta 2 lock", "delta 6 sessions", "delta 5 whole", "delta 10 events"];
    hear(&mut socket, held, &mut heard, ["hello", "resync", "heartbeat", "error"].into_iter().chain(changes)).await;
}

/// Hears and keeps frames until all that is wanted was among them.
async fn hear<'a>(
    socket: &mut Socket,
    held: &mut Held,
    heard: &mut BTreeSet<String>,
    wanted: impl Iterator<Item = &'a str> + Clone,
) {
    let hearing = async {
        while !wanted.clone().all(|what| heard.contains(what)) {
            let Message::Text(text) = socket.next().await.unwrap().unwrap() else { continue };
            let frame: Value = serde_json::from_str(&text).unwrap();
            let kind = frame["type"].as_str().unwrap().to_owned();
            heard.insert(match kind.as_str() {
                "snapshot" => format!("{kind} {}", frame["id"]),
                "delta" => format!("{kind} {} {}", frame["id"], frame["body"]["kind"].as_str().unwrap()),
                _ => kind.clone(),
            });
            held.schema("ServerFrame", &format!("the frame {kind} of view {}", frame["id"]), frame);
        }
    };
    let in_time = tokio::time::timeout(DEADLINE, hearing).await;
    assert!(in_time.is_ok(), "heard only {heard:?}");
}

async fn say(socket: &mut Socket, held: &mut Held, frame: Value) {
    socket.send(Message::text(frame.to_string())).await.unwrap();
    held.schema("ClientFrame", "a frame of the client", frame);
}
