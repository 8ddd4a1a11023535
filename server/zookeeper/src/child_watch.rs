//! Child watches, on a session of their own. A recursive watch does not fire for children that we may not read, a child
//! watch does; but servers before 3.9 keep one watch mode a path and connection, so the two can't share a session: the
//! later one silently replaces the earlier. A child watch reports only a number of changes; the Stat counters show what
//! they were.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, BoxFuture, abortable};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, MissedTickBehavior};
use zookeeper_client::{AddWatchMode, Client, Error, SessionState};

use super::config::ObserverConfig;
use super::directory_watch::{DirectoryNews, WatchChange};
use super::request_counts::{Kind, RequestCounts};
use super::translate::{WatchFailure, WatcherEvent, heard, watch_failure};
use lockscope_runtime::backoff::Backoff;

/// Waits between attempts; there is no hurry, the rounds over all directories find unreadable children too.
const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_CAP: Duration = Duration::from_secs(30);
const SETTING_MAX: usize = 64;
/// More changes than these in that time, and a root does without child watches for a while: they would report a second
/// time what events report. A root where something may not be read never does without.
const BUSY_CHANGES: u32 = 1_500;
const BUSY_FOR: Duration = Duration::from_secs(2);
const REST: Duration = Duration::from_secs(30);
const SECOND: Duration = Duration::from_secs(1);

/// A root by its place, and a directory.
type DirectoryKey = (usize, Arc<str>);

/// What was reported since this was asked last.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Roots whose child watches were lost; what else there is came later.
    pub(super) lost: BTreeSet<usize>,
    /// One entry a directory, so nothing can pile up.
    pub(super) directories: BTreeMap<DirectoryKey, DirectoryNews>,
}

/// What the session that follows events and the one with the child watches exchange.
#[derive(Debug)]
pub(super) struct ChildWatches {
    shared: Mutex<Shared>,
    changed: Notify,
    news: Notify,
}

#[derive(Debug)]
struct Shared {
    /// Each root bounds how many it wants.
    wanted: BTreeSet<DirectoryKey>,
    /// To be set or dropped, unless they are as they should be.
    changed: BTreeSet<DirectoryKey>,
    set: BTreeSet<DirectoryKey>,
    roots: Vec<Rest>,
    news: News,
}

/// Whether a root does without child watches.
#[derive(Clone, Copy, Debug)]
struct Rest {
    is_guarded: bool,
    until: Option<Instant>,
    counted_since: Instant,
    changes: u32,
}

impl Rest {
    /// Counts changes; true when they are too many from now on.
    fn begins(&mut self, changes: u32, now: Instant) -> bool {
        if now.saturating_duration_since(self.counted_since) >= BUSY_FOR {
            (self.counted_since, self.changes) = (now, 0);
        }
        self.changes = self.changes.saturating_add(changes);
        let begins = self.changes > BUSY_CHANGES && !self.is_guarded && self.until.is_none();
        self.until = if begins { Some(now + REST) } else { self.until };
        begins
    }
}

impl Shared {
    fn is_due(&self, place: &DirectoryKey) -> bool {
        self.wanted.contains(place) && self.roots.get(place.0).is_some_and(|root| root.until.is_none())
    }

    fn change_all(&mut self, root: usize) {
        let all = self.wanted.iter().filter(|(of, _)| *of == root).cloned();
        self.changed.extend(all);
    }

    fn lose(&mut self, root: usize) {
        self.news.directories.retain(|(of, _), _| *of != root);
        self.news.lost.insert(root);
    }
}

impl ChildWatches {
    pub(super) fn new(roots: usize) -> Self {
        let rest = Rest { is_guarded: false, until: None, counted_since: Instant::now(), changes: 0 };
        let shared = Shared {
            wanted: BTreeSet::new(),
            changed: BTreeSet::new(),
            set: BTreeSet::new(),
            roots: vec![rest; roots],
            news: News::default(),
        };
        Self { shared: Mutex::new(shared), changed: Notify::new(), news: Notify::new() }
    }

    pub(super) fn change(&self, root: usize, changes: Vec<WatchChange>) {
        if changes.is_empty() {
            return;
        }
        let mut shared = self.shared.lock();
        for change in changes {
            let (WatchChange::Set(path) | WatchChange::Drop(path)) = &change;
            let place = (root, Arc::clone(path));
            if matches!(change, WatchChange::Drop(_)) {
                shared.wanted.remove(&place);
                shared.news.directories.remove(&place);
            } else {
                shared.wanted.insert(place.clone());
            }
            shared.changed.insert(place);
        }
        drop(shared);
        self.changed.notify_one();
    }

    /// Something in a root may not be read: its child watches never rest from now on.
    pub(super) fn guard(&self, root: usize) {
        let mut shared = self.shared.lock();
        if let Some(rest) = shared.roots.get_mut(root)
            && !std::mem::replace(&mut rest.is_guarded, true)
            && rest.until.take().is_some()
        {
            shared.change_all(root);
            drop(shared);
            self.changed.notify_one();
        }
    }

    pub(super) async fn heard(&self) {
        self.news.notified().await;
    }

    pub(super) fn take(&self) -> News {
        std::mem::take(&mut self.shared.lock().news)
    }

    fn tell_set(&self, place: &DirectoryKey) {
        let mut shared = self.shared.lock();
        if shared.is_due(place) {
            shared.set.insert(place.clone());
            shared.news.directories.insert(place.clone(), DirectoryNews { is_set: true, changes: 0 });
            self.news.notify_one();
        }
    }

    fn tell_changes(&self, place: &DirectoryKey, changes: u32) {
        let mut shared = self.shared.lock();
        if !shared.is_due(place) {
            return;
        }
        let told = shared.news.directories.entry(place.clone()).or_default();
        told.changes = told.changes.saturating_add(changes);
        self.news.notify_one();
        if shared.roots.get_mut(place.0).is_some_and(|rest| rest.begins(changes, Instant::now())) {
            shared.lose(place.0);
            shared.change_all(place.0);
            self.changed.notify_one();
        }
    }

    /// Ends what has rested long enough.
    fn wake(&self) {
        let mut shared = self.shared.lock();
        let now = Instant::now();
        for root in 0..shared.roots.len() {
            if shared.roots.get_mut(root).is_some_and(|rest| rest.until.take_if(|until| *until <= now).is_some()) {
                shared.change_all(root);
                self.changed.notify_one();
            }
        }
    }

    /// A session begins: everything is to be set.
    fn begin(&self) {
        let mut shared = self.shared.lock();
        shared.changed = shared.wanted.clone();
        drop(shared);
        self.changed.notify_one();
    }

    /// A session is over: no watch works.
    fn end(&self) {
        let mut shared = self.shared.lock();
        shared.set.clear();
        (0..shared.roots.len()).for_each(|root| shared.lose(root));
        drop(shared);
        self.news.notify_one();
    }

    /// What is to be watched from now on, or no more. What was dropped and is wanted again meanwhile still has its
    /// watch, which is reported anew: whoever wants it knows nothing of it.
    fn take_changed(&self) -> Vec<(DirectoryKey, bool)> {
        let mut shared = self.shared.lock();
        let changed: Vec<(DirectoryKey, bool)> = std::mem::take(&mut shared.changed)
            .into_iter()
            .map(|place| (place.clone(), shared.is_due(&place)))
            .collect();
        for (place, is_due) in &changed {
            if !is_due {
                shared.set.remove(place);
            } else if shared.set.contains(place) {
                shared.news.directories.insert(place.clone(), DirectoryNews { is_set: true, changes: 0 });
                self.news.notify_one();
            }
        }
        changed
    }
}

/// Watches what is wanted for ever, through as many sessions as it takes.
pub(super) async fn watch_children(config: &ObserverConfig, watches: &ChildWatches, counts: &RequestCounts) {
    let mut backoff = Backoff::new(RETRY_FIRST, RETRY_CAP).ok();
    loop {
        let ended = match config.open().await {
            Ok(client) => session(&client, watches, counts).await,
            Err(error) => Err(error),
        };
        match ended {
            Ok(()) => backoff.iter_mut().for_each(Backoff::reset),
            Err(error) => tracing::debug!(%error, "no child watches for now; the rounds go on"),
        }
        tokio::time::sleep(backoff.as_mut().map_or(RETRY_CAP, |backoff| backoff.next(rand::random()))).await;
    }
}

/// One session, which ends with its link: the client crate can't get back with more than 128 KiB of watched paths.
async fn session(client: &Client, watches: &ChildWatches, counts: &RequestCounts) -> Result<(), Error> {
    let (mut states, setting) = (client.state_watcher(), Semaphore::new(SETTING_MAX));
    let mut watching = FuturesUnordered::new();
    let mut handles: BTreeMap<DirectoryKey, AbortHandle> = BTreeMap::new();
    let mut second = tokio::time::interval(SECOND);
    second.set_missed_tick_behavior(MissedTickBehavior::Delay);
    watches.begin();
    let ended = loop {
        tokio::select! {
            state = states.changed() => if !matches!(state, SessionState::SyncConnected | SessionState::ConnectedReadOnly) {
                break Ok(());
            },
            () = watches.changed.notified() => for (place, is_due) in watches.take_changed() {
                if !is_due {
                    handles.remove(&place).iter().for_each(AbortHandle::abort);
                } else if let Entry::Vacant(handle) = handles.entry(place) {
                    let watch: BoxFuture<'_, _> = watch(client, watches, counts, &setting, handle.key().clone()).boxed();
                    let (watch, abort) = abortable(watch);
                    handle.insert(abort);
                    watching.push(watch);
                }
            },
            _ = second.tick() => watches.wake(),
            // One that was dropped ends as well.
            Some(ended) = watching.next() => if let Ok(ended) = ended {
                break ended;
            },
        }
    };
    watches.end();
    ended
}

/// Sets one child watch and passes its events on until the session ends.
async fn watch(
    client: &Client,
    watches: &ChildWatches,
    counts: &RequestCounts,
    setting: &Semaphore,
    place: DirectoryKey,
) -> Result<(), Error> {
    let turn = setting.acquire().await;
    counts.asked(Kind::Watch, 1);
    let set = client.watch(&place.1, AddWatchMode::Persistent).await.inspect_err(|_| counts.failed(Kind::Watch));
    drop(turn);
    let mut watcher = match set {
        // Of this directory alone: it goes without, and the others don't.
        Err(error) if watch_failure(&error) == WatchFailure::Refused => {
            tracing::debug!(%error, path = %place.1, "no child watch here; the rounds go on");
            std::future::pending().await
        }
        set => set?,
    };
    watches.tell_set(&place);
    loop {
        let mut changes = 0;
        let mut next = Some(watcher.changed().await);
        while let Some(event) = next {
            match heard(event) {
                WatcherEvent::Children => changes += 1,
                WatcherEvent::Node(_) | WatcherEvent::Link => {}
                WatcherEvent::Terminal => return Ok(()),
            }
            next = watcher.changed().now_or_never();
        }
        if changes > 0 {
            watches.tell_changes(&place, changes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(paths: &[&str]) -> ChildWatches {
        let watches = ChildWatches::new(1);
        watches.change(0, paths.iter().map(|path| WatchChange::Set((*path).into())).collect());
        watches.begin();
        watches.take_changed().iter().for_each(|(place, _)| watches.tell_set(place));
        assert!(watches.take().directories.values().all(|news| news.is_set));
        watches
    }

    fn place(path: &str) -> DirectoryKey {
        (0, path.into())
    }

    /// Its watch outlives it at the server, so nobody sets another and says so.
    #[test]
    fn a_directory_that_is_made_again_at_once_is_watched() {
        let watches = watched(&["/d"]);
        watches.change(0, vec![WatchChange::Drop("/d".into()), WatchChange::Set("/d".into())]);
        assert_eq!(watches.take_changed(), [(place("/d"), true)], "nothing to do");
        assert!(watches.take().directories[&place("/d")].is_set);
        // Dropped in between, it is not set before its watch is.
        watches.change(0, vec![WatchChange::Drop("/d".into())]);
        assert_eq!(watches.take_changed(), [(place("/d"), false)]);
        watches.change(0, vec![WatchChange::Set("/d".into())]);
        assert_eq!(watches.take_changed(), [(place("/d"), true)]);
        assert!(watches.take().directories.is_empty());
    }

    #[test]
    fn a_busy_root_rests_unless_it_is_guarded() {
        for is_guarded in [false, true] {
            let watches = watched(&["/d"]);
            if is_guarded {
                watches.guard(0);
            }
            watches.tell_changes(&place("/d"), BUSY_CHANGES + 1);
            assert_eq!(watches.take().lost.contains(&0), !is_guarded);
            assert_eq!(watches.take_changed().contains(&(place("/d"), false)), !is_guarded);
            if !is_guarded {
                watches.guard(0);
                assert_eq!(watches.take_changed(), [(place("/d"), true)], "what may not be read ends its rest");
            }
        }
    }

    #[test]
    fn a_rest_that_ends_as_it_begins_leaves_the_watches_set() {
        let watches = watched(&["/d"]);
        watches.tell_changes(&place("/d"), BUSY_CHANGES + 1);
        watches.guard(0);
        assert!(watches.take().lost.contains(&0));
        assert_eq!(watches.take_changed(), [(place("/d"), true)]);
        assert!(watches.take().directories[&place("/d")].is_set);
    }

    #[test]
    fn the_end_of_a_session_is_told_before_what_comes_later() {
        let watches = watched(&["/d"]);
        watches.tell_changes(&place("/d"), 1);
        watches.end();
        watches.tell_set(&place("/d"));
        let news = watches.take();
        assert!(news.lost.contains(&0));
        assert_eq!(news.directories[&place("/d")], DirectoryNews { is_set: true, changes: 0 });
    }
}
