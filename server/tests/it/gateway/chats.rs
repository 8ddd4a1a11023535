//! A chat that must be told once of each alert, where three real servers share the ensembles and the one that tells is killed.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::routing::post;
use rustix::process::Signal;
use serde_json::Value;
use tokio::net::TcpListener;

use super::{Server, secret, three};
use crate::harness::{Truth, open, queue, zookeeper};
use crate::served::until;

/// What a chat was told, each message whole.
#[derive(Clone, Default)]
struct Chat(Arc<Mutex<Vec<String>>>);

impl Chat {
    /// Starts it, and gives the settings of a route to it.
    async fn start() -> (Self, String) {
        let (chat, listener) = (Self::default(), TcpListener::bind("127.0.0.1:0").await.unwrap());
        let address = listener.local_addr().unwrap();
        let told = chat.clone();
        let take = move |body: String| async move {
            told.0.lock().unwrap().push(body);
            "ok"
        };
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/", post(take))).await });
        let settings = format!(
            "[[alert]]\nname = \"held\"\nwhen = \"held > 1s\"\npath = \"/a/*\"\n\
             [[route]]\nname = \"chat\"\nkind = \"slack\"\nurl = \"http://{address}/\"\n"
        );
        (chat, settings)
    }

    fn of(&self, lock: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|message| message.contains(lock)).count()
    }
}

/// Whether a replica finds so many alerts, and has nothing left to tell of them.
async fn is_done((server, token): &(&Server, String), alerts: usize) -> bool {
    let asked = reqwest::Client::new().get(format!("{}/api/v1/alerts?state=firing", server.url)).bearer_auth(token);
    let Ok(answer) = asked.send().await else { return false };
    let view: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    view["alerts"].as_array().is_some_and(|all| all.len() == alerts) && view["routes"][0]["waiting"] == 0
}

/// Receivers are shown to those who run the server.
async fn known(server: &Server) -> (&Server, String) {
    (server, server.token("admin", &[]).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chat_is_told_once_by_the_first_owner_and_by_the_next_when_that_is_killed() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    for path in ["/a", "/a/order", "/a/stock"] {
        truth.make(path).await;
    }
    let client = open(&zookeeper.address()).await;
    let place = tempfile::tempdir().unwrap();
    let (chat, settings) = Chat::start().await;
    let [one, two, third] = three(&zookeeper, &secret(&place), &settings).await;
    let (one, two, third) = (known(&one).await, known(&two).await, known(&third).await);
    let _held = queue(&client, "/a/order/lock-").await;
    until(async || is_done(&one, 1).await && is_done(&two, 1).await).await;
    assert_eq!(chat.of("/a/order"), 1, "both found it, and one told: {:?}", chat.0.lock().unwrap());

    // The one that tells is killed, and with it goes what it alone knew. Nothing new is told of what was.
    one.0.signal(Signal::KILL);
    let _other = queue(&client, "/a/stock/lock-").await;
    until(async || is_done(&two, 2).await && is_done(&third, 2).await).await;
    assert_eq!((chat.of("/a/order"), chat.of("/a/stock")), (1, 1), "{:?}", chat.0.lock().unwrap());
}
