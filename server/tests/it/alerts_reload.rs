//! Rules and routes of alerts, read again while the program runs: by the real program, a real ZooKeeper and a receiver of
//! our own.

use rustix::process::Signal;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::harness::{open, queue};
use crate::history::Recorded;
use crate::served::until;

/// What a receiver was told: the rule of each alert, and whether it was over.
type Told = mpsc::UnboundedReceiver<(String, bool)>;

/// Takes whatever it is told.
async fn receiver() -> (u16, Told) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut bytes = Vec::new();
            let body = loop {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let parsed = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str::<Value>(body).ok());
                if let Some(body) = parsed {
                    break body;
                }
                let mut part = [0; 4_096];
                let length = socket.read(&mut part).await.unwrap();
                assert!(length > 0, "a whole message: {text}");
                bytes.extend_from_slice(&part[..length]);
            };
            for alert in body["alerts"].as_array().unwrap() {
                let _ = tell.send((alert["rule"].as_str().unwrap().to_owned(), !alert["resolved_at_ms"].is_null()));
            }
            socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await.unwrap();
        }
    });
    (port, told)
}

fn rule(name: &str) -> String {
    format!("[[alert]]\nname = \"{name}\"\nwhen = \"held > 500ms\"\npath = \"/a/*\"\n")
}

fn route(name: &str, port: u16, secret: &str) -> String {
    format!(
        "[[route]]\nname = \"{name}\"\nkind = \"webhook\"\nurl = \"http://127.0.0.1:{port}/\"\nsecret_file = {secret:?}\n"
    )
}

async fn next(told: &mut Told) -> (String, bool) {
    tokio::time::timeout(crate::harness::DEADLINE, told.recv()).await.expect("it is told").unwrap()
}

async fn firing(recorded: &Recorded) -> Vec<String> {
    let (_, answer) = recorded.json("/api/v1/alerts?state=firing").await;
    let rules = answer["alerts"].as_array().cloned().unwrap_or_default();
    rules.iter().map(|alert| alert["rule"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_and_routes_change_while_it_runs() {
    let dir = tempfile::tempdir().unwrap();
    let secret = dir.path().join("secret").display().to_string();
    std::fs::write(&secret, "a secret that is long enough\n").unwrap();
    let ((first, mut by_first), (second, mut by_second)) = (receiver().await, receiver().await);
    let begun = [rule("stays"), rule("goes"), route("team", first, &secret)].concat();
    let mut recorded = Recorded::start(Box::leak(begun.clone().into_boxed_str())).await;
    recorded.truth.make("/a/order").await;
    let client = open(&recorded.zookeeper.address()).await;
    let node = queue(&client, "/a/order/lock-").await;
    until(async || firing(&recorded).await.len() == 2).await;
    let mut told = [next(&mut by_first).await, next(&mut by_first).await];
    told.sort();
    assert_eq!(told, [("goes".to_owned(), false), ("stays".to_owned(), false)]);
    let before = recorded.json("/api/v1/alerts?state=firing").await.1;

    // One rule goes, another comes, and there is a second receiver.
    let routes = [route("team", first, &secret), route("other", second, &secret)].concat();
    recorded.reload(&begun, &[rule("comes"), rule("stays"), routes].concat());
    assert_eq!(next(&mut by_first).await, ("goes".to_owned(), true), "whoever was told is told that it is over");
    until(async || firing(&recorded).await == ["comes", "stays"] || firing(&recorded).await == ["stays", "comes"])
        .await;
    assert_eq!(next(&mut by_first).await, ("comes".to_owned(), false));
    let mut told = [next(&mut by_second).await, next(&mut by_second).await];
    told.sort();
    assert_eq!(told, [("comes".to_owned(), false), ("stays".to_owned(), false)], "it was told nothing yet");
    let after = recorded.json("/api/v1/alerts?state=firing").await.1;
    let of = |answer: &Value| {
        let all = answer["alerts"].as_array().unwrap().clone();
        all.into_iter().find(|alert| alert["rule"] == "stays").unwrap()
    };
    assert_eq!((&of(&before)["key"], &of(&before)["fired_at_ms"]), (&of(&after)["key"], &of(&after)["fired_at_ms"]));
    let status = recorded.json("/api/v1/status").await.1;
    assert_eq!(status["config"]["waits_for_restart"], serde_json::json!([]), "nothing waits for a restart");

    client.delete(&node, None).await.unwrap();
    for told in [&mut by_first, &mut by_second] {
        let mut over = [next(told).await, next(told).await];
        over.sort();
        assert_eq!(over, [("comes".to_owned(), true), ("stays".to_owned(), true)], "and nothing twice before it");
    }
    recorded.end(Signal::TERM).await;
}
