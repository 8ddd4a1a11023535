//! One good client beside people who look back without end: its views, heartbeats and pages go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use serde_json::Value;
use tokio::task::JoinSet;

use super::{Recorded, now_ms};
use crate::harness::DEADLINE;
use crate::served::{Client, hear, say, until};

/// Hand-offs that the good client follows.
const HAND_OFFS: u64 = 30;
/// Beside it with `FROZEN_PAGES=100`, which prints figures and asserts them: so many pages of the past at once, a tenth as many
/// files that nobody reads, half as many viewers behind a proxy.
const PAGES: usize = 12;
/// What a reload waits before the next.
const RELOAD: Duration = Duration::from_millis(200);

/// Pages that one person asks for again and again, of which every second is left before it is there.
fn look_back(storm: &mut JoinSet<()>, recorded: &Recorded, token: &str, pages: usize, at: i64) -> Arc<AtomicUsize> {
    let answered = Arc::<AtomicUsize>::default();
    for page in 0..pages {
        let target = match page % 4 {
            0 => "/blame?range=7d".to_owned(),
            1 => format!("/lock?path=/a/order&at={}", at - page as i64),
            2 => format!("/api/v1/locks?at={}", at - page as i64),
            _ => format!("/incidents?from={}", at - 86_400_000),
        };
        let ask = reqwest::Client::new().get(recorded.url(&target)).bearer_auth(token);
        let answered = answered.clone();
        storm.spawn(async move {
            loop {
                let answer = ask.try_clone().unwrap().send();
                let answer = if page % 2 == 0 { tokio::time::timeout(RELOAD, answer).await } else { Ok(answer.await) };
                if let Ok(Ok(_)) = answer {
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
    answered
}

/// Files that are asked for and not read.
fn take_slowly(storm: &mut JoinSet<()>, recorded: &Recorded, token: &str, files: usize) {
    for file in 0..files {
        let format = if file % 2 == 0 { "csv" } else { "sqlite" };
        let url = recorded.url(&format!("/api/v1/history/export?format={format}&from=0"));
        let ask = reqwest::Client::new().get(url).bearer_auth(token);
        storm.spawn(async move {
            let answer = ask.send().await;
            std::future::pending::<()>().await;
            drop(answer);
        });
    }
}

/// The next frame, and when the last heartbeat came before it.
async fn frame(client: &mut Client, last_beat: &mut Instant, longest: &mut Duration) -> Value {
    loop {
        let message = tokio::time::timeout(DEADLINE, client.next()).await.expect("nothing comes").unwrap().unwrap();
        let Ok(text) = message.into_text() else { continue };
        let Ok(frame) = serde_json::from_str::<Value>(&text) else { continue };
        if frame["type"] != "heartbeat" {
            return frame;
        }
        *longest = (*longest).max(last_beat.elapsed());
        *last_beat = Instant::now();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_waits_for_who_looks_back() {
    let wanted: Option<usize> = std::env::var("FROZEN_PAGES").ok().and_then(|text| text.parse().ok());
    let pages = wanted.unwrap_or(PAGES);
    let recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let held = recorded.truth.queue("/a/order/lock-").await;
    recorded.until_holds("/a/order", &held).await;
    for _ in 0..pages {
        let next = recorded.truth.queue("/a/order/lock-").await;
        recorded.truth.delete(&next).await;
    }
    let at = now_ms();
    recorded.until_kept(at).await;

    let mut storm = JoinSet::new();
    let [greedy, good_person, other] = ["auditor", "viewer", "operator"].map(|role| recorded.token(role, "/a"));
    let (greedy, good_person, other) = tokio::join!(greedy, good_person, other);
    let answered = look_back(&mut storm, &recorded, &greedy, pages, at);
    take_slowly(&mut storm, &recorded, &greedy, pages.div_ceil(10));
    let mut viewers = Vec::new();
    for viewer in 0..pages / 2 {
        let mut client = recorded.socket_from(&format!("10.0.0.{viewer}")).await;
        say(&mut client, r#"{"type":"subscribe","id":1,"view":{"kind":"board"}}"#).await;
        // Each is shown the present, and then looks back as well.
        hear(&mut client, "snapshot").await;
        say(&mut client, &format!(r#"{{"type":"subscribe","id":2,"view":{{"kind":"board","at":{}}}}}"#, at - 1)).await;
        let (deltas, count) = (Arc::<AtomicUsize>::default(), viewers.len());
        viewers.push(deltas.clone());
        storm.spawn(async move {
            while hear(&mut client, "delta").await["id"] == 1 {
                deltas.fetch_add(1, Ordering::Relaxed);
            }
            panic!("viewer {count} is shown what it did not ask for");
        });
    }
    while answered.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }

    let mut good = recorded.socket(Some(&good_person)).await;
    say(&mut good, r#"{"type":"subscribe","id":1,"view":{"kind":"lock","path":"/a/order"}}"#).await;
    hear(&mut good, "snapshot").await;
    // Its own look back is on its way meanwhile.
    say(&mut good, &format!(r#"{{"type":"subscribe","id":2,"view":{{"kind":"board","at":{at}}}}}"#)).await;
    let (mut beat, mut longest, mut took, mut has_past) = (Instant::now(), Duration::ZERO, Vec::new(), false);
    for waiters in 1..=HAND_OFFS {
        let began = Instant::now();
        recorded.truth.queue("/a/order/lock-").await;
        loop {
            let frame = frame(&mut good, &mut beat, &mut longest).await;
            has_past |= frame["id"] == 2 && frame["type"] == "snapshot";
            if frame["body"]["head"]["row"]["waiter_count"] == waiters {
                break;
            }
        }
        took.push(began.elapsed());
        // Somebody else is shown the past, too.
        if waiters % 10 == 0 {
            let target = format!("/api/v1/lock?path=/a/order&at={}", at - i64::try_from(waiters).unwrap() / 10);
            let (status, text) = recorded.text_as(&other, &target).await;
            assert_eq!(status, 200, "{text}");
        }
    }
    while !has_past {
        let frame = frame(&mut good, &mut beat, &mut longest).await;
        assert_ne!(frame["type"], "error", "{frame}");
        has_past = frame["id"] == 2 && frame["type"] == "snapshot";
    }
    hear(&mut good, "heartbeat").await;
    until(async || viewers.iter().all(|deltas| deltas.load(Ordering::Relaxed) > 0)).await;
    took.sort();
    let worst = took[took.len() - 1];
    eprintln!(
        "figure: beside {pages} pages of the past ({} answered), {} slow files and {} viewers behind a proxy: hand-offs {:?} \
         (median), {worst:?} (worst of {HAND_OFFS}); heartbeats at most {longest:?} apart",
        answered.load(Ordering::Relaxed),
        pages.div_ceil(10),
        viewers.len(),
        took[took.len() / 2],
    );
    if wanted.is_some() {
        assert!(worst <= Duration::from_millis(100), "{worst:?}");
        assert!(longest <= Duration::from_millis(1_500), "{longest:?}");
    }
}
