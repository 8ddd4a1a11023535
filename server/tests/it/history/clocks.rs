//! The machine's clock is set forth and back by an hour: the live view goes on, what is recorded stays in order, and no
//! time is negative.

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;

use super::{Launcher, Recorded, holder, now_ms};
use crate::harness::{open, queue};
use crate::served::until;

const HOUR_MS: i64 = 3_600_000;
const STEP_FILE: &str = "step";
const UNKNOWN: &str = "nothing is known of that moment: Lockscope was not running, in the ensemble default";

/// The library that sets the clock of one process; Debian's package faketime.
fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path().join("faketime"));
    let found = folders.map(|folder| folder.join("libfaketimeMT.so.1")).find(|path| path.exists());
    if found.is_none() {
        eprintln!("skipped: no libfaketime here sets the clock of a process; it is in Debian's package faketime");
    }
    found
}

/// The clock of the program: this machine's and so much.
pub(super) struct Clock<'a>(pub(super) &'a Path);

impl Clock<'_> {
    pub(super) fn step(&self, by_ms: i64) {
        let (step, next) = (self.0.join(STEP_FILE), self.0.join("step.next"));
        std::fs::write(&next, format!("{:+}\n", by_ms / 1_000)).unwrap();
        std::fs::rename(next, step).unwrap();
    }
}

/// `by_ms`: how far from this machine's clock the program's is at first.
pub(super) async fn with_a_clock(more: &'static str, by_ms: i64) -> Option<Recorded> {
    let library = library()?;
    let start = |place: &Path| {
        Clock(place).step(by_ms);
        let environment = [
            ("LD_PRELOAD", library.display().to_string()),
            ("FAKETIME_TIMESTAMP_FILE", place.join(STEP_FILE).display().to_string()),
            // The file is read each time; what only measures is left alone.
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
            ("NO_FAKE_STAT", "1".to_owned()),
        ];
        Launcher { words: Vec::new(), environment: environment.to_vec() }
    };
    Some(Recorded::start_by(more, start).await)
}

/// Waits until a znode holds a lock, live.
pub(super) async fn until_live(recorded: &Recorded, node: &str) -> Value {
    let mut last = Value::Null;
    until(async || {
        last = recorded.lock("/a/order", "").await;
        holder(&last) == node && last["as_of"]["state"] == "live"
    })
    .await;
    last
}

/// Waits until a moment of the program's clock is shown, and who held then.
pub(super) async fn until_past(recorded: &Recorded, at: i64, node: &str) {
    until(async || {
        let lock = recorded.lock("/a/order", &at.to_string()).await;
        holder(&lock) == node && lock["as_of"]["state"] == "past"
    })
    .await;
}

/// No figure of an answer that is a duration is below zero.
fn assert_no_negative(value: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_negative = name.ends_with("_ms") && value.as_i64().is_some_and(|ms| ms < 0);
                assert!(!is_negative, "{name} is {value}");
                assert_no_negative(value);
            }
        }
        Value::Array(items) => items.iter().for_each(assert_no_negative),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_is_set_forth_and_back_spoils_neither_present_nor_past() {
    let Some(mut recorded) = with_a_clock("", 0).await else { return };
    recorded.truth.make("/a/order").await;
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(open(&recorded.zookeeper.address()).await);
    }
    let mut nodes = Vec::new();
    for client in &clients {
        nodes.push(queue(client, "/a/order/lock-").await);
    }
    until_live(&recorded, &nodes[0]).await;
    let first = now_ms();
    until_past(&recorded, first, &nodes[0]).await;

    Clock(recorded.place.path()).step(HOUR_MS);
    until_live(&recorded, &nodes[0]).await;
    recorded.truth.delete(&nodes[0]).await;
    assert_no_negative(&until_live(&recorded, &nodes[1]).await);
    let forth = now_ms() + HOUR_MS;
    until_past(&recorded, forth, &nodes[1]).await;

    // The model's time stands still until the clock is where it was: the present is right, and of the past nothing is made up.
    Clock(recorded.place.path()).step(0);
    until_live(&recorded, &nodes[1]).await;
    recorded.truth.delete(&nodes[1]).await;
    assert_no_negative(&until_live(&recorded, &nodes[2]).await);
    let back = now_ms();
    let ask = format!("/api/v1/lock?path=/a/order&at={back}");
    let (status, problem) = recorded.json(&ask).await;
    assert_eq!((status, problem["detail"].as_str()), (404, Some(UNKNOWN)), "{problem:#}");
    until_past(&recorded, first, &nodes[0]).await;
    assert_eq!(recorded.json(&format!("/api/v1/lock?path=/a/order&at={forth}")).await.0, 400, "it is not over yet");

    // Forth again, beyond where it was: moments have instants of their own again.
    let further = HOUR_MS + 120_000;
    Clock(recorded.place.path()).step(further);
    recorded.truth.delete(&nodes[2]).await;
    assert_no_negative(&until_live(&recorded, &nodes[3]).await);
    let on = now_ms() + further;
    until_past(&recorded, on, &nodes[3]).await;
    until_past(&recorded, forth, &nodes[1]).await;
    let (from, to) = (now_ms() - HOUR_MS, now_ms() + 3 * HOUR_MS);
    let holds = format!("/api/v1/history/holds?path=/a/order&from={from}&to={to}");
    until(async || {
        let told = recorded.json(&holds).await.1;
        assert_no_negative(&told);
        let ended = told["holds"].as_array().unwrap().iter().filter(|hold| hold["how"] == "released");
        ended.count() == 3
    })
    .await;
    for read in ["status", "locks", "waits", "sessions", "history", "history/marks"] {
        assert_no_negative(&recorded.json(&format!("/api/v1/{read}")).await.1);
    }

    // Whatever the clock says then, the newest is where a server goes on that is started again; its time is that of the clock.
    recorded.end(Signal::TERM).await;
    Clock(recorded.place.path()).step(0);
    recorded.run().await;
    let lock = until_live(&recorded, &nodes[3]).await;
    assert_eq!(lock["contenders"][0]["holding_is_lower_bound"], false, "{lock:#}");
    assert_no_negative(&lock);
    let again = now_ms();
    until_past(&recorded, again, &nodes[3]).await;
    until_past(&recorded, first, &nodes[0]).await;
    assert_eq!(recorded.json("/api/v1/history").await.1["why"], "");
}
