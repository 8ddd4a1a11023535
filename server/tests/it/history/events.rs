//! What happened, newest first: what is live and what was recorded are one list, without a seam and nothing twice.

use rustix::process::Signal;
use serde_json::Value;

use super::{Recorded, now_ms};
use crate::harness::open;
use crate::served::until;

/// More than a model's log keeps.
const CONTENDERS: usize = 2_400;
const LOG_ROWS: u64 = 8_192;

impl Recorded {
    /// All rows that are listed, the newest first.
    async fn listed(&self, query: &str) -> Vec<Value> {
        let (mut rows, mut before) = (Vec::new(), String::new());
        loop {
            let (status, answer) = self.json(&format!("/api/v1/events?limit=500&from=0{query}{before}")).await;
            assert_eq!(status, 200, "{answer:#}");
            rows.extend(answer["events"].as_array().unwrap().iter().rev().cloned());
            let Some(next) = answer["next_before"].as_str() else { return rows };
            before = format!("&before={next}");
        }
    }
}

fn numbers(rows: &[Value]) -> Vec<u64> {
    rows.iter().map(|row| row["number"].as_u64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_and_past_are_one_list() {
    let mut recorded = Recorded::start("").await;
    for directory in ["/a/order", "/a/other"] {
        recorded.truth.make(directory).await;
    }
    let rare = recorded.truth.queue("/a/other/lock-").await;
    recorded.until_holds("/a/other", &rare).await;
    recorded.truth.delete(&rare).await;
    recorded.until_holds("/a/other", "").await;
    let client = open(&recorded.zookeeper.address()).await;
    for _ in 0..CONTENDERS {
        let node = crate::harness::queue(&client, "/a/order/lock-").await;
        recorded.truth.delete(&node).await;
    }
    let last = recorded.truth.queue("/a/order/lock-").await;
    let at = recorded.until_holds("/a/order", &last).await;
    recorded.until_kept(at).await;

    let before_kill = numbers(&recorded.listed("").await);
    let newest = before_kill[0];
    assert!(newest > LOG_ROWS, "{newest} rows are no more than the log keeps");
    assert_eq!(before_kill, (1..=newest).rev().collect::<Vec<_>>(), "each once, in order, down to the first");
    // A lock of which all happened before the log begins.
    let of_rare = recorded.listed("&path=/a/other").await;
    assert!(
        of_rare.iter().any(|row| row["kind"] == "holder_changed")
            && of_rare.iter().all(|row| row["path"] == "/a/other")
    );

    recorded.end(Signal::KILL).await;
    recorded.run().await;
    recorded.until_holds("/a/order", &last).await;
    recorded.until_kept(now_ms()).await;
    let after = recorded.listed("").await;
    let all = numbers(&after);
    assert!(all.windows(2).all(|pair| pair[0] == pair[1] + 1) && all.last() == Some(&1), "{all:?}");
    let gap = recorded.json("/api/v1/history").await.1["gaps"][0].clone();
    let (status, page) = recorded.get("/events?kind=gap").await;
    assert!(status == 200 && page.contains(&format!("data-at=\"{}\"", gap["from_at_ms"])), "{status}: {page}");
    assert!(page.contains("Lockscope was not running"), "{page}");
    // The page has the same rows, a hundred at a time, with the gap among them.
    let (_, first) = recorded.get("/events").await;
    assert_eq!(first.matches("data-at=").count(), 100);
    let instants: Vec<i64> =
        first.split("data-at=\"").skip(1).map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect();
    assert!(instants.is_sorted_by(|one, next| one >= next), "{instants:?}");
    assert!(first.contains("data-kind=\"gap\"") && first.contains("before="), "{first}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_is_cut_by_lock_session_kind_time_and_scope() {
    let recorded = Recorded::start("").await;
    for directory in ["/a/order", "/b/canary"] {
        recorded.truth.make(directory).await;
    }
    let client = open(&recorded.zookeeper.address()).await;
    let mine = crate::harness::queue(&client, "/a/order/lock-").await;
    let at = recorded.until_holds("/a/order", &mine).await;
    let other = recorded.truth.queue("/b/canary/lock-").await;
    recorded.until_holds("/b/canary", &other).await;
    recorded.until_kept(now_ms()).await;
    let session = recorded.lock("/a/order", "").await["contenders"][0]["session_id"].as_str().unwrap().to_owned();

    let kinds = async |query: &str| -> Vec<String> {
        let (status, page) = recorded.get(&format!("/events?{query}")).await;
        assert_eq!(status, 200, "{query}: {page}");
        page.split("<tr data-kind=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    let of_session = kinds(&format!("session={session}")).await;
    // Whose znode arrived is known once it was read.
    for kind in ["identified", "holder_changed"] {
        assert!(of_session.iter().any(|known| known == kind), "{kind}: {of_session:?}");
    }
    assert_eq!(kinds("kind=holder_changed&path=/a/order").await, ["holder_changed"]);
    // What forms send for fields that are left empty.
    assert!(!kinds("path=&session=&kind=any&ensemble=any").await.is_empty());
    assert!(kinds("path=/none").await.is_empty());
    let (_, then) = recorded.get(&format!("/events?at={at}")).await;
    assert!(
        then.contains("data-testid=\"events-at\"") && then.contains("/a/order") && !then.contains("canary"),
        "{then}"
    );
    assert!(
        then.contains(&format!("/lock?path=%2Fa%2Forder&amp;at={at}")) || then.contains(&format!("at={at}")),
        "{then}"
    );
    assert!(!then.contains("id=\"news\""), "nothing new comes into the past");

    let viewer = recorded.token("viewer", "/a").await;
    for target in ["/events", "/events?kind=identified", "/api/v1/events?from=0"] {
        let (status, told) = recorded.text_as(&viewer, target).await;
        assert!(status == 200 && told.contains("/a/order") && !told.contains("canary"), "{target}: {told}");
    }
    for (target, said) in [
        ("/events?kind=x", "is not a value of `kind`; use one of link, root"),
        ("/events?session=7", "a session's id"),
        ("/events?before=1", "what the page before links to"),
        ("/events?path=a", "not an absolute path"),
        ("/events?limit=5", "`limit` is not a parameter of /events; it takes path, session"),
        ("/events?at=x", "is not a value of `at`"),
        ("/events?at=1000", "nothing is kept of that moment"),
        ("/api/v1/events?from=0&after=1", "can't be combined with from, to or before"),
    ] {
        let (status, told) = recorded.get(target).await;
        assert!((400..=404).contains(&status) && told.contains(said), "{target}: {status} {told}");
    }
    let (status, page) = recorded.get("/events?at=1000&kind=identified").await;
    assert!(
        status == 404 && page.contains("<title>Nothing kept") && page.contains("/events?kind=identified"),
        "{page}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_new_is_counted() {
    let recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let first = recorded.truth.queue("/a/order/lock-").await;
    recorded.until_holds("/a/order", &first).await;
    let (_, page) = recorded.get("/events?kind=arrived&path=/a").await;
    let from = page.split("data-from=\"").nth(1).unwrap().split('"').next().unwrap().replace("&amp;", "&");
    assert_eq!(recorded.get(&from).await, (200, String::new()));
    for _ in 0..2 {
        recorded.truth.queue("/a/order/lock-").await;
    }
    until(async || recorded.get(&from).await.1 == "2 new: show").await;
    // Where nothing is kept the list is as long as the log.
    let off = Recorded::start("history = \"off\"\n").await;
    let (status, page) = off.get("/events").await;
    assert!(status == 200 && page.contains("No history is kept here") && !page.contains("show then"), "{page}");
}
