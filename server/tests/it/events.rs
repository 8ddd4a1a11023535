//! What happened lately, of a real lock: asked for, and followed live as a script does.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::harness::{DEADLINE, Truth};
use crate::recipes::lockscope::{Lockscope, shared_zookeeper};
use crate::served::until;

/// Rows of the view: fewer than there will be.
const LIMIT: usize = 5;

/// What a view becomes by a difference.
fn apply(body: &mut Value, delta: &Value) {
    if delta["kind"] == "whole" {
        *body = delta["body"].clone();
        return;
    }
    for later in delta["ensembles"].as_array().unwrap() {
        let of = body["ensembles"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .find(|of| of["ensemble"] == later["ensemble"])
            .unwrap();
        let events = of["events"].as_array_mut().unwrap();
        events.drain(..usize::try_from(later["dropped"].as_u64().unwrap()).unwrap());
        events.extend(later["events"].as_array().unwrap().iter().cloned());
    }
}

fn texts(events: &Value) -> Vec<String> {
    events.as_array().unwrap().iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_follows_has_what_one_that_asks_is_told() {
    let zk = shared_zookeeper().await.address();
    let truth = Truth::new(&zk).await;
    let lock = "/events/order";
    truth.make(lock).await;
    truth.make("/events/other").await;
    let lockscope = Lockscope::run(&["--zk", &zk, "--root", "/events"]).await;
    let mut request =
        format!("{}/api/v1/live", lockscope.address().replace("http", "ws")).into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "lockscope.v1.json".parse().unwrap());
    let mut socket = tokio_tungstenite::connect_async(request).await.unwrap().0;
    let view = json!({ "type": "subscribe", "id": 1, "view": { "kind": "events", "path": lock, "limit": LIMIT } });
    socket.send(Message::text(view.to_string())).await.unwrap();

    let first = truth.queue(&format!("{lock}/lock-")).await;
    let second = truth.queue(&format!("{lock}/lock-")).await;
    truth.queue("/events/other/lock-").await;
    truth.delete(&format!("{lock}/{}", first.rsplit('/').next().unwrap())).await;
    let all = format!("/api/v1/events?path={lock}");
    let heir = format!("{} holds it.", second.rsplit('/').next().unwrap());
    until(async || texts(&lockscope.ask(&all).await.1["events"]).contains(&heir)).await;
    // However few events the reads made of that: whoever comes now makes one each.
    let mut last = String::new();
    for _ in 0..LIMIT {
        let path = truth.queue(&format!("{lock}/lock-")).await;
        last = format!("{} joined.", path.rsplit('/').next().unwrap());
    }
    until(async || texts(&lockscope.ask(&all).await.1["events"]).contains(&last)).await;

    let asked = format!("{all}&limit={LIMIT}");
    let (mut body, mut told, mut seq, mut heard) = (Value::Null, Value::Null, 0, Vec::new());
    let following = async {
        loop {
            let Message::Text(text) = socket.next().await.unwrap().unwrap() else { continue };
            let frame: Value = serde_json::from_str(&text).unwrap();
            match frame["type"].as_str().unwrap() {
                "snapshot" => body = frame["body"].clone(),
                "delta" => {
                    assert_eq!(frame["seq"].as_u64(), Some(seq + 1), "{frame}");
                    apply(&mut body, &frame["body"]);
                }
                _ => continue,
            }
            seq = frame["seq"].as_u64().unwrap();
            heard.push(frame);
            // What the members tell may make a last event when all seems told: asked anew each time.
            told = lockscope.ask(&asked).await.1["events"].clone();
            let followed = &body["ensembles"][0]["events"];
            if *followed == told {
                return;
            }
        }
    };
    let in_time = tokio::time::timeout(DEADLINE, following).await;
    assert!(in_time.is_ok(), "asked: {told}\nfollowed: {body}\nby {heard:?}");
    assert!(told.as_array().unwrap().iter().all(|row| row["path"] == lock), "{told}");
    assert!(body["ensembles"][0]["events"].as_array().is_some_and(|events| events.len() == LIMIT), "{body}");

    for (view, what) in [
        (
            json!({ "kind": "events", "after": 3 }),
            "the view `events` has no field `after`; it takes ensemble, limit, path, at",
        ),
        (json!({ "kind": "events", "path": "order" }), "`order` is not an absolute path; write it like /order"),
    ] {
        socket.send(Message::text(json!({ "type": "subscribe", "id": 2, "view": view }).to_string())).await.unwrap();
        let refused = async {
            loop {
                let Message::Text(text) = socket.next().await.unwrap().unwrap() else { continue };
                let frame: Value = serde_json::from_str(&text).unwrap();
                if frame["type"] == "error" {
                    return frame;
                }
            }
        };
        assert_eq!(tokio::time::timeout(DEADLINE, refused).await.unwrap()["detail"], what);
    }
    let (status, problem) = lockscope.ask("/api/v1/events?path=order").await;
    assert_eq!(
        (status, problem["detail"].as_str().unwrap()),
        (400, "`order` is not an absolute path; write it like /order")
    );
}
