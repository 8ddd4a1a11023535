//! The load: contenders that come and go under a root, at a rate, as fast as ZooKeeper takes them, or in the locks of
//! Curator.

use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lockscope_campaign::clients::curator_program;
use tokio::process::Command;
use tokio::time::{Instant, MissedTickBehavior, interval};
use zookeeper_client::{Acls, Client, CreateMode, CreateOptions};

const CURATOR_LOCKS: &str = include_str!("Contention.java");
const LANES: usize = 16;
/// Requests under way at once where nothing holds them back, or more changes a second are wanted than fewer lanes make.
const LANES_MOST: usize = 64;
const RATE_OF_LANES: u32 = 5_000;
const CLIENTS: usize = 4;
const SESSION: Duration = Duration::from_secs(20);

/// How fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rate {
    /// Changes a second.
    ASecond(u32),
    /// As many as there can be.
    Most,
    /// About so many changes a second, all of them by `InterProcessMutex`: four threads want each lock.
    Curator(u32),
}

impl Rate {
    pub(crate) fn name(self) -> String {
        match self {
            Self::ASecond(rate) => format!("{rate}/s"),
            Self::Most => "most".to_owned(),
            Self::Curator(rate) => format!("locks of Curator, {rate}/s"),
        }
    }
}

/// What a load did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// Znodes created and deleted, the last one among them.
    pub(crate) changes: u64,
    pub(crate) took: Duration,
}

pub(crate) fn directory() -> CreateOptions<'static> {
    CreateMode::Persistent.with_acls(Acls::anyone_all())
}

pub(crate) fn contender() -> CreateOptions<'static> {
    CreateMode::EphemeralSequential.with_acls(Acls::anyone_all())
}

pub(crate) async fn open(connect: &str) -> Client {
    Client::connector().with_session_timeout(SESSION).connect(connect).await.unwrap()
}

/// The znode that ends a load.
pub(crate) fn end(root: &str) -> String {
    format!("{root}/end")
}

/// Makes a root with so many locks that nobody is in.
pub(crate) async fn make_locks(client: &Client, root: &str, locks: usize) {
    client.create(root, b"", &directory()).await.unwrap();
    for lock in 0..locks {
        client.create(&format!("{root}/{lock}"), b"", &directory()).await.unwrap();
    }
}

/// A place in a queue, named as Curator names it: each has a GUID of its own.
pub(crate) async fn enter(client: &Client, lock: &str) -> String {
    static ENTERED: AtomicU64 = AtomicU64::new(1);
    let number = ENTERED.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (first, last) = (number >> 32, number & 0xffff_ffff_ffff);
    let prefix = format!("{lock}/_c_{first:08x}-0000-4a4a-8b8b-{last:012x}-lock-");
    let (_, number) = client.create(&prefix, b"10.1.2.3", &contender()).await.unwrap();
    format!("{prefix}{number}")
}

/// Creates and deletes contenders of `locks` locks; afterwards the znode that ends it.
pub(crate) async fn run(connect: &str, root: &str, locks: usize, rate: Rate, lasting: Duration) -> Done {
    let mut done = match rate {
        Rate::ASecond(rate) => made(connect, root, locks, Some(rate), lasting).await,
        Rate::Most => made(connect, root, locks, None, lasting).await,
        Rate::Curator(rate) => curators(connect, root, locks, rate, lasting).await,
    };
    open(connect).await.create(&end(root), b"", &directory()).await.unwrap();
    done.changes += 1;
    done
}

/// Locks that Curator takes and releases, in a process of its own.
async fn curators(connect: &str, root: &str, locks: usize, rate: u32, lasting: Duration) -> Done {
    let mut command = Command::from(curator_program("Contention", CURATOR_LOCKS));
    command.args([connect, root]).args([locks as u64, rate.into(), lasting.as_secs()].map(|number| number.to_string()));
    let output = command.stderr(Stdio::inherit()).output().await.unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    let mut numbers = words.split_whitespace().map(|word| word.parse::<u64>().unwrap());
    Done { changes: numbers.next().unwrap(), took: Duration::from_millis(numbers.next().unwrap()) }
}

/// Contenders that nobody waits for, made by hand; `rate` is in changes a second.
async fn made(connect: &str, root: &str, locks: usize, rate: Option<u32>, lasting: Duration) -> Done {
    let count = if rate.is_some_and(|rate| rate <= RATE_OF_LANES) { LANES } else { LANES_MOST };
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(open(connect).await);
    }
    let begin = Instant::now();
    let lanes = (0..count).map(|lane| {
        let (client, root) = (clients[lane % CLIENTS].clone(), root.to_owned());
        tokio::spawn(async move {
            // Two changes each time; the lanes are spread over the period.
            let period = rate.map(|rate| Duration::from_secs_f64(2.0 * count as f64 / f64::from(rate)));
            let mut pulse = period.map(|period| {
                let mut pulse = interval(period);
                pulse.set_missed_tick_behavior(MissedTickBehavior::Burst);
                pulse
            });
            // One of each lane waits until its next one has come: contenders live for a period.
            let (mut changes, mut last) = (0, None);
            for cycle in lane.. {
                if begin.elapsed() >= lasting {
                    break;
                }
                if let Some(pulse) = &mut pulse {
                    pulse.tick().await;
                }
                let path = enter(&client, &format!("{root}/{}", cycle % locks)).await;
                changes += 1;
                if let Some(last) = last.replace(path) {
                    client.delete(&last, None).await.unwrap();
                    changes += 1;
                }
            }
            if let Some(last) = last {
                client.delete(&last, None).await.unwrap();
                changes += 1;
            }
            changes
        })
    });
    let mut changes = 0;
    for lane in futures_util::future::join_all(lanes).await {
        changes += lane.unwrap();
    }
    Done { changes, took: begin.elapsed() }
}
