//! A lock at moments of its past, and moments of which nothing is known.

use super::{Recorded, holder, now_ms};
use crate::harness::{open, queue};
use crate::served::until;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_is_shown_as_it_was() {
    let recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let (one, two) = (open(&recorded.zookeeper.address()).await, open(&recorded.zookeeper.address()).await);
    let first = queue(&one, "/a/order/lock-").await;
    let at_first = recorded.until_holds("/a/order", &first).await;
    let second = queue(&two, "/a/order/lock-").await;
    recorded.truth.delete(&first).await;
    let at_second = recorded.until_holds("/a/order", &second).await;
    recorded.truth.delete(&second).await;
    let at_none = recorded.until_holds("/a/order", "").await;
    recorded.until_kept(at_none).await;

    for (at, node) in [(at_first, &*first), (at_second, &*second), (at_none, "")] {
        let lock = recorded.lock("/a/order", &at.to_string()).await;
        assert_eq!(holder(&lock), node, "{lock:#}");
        let as_of = &lock["as_of"];
        assert_eq!((as_of["state"].as_str(), as_of["at_ms"].as_i64()), (Some("past"), Some(at)), "{as_of}");
        let row = &recorded.json(&format!("/api/v1/locks?at={at}")).await.1["locks"][0];
        assert_eq!((&row["path"], &row["holder_count"]), (&"/a/order".into(), &u32::from(!node.is_empty()).into()));
        let sessions = recorded.json(&format!("/api/v1/sessions?at={at}")).await.1;
        assert_eq!(sessions["total"].as_u64(), Some(u64::from(!node.is_empty())), "{sessions:#}");
        for read in ["status", "waits"] {
            assert_eq!(recorded.json(&format!("/api/v1/{read}?at={at}")).await.0, 200);
        }
    }
    let at_zxid = recorded.lock("/a/order", &format!("at_first={at_first}")).await;
    assert_eq!(at_zxid["status"], 400, "{at_zxid:#}");
    let czxid =
        recorded.lock("/a/order", &at_first.to_string()).await["contenders"][0]["czxid"].as_str().unwrap().to_owned();
    let lock = recorded.lock("/a/order", &format!("zxid:{czxid}")).await;
    assert_eq!((holder(&lock), &lock["as_of"]["state"]), (&*first, &"past".into()), "{lock:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_kept_is_said() {
    let recorded = Recorded::start("").await;
    recorded.until_kept(now_ms()).await;
    let (status, problem) = recorded.json("/api/v1/locks?at=1000").await;
    let from = recorded.json("/api/v1/history").await.1["from_at_ms"].clone();
    assert_eq!((status, &problem["nearest"]["after_at_ms"]), (404, &from), "{problem:#}");
    let (status, page) = recorded.get("/?at=1000").await;
    assert!(status == 404 && page.contains("data-testid=\"no-moment\""), "{status}: {page}");
    let (status, problem) = recorded.json(&format!("/api/v1/locks?at={}", now_ms() + 60_000)).await;
    assert_eq!(
        (status, problem["detail"].as_str()),
        (400, Some("that moment is not over yet; ask for one of the past"))
    );
    for bad in ["", "now", "-1", "1.5", "zxid:2a6", "zxid:0x"] {
        for read in ["status", "locks", "lock", "waits", "sessions", "session"] {
            assert_eq!(recorded.get(&format!("/api/v1/{read}?at={bad}")).await.0, 400, "{read} {bad}");
        }
    }
    assert_eq!(recorded.get("/api/v1/events?at=5").await.0, 400, "it takes none");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_it_is_off_the_setting_is_named() {
    let recorded = Recorded::start("history = \"off\"\n").await;
    let (status, problem) = recorded.json("/api/v1/locks?at=1000").await;
    assert!(status == 404 && problem["detail"].as_str().unwrap().contains("history = \"on\""), "{problem:#}");
    let history = recorded.json("/api/v1/history").await.1;
    assert_eq!(history["enabled"], false, "{history:#}");
    assert!(!recorded.history().exists(), "nothing is written");
    assert!(!recorded.get("/").await.1.contains("data-testid=\"rewind\""), "there is no way to it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_leads_to_its_past_and_nothing_is_ordered_from_there() {
    let recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let held = recorded.truth.queue("/a/order/lock-").await;
    let at = recorded.until_holds("/a/order", &held).await;
    recorded.until_kept(at).await;
    let token = recorded.token("operator", "/a").await;
    let (_, now) = recorded.text_as(&token, "/lock?path=/a/order").await;
    assert!(now.contains("at=now\"") && now.contains("data-testid=\"rewind\""), "{now}");
    assert!(now.contains("data-release"), "it can be released now");
    // A second ago there was no such lock, perhaps.
    until(async || {
        let (status, then) = recorded.text_as(&token, "/lock?path=/a/order&at=now").await;
        assert!(then.contains("data-testid=\"past-band\""), "{then}");
        status == 200
    })
    .await;
    let (status, then) = recorded.text_as(&token, &format!("/lock?path=/a/order&at={at}")).await;
    assert!(status == 200 && then.contains(&format!("data-at=\"{at}\"")), "{status}: {then}");
    assert!(!then.contains("data-release") && !then.contains("release-open"), "{then}");
    assert!(!then.contains(".wasm") && then.contains(&format!("format=csv&amp;at={at}")), "{then}");
    for route in ["plan", "execute", "revoke", "approve"] {
        let order = serde_json::json!({ "plan_id": "0", "confirm": "/a/order", "reason": "a test" });
        let body = if route == "plan" { serde_json::json!({ "path": held }) } else { order };
        let url = recorded.url(&format!("/api/v1/release/{route}?at={at}"));
        let answer = reqwest::Client::new().post(url).bearer_auth(&token).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{route}");
    }
    assert_eq!(super::holder(&recorded.lock("/a/order", "").await), held);
}

/// Where the key of a page of the past leads.
fn led_to(page: &str, key: &str) -> Option<i64> {
    let link = page.split("<a ").find(|link| link.contains(&format!("data-key=\"{key}\"")))?;
    let (_, at) = link.split_once("at=")?;
    at.split(|of: char| !of.is_ascii_digit()).next()?.parse().ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_keys_of_a_lock_lead_through_what_happened_at_it() {
    let recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    recorded.truth.make("/a/other").await;
    let client = open(&recorded.zookeeper.address()).await;
    let before_all = now_ms();
    let holder = queue(&client, "/a/order/lock-").await;
    let held = recorded.until_holds("/a/order", &holder).await;
    let mut at = held;
    for _ in 0..3 {
        let elsewhere = queue(&client, "/a/other/lock-").await;
        recorded.until_holds("/a/other", &elsewhere).await;
        recorded.truth.delete(&elsewhere).await;
        at = recorded.until_holds("/a/other", "").await;
    }
    recorded.until_kept(at).await;
    let led = async |address: &str| led_to(&recorded.get(&format!("{address}at={at}")).await.1, ",").unwrap();
    let of_lock = led("/lock?path=/a/order&").await;
    assert!((before_all..=held).contains(&of_lock), "{of_lock}, held by {held}");
    let of_all = led("/?").await;
    assert!(of_all > held && of_all < at, "{of_all} of {held} to {at}");
}
