//! Alerts while everything goes wrong: the server is killed again and again, and the receiver takes nothing for a while, breaks off, or
//! hangs. Each cause is told once it lasts, and to be over once it is; nothing is told that had no cause.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustix::process::Signal;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::{open, queue};
use crate::history::Recorded;
use crate::served::until;

/// Locks that are held for too long, one after the other.
const CAUSES: usize = 6;
/// What the receiver does, in turn: so it takes one request of four.
const MANNERS: usize = 4;
const REQUEST_BYTES_MAX: usize = 1 << 20;

/// A receiver that flaps, and what it took.
#[derive(Clone, Default)]
struct Receiver {
    taken: Arc<Mutex<Vec<Value>>>,
    asked: Arc<AtomicUsize>,
}

impl Receiver {
    async fn start() -> (Self, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let receiver = Self::default();
        let own = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let own = own.clone();
                tokio::spawn(async move { own.answer(stream).await });
            }
        });
        (receiver, port)
    }

    async fn answer(&self, mut stream: TcpStream) {
        let Some(body) = body_of(&mut stream).await else { return };
        match self.asked.fetch_add(1, Ordering::SeqCst) % MANNERS {
            0 => drop(stream.write_all(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await),
            // It breaks off.
            1 => {}
            // It goes on for ever, as far as the client waits.
            2 => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
                let _ = stream.read(&mut [0; 1]).await;
            }
            _ => {
                let told: Value = serde_json::from_slice(&body).unwrap();
                self.taken.lock().unwrap().extend(told["alerts"].as_array().unwrap().iter().cloned());
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
            }
        }
    }

    /// What was told of each alert, in order: its lock, and whether that it fires or that it is over.
    fn told(&self) -> BTreeMap<String, Vec<(String, String)>> {
        let mut told: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        for one in self.taken.lock().unwrap().iter() {
            let text = |name: &str| one[name].as_str().unwrap().to_owned();
            told.entry(text("key")).or_default().push((text("lock"), text("state")));
        }
        told
    }
}

async fn body_of(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut got = Vec::new();
    loop {
        if let Some(head) = got.windows(4).position(|end| end == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&got[..head]).to_lowercase();
            let length = text.split("content-length: ").nth(1)?.split("\r\n").next()?.parse::<usize>().ok()?;
            if got.len() >= head + 4 + length {
                return Some(got[head + 4..head + 4 + length].to_vec());
            }
        }
        let mut more = [0; 4096];
        let read = stream.read(&mut more).await.ok().filter(|read| *read > 0)?;
        got.extend_from_slice(&more[..read]);
        assert!(got.len() < REQUEST_BYTES_MAX);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_cause_is_told_once_over_kills_and_a_receiver_that_flaps() {
    let (receiver, port) = Receiver::start().await;
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "a secret of more than sixteen bytes").unwrap();
    let config = format!(
        "[[alert]]\nname = \"held\"\nwhen = \"held > 1s\"\npath = \"/a/*\"\n\n[[route]]\nname = \"own\"\nkind = \"webhook\"\n\
         url = \"http://127.0.0.1:{port}/alerts\"\nsecret_file = {:?}\n",
        secret.path()
    );
    let mut recorded = Recorded::start(Box::leak(config.into_boxed_str())).await;
    let client = open(&recorded.zookeeper.address()).await;
    for cause in 0..CAUSES {
        let lock = format!("/a/order-{cause}");
        recorded.truth.make(&lock).await;
        let node = queue(&client, &format!("{lock}/lock-")).await;
        // One that is let go before the rule's time has no alert: nobody is to be told.
        recorded.truth.make(&format!("{lock}-short")).await;
        let short = queue(&client, &format!("{lock}-short/lock-")).await;
        recorded.truth.delete(&short).await;
        let fires = async |state: &str| {
            let answer = recorded.json(&format!("/api/v1/alerts?state={state}")).await.1;
            answer["alerts"].as_array().is_some_and(|all| all.iter().any(|alert| alert["lock"] == *lock))
        };
        until(async || fires("firing").await).await;
        // Whatever is on its way then.
        recorded.end(Signal::KILL).await;
        recorded.run().await;
        recorded.truth.delete(&node).await;
    }
    let is_over = |told: &BTreeMap<String, Vec<(String, String)>>| {
        told.len() >= CAUSES && told.values().all(|of| of.last().is_some_and(|(_, state)| state == "resolved"))
    };
    until(async || is_over(&receiver.told())).await;
    let told = receiver.told();
    let mut locks: Vec<&str> = told.values().map(|of| of[0].0.as_str()).collect();
    locks.sort_unstable();
    let causes: Vec<String> = (0..CAUSES).map(|cause| format!("/a/order-{cause}")).collect();
    assert_eq!(locks, causes, "{told:#?}");
    for of in told.values() {
        let states: Vec<&str> = of.iter().map(|(_, state)| state.as_str()).collect();
        // A process that is killed after somebody took it and before that is stored tells it once more, with the same key.
        let is_in_order = states.iter().skip_while(|state| **state == "firing").all(|state| *state == "resolved");
        assert!(is_in_order && states.len() <= 3, "{told:#?}");
    }
}
