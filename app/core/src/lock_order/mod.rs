//! Lock orders: who asks for a lock of one class while holding a lock of another. Where sessions do so both ways, they
//! will wait for each other for ever one day, although they never have yet.
//!
//! What counts: locks that exclude their holders (mutexes, read/write locks, locks on one znode). Leaders are meant to
//! stay, a semaphore may have another lease, and members, items and barriers are no locks. Two readers of one class don't
//! exclude each other, so an order by which a lock is read is the opposite of one by which it is written, and not of one
//! by which it is read as well. (A writer that queues between two readers may close a circle even so; that is found as a
//! deadlock once it stands, and not warned of.)
//!
//! A warning takes two sessions at least. None is given where one lock, always the same, was held for itself alone around
//! two orders of the circle each time: they never go on at once. What a gap in the view hid is not learned.
//!
//! Everything here is bounded: [`EDGES_MAX`] orders between classes ([`path_class`]), the oldest of which give way, of
//! paths no longer than [`PATH_BYTES_MAX`]. What was not seen for [`KEPT_MS`] is forgotten.

mod approach;
mod circle;
mod edge;
mod ends;
mod path_class;
mod snooze;
mod warning;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use approach::{ENDS_MAX, OrderWindow, WINDOW_SESSIONS_MAX, WINDOWS_MAX};
pub use circle::{CIRCLE_LENGTH_MAX, OrderCircle};
pub use edge::{GATES_MAX, Nesting, OrderEdge, OrderKey, OrderUse, SESSIONS_MAX};
pub use ends::{Approach, OrderEnd};
pub use path_class::{NAMES_MAX, PathClasses, SEGMENTS_MAX, SIBLINGS_MAX, Siblings};
pub use snooze::{OrderSnooze, SNOOZES_MAX};
pub use warning::OrderWarning;

use self::path_class::Learned;
use crate::time::TimeMs;
use crate::znode::{SessionId, Zxid};

/// Orders remembered. When there are as many, the eighth of them that was not seen for longest is forgotten.
pub const EDGES_MAX: usize = 1_024;
/// Warnings at a time; a circle found beyond that is not warned of before another is forgotten.
pub const CIRCLES_MAX: usize = 64;
/// Locks with a longer path are left out.
pub const PATH_BYTES_MAX: usize = 512;
/// An order that was not seen for so long is forgotten: code changes.
pub const KEPT_MS: i64 = 14 * 24 * 3_600_000;
/// Locks that a session holds beside the one it asks for; one that holds more, or waits elsewhere as well, serves several
/// threads, and what it seems to hold another thread may.
pub const HELD_IN_ONE_THREAD_MAX: usize = 4;

/// How often old orders are looked for.
const SWEEP_MS: i64 = 3_600_000;
/// Entries of a piece of a checkpoint.
const PIECE_MAX: usize = 128;

/// The orders in which locks are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockOrders {
    /// Which paths are one class.
    pub classes: PathClasses,
    /// What was seen of each order.
    pub edges: BTreeMap<OrderKey, OrderEdge>,
    /// Who holds and asks now.
    pub windows: BTreeMap<SessionId, Vec<OrderWindow>>,
    /// What to warn of, the oldest first.
    pub circles: Vec<OrderCircle>,
    /// Which warnings are silenced, at most [`SNOOZES_MAX`].
    pub snoozes: Vec<OrderSnooze>,
    /// When old orders were looked for last.
    pub swept_at: TimeMs,
}

/// One lock of a session.
#[derive(Clone, Copy, Debug)]
pub struct OrderedLock<'a> {
    /// The lock.
    pub path: &'a Arc<str>,
    /// The session's znode in it.
    pub czxid: Zxid,
    /// Who its client is.
    pub label: Option<&'a str>,
    /// It reads.
    pub is_shared: bool,
}

/// A session asks for a lock while it holds others.
#[derive(Debug)]
pub struct Asked<'a> {
    /// Who.
    pub session: SessionId,
    /// When.
    pub at: TimeMs,
    /// The lock that it asks for.
    pub wanted: OrderedLock<'a>,
    /// The locks that it holds.
    pub held: Vec<OrderedLock<'a>>,
    /// It waits for some other lock as well.
    pub waits_elsewhere: bool,
}

impl LockOrders {
    /// Takes in that a session asks for a lock; the locks of which there is something new to warn.
    pub fn note(&mut self, asked: &Asked<'_>) -> BTreeSet<Arc<str>> {
        let (mut concerned, mut seen) = (BTreeSet::new(), Vec::new());
        let is_short = |lock: &OrderedLock<'_>| lock.path.len() <= PATH_BYTES_MAX;
        if !is_short(&asked.wanted) {
            return concerned;
        }
        let is_single_threaded = !asked.waits_elsewhere && asked.held.len() <= HELD_IN_ONE_THREAD_MAX;
        for held in asked.held.iter().filter(|held| is_short(held)) {
            let known = self.known_key(held, &asked.wanted);
            let Some(key) = known.or_else(|| self.key(held, &asked.wanted)) else { continue };
            let is_first = seen.iter().all(|other| *other != key);
            if !is_first {
                continue;
            }
            let gates = gates(asked, held);
            let is_news = match self.edges.get_mut(&key) {
                Some(edge) => edge.note(asked, held, &gates, is_single_threaded),
                None => {
                    if self.edges.len() >= EDGES_MAX {
                        self.make_room();
                    }
                    let edge = OrderEdge::new(asked, held, gates, is_single_threaded);
                    self.edges.insert(key.clone(), edge);
                    true
                }
            };
            if is_news {
                concerned.extend(self.warn(&key, asked.at));
            }
            self.open(&key, held, asked);
            if asked.held.len() > 1 {
                seen.push(key);
            }
        }
        concerned
    }

    /// The order between two locks, where they are classes of their own and it was seen before: mostly it was.
    fn known_key(&self, held: &OrderedLock<'_>, wanted: &OrderedLock<'_>) -> Option<OrderKey> {
        let key = OrderKey {
            held: Arc::clone(held.path),
            wanted: Arc::clone(wanted.path),
            nesting: Nesting::Apart,
            is_held_shared: held.is_shared,
            is_wanted_shared: wanted.is_shared,
        };
        self.edges.contains_key(&key).then_some(key)
    }

    /// The order between two locks; None while there is no room for their names.
    fn key(&mut self, held: &OrderedLock<'_>, wanted: &OrderedLock<'_>) -> Option<OrderKey> {
        let (held_merged, mut held_class) = self.learn(held.path)?;
        let (wanted_merged, mut wanted_class) = self.learn(wanted.path)?;
        if held_merged || wanted_merged {
            (held_class, wanted_class) = (self.classes.class_of(held.path), self.classes.class_of(wanted.path));
        }
        let nesting = if held_class == wanted_class { Nesting::within(held.path, wanted.path) } else { Nesting::Apart };
        Some(OrderKey {
            held: held_class,
            wanted: wanted_class,
            nesting,
            is_held_shared: held.is_shared,
            is_wanted_shared: wanted.is_shared,
        })
    }

    /// Learns a path: whether classes became others by it, and what its class was before.
    fn learn(&mut self, path: &str) -> Option<(bool, Arc<str>)> {
        let (mut learned, mut class) = self.classes.learn(path);
        if learned == Learned::Full {
            self.make_room();
            (learned, class) = self.classes.learn(path);
        }
        match learned {
            Learned::Known => Some((false, class.into())),
            Learned::Merged => {
                self.classify_anew();
                Some((true, class.into()))
            }
            Learned::Full => None,
        }
    }

    /// A stretch begins: how near it comes to the opposite ones of others, and who it is near to from here on.
    fn open(&mut self, key: &OrderKey, held: &OrderedLock<'_>, asked: &Asked<'_>) {
        let wanted = &asked.wanted;
        let opposites: Vec<(&OrderKey, &OrderEdge)> =
            self.edges.range(key.opposites()).filter(|(other, _)| key.opposes(other)).collect();
        if !opposites.is_empty() {
            let is_opposite = |window: &OrderWindow| {
                window.held == *wanted.path
                    && window.wanted == *held.path
                    && opposites.iter().any(|(other, _)| **other == window.key)
            };
            let others = self.windows.iter().filter(|(session, _)| **session != asked.session);
            let now =
                others.filter(|(_, windows)| windows.iter().any(is_opposite)).map(|(session, _)| (0, *session)).next();
            let ends = opposites.iter().filter_map(|(_, edge)| edge.last_end(asked.session, held.path, wanted.path));
            let nearest = now.or_else(|| ends.map(|end| (asked.at.since(end.at), end.session)).min());
            if let Some(((ms, other), edge)) = nearest.zip(self.edges.get_mut(key)) {
                edge.approach(Approach { ms, at: asked.at, session: asked.session, other });
            }
        }
        if self.windows.len() >= WINDOW_SESSIONS_MAX && !self.windows.contains_key(&asked.session) {
            return;
        }
        let windows = self.windows.entry(asked.session).or_default();
        if windows.len() >= WINDOWS_MAX {
            return;
        }
        windows.push(OrderWindow {
            key: key.clone(),
            held: Arc::clone(held.path),
            wanted: Arc::clone(wanted.path),
            holder: held.czxid,
            asker: wanted.czxid,
        });
    }

    /// A znode of a session went: what it held or asked for by it ends.
    pub fn left(&mut self, at: TimeMs, session: SessionId, czxid: Zxid) {
        if self.windows.is_empty() {
            return;
        }
        let Some(windows) = self.windows.get_mut(&session) else { return };
        for window in windows.extract_if(.., |window| window.holder == czxid || window.asker == czxid) {
            if let Some(edge) = self.edges.get_mut(&window.key) {
                edge.end(OrderEnd { session, at, held: window.held, wanted: window.wanted });
            }
        }
        if windows.is_empty() {
            self.windows.remove(&session);
        }
    }

    /// Events may be lost: what is under way is not measured to its end.
    pub fn forget_windows(&mut self) {
        self.windows.clear();
    }

    /// Forgets what is old, and what is under way of sessions that own nothing any more; the locks that were warned of and are no longer.
    pub fn sweep(&mut self, now: TimeMs, is_there: impl Fn(SessionId) -> bool) -> BTreeSet<Arc<str>> {
        if now.since(self.swept_at) < SWEEP_MS {
            return BTreeSet::new();
        }
        self.swept_at = now;
        self.windows.retain(|session, _| is_there(*session));
        if self.edges.values().all(|edge| now.since(edge.last.at) < KEPT_MS) {
            return BTreeSet::new();
        }
        let before: BTreeSet<Arc<str>> = self.circles.iter().flat_map(|circle| circle.locks.iter().cloned()).collect();
        self.edges.retain(|_, edge| now.since(edge.last.at) < KEPT_MS);
        self.follow_edges();
        before
    }

    /// Forgets the orders that were not seen for longest.
    fn make_room(&mut self) {
        let mut ages: Vec<(TimeMs, OrderKey)> =
            self.edges.iter().map(|(key, edge)| (edge.last.at, key.clone())).collect();
        ages.sort_unstable();
        ages.truncate((ages.len() / 8).max(1));
        ages.into_iter().for_each(|(_, key)| {
            self.edges.remove(&key);
        });
        self.follow_edges();
    }

    /// Some orders are gone, and with them what rests on them.
    fn follow_edges(&mut self) {
        let edges = &self.edges;
        self.windows.values_mut().for_each(|windows| windows.retain(|window| edges.contains_key(&window.key)));
        self.windows.retain(|_, windows| !windows.is_empty());
        self.circles.retain(|circle| circle.orders.iter().all(|key| edges.contains_key(key)));
        let classes = edges.keys().flat_map(|key| [Arc::clone(&key.held), Arc::clone(&key.wanted)]).collect();
        self.classes.keep(&classes);
    }

    /// Classes became one: orders between them did as well.
    fn classify_anew(&mut self) {
        let mut edges: BTreeMap<OrderKey, OrderEdge> = BTreeMap::new();
        let mut anew = BTreeMap::new();
        for (key, edge) in std::mem::take(&mut self.edges) {
            let (held, wanted) = (self.classes.class_of(&key.held), self.classes.class_of(&key.wanted));
            let nesting = if held != wanted {
                Nesting::Apart
            } else if key.nesting == Nesting::Apart {
                Nesting::within(&edge.last.held, &edge.last.wanted)
            } else {
                key.nesting
            };
            let now = OrderKey { held, wanted, nesting, ..key.clone() };
            anew.insert(key, now.clone());
            match edges.get_mut(&now) {
                Some(known) => known.merge(edge),
                None => {
                    edges.insert(now, edge);
                }
            }
        }
        self.edges = edges;
        for window in self.windows.values_mut().flatten() {
            if let Some(key) = anew.get(&window.key) {
                window.key = key.clone();
            }
        }
        self.warn_anew();
    }

    /// The parts that a checkpoint keeps.
    pub(crate) fn recall(&self) -> impl Iterator<Item = Self> {
        // Snoozes are a part of their own.
        let Self { classes, edges, windows, circles, snoozes: _, swept_at } = self;
        let rest = Self {
            classes: classes.clone(),
            edges: BTreeMap::new(),
            windows: windows.clone(),
            circles: circles.clone(),
            snoozes: Vec::new(),
            swept_at: *swept_at,
        };
        let mut edges = edges.iter();
        let pieces = std::iter::from_fn(move || {
            let some: BTreeMap<_, _> =
                edges.by_ref().take(PIECE_MAX).map(|(key, edge)| (key.clone(), edge.clone())).collect();
            (!some.is_empty()).then(|| Self { edges: some, ..Self::default() })
        });
        std::iter::once(rest).filter(|rest| *rest != Self::default()).chain(pieces)
    }

    /// Takes in a piece. Only the first has more than orders.
    pub(crate) fn take(&mut self, piece: Self) {
        let Self { classes, edges, windows, circles, snoozes: _, swept_at } = piece;
        if edges.is_empty() {
            (self.classes, self.windows, self.circles, self.swept_at) = (classes, windows, circles, swept_at);
        }
        self.edges.extend(edges);
    }
}

/// The locks that a session holds for itself alone around two others.
fn gates(asked: &Asked<'_>, held: &OrderedLock<'_>) -> BTreeSet<Arc<str>> {
    let is_gate =
        |gate: &&OrderedLock<'_>| !gate.is_shared && gate.path != held.path && gate.path.len() <= PATH_BYTES_MAX;
    asked.held.iter().filter(is_gate).map(|gate| Arc::clone(gate.path)).take(GATES_MAX).collect()
}
