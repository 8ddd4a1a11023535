//! The program is started again: what it knew before is there, and what it missed is a gap.

use rustix::process::Signal;

use super::{Recorded, holder, now_ms};
use crate::cli::dead_port;
use crate::harness::{open, queue};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hold_goes_on_over_a_restart() {
    let mut recorded = Recorded::start("").await;
    for path in ["/a/order", "/a/stock"] {
        recorded.truth.make(path).await;
    }
    let client = open(&recorded.zookeeper.address()).await;
    let gone = queue(&client, "/a/order/lock-").await;
    let (first, second) = (queue(&client, "/a/order/lock-").await, queue(&client, "/a/order/lock-").await);
    recorded.until_holds("/a/order", &gone).await;
    recorded.truth.delete(&gone).await;
    recorded.until_holds("/a/order", &first).await;
    let kept = queue(&client, "/a/stock/lock-").await;
    recorded.until_holds("/a/stock", &kept).await;
    let before = [recorded.lock("/a/stock", "").await, recorded.lock("/a/order", "").await];
    assert_eq!(before[0]["contenders"][0]["holding_is_lower_bound"], false, "{:#}", before[0]);
    let held_since = now_ms() - before[0]["contenders"][0]["holding_ms"].as_i64().unwrap();
    recorded.end(Signal::TERM).await;
    let down = now_ms();
    recorded.truth.delete(&first).await;

    // Nobody answers: what was known stays, and is not live.
    recorded.run_over(&format!("127.0.0.1:{}", dead_port())).await;
    let old = recorded.lock("/a/order", "").await;
    assert_eq!((holder(&old), &old["as_of"]["state"]), (&*first, &"stale".into()), "{old:#}");
    assert_eq!(recorded.get("/readyz").await.0, 503);
    recorded.end(Signal::TERM).await;

    recorded.run().await;
    let up = now_ms();
    let after = recorded.lock("/a/stock", "").await;
    let row = &after["contenders"][0];
    assert_eq!((holder(&after), &row["holding_is_lower_bound"]), (&*kept, &false.into()), "{after:#}");
    let since = now_ms() - row["holding_ms"].as_i64().unwrap();
    assert!((since - held_since).abs() < 1_000, "held since {since}, before the restart since {held_since}");
    let after = recorded.lock("/a/order", "").await;
    assert_eq!((holder(&after), &after["as_of"]["state"]), (&*second, &"live".into()), "{after:#}");
    let past = |lock: &serde_json::Value| lock["past"].as_array().unwrap().len();
    assert!(past(&after) > past(&before[1]) && past(&before[1]) == 1, "{after:#}");
    assert!(!after["stats"]["hold_p50_ms"].is_null(), "{after:#}");

    recorded.until_kept(up).await;
    let history = recorded.json("/api/v1/history").await.1;
    let gaps = history["gaps"].as_array().unwrap();
    assert!(gaps.iter().all(|gap| gap["why"] == "not_running") && !gaps.is_empty(), "{history:#}");
    let inside = gaps.iter().find_map(|gap| {
        let (from, to) = (gap["from_at_ms"].as_i64()?, gap["to_at_ms"].as_i64()?);
        (from <= down && down <= to).then_some((from, to))
    });
    let (from, to) = inside.unwrap_or_else(|| panic!("{down} is in none of {gaps:?}"));
    // From its first instant on: what was recorded behind the last proof says nothing of what follows it.
    for at in [from + 1, (from + to) / 2, to - 1] {
        let (status, problem) = recorded.json(&format!("/api/v1/locks?at={at}")).await;
        assert_eq!(status, 404, "{at} in {from}..{to}: {problem:#}");
        assert!(problem["detail"].as_str().unwrap().contains("nothing is known of that moment"), "{problem:#}");
    }
    let (_, problem) = recorded.json(&format!("/api/v1/locks?at={}", (from + to) / 2)).await;
    let nearest = &problem["nearest"];
    assert_eq!((nearest["before_at_ms"].as_i64(), nearest["after_at_ms"].as_i64()), (Some(from), Some(to)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_is_killed_loses_a_second_at_most() {
    let mut recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let held = recorded.truth.queue("/a/order/lock-").await;
    let at = recorded.until_holds("/a/order", &held).await;
    recorded.until_kept(at).await;
    assert!(now_ms() - at < 5_000, "stored after {} ms", now_ms() - at);
    recorded.end(Signal::KILL).await;
    recorded.run().await;
    let lock = recorded.lock("/a/order", &at.to_string()).await;
    assert_eq!((holder(&lock), &lock["as_of"]["state"]), (&*held, &"past".into()), "{lock:#}");
    let now = recorded.lock("/a/order", "").await;
    assert_eq!((holder(&now), &now["contenders"][0]["holding_is_lower_bound"]), (&*held, &false.into()), "{now:#}");
}
