//! What is known of one owner: whether it answers, and the views that were asked of it. The task behind it is
//! [`crate::connection`]. No wait is done under its lock.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use feed::ReplicaFrame;
use lockscope_wire::{Body, CompactFrame, is_fresh};
use runtime::clock::{self, Clock};
use tokio::sync::{Notify, watch};

use crate::directory::OwnerAddress;
use crate::view::{Key, RemoteView, SentAt};
use crate::words;

/// Views that are asked of one owner. Overflow policy: the one that nobody looked at for longest ends; where all are looked
/// at, one more is refused.
pub const VIEWS_MAX: usize = 2_048;
/// Bytes of the views of one owner, about. Overflow policy: as with their number.
pub const BYTES_MAX: usize = 64 * 1024 * 1024;
/// A view that nobody looked at for so long may make room for another.
const BUSY: Duration = Duration::from_secs(3);
/// The same of one that somebody looked at only once, as scripts do. One that stays open is looked at more often than that.
const GLANCE: Duration = Duration::from_millis(700);
/// Whoever does for so long nothing that is done each second stood still.
const STOOD_STILL: Duration = Duration::from_secs(3);
/// A view that nobody looked at for so long ends.
const IDLE: Duration = Duration::from_secs(40);

/// Told of every change of any link.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: Mutex<u64>,
    wake: Condvar,
    revision: watch::Sender<u64>,
}

impl Bell {
    pub(crate) fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.wake.notify_all();
        self.revision.send_modify(|revision| *revision += 1);
    }

    pub(crate) fn revisions(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    pub(crate) fn revision(&self) -> u64 {
        *self.revision.borrow()
    }

    /// Blocks the thread until `is_done`, or for so long.
    pub(crate) fn wait(&self, within: Duration, mut is_done: impl FnMut() -> bool) {
        let until = clock::instant() + within;
        loop {
            let before = *self.rung.lock().unwrap_or_else(PoisonError::into_inner);
            if is_done() {
                return;
            }
            let left = until.saturating_duration_since(clock::instant());
            if left.is_zero() {
                return;
            }
            let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
            // It may ring by itself.
            drop(self.wake.wait_timeout_while(rung, left, |rung| *rung == before));
        }
    }
}

/// One owner.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) owner: OwnerAddress,
    clock: Clock,
    bell: Arc<Bell>,
    state: Mutex<State>,
    /// There is something to send.
    pub(crate) wake: Notify,
}

#[derive(Debug)]
struct State {
    is_up: bool,
    /// Why it is not.
    why: String,
    /// Since when.
    since_ms: i64,
    /// When it was up last.
    last_up: Option<Instant>,
    views: HashMap<Key, RemoteView>,
    keys: BTreeMap<u32, Key>,
    last_id: u32,
    outbox: VecDeque<ReplicaFrame>,
    /// When idle views were looked for last.
    swept_at: Instant,
}

/// A view as it may be shown by now.
#[derive(Clone, Debug)]
pub(crate) struct Glimpse {
    pub(crate) body: Option<Arc<Body>>,
    /// Up to when it is known to be true, and whether the body may call itself live by that.
    pub(crate) known_at_ms: i64,
    pub(crate) is_live: bool,
    /// Why it is not what it says, and since when; None where it is.
    pub(crate) lost: Option<(i64, String)>,
    /// Why there is no body and will be none.
    pub(crate) refusal: Option<String>,
    pub(crate) revision: u64,
}

impl Glimpse {
    /// Nothing more is to be waited for.
    pub(crate) fn is_settled(&self) -> bool {
        self.body.is_some() || self.lost.is_some() || self.refusal.is_some()
    }
}

/// No room for one more view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

impl Link {
    pub(crate) fn new(owner: OwnerAddress, clock: Clock, bell: Arc<Bell>) -> Arc<Self> {
        let state = State {
            is_up: false,
            why: words::lost(&owner, words::CONNECTING),
            since_ms: clock.now_ms(),
            last_up: None,
            views: HashMap::new(),
            keys: BTreeMap::new(),
            last_id: 0,
            outbox: VecDeque::new(),
            swept_at: clock::instant(),
        };
        Arc::new(Self { owner, clock, bell, state: Mutex::new(state), wake: Notify::new() })
    }

    pub(crate) fn is_up(&self) -> bool {
        self.state().is_up
    }

    /// Why it does not answer; None where it does.
    pub(crate) fn why_lost(&self) -> Option<String> {
        let state = self.state();
        (!state.is_up).then(|| state.why.clone())
    }

    /// When it answered last; None: never.
    pub(crate) fn last_up(&self) -> Option<Instant> {
        let state = self.state();
        if state.is_up { Some(clock::instant()) } else { state.last_up }
    }

    /// Views that are asked of it.
    pub(crate) fn views(&self) -> usize {
        self.state().views.len()
    }

    /// Asks for a view, or goes on asking.
    pub(crate) fn want(&self, key: &Key) -> Result<(), NoRoom> {
        let now = clock::instant();
        let mut state = self.state();
        if let Some(view) = state.views.get_mut(key) {
            view.touched = now;
            return Ok(());
        }
        state.make_room(now)?;
        state.last_id += 1;
        let mut view = RemoteView::new(state.last_id, now);
        if state.is_up {
            state.outbox.push_back(view.ask(key));
        }
        state.keys.insert(view.id, key.clone());
        state.views.insert(key.clone(), view);
        drop(state);
        self.wake.notify_one();
        Ok(())
    }

    /// A view as it may be shown now.
    pub(crate) fn glimpse(&self, key: &Key) -> Glimpse {
        let (now, now_ms) = (clock::instant(), self.clock.now_ms());
        let mut state = self.state();
        let State { is_up, why, since_ms, views, .. } = &mut *state;
        let (is_up, since_ms) = (*is_up, *since_ms);
        let Some(view) = views.get_mut(key) else {
            let lost = Some((since_ms, if is_up { words::awaited(&self.owner) } else { why.clone() }));
            return Glimpse { body: None, known_at_ms: since_ms, is_live: false, lost, refusal: None, revision: 0 };
        };
        view.touched = now;
        let known_at_ms = view.known_at_ms(now, now_ms).unwrap_or(since_ms);
        let is_late = view.is_live && !is_fresh(known_at_ms, now_ms);
        if (!is_up || is_late) && view.body.is_some() && view.lost_at_ms.is_none() {
            view.lost_at_ms = Some(known_at_ms);
        } else if is_up && !is_late {
            view.lost_at_ms = None;
        }
        let lost = match (is_up, is_late) {
            (false, _) => Some((view.lost_at_ms.unwrap_or(since_ms), why.clone())),
            (true, true) => Some((view.lost_at_ms.unwrap_or(since_ms), words::late(&self.owner))),
            (true, false) => None,
        };
        Glimpse {
            body: view.body.clone(),
            known_at_ms: view.lost_at_ms.unwrap_or(known_at_ms),
            is_live: view.is_live && lost.is_none(),
            lost,
            refusal: view.refusal.clone(),
            revision: view.revision,
        }
    }

    /// The connection is open: everything is asked for.
    pub(crate) fn opened(&self) {
        let mut state = self.state();
        state.is_up = true;
        state.swept_at = clock::instant();
        state.since_ms = self.clock.now_ms();
        state.outbox.clear();
        let State { views, outbox, .. } = &mut *state;
        outbox.extend(views.iter_mut().map(|(key, view)| view.ask(key)));
        drop(state);
        tracing::info!("connected to the replica {} at {}", self.owner.id, self.owner.address);
        self.wake.notify_one();
        self.bell.ring();
    }

    /// It is not, or no more.
    pub(crate) fn closed(&self, why: &str) {
        let mut state = self.state();
        let why = words::lost(&self.owner, why);
        if state.is_up || state.why != why {
            tracing::warn!("{why}");
        }
        if state.is_up {
            state.since_ms = self.clock.now_ms();
            state.last_up = Some(clock::instant());
        }
        state.is_up = false;
        state.why = why;
        state.outbox.clear();
        drop(state);
        self.bell.ring();
    }

    /// What is to be sent.
    pub(crate) fn take_outbox(&self) -> Vec<ReplicaFrame> {
        self.state().outbox.drain(..).collect()
    }

    /// Takes a frame in, of so many bytes.
    pub(crate) fn take(&self, frame: CompactFrame, after: Instant, bytes: usize) {
        let mut state = self.state();
        let is_shown = match frame {
            CompactFrame::Hello { .. } => false,
            CompactFrame::Heartbeat { server_time_ms, views, .. } => {
                let sent = SentAt { after, server_time_ms };
                for known in &views {
                    state.with(known.id, |view| view.confirm(known.seq, known.known_at_ms, sent));
                }
                // Whoever shows them asks up to when they are known to be true; nobody is woken for that.
                false
            }
            CompactFrame::Snapshot { id, epoch, seq, server_time_ms, known_at_ms, body } => {
                let sent = SentAt { after, server_time_ms };
                match state.keys.get(&id).map(|(view, _)| RemoteView::answers(view, &body)) {
                    Some(false) => state.with(id, |view| view.refuse(words::other_kind(&self.owner))).is_some(),
                    _ => state
                        .with(id, |view| view.take_snapshot((epoch, seq), *body, known_at_ms, sent, bytes))
                        .is_some(),
                }
            }
            CompactFrame::Delta { id, server_time_ms, seq, known_at_ms, body } => {
                let sent = SentAt { after, server_time_ms };
                let follows = state.with(id, |view| view.take_delta(seq, body, known_at_ms, sent, bytes));
                if follows == Some(false) {
                    state.ask_again(id);
                    self.wake.notify_one();
                }
                follows == Some(true)
            }
            CompactFrame::Resync { id, .. } => {
                state.with(id, RemoteView::resync);
                false
            }
            CompactFrame::Error { id: Some(id), detail } => state.with(id, |view| view.refuse(detail)).is_some(),
            CompactFrame::Error { id: None, detail } => {
                tracing::warn!("the replica {} refuses a frame: {detail}", self.owner.id);
                false
            }
        };
        drop(state);
        if is_shown {
            self.bell.ring();
        }
    }

    /// Ends views that nobody looks at.
    pub(crate) fn sweep(&self) {
        let now = clock::instant();
        let mut state = self.state();
        if state.stood_still(now) {
            state.views.values_mut().for_each(|view| view.touched = now);
        }
        state.swept_at = now;
        let idle: Vec<Key> = state
            .views
            .iter()
            .filter(|(_, view)| now.saturating_duration_since(view.touched) > IDLE)
            .map(|(key, _)| key.clone())
            .collect();
        idle.iter().for_each(|key| state.end(key));
        // What was refused may be granted by now: who watches what moves, and replicas hear of it one after the other.
        let is_wanted = |view: &RemoteView| now.saturating_duration_since(view.touched) < BUSY;
        let refused: Vec<u32> =
            state.views.values().filter(|view| view.refusal.is_some() && is_wanted(view)).map(|view| view.id).collect();
        refused.iter().for_each(|id| state.ask_again(*id));
        drop(state);
        if !idle.is_empty() || !refused.is_empty() {
            self.wake.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn with<T>(&mut self, id: u32, change: impl FnOnce(&mut RemoteView) -> T) -> Option<T> {
        let key = self.keys.get(&id)?;
        self.views.get_mut(key).map(change)
    }

    fn ask_again(&mut self, id: u32) {
        let Some(key) = self.keys.get(&id) else { return };
        if let Some(view) = self.views.get_mut(key) {
            self.outbox.push_back(view.ask(key));
        }
    }

    fn end(&mut self, key: &Key) {
        if let Some(view) = self.views.remove(key) {
            self.keys.remove(&view.id);
            if self.is_up {
                self.outbox.push_back(ReplicaFrame::Unsubscribe { id: view.id });
            }
        }
    }

    /// Where this process itself stood still, nobody could look at what is looked at.
    fn stood_still(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.swept_at) > STOOD_STILL
    }

    fn make_room(&mut self, now: Instant) -> Result<(), NoRoom> {
        let stood_still = self.is_up && self.stood_still(now);
        let is_full = |state: &Self| {
            state.views.len() >= VIEWS_MAX || state.views.values().map(|view| view.bytes).sum::<usize>() >= BYTES_MAX
        };
        while is_full(self) {
            let free = self.views.iter().filter(|(_, view)| !stood_still && view.is_free(now, BUSY, GLANCE));
            let longest = free.min_by_key(|(_, view)| view.touched);
            let Some(key) = longest.map(|(key, _)| key.clone()) else { return Err(NoRoom) };
            self.end(&key);
        }
        Ok(())
    }
}
