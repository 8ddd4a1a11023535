//! What is older than the settings say goes, also when they are changed while the program runs.

use rustix::process::Signal;

use super::clocks::{Clock, until_live, until_past, with_a_clock};
use super::now_ms;
use crate::harness::{open, queue};
use crate::served::until;

const TEN_DAYS_MS: i64 = 10 * 86_400_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shorter_age_that_is_reloaded_removes_what_is_older() {
    let Some(mut recorded) = with_a_clock("history_age = \"30d\"\n", -TEN_DAYS_MS).await else { return };
    recorded.truth.make("/a/order").await;
    let client = open(&recorded.zookeeper.address()).await;
    let node = queue(&client, "/a/order/lock-").await;
    until_live(&recorded, &node).await;
    let old = now_ms() - TEN_DAYS_MS;
    until_past(&recorded, old, &node).await;
    recorded.end(Signal::TERM).await;

    Clock(recorded.place()).step(0);
    recorded.run().await;
    until_live(&recorded, &node).await;
    until_past(&recorded, now_ms(), &node).await;
    until_past(&recorded, old, &node).await;
    recorded.reload("30d", "1d");
    let ask = format!("/api/v1/lock?path=/a/order&at={old}");
    let from = async || recorded.json("/api/v1/history").await.1["from_at_ms"].as_i64();
    until(async || from().await.is_some_and(|from| from > old + TEN_DAYS_MS / 2)).await;
    let days = std::fs::read_dir(recorded.history().join("default")).unwrap();
    let days: Vec<String> = days.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(days.iter().filter(|name| name.ends_with(".db") && !name.contains("rows")).count(), 1, "{days:?}");
    // Whoever has looked at it is not shown it from memory either.
    until(async || recorded.json(&ask).await.0 == 404).await;
    until_past(&recorded, now_ms(), &node).await;
}
