//! The load: contenders that come and go under a root, at a rate or as fast as ZooKeeper takes them.

use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};
use zookeeper_client::{Acls, Client, CreateMode, CreateOptions};

const LANES: usize = 16;
/// Requests under way at once where nothing holds them back.
const LANES_MOST: usize = 64;
const CLIENTS: usize = 4;
const SESSION: Duration = Duration::from_secs(20);

/// How fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rate {
    /// Changes a second.
    ASecond(u32),
    /// As many as there can be.
    Most,
}

impl Rate {
    pub(crate) fn name(self) -> String {
        match self {
            Self::ASecond(rate) => format!("{rate}/s"),
            Self::Most => "most".to_owned(),
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

/// A place in a queue, named as Curator names it.
pub(crate) async fn enter(client: &Client, lock: &str) -> String {
    let prefix = format!("{lock}/_c_6f1e2d3c-0000-4a4a-8b8b-000000000000-lock-");
    let (_, number) = client.create(&prefix, b"10.1.2.3", &contender()).await.unwrap();
    format!("{prefix}{number}")
}

/// Creates and deletes contenders of `locks` locks; afterwards the znode that ends it.
pub(crate) async fn run(connect: &str, root: &str, locks: usize, rate: Rate, lasting: Duration) -> Done {
    let lanes = if rate == Rate::Most { LANES_MOST } else { LANES };
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(open(connect).await);
    }
    let begin = Instant::now();
    let lanes = (0..lanes).map(|lane| {
        let (client, root) = (clients[lane % CLIENTS].clone(), root.to_owned());
        tokio::spawn(async move {
            // Two changes each time; the lanes are spread over the period.
            let period = match rate {
                Rate::ASecond(rate) => Some(Duration::from_secs_f64(2.0 * LANES as f64 / f64::from(rate))),
                Rate::Most => None,
            };
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
    let mut changes = 1;
    for lane in futures_util::future::join_all(lanes).await {
        changes += lane.unwrap();
    }
    let took = begin.elapsed();
    clients[0].create(&end(root), b"", &directory()).await.unwrap();
    Done { changes, took }
}
