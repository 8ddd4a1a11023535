//! What real clients do meanwhile: queues in which each waits for long enough to be kept whatever else happens, and locks
//! that are taken and let go at once.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use lockscope_demo::PrivateZooKeeper;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::harness::{Truth, open, queue};

/// Changes a second of all.
pub(super) const RATE: u64 = 500;
/// Queues whose head goes, and whose tail comes, at each beat: each contender waits for two beats, beyond what is always
/// kept of a busy minute (50 ms).
const QUEUES: u32 = 6;
const IN_A_QUEUE: usize = 3;
const BEAT: Duration = Duration::from_millis(100);
/// What is left of the rate: locks that nobody waits for.
const LANES: u32 = 10;
const CLIENTS: usize = 4;

/// Clients that come and go until they are told to stop.
pub(super) struct Traffic {
    tasks: JoinSet<()>,
    changes: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

/// Whether the contenders of a directory wait for long enough that each of them is kept.
pub(super) fn is_kept(path: &str) -> bool {
    path.starts_with("/a/queue")
}

impl Traffic {
    pub(super) async fn start(zookeeper: &PrivateZooKeeper, truth: &Truth) -> Self {
        let mut traffic = Self { tasks: JoinSet::new(), changes: Arc::default(), is_over: Arc::default() };
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            clients.push(open(&zookeeper.address()).await);
        }
        let client = |number: u32| clients[number as usize % CLIENTS].clone();
        for number in 0..QUEUES {
            truth.make(&format!("/a/queue{number}")).await;
            let (client, changes, is_over) = (client(number), traffic.changes.clone(), traffic.is_over.clone());
            traffic.tasks.spawn(async move {
                let prefix = format!("/a/queue{number}/lock-");
                let (mut beat, mut line) = (interval(BEAT), VecDeque::<String>::new());
                beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
                while !is_over.load(Ordering::Relaxed) || !line.is_empty() {
                    beat.tick().await;
                    if line.len() == IN_A_QUEUE || is_over.load(Ordering::Relaxed) {
                        let Some(head) = line.pop_front() else { break };
                        client.delete(&head, None).await.expect("delete");
                        changes.fetch_add(1, Ordering::Relaxed);
                    }
                    if !is_over.load(Ordering::Relaxed) {
                        line.push_back(queue(&client, &prefix).await);
                        changes.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        let queued = u64::from(QUEUES) * 2 * 1_000 / BEAT.as_millis() as u64;
        for number in 0..LANES {
            truth.make(&format!("/a/lane{number}")).await;
            let (client, changes, is_over) = (client(number), traffic.changes.clone(), traffic.is_over.clone());
            traffic.tasks.spawn(async move {
                let mut pulse = interval(Duration::from_secs(2) * LANES / u32::try_from(RATE - queued).unwrap());
                pulse.set_missed_tick_behavior(MissedTickBehavior::Burst);
                while !is_over.load(Ordering::Relaxed) {
                    pulse.tick().await;
                    let path = queue(&client, &format!("/a/lane{number}/lock-")).await;
                    client.delete(&path, None).await.expect("delete");
                    changes.fetch_add(2, Ordering::Relaxed);
                }
            });
        }
        traffic
    }

    /// Changes so far.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Has all leave in order.
    pub(super) async fn end(mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        while let Some(ended) = self.tasks.join_next().await {
            ended.unwrap();
        }
    }
}
