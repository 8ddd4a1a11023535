//! A session that ends lets go of all its znodes in one transaction: nobody is shown a state from inside it as live.

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use serde_json::Value;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::harness::{DEADLINE, Truth, open, queue, zookeeper};
use crate::recipes::lockscope::Lockscope;
use crate::served::{Client, say};

const LOCKS: u64 = 20;
/// Contenders of the session that ends, at each lock.
const OWNED: u64 = 100;

/// Locks, those that are held, and those who wait.
fn totals(head: &Value) -> [u64; 3] {
    ["locks", "held", "waiters"].map(|name| head["totals"][name].as_u64().unwrap())
}

/// The totals of every frame that says that they are live, until the last are these.
async fn live_until(socket: &mut Client, last: [u64; 3]) -> Vec<[u64; 3]> {
    let mut seen = Vec::new();
    let frames = async {
        while seen.last() != Some(&last) {
            let Message::Text(text) = socket.next().await.unwrap().unwrap() else { continue };
            let frame: Value = serde_json::from_str(&text).unwrap();
            let head = &frame["body"]["head"];
            if head["as_of"]["state"] == "live" {
                seen.push(totals(head));
            }
        }
    };
    if tokio::time::timeout(DEADLINE, frames).await.is_err() {
        panic!("{last:?} never came, but {seen:?}");
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_of_thousands_of_znodes_ends_at_once() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    let ends = open(&server.address()).await;
    let prefix = |lock: u64| format!("/locks/{lock:02}/_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-lock-");
    for lock in 0..LOCKS {
        truth.make(&format!("/locks/{lock:02}")).await;
        let prefix = prefix(lock);
        join_all((0..OWNED).map(|_| queue(&ends, &prefix))).await;
        truth.queue(&prefix).await;
    }
    let lockscope = Lockscope::run(&["--zk", &server.address(), "--root", "/locks"]).await;
    let (before, after) = ([LOCKS, LOCKS, LOCKS * OWNED], [LOCKS, LOCKS, 0]);

    let mut request =
        format!("{}/api/v1/live", lockscope.address().replacen("http", "ws", 1)).into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "lockscope.v1.json".parse().unwrap());
    let mut socket = connect_async(request).await.unwrap().0;
    say(&mut socket, r#"{"type":"subscribe","id":1,"view":{"kind":"board","limit":1}}"#).await;
    assert_eq!(live_until(&mut socket, before).await.last(), Some(&before));
    drop(ends);
    let mut seen = live_until(&mut socket, after).await;
    seen.retain(|totals| *totals != before);
    assert_eq!(seen, [after]);
}
