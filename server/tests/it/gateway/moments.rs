//! Moments of the past on the live socket of a replica that watches nothing: the same snapshot as at an owner, for whom it
//! is, and one clear sentence where there is none.

use futures_util::{SinkExt as _, StreamExt as _};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use super::acts::{get, same_token};
use super::{RECORDED, Server, secret, three};
use crate::harness::{DEADLINE, Truth, open, queue, zookeeper};
use crate::served::until;

/// The first snapshot or error that a view brings.
async fn shown(server: &Server, token: &str, view: &Value) -> Value {
    let url = format!("{}/api/v1/live", server.url.replace("http", "ws"));
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    let subscribe = json!({ "type": "subscribe", "id": 7, "view": view });
    socket.send(Message::text(subscribe.to_string())).await.unwrap();
    loop {
        let message = tokio::time::timeout(DEADLINE, socket.next()).await.unwrap().unwrap().unwrap();
        let Message::Text(text) = message else { continue };
        let frame: Value = serde_json::from_str(&text).unwrap();
        if frame["type"] == "snapshot" || frame["type"] == "error" {
            return frame;
        }
    }
}

/// The same but for whose frame it is, and when it was sent.
fn but_for_whose(mut frame: Value) -> Value {
    for name in ["epoch", "server_time_ms", "seq"] {
        frame[name] = Value::Null;
    }
    frame
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_moment_on_the_live_socket_is_that_of_an_owner() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    for path in ["/a", "/a/order", "/a/theirs"] {
        truth.make(path).await;
    }
    let client = open(&zookeeper.address()).await;
    let place = tempfile::tempdir().unwrap();
    let [one, two, gateway] = three(&zookeeper, &secret(&place), RECORDED).await;
    let token = same_token(&[&one, &two, &gateway], "operator", "ops").await;
    let held = queue(&client, "/a/order/lock-").await;
    let _theirs = queue(&client, "/a/theirs/lock-").await;
    until(async || get(&one, &token, "/api/v1/lock?path=/a/order").await.1.to_string().contains(&held)).await;
    let to = async || get(&one, &token, "/api/v1/history").await.1["to_at_ms"].as_i64().unwrap_or_default();
    let begin = to().await;
    until(async || to().await > begin + 2_000).await;
    let at = to().await;
    truth.client.delete(&held, None).await.unwrap();

    let views = [
        json!({ "kind": "board", "at": at.to_string() }),
        json!({ "kind": "lock", "path": "/a/order", "at": at.to_string() }),
        json!({ "kind": "lock", "ensemble": "default", "path": "/a/order", "at": at.to_string() }),
        json!({ "kind": "waits", "at": at.to_string() }),
        json!({ "kind": "sessions", "at": at.to_string() }),
    ];
    for view in &views {
        let (here, there) = (shown(&gateway, &token, view).await, shown(&one, &token, view).await);
        assert_eq!(here["type"], "snapshot", "{view} {here:#}");
        assert_eq!((&here["as_of"]["state"], &here["as_of"]["at_ms"]), (&json!("past"), &json!(at)), "{here:#}");
        assert_eq!(but_for_whose(here), but_for_whose(there), "{view}");
    }
    assert!(shown(&gateway, &token, &views[0]).await.to_string().contains("/a/theirs"));
    // What there is not is said in the words of the owner.
    for view in [
        json!({ "kind": "board", "at": "1000" }),
        json!({ "kind": "board", "at": "zxid:0x7fffffffffffff" }),
        json!({ "kind": "board", "at": (at + 86_400_000).to_string() }),
    ] {
        let (here, there) = (shown(&gateway, &token, &view).await, shown(&one, &token, &view).await);
        // The newest moment that is kept is another one a moment later.
        let words = |frame: &serde_json::Value| {
            let detail = frame["detail"].as_str().unwrap_or_default();
            (frame["type"].clone(), detail.replace(|one: char| one.is_ascii_digit(), ""))
        };
        assert_eq!(here["type"], "error", "{view} {here:#}");
        assert_eq!(words(&here), words(&there), "{view}");
    }
    // Whoever may see some locks sees no others of the past.
    let bounded = gateway.token("viewer", &["--path", "/a/order"]).await;
    let board = shown(&gateway, &bounded, &views[0]).await;
    assert!(board.to_string().contains("/a/order") && !board.to_string().contains("theirs"), "{board:#}");

    // Nobody is left: that is said, and no moment is made up.
    one.signal(Signal::KILL);
    // The other one is asked in its place.
    until(async || shown(&gateway, &token, &views[0]).await["type"] == "snapshot").await;
    two.signal(Signal::STOP);
    let refused = shown(&gateway, &token, &views[0]).await;
    let detail = refused["detail"].as_str().unwrap_or_default();
    assert!(refused["type"] == "error" && detail.contains("does not answer"), "{refused:#}");
    two.signal(Signal::CONT);
}
