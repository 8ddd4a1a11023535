//! Who is told of alerts while leaders are killed: a chat by the leader alone, and a real Alertmanager by every replica.
//! Each alert is told when it fires and when it is over, none is lost, and Alertmanager notifies once for each group. The chat
//! hears twice at most what a leader had sent and not noted when it was killed. `CLUSTER_LEADER_KILLS=5` is the long form.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::routing::post;
use rustix::process::Signal;
use serde_json::Value;

use super::{Replica, long, replicas, turn};
use crate::alerts::{Alertmanager, free_port};
use crate::harness::{Truth, open, queue, zookeeper};
use crate::served::until;

/// Locks that are held for too long with each leader.
const CAUSES: usize = 4;

/// What was told, by lock and state: how often.
type Told = Arc<Mutex<BTreeMap<(String, String), usize>>>;

fn note(told: &Told, lock: &Value, state: &Value) {
    let key = (lock.as_str().unwrap().to_owned(), state.as_str().unwrap().to_owned());
    *told.lock().unwrap().entry(key).or_default() += 1;
}

/// A chat that takes everything, after a moment, and somebody whom Alertmanager notifies.
async fn receivers() -> (Told, Told, u16) {
    let (chat, groups) = (Told::default(), Told::default());
    let (of_chat, of_groups) = (Arc::clone(&chat), Arc::clone(&groups));
    let take_alerts = post(async move |axum::Json(body): axum::Json<Value>| {
        tokio::time::sleep(Duration::from_millis(50)).await;
        for alert in body["alerts"].as_array().unwrap() {
            note(&of_chat, &alert["lock"], &alert["state"]);
        }
    });
    let take_group = post(async move |axum::Json(body): axum::Json<Value>| {
        note(&of_groups, &body["groupLabels"]["lock"], &body["status"]);
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let router = axum::Router::new().route("/alerts", take_alerts).route("/group", take_group);
    tokio::spawn(async move { axum::serve(listener, router).await });
    (chat, groups, port)
}

async fn leader(all: &[Replica]) -> Option<usize> {
    for (at, replica) in all.iter().enumerate() {
        if replica.json("/api/v1/cluster").await["is_leader"] == true {
            return Some(at);
        }
    }
    None
}

/// Alerts by lock: one group for each, which is notified of as soon as it changes.
fn alertmanager_config(port: u16) -> String {
    format!(
        "route:\n  receiver: us\n  group_by: [alertname, lock]\n  group_wait: 500ms\n  group_interval: 2s\n  repeat_interval: 4h\n\
         receivers:\n  - name: us\n    webhook_configs:\n      - url: http://127.0.0.1:{port}/group\n"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_is_told_of_each_alert_over_leaders_that_are_killed_and_alertmanager_notifies_once() {
    let _turn = turn().await;
    let kills = usize::try_from(long("CLUSTER_LEADER_KILLS", 1)).unwrap();
    let (chat, groups, port) = receivers().await;
    let (place, alertmanager_port) = (tempfile::tempdir().unwrap(), free_port().await);
    let alertmanager = Alertmanager::start_as(place.path(), alertmanager_port, &alertmanager_config(port)).await;
    let (zookeeper, secret) = (zookeeper().await, place.path().join("secret"));
    std::fs::write(&secret, "a secret of more than sixteen bytes").unwrap();
    let truth = Truth::new(&zookeeper.address()).await;
    truth.make("/a").await;
    let more = format!(
        "history = \"off\"\n[[alert]]\nname = \"held\"\nwhen = \"held > 1s\"\npath = \"/a/*\"\n\n[[route]]\nname = \"chat\"\n\
         kind = \"webhook\"\nurl = \"http://127.0.0.1:{port}/alerts\"\nsecret_file = {:?}\n\n[[route]]\nname = \"team\"\n\
         kind = \"alertmanager\"\nurl = \"{}\"\n",
        secret.display().to_string(),
        alertmanager.url()
    );
    let mut all = replicas(&zookeeper.address(), 3, &more).await;
    let client = open(&zookeeper.address()).await;
    let count = |told: &Told, lock: &str, state: &str| {
        told.lock().unwrap().get(&(lock.to_owned(), state.to_owned())).copied().unwrap_or(0)
    };
    let both = |lock: &str, state: &str| count(&chat, lock, state) > 0 && count(&groups, lock, state) > 0;
    let (mut locks, mut held) = (Vec::new(), Vec::new());
    for round in 0..=kills {
        let before = locks.len();
        for cause in 0..CAUSES {
            let lock = format!("/a/order{round}-{cause}");
            truth.make(&lock).await;
            held.push(queue(&client, &format!("{lock}/lock-")).await);
            locks.push(lock);
        }
        until(async || leader(&all).await.is_some()).await;
        if round < kills {
            // The first is told; the others are on their way, or not yet.
            until(async || locks[before..].iter().any(|lock| count(&chat, lock, "firing") > 0)).await;
            let leads = leader(&all).await.unwrap();
            all[leads].end(Signal::KILL).await;
            // One of them is over while nobody leads.
            truth.delete(&held[before]).await;
            all[leads].run().await;
        }
        until(async || locks.iter().all(|lock| both(lock, "firing"))).await;
    }
    for (number, node) in held.iter().enumerate() {
        if number % CAUSES != 0 || number / CAUSES == kills {
            truth.delete(node).await;
        }
    }
    until(async || locks.iter().all(|lock| both(lock, "resolved"))).await;
    let (told, notified) = (chat.lock().unwrap().clone(), groups.lock().unwrap().clone());
    let twice: Vec<_> = told.iter().filter(|(_, count)| **count > 1).collect();
    let again: Vec<_> = notified.iter().filter(|(_, count)| **count > 1).collect();
    eprintln!(
        "{} alerts over {kills} killed leaders: each told when it fired and when it was over; chat: {} twice; Alertmanager: {} groups notified of again",
        locks.len(),
        twice.len(),
        again.len()
    );
    assert_eq!(told.len(), 2 * locks.len(), "{told:#?}");
    assert_eq!(notified.len(), 2 * locks.len(), "{notified:#?}");
    assert!(again.is_empty(), "{again:?}");
    // What a leader had sent and not noted when it was killed, one message of at most as many alerts as there were.
    assert!(told.values().all(|count| *count <= 2) && twice.len() <= kills * CAUSES, "{twice:?}");
}
