//! The program is killed again and again while real clients make 500 changes a second: a second is lost at most, and what
//! was shown live before is what is shown of then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::equality::still;
use super::{Recorded, holder, now_ms};
use crate::harness::{open, queue};
use crate::served::until;

const CLIENTS: usize = 4;
const LANES: u32 = 10;
/// Changes a second of all lanes; each makes two at a time.
const RATE: u32 = 500;
/// Moments that are remembered before each kill.
const MOMENTS: usize = 4;
/// Moments of earlier rounds that are looked at again in each round; all are once more at the end.
const LOOKED_AT_AGAIN: usize = 8;
/// How much may be lost on a machine that does much else; the run prints how much was.
const LOST_MAX_MS: i64 = 5_000;

/// How often it is killed; more by the environment.
fn kills() -> usize {
    std::env::var("HISTORY_SERVER_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(2)
}

/// Clients that come and go in many locks until they are told to stop.
struct Load {
    lanes: JoinSet<()>,
    changes: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Load {
    async fn start(recorded: &Recorded) -> Self {
        let (mut lanes, changes, is_over) = (JoinSet::new(), Arc::new(AtomicU64::new(0)), Arc::default());
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            clients.push(open(&recorded.zookeeper.address()).await);
        }
        for lane in 0..LANES {
            recorded.truth.make(&format!("/b/lock{lane}")).await;
            let (client, changes) = (clients[lane as usize % CLIENTS].clone(), Arc::clone(&changes));
            let is_over: Arc<AtomicBool> = Arc::clone(&is_over);
            lanes.spawn(async move {
                let mut pulse = interval(Duration::from_secs(2) * LANES / RATE);
                pulse.set_missed_tick_behavior(MissedTickBehavior::Burst);
                while !is_over.load(Ordering::Relaxed) {
                    pulse.tick().await;
                    let path = queue(&client, &format!("/b/lock{lane}/lock-")).await;
                    client.delete(&path, None).await.expect("delete");
                    changes.fetch_add(2, Ordering::Relaxed);
                }
            });
        }
        Self { lanes, changes, is_over }
    }

    async fn end(mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        while let Some(ended) = self.lanes.join_next().await {
            ended.unwrap();
        }
    }
}

/// A moment, and how a lock was shown then.
type Shown = (i64, Value);

/// Hand-offs of one lock, each remembered as it was shown live.
async fn remember(recorded: &Recorded, held: &mut String, shown: &mut Vec<Shown>) {
    let wanted = shown.len() + MOMENTS;
    while shown.len() < wanted {
        let next = recorded.truth.queue("/a/order/lock-").await;
        recorded.truth.delete(held).await;
        *held = next;
        recorded.until_holds("/a/order", held).await;
        let before = recorded.lock("/a/order", "").await;
        let at = now_ms();
        let after = recorded.lock("/a/order", "").await;
        if still(&before) == still(&after) && after["as_of"]["state"] == "live" {
            shown.push((at, still(&after)));
        }
    }
}

/// What the recording has of moments is what was shown live of them; those that are not there are in a gap.
async fn are_as_shown(recorded: &Recorded, gaps: &[Value], shown: impl Iterator<Item = &Shown>, round: usize) {
    for (at, lock) in shown {
        let past = recorded.lock("/a/order", &at.to_string()).await;
        if past["status"] == 404 {
            // None of the gaps begins more than a second before its kill.
            let is_in = |gap: &Value| gap["from_at_ms"].as_i64() < Some(*at) && Some(*at) < gap["to_at_ms"].as_i64();
            assert!(gaps.iter().any(is_in), "round {round}: {past:#}");
        } else {
            assert_eq!(&still(&past), lock, "round {round}, at {at}");
        }
    }
}

/// How long starts took: to ready, and to recording again; and what each kill lost.
#[derive(Default)]
struct Starts {
    lost_ms: Vec<i64>,
    ready: Vec<Duration>,
    recording: Vec<Duration>,
    bytes: f64,
}

impl Starts {
    /// The median and the worst of the first and of the last tenth, as text: how they grow with what is recorded.
    fn told(&self) -> String {
        let some = |all: &[Duration]| {
            let mut all = all.to_vec();
            all.sort_unstable();
            format!("{:?} ({:?})", all[all.len() / 2], all[all.len() - 1])
        };
        let ends = |all: &[Duration]| {
            let tenth = all.len().div_ceil(10);
            format!("first {}, last {}", some(&all[..tenth]), some(&all[all.len() - tenth..]))
        };
        let (ready, recording, bytes) = (ends(&self.ready), ends(&self.recording), self.bytes / 1e6);
        format!("median (worst) to ready: {ready}; to recording: {recording}; {bytes:.1} MB recorded")
    }
}

#[expect(clippy::print_stdout, reason = "the figures are wanted")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_under_load_keeps_what_it_said_is_kept_and_shows_nothing_wrong() {
    let mut recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let load = Load::start(&recorded).await;
    let mut held = recorded.truth.queue("/a/order/lock-").await;
    recorded.until_holds("/a/order", &held).await;
    let (mut shown, mut gaps, mut starts) = (Vec::new(), Vec::new(), Starts::default());
    until(async || recorded.metric("lockscope_history_recording").await == 1.0).await;
    for round in 0..kills() {
        let before = load.changes.load(Ordering::Relaxed);
        remember(&recorded, &mut held, &mut shown).await;
        // From half a second to some seconds of the load, otherwise in each round.
        let wanted = before + u64::from(RATE / 2) + (round as u64 * 617) % u64::from(3 * RATE);
        until(async || load.changes.load(Ordering::Relaxed) >= wanted).await;
        let (asked, killed_at) = (recorded.json("/api/v1/history").await.1, now_ms());
        recorded.end(Signal::KILL).await;
        let began = Instant::now();
        recorded.run().await;
        let up = now_ms();
        starts.ready.push(began.elapsed());
        let lock = recorded.lock("/a/order", "").await;
        assert_eq!((holder(&lock), &lock["as_of"]["state"]), (&*held, &"live".into()), "round {round}: {lock:#}");
        until(async || recorded.metric("lockscope_history_recording").await == 1.0).await;
        starts.recording.push(began.elapsed());
        recorded.until_kept(up).await;
        let history = recorded.json("/api/v1/history").await.1;
        gaps = history["gaps"].as_array().unwrap().clone();
        assert_eq!(gaps.len(), round + 1, "each kill is a gap, and nothing else: {history:#}");
        let gap = gaps.last().unwrap();
        let (from, to) = (gap["from_at_ms"].as_i64().unwrap(), gap["to_at_ms"].as_i64().unwrap());
        assert_eq!(gap["why"], "not_running");
        let kept = asked["to_at_ms"].as_i64().unwrap();
        assert!(kept <= from, "round {round}: {kept} was said to be kept, and the gap begins at {from}");
        starts.lost_ms.push(killed_at - from);
        assert!(killed_at - from <= LOST_MAX_MS, "round {round}: {} ms lost; {asked:#}", killed_at - from);
        assert!(killed_at <= to && to <= up, "round {round}: {killed_at} in {gap}");
        // Those of this round, and others in turn: a round costs as much as the one before.
        let news = shown.iter().rev().take(MOMENTS);
        let again = (0..LOOKED_AT_AGAIN).map(|at| &shown[(round * 31 + at * 97) % shown.len()]);
        are_as_shown(&recorded, &gaps, news.chain(again), round).await;
    }
    are_as_shown(&recorded, &gaps, shown.iter(), kills()).await;
    starts.bytes = recorded.metric("lockscope_history_bytes").await;
    println!("{} kills, {} ms lost at most: {}", kills(), starts.lost_ms.iter().max().unwrap_or(&0), starts.told());
    load.end().await;
}
