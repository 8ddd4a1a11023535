//! Alerts of a server while it runs: takes what evaluators find, keeps it, and says who is to be told.

mod routes;
mod shared;
mod snooze_notes;
mod snoozes;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lockscope_runtime::clock::Clock;
use lockscope_runtime::shared_rows::Exchange;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_view::{Acknowledgement, Alert, AlertRoute, Alerts as AlertsView, Silence};
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, Notify, OwnedMutexGuard, watch};

use crate::book::{Book, BookError, Unsaved, rule_shown};
use crate::evaluator::{ActiveAlert, AlertNews};
use crate::notification::Notification;
use crate::rule::Rule;
use crate::store::Store;
use routes::RouteHealth;
pub use routes::RouteShown;
pub use snooze_notes::ORDER_SNOOZES_MAX;
use snooze_notes::SnoozeNotes;
pub use snoozes::{OrderSnoozes, SnoozeError};

/// Time between two looks at who is to be told.
const STEP: Duration = Duration::from_millis(250);
/// How long whoever has something stored waits for it.
const STORE_WITHIN: Duration = Duration::from_secs(3);
const NO_ANSWER: &str = "the disk of alerts.db does not answer";
/// News that wait to be taken in. Overflow policy: those that an alert is pending are dropped.
const NEWS_MAX: usize = 100_000;

#[derive(Clone, Debug)]
pub struct Links {
    /// Makes the address of a lock at an instant, without scheme and host: ensemble, path, milliseconds since the epoch.
    pub lock: fn(&str, &str, i64) -> String,
    /// Scheme and host as people reach it; None where nobody said.
    pub origin: Option<String>,
}

/// The alerts of a server; cheap to clone.
#[derive(Clone)]
pub struct Alerts(Arc<Inner>);

impl std::fmt::Debug for Alerts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Alerts").field("dir", &self.0.dir).finish_non_exhaustive()
    }
}

struct Inner {
    /// The rules in force; evaluators follow them.
    rules: watch::Sender<Arc<[Rule]>>,
    book: Mutex<Book>,
    news: Mutex<Vec<(Arc<str>, AlertNews)>>,
    came: Notify,
    /// Rises with each change of the book.
    revision: watch::Sender<u64>,
    routes: Mutex<Vec<(RouteShown, RouteHealth)>>,
    store: Mutex<Option<Store>>,
    dir: Option<PathBuf>,
    trouble: Mutex<String>,
    turn: Arc<AsyncMutex<()>>,
    is_saving: AtomicBool,
    clock: Clock,
    looks_since_ms: Mutex<BTreeMap<String, i64>>,
    links: Links,
    snoozes: watch::Sender<OrderSnoozes>,
    /// What is sent to other servers of these; locked for moments only.
    snooze_notes: Mutex<SnoozeNotes>,
    /// Other servers that are told what people say; unset where there are none.
    exchange: OnceLock<Arc<dyn Exchange>>,
}

impl Inner {
    /// Blocking.
    fn store(&self, unsaved: Unsaved) {
        let mut store = self.store.lock();
        if store.is_none() {
            *store = self.dir.as_deref().and_then(|dir| Store::open(dir).ok()).map(|(store, _)| store);
        }
        let result = match &mut *store {
            Some(store) => store.save(&unsaved).map_err(|error| error.to_string()),
            None => Err(self.trouble.lock().clone()),
        };
        let why = result.err().unwrap_or_default();
        if !why.is_empty() {
            self.book.lock().not_saved(unsaved);
        }
        let before = std::mem::replace(&mut *self.trouble.lock(), why.clone());
        if before != why && !why.is_empty() {
            tracing::warn!("alerts are not kept over a restart: {why}");
        }
    }
}

/// Something is being stored. Whoever asked for it may be gone before it is done.
struct Saving(
    Arc<Inner>,
    #[expect(dead_code, reason = "others wait for their turn until it is dropped")] OwnedMutexGuard<()>,
);

impl Saving {
    fn begin(inner: Arc<Inner>, turn: OwnedMutexGuard<()>) -> Self {
        inner.is_saving.store(true, Ordering::Release);
        Self(inner, turn)
    }

    /// It is done, and something is new.
    fn changed(self) {
        let inner = Arc::clone(&self.0);
        drop(self);
        inner.revision.send_modify(|revision| *revision += 1);
    }
}

impl Drop for Saving {
    fn drop(&mut self) {
        self.0.is_saving.store(false, Ordering::Release);
    }
}

impl Alerts {
    /// Goes on with what is kept in a directory; without one, or where it can't be used, nothing outlives the process.
    /// Blocking.
    pub fn open(dir: Option<PathBuf>, rules: &[Rule], routes: Vec<RouteShown>, links: Links, clock: Clock) -> Self {
        let opened = dir.as_deref().map(Store::open);
        let (store, (alerts, silences, snoozes), trouble) = match opened {
            None => (None, Default::default(), "there is no data directory".to_owned()),
            Some(Ok((store, kept))) => (Some(store), kept, String::new()),
            Some(Err(error)) => {
                tracing::warn!("alerts are not kept over a restart: {error}");
                (None, Default::default(), error.to_string())
            }
        };
        Self(Arc::new(Inner {
            rules: watch::channel(rules.into()).0,
            book: Mutex::new(Book::new(rules.iter().map(rule_shown).collect(), alerts, silences)),
            news: Mutex::default(),
            came: Notify::new(),
            revision: watch::channel(0).0,
            routes: Mutex::new(routes.into_iter().map(|route| (route, RouteHealth::default())).collect()),
            store: Mutex::new(store),
            dir,
            trouble: Mutex::new(trouble),
            turn: Arc::default(),
            is_saving: AtomicBool::new(false),
            clock,
            looks_since_ms: Mutex::default(),
            links,
            snoozes: watch::channel(snoozes.into()).0,
            snooze_notes: Mutex::default(),
            exchange: OnceLock::new(),
        }))
    }

    /// What was active in ensembles that are watched no longer is over.
    pub fn end_elsewhere(&self, is_watched: impl Fn(&str) -> bool) {
        self.0.looks_since_ms.lock().retain(|name, _| is_watched(name));
        self.0.book.lock().end_elsewhere(is_watched, self.0.clock.now_ms());
    }

    pub fn begin_in(&self, ensemble: &str) {
        self.0.looks_since_ms.lock().insert(ensemble.to_owned(), self.0.clock.now_ms());
    }

    /// Since when this server watches an ensemble, ms since the epoch.
    pub(crate) fn looks_since_ms(&self, ensemble: &str) -> Option<i64> {
        self.0.looks_since_ms.lock().get(ensemble).copied()
    }

    /// What was active in an ensemble when the process before ended.
    pub fn active_in(&self, ensemble: &str) -> Vec<ActiveAlert> {
        self.0.book.lock().active_in(ensemble)
    }

    /// Takes what was found in an ensemble. Called on the model's thread: it never waits for anything slow.
    pub fn found(&self, ensemble: &Arc<str>, found: Vec<AlertNews>) {
        let mut news = self.0.news.lock();
        let is_full = news.len() >= NEWS_MAX;
        let kept = found.into_iter().filter(|one| !is_full || one.alert.fired_at.is_some() || one.end.is_some());
        news.extend(kept.map(|one| (Arc::clone(ensemble), one)));
        drop(news);
        self.0.came.notify_one();
    }

    /// Keeps the book until `stop`: takes news in, notes who is to be told, and stores both.
    pub async fn run(self, stop: CancellationToken) {
        loop {
            let waited = tokio::time::timeout(STEP, self.0.came.notified());
            let is_over = stop.clone().run_until_cancelled_owned(waited).await.is_none();
            self.step().await;
            if is_over {
                return;
            }
        }
    }

    async fn step(&self) {
        let news = std::mem::take(&mut *self.0.news.lock());
        let now_ms = self.0.clock.now_ms();
        {
            let mut book = self.0.book.lock();
            for (ensemble, one) in news {
                let link = self.0.links.lock;
                book.take(&ensemble, vec![one], now_ms, |lock, at_ms| link(&ensemble, lock, at_ms));
            }
            book.advance(now_ms);
        }
        self.save_soon().await;
    }

    /// Stores what changed, and waits for a disk that hangs no longer than is good: what is not stored is told all the same
    /// then.
    async fn save_soon(&self) {
        let hangs = !self.0.trouble.lock().is_empty() && self.0.turn.try_lock().is_err();
        if !hangs && tokio::time::timeout(STORE_WITHIN, self.save()).await.is_err() {
            tracing::warn!("alerts are not kept over a restart: {NO_ANSWER}");
            NO_ANSWER.clone_into(&mut self.0.trouble.lock());
        }
    }

    /// Stores what changed. What can't be stored is told, and tried again with the next change.
    async fn save(&self) {
        // One after the other: when this returns, what was noted before it was called is stored.
        let turn = Arc::clone(&self.0.turn).lock_owned().await;
        let saving = Saving::begin(Arc::clone(&self.0), turn);
        let unsaved = self.0.book.lock().take_unsaved();
        if unsaved.alerts.is_empty() && unsaved.silences.is_empty() {
            return;
        }
        if self.0.dir.is_none() {
            return saving.changed();
        }
        // It ends even where nobody waits for it any longer.
        let saved = tokio::task::spawn_blocking(move || {
            saving.0.store(unsaved);
            saving.changed();
        });
        if let Err(error) = saved.await {
            tracing::error!("alerts could not be stored: {error}");
        }
    }

    /// Rises whenever something changed.
    pub fn revisions(&self) -> watch::Receiver<u64> {
        self.0.revision.subscribe()
    }

    /// All of it as the API shows it, to somebody who may see all.
    pub fn view(&self) -> AlertsView {
        let now_ms = self.0.clock.now_ms();
        let routes = self.0.routes.lock().clone();
        let book = self.0.book.lock();
        let route = |(shown, health): &(RouteShown, RouteHealth)| {
            let RouteHealth { sent_at_ms, trouble } = health.clone();
            let waiting = book.waiting(&shown.name, now_ms);
            let (name, kind, url) = (shown.name.clone(), shown.kind.to_owned(), shown.url.clone());
            AlertRoute { name, kind, url, waiting, sent_at_ms, trouble }
        };
        AlertsView {
            alerts: book.alerts(now_ms),
            silences: book.silences(now_ms),
            rules: book.rules().to_vec(),
            routes: routes.iter().map(route).collect(),
            trouble: self.0.trouble.lock().clone(),
        }
    }

    /// Those of some alerts that fire and that nobody silenced, worst first.
    pub fn loud(&self, is_meant: impl Fn(&Alert) -> bool) -> Vec<Alert> {
        self.0.book.lock().loud(self.0.clock.now_ms(), is_meant)
    }

    /// What somebody looks at, made of each such alert.
    pub fn acknowledged<T>(&self, each: impl Fn(&Alert, &Acknowledgement) -> T) -> Vec<T> {
        self.0.book.lock().acknowledged().map(|(alert, by)| each(alert, by)).collect()
    }

    pub fn rule(&self, name: &str) -> Option<Rule> {
        self.0.rules.borrow().iter().find(|rule| *rule.name == *name).cloned()
    }

    /// One alert that has not ended.
    pub fn alert(&self, key: &str) -> Option<Alert> {
        self.0.book.lock().alert(key).cloned()
    }

    /// One silence that has not ended.
    pub fn silence_by_id(&self, id: u64) -> Option<Silence> {
        self.0.book.lock().silence_by_id(id, self.0.clock.now_ms()).cloned()
    }

    /// Somebody looks at an alert.
    pub async fn acknowledge(&self, key: &str, by: String, reason: String) -> Result<(), BookError> {
        let at_ms = self.0.clock.now_ms();
        self.0.book.lock().acknowledge(key, Acknowledgement { by, at_ms, reason })?;
        self.save_soon().await;
        self.share_now().await;
        Ok(())
    }

    /// Nobody is told of some alerts for a while.
    ///
    /// # Errors
    /// There are too many silences.
    pub async fn silence(&self, silence: Silence) -> Result<Silence, BookError> {
        let made = self.0.book.lock().silence(silence)?;
        self.save_soon().await;
        self.share_now().await;
        Ok(made)
    }

    pub async fn end_silence(&self, id: u64) -> Result<(), BookError> {
        self.0.book.lock().end_silence(id)?;
        self.save_soon().await;
        self.share_now().await;
        Ok(())
    }

    /// What a receiver is to be told now. Where alerts can be stored, nothing is told that is not: a process that is killed
    /// would tell it again.
    pub(crate) fn to_tell(
        &self,
        route: &str,
        repeat_ms: Option<i64>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<Notification> {
        let only_stored = self.0.trouble.lock().is_empty();
        // Who saves says so before it takes anything out of the book.
        let book = self.0.book.lock();
        if only_stored && self.0.is_saving.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut due = book.to_tell(route, self.0.clock.now_ms(), repeat_ms, only_stored, is_wanted);
        drop(book);
        for one in &mut due {
            let address = |link: String| self.0.links.origin.as_ref().map(|origin| format!("{origin}{link}"));
            one.link = one.link.take().and_then(address);
        }
        due
    }

    pub(crate) async fn told(&self, route: &str, message: &[Notification], outcome: Result<(), String>) {
        let now_ms = self.0.clock.now_ms();
        let is_taken = outcome.is_ok();
        if let Some((_, health)) = self.0.routes.lock().iter_mut().find(|(shown, _)| shown.name == route) {
            health.trouble = outcome.err().unwrap_or_default();
            if is_taken {
                health.sent_at_ms = Some(now_ms);
            }
        }
        if is_taken {
            self.0.book.lock().told(route, message, now_ms);
            self.save_soon().await;
        }
    }

    pub(crate) async fn told_elsewhere(&self, route: &str, message: &[Notification]) {
        self.0.book.lock().told(route, message, self.0.clock.now_ms());
        self.save_soon().await;
    }

    /// The server's time, ms since the epoch.
    pub fn now_ms(&self) -> i64 {
        self.0.clock.now_ms()
    }
}
