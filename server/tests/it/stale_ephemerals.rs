//! A znode that outlived its session (ZOOKEEPER-1208). ZooKeeper has mended all ways to make one that are known; so an
//! AdminServer stands before the real one, and leaves a session out of what that says.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::{Truth, zookeeper};
use crate::recipes::lockscope::Lockscope;
use crate::served::until;

async fn lock(lockscope: &Lockscope) -> Value {
    lockscope.ask("/api/v1/lock?path=/locks/x").await.1
}

fn finding(lock: &Value) -> Option<&Value> {
    lock["findings"].as_array()?.iter().find(|finding| finding["code"] == "stale_ephemeral")
}

/// What the AdminServer on this port says, without a session in its lists of connections and of ends.
async fn answer(port: u16, asked: &str, hidden: i64) -> String {
    let mut real = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let path = asked.split_whitespace().nth(1).unwrap_or("/");
    real.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await.unwrap();
    let mut told = String::new();
    real.read_to_string(&mut told).await.unwrap();
    let mut body: Value = serde_json::from_str(told.split_once("\r\n\r\n").unwrap().1).unwrap();
    if let Some(connections) = body["connections"].as_array_mut() {
        connections.retain(|connection| connection["session_id"] != hidden);
    }
    for (_, ends) in body["expiry_time_to_session_ids"].as_object_mut().into_iter().flatten() {
        ends.as_array_mut().unwrap().retain(|session| *session != hidden);
    }
    let body = body.to_string();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

async fn forgetful(port: u16, hidden: i64) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut asked = [0; 2_048];
                let length = stream.read(&mut asked).await.unwrap_or(0);
                let told = answer(port, &String::from_utf8_lossy(&asked[..length]), hidden).await;
                let _ = stream.write_all(told.as_bytes()).await;
            });
        }
    });
    url
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_znode_without_a_session_never_goes() {
    let server = zookeeper().await;
    let (gone, waiter) = (Truth::new(&server.address()).await, Truth::new(&server.address()).await);
    gone.make("/locks/x").await;
    let stale = gone.queue("/locks/x/lock-").await;
    let waits = waiter.queue("/locks/x/lock-").await;
    let admin = forgetful(server.admin_port(), gone.client.session_id().0).await;

    let lockscope = Lockscope::run(&["--zk", &server.address(), "--root", "/locks", "--admin-url", &admin]).await;
    until(async || {
        let lock = lock(&lockscope).await;
        assert_ne!(lock["verdict"], "expiring", "{lock:#}");
        finding(&lock).is_some()
    })
    .await;
    let told = lock(&lockscope).await;
    assert_eq!(finding(&told).unwrap()["severity"], "critical", "{told:#}");
    assert_eq!(finding(&told).unwrap()["paths"], Value::from(vec![stale.clone()]));
    waiter.delete(&stale).await;
    until(async || {
        let lock = lock(&lockscope).await;
        lock["holders"][0]["path"] == waits.as_str() && finding(&lock).is_none()
    })
    .await;
}
