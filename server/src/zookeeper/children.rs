//! Child watches of the roots, on a session of their own. A recursive watch is silent for children that we may not
//! read, a child watch is not; but servers before 3.9 keep one watch mode a path and connection, so the two can't share
//! a session: the later one silently replaces the earlier. What is learned here is only a hint to compare counters.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::try_join_all;
use tokio::sync::Notify;
use zookeeper_client::{AddWatchMode, Client, Error, PersistentWatcher, SessionState};

use super::backoff::Backoff;
use super::config::ObserverConfig;
use super::counts::{Counts, Kind};
use super::translate::{Heard, heard};

/// Waits between attempts; there is no hurry, the slow sweep finds silent children too.
const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_CAP: Duration = Duration::from_secs(30);

/// Roots whose children came or went: one flag each, so nothing can pile up.
#[derive(Debug)]
pub(super) struct ChildrenHints {
    flags: Vec<AtomicBool>,
    news: Notify,
}

impl ChildrenHints {
    pub(super) fn new(roots: usize) -> Self {
        Self { flags: (0..roots).map(|_| AtomicBool::new(false)).collect(), news: Notify::new() }
    }

    /// Waits for a hint.
    pub(super) async fn news(&self) {
        self.news.notified().await;
    }

    /// Takes the hint about one root.
    pub(super) fn take(&self, root: usize) -> bool {
        self.flags.get(root).is_some_and(|flag| flag.swap(false, Ordering::Relaxed))
    }

    fn give(&self, root: usize) {
        if let Some(flag) = self.flags.get(root) {
            flag.store(true, Ordering::Relaxed);
            self.news.notify_one();
        }
    }
}

/// Gives hints for ever, through as many sessions as it takes.
pub(super) async fn watch_children(config: &ObserverConfig, hints: &ChildrenHints, counts: &Counts) {
    let mut backoff = Backoff::new(RETRY_FIRST, RETRY_CAP).ok();
    loop {
        match session(config, hints, counts).await {
            Ok(()) => backoff.iter_mut().for_each(Backoff::reset),
            Err(error) => tracing::debug!(%error, "no child watches for now; the sweep goes on"),
        }
        tokio::time::sleep(backoff.as_mut().map_or(RETRY_CAP, |backoff| backoff.next(rand::random()))).await;
    }
}

/// One session from connect to its end.
async fn session(config: &ObserverConfig, hints: &ChildrenHints, counts: &Counts) -> Result<(), Error> {
    let client = config.open().await?;
    let mut states = client.state_watcher();
    let mut watchers = set_watches(&client, config, hints, counts).await?;
    loop {
        tokio::select! {
            state = states.changed() => match state {
                SessionState::SyncConnected | SessionState::ConnectedReadOnly => {
                    // As for the other watches: the crate does not restore them.
                    watchers = set_watches(&client, config, hints, counts).await?;
                }
                SessionState::Disconnected => {}
                SessionState::AuthFailed | SessionState::Expired | SessionState::Closed => return Ok(()),
            },
            root = poll_fn(|context| poll_watchers(&mut watchers, context)) => hints.give(root),
        }
    }
}

async fn set_watches(
    client: &Client,
    config: &ObserverConfig,
    hints: &ChildrenHints,
    counts: &Counts,
) -> Result<Vec<Option<PersistentWatcher>>, Error> {
    counts.asked(Kind::Watch, config.roots().len());
    let watchers = try_join_all(config.roots().iter().map(|root| client.watch(root, AddWatchMode::Persistent)))
        .await
        .inspect_err(|_| counts.failed(Kind::Watch))?;
    (0..watchers.len()).for_each(|root| hints.give(root));
    Ok(watchers.into_iter().map(Some).collect())
}

/// The next root whose children changed.
fn poll_watchers(watchers: &mut [Option<PersistentWatcher>], context: &mut Context<'_>) -> Poll<usize> {
    for (root, slot) in watchers.iter_mut().enumerate() {
        while let Some(watcher) = slot.as_mut() {
            let Poll::Ready(event) = pin!(watcher.changed()).poll(context) else { break };
            match heard(event) {
                Heard::Children => return Poll::Ready(root),
                Heard::Node(_) | Heard::Link => {}
                Heard::Terminal => *slot = None,
            }
        }
    }
    Poll::Pending
}
