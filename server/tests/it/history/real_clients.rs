//! Every view of a recorded moment is what was shown at that moment, with real clients: readers and writers, a process that
//! is killed, a root that is deleted and made again, a ZooKeeper that is started again.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::equality::still;
use super::{Recorded, holder, now_ms};
use crate::harness::{open, queue};
use crate::recipes::host::Library;
use crate::served::until;

/// What all pages said at an instant.
struct Shown {
    at_ms: i64,
    views: Value,
}

/// Everything that a viewer can ask for, as it is or was.
async fn views(recorded: &Recorded, locks: &[&str], at: Option<i64>) -> Value {
    let then = |address: &str| match at {
        Some(at_ms) => format!("/api/v1/{address}{}at={at_ms}", if address.contains('?') { '&' } else { '?' }),
        None => format!("/api/v1/{address}"),
    };
    let mut views = Map::new();
    let mut sessions = BTreeSet::new();
    let lists = ["locks?sort=path&limit=500", "waits", "sessions?sort=id&limit=500"].map(str::to_owned);
    let of_locks = locks.iter().map(|path| format!("lock?path={path}&limit=500"));
    for address in lists.into_iter().chain(of_locks) {
        let (status, view) = recorded.json(&then(&address)).await;
        assert!(status == 200 || status == 404, "{address}: {view:#}");
        let rows = view["sessions"].as_array().into_iter().flatten();
        sessions.extend(rows.filter_map(|row| row["id"].as_str().or(row["session_id"].as_str()).map(str::to_owned)));
        views.insert(address, Value::from(vec![Value::from(status), still(&view)]));
    }
    for session in sessions {
        let address = format!("session?id={session}");
        let (status, view) = recorded.json(&then(&address)).await;
        views.insert(address, Value::from(vec![Value::from(status), still(&view)]));
    }
    Value::Object(views)
}

/// Notes what is shown at an instant at which nothing moves.
async fn note(recorded: &Recorded, locks: &[&str], shown: &mut Vec<Shown>) {
    let taken = std::cell::RefCell::new(None);
    until(async || {
        let before = views(recorded, locks, None).await;
        let at_ms = now_ms();
        let views = views(recorded, locks, None).await;
        let is_still = before == views;
        *taken.borrow_mut() = is_still.then_some(Shown { at_ms, views });
        is_still
    })
    .await;
    shown.extend(taken.into_inner());
}

/// Where two values differ first.
fn difference(one: &Value, other: &Value, path: &str) -> Option<String> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            names.into_iter().find_map(|name| {
                let at = format!("{path}/{name}");
                difference(one.get(name).unwrap_or(&Value::Null), other.get(name).unwrap_or(&Value::Null), &at)
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => (0..)
            .zip(one.iter().zip(other))
            .find_map(|(at, (one, other)): (usize, _)| difference(one, other, &format!("{path}/{at}"))),
        _ => (one != other).then(|| format!("{path}: {one} was shown, the past says {other}")),
    }
}

/// The past says what was shown, in whatever order it is asked for.
async fn agrees(recorded: &Recorded, locks: &[&str], shown: &[Shown]) {
    recorded.until_kept(now_ms()).await;
    for (number, moment) in shown.iter().enumerate().rev().chain(shown.iter().enumerate()) {
        let past = views(recorded, locks, Some(moment.at_ms)).await;
        assert_eq!(difference(&moment.views, &past, ""), None, "moment {number}, at {}", moment.at_ms);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_writers_and_a_client_that_is_killed() {
    let recorded = Recorded::start("").await;
    let zk = recorded.zookeeper.address();
    let (locks, mut shown) = (["/a/modes", "/a/mutex"], Vec::new());
    let victim = Library::Kazoo.victim();
    let reader = victim.client(&zk, "read /a/modes").await;
    reader.does("acquire", "held").await;
    let also = Library::Kazoo.client(&zk, "read /a/modes").await;
    also.does("acquire", "held").await;
    let writer = Library::Kazoo.client(&zk, "write /a/modes").await;
    writer.order("acquire");
    writer.made().await;
    let owner = victim.client(&zk, "lock /a/mutex").await;
    owner.does("acquire", "held").await;
    let heir = Library::Kazoo.client(&zk, "lock /a/mutex").await;
    heir.order("acquire");
    let inherited = heir.made().await;
    let waits = async |path: &str| recorded.lock(path, "").await["contenders"].as_array().map_or(0, Vec::len);
    until(async || waits("/a/modes").await == 3 && waits("/a/mutex").await == 2).await;
    note(&recorded, &locks, &mut shown).await;

    // Its sessions end, and both of its locks with them.
    victim.kill_minus_9();
    heir.says("held").await;
    recorded.until_holds("/a/mutex", &inherited).await;
    until(async || waits("/a/modes").await == 2).await;
    note(&recorded, &locks, &mut shown).await;
    also.does("release", "released").await;
    writer.says("held").await;
    until(async || waits("/a/modes").await == 1).await;
    note(&recorded, &locks, &mut shown).await;
    writer.does("release", "released").await;
    heir.does("release", "released").await;
    until(async || waits("/a/modes").await + waits("/a/mutex").await == 0).await;
    note(&recorded, &locks, &mut shown).await;
    assert_eq!(shown.len(), 4);
    agrees(&recorded, &locks, &shown).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_root_that_is_made_again() {
    let recorded = Recorded::start("").await;
    let (locks, mut shown) = (["/b/order", "/a/other"], Vec::new());
    for path in ["/b/order", "/a/other"] {
        recorded.truth.make(path).await;
    }
    let client = open(&recorded.zookeeper.address()).await;
    let (first, other) = (queue(&client, "/b/order/lock-").await, queue(&client, "/a/other/lock-").await);
    recorded.until_holds("/b/order", &first).await;
    recorded.until_holds("/a/other", &other).await;
    note(&recorded, &locks, &mut shown).await;
    for path in [&first, "/b/order", "/b"] {
        recorded.truth.delete(path).await;
    }
    until(async || holder(&recorded.lock("/b/order", "").await).is_empty()).await;
    note(&recorded, &locks, &mut shown).await;
    // The same names again, and other znodes.
    recorded.truth.make("/b/order").await;
    let second = queue(&client, "/b/order/lock-").await;
    assert_eq!(first, second);
    recorded.until_holds("/b/order", &second).await;
    note(&recorded, &locks, &mut shown).await;
    agrees(&recorded, &locks, &shown).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zookeeper_that_is_started_again() {
    let mut recorded = Recorded::start("").await;
    let (locks, mut shown) = (["/a/order"], Vec::new());
    recorded.truth.make("/a/order").await;
    let client = open(&recorded.zookeeper.address()).await;
    let first = queue(&client, "/a/order/lock-").await;
    let second = queue(&client, "/a/order/lock-").await;
    recorded.until_holds("/a/order", &first).await;
    let waits = async |recorded: &Recorded| recorded.lock("/a/order", "").await["contenders"].as_array().map(Vec::len);
    until(async || waits(&recorded).await == Some(2)).await;
    note(&recorded, &locks, &mut shown).await;
    recorded.zookeeper.restart().await.unwrap();
    // Its root is read anew.
    until(async || recorded.lock("/a/order", "").await["as_of"]["state"] == "live").await;
    until(async || recorded.get("/readyz").await.0 == 200).await;
    note(&recorded, &locks, &mut shown).await;
    recorded.truth.delete(&first).await;
    recorded.until_holds("/a/order", &second).await;
    note(&recorded, &locks, &mut shown).await;
    agrees(&recorded, &locks, &shown).await;
}
