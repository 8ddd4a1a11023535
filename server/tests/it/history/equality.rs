//! What was shown live is what is shown of that moment: two paths of code, one answer.

use serde_json::Value;
use zookeeper_client::Client;

use super::{Recorded, now_ms};
use crate::harness::{DEADLINE, open, queue};
use crate::served::until;

const MOMENTS: usize = 24;
const CHANGES: usize = 20;
const LOCKS: usize = 5;

/// An answer without what depends on when it was asked for.
pub(super) fn still(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let is_still = |name: &str| {
                let is_age = name.ends_with("_ms") && !name.ends_with("_at_ms") && !name.ends_with("since_ms");
                !is_age && !matches!(name, "as_of" | "seq" | "depth")
            };
            fields.iter().filter(|(name, _)| is_still(name)).map(|(name, value)| (name.clone(), still(value))).collect()
        }
        Value::Array(items) => items.iter().map(still).collect(),
        Value::String(text) => without_ages(text).into(),
        other => other.clone(),
    }
}

/// A sentence without how long something has been so: numbers before a unit of time.
fn without_ages(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let is_unit = |word: &str| matches!(word.trim_end_matches(['.', ',']), "ms" | "s" | "min" | "h" | "d");
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let is_age = |at: usize| {
        let pair = |at: usize| words.get(at).zip(words.get(at + 1)).is_some_and(|(a, b)| is_number(a) && is_unit(b));
        pair(at) || at.checked_sub(1).is_some_and(pair)
    };
    let kept = words.iter().enumerate().filter(|(at, _)| !is_age(*at)).map(|(_, word)| *word);
    kept.collect::<Vec<_>>().join(" ")
}

/// Some changes, as a generator says.
async fn change(recorded: &Recorded, clients: &[Client], queued: &mut Vec<String>, seed: &mut u64) {
    for _ in 0..CHANGES {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let dice = usize::try_from(*seed >> 33).unwrap();
        if dice % 3 == 0 && !queued.is_empty() {
            let path = queued.swap_remove(dice % queued.len());
            recorded.truth.delete(&path).await;
        } else {
            let lock = format!("/{}/lock{}/lock-", ["a", "b"][dice % 2], dice % LOCKS);
            queued.push(queue(&clients[dice % clients.len()], &lock).await);
        }
    }
}

async fn locks(recorded: &Recorded, at: &str) -> Value {
    let (status, locks) = recorded.json(&format!("/api/v1/locks?sort=path&limit=500{at}")).await;
    assert_eq!(status, 200, "{locks:#}");
    locks
}

/// An instant and what was shown of it: what was shown before it and behind it.
async fn instant(recorded: &Recorded) -> (i64, Value) {
    let deadline = tokio::time::Instant::now() + DEADLINE;
    let mut before = still(&locks(recorded, "").await);
    while tokio::time::Instant::now() < deadline {
        let at = now_ms();
        let after = still(&locks(recorded, "").await);
        if before == after {
            return (at, before);
        }
        before = after;
    }
    panic!("something always changes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_past_is_what_was_shown_live() {
    let recorded = Recorded::start("").await;
    for at in 0..LOCKS {
        recorded.truth.make(&format!("/a/lock{at}")).await;
        recorded.truth.make(&format!("/b/lock{at}")).await;
    }
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(open(&recorded.zookeeper.address()).await);
    }
    let (mut queued, mut seed, mut shown) = (Vec::new(), 7, Vec::new());
    while shown.len() < MOMENTS {
        change(&recorded, &clients, &mut queued, &mut seed).await;
        // Until the server knows them all, and nothing moved while an instant was taken.
        let contenders = |locks: &Value| -> usize {
            let rows = locks["locks"].as_array().unwrap().iter();
            let count = |row: &Value| row["holder_count"].as_u64().unwrap() + row["waiter_count"].as_u64().unwrap_or(0);
            usize::try_from(rows.map(count).sum::<u64>()).unwrap()
        };
        let all = queued.len();
        until(async || contenders(&locks(&recorded, "").await) == all).await;
        shown.push(instant(&recorded).await);
    }
    recorded.until_kept(now_ms()).await;
    // Back and forth: a moment may be stepped to from one nearby.
    let order = (0..MOMENTS).map(|at| at * 7 % MOMENTS);
    for at in order.filter_map(|at| shown.get(at)) {
        let past = locks(&recorded, &format!("&at={}", at.0)).await;
        assert_eq!(still(&past), at.1, "at {}", at.0);
    }
}
