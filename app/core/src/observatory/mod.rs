//! The aggregate root: everything believed about one ensemble. `apply` is the only way it changes.

mod backlog;
mod checkpoint;
mod comparison;
mod cycles;
mod ensemble_findings;
mod event_log;
mod evidence;
mod holders;
mod lock_index;
mod nodes;
mod orders;
mod owners;
mod recognition;
mod reconfigure;
pub(super) mod refresh;
mod required;
mod restart;
mod root;
mod session_end;
mod sync;
mod timeouts;
mod waiters;
mod waits;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use backlog::Backlog;
pub use checkpoint::Checkpoint;
pub use event_log::{EventLog, RECORDED_MAX};
pub use lock_index::FREE_ALONE_MAX;
use lock_index::LockIndex;
pub use root::{LIVE_AGE_MAX_MS, RootView, is_fresh};
pub use waits::SessionLock;

pub use super::settings::Settings;

use super::assessment::AssessedLock;
use super::change::Change;
use super::durations::Ended;
use super::evidence::MemberEvidence;
use super::history::{Counters, History};
use super::keyed_hash::KeyedMap;
use super::lock::Lock;
use super::lock_order::LockOrders;
use super::mirror::Mirror;
use super::observation::{Link, Observation, RootId};
use super::offset::ClockOffset;
use super::path_map::PathMap;
use super::recipe::{recognise, rule};
use super::recollection::ModelState;
use super::tally::DEPTH_SLICE_MS;
use super::time::TimeMs;
use super::znode::{Facts, SessionId, Zxid, split_path};

/// Elections whose directory is gone that stay on the board; more leave it.
pub const GONE_MAX: usize = 256;
/// Deleted lock directories that are remembered, to recognise one that is made again; more are not.
pub const REAPED_MAX: usize = 1_024;

/// Everything believed about one ensemble. Two that are equal are so for every reader, whatever comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observatory {
    settings: Settings,
    state: ModelState,
    roots: Vec<RootView>,
    root_ids: KeyedMap<Box<str>, RootId>,
    /// Which sessions own znodes in which roots; empty where there is one root.
    owners: BTreeSet<(SessionId, RootId)>,
    locks: PathMap<AssessedLock>,
    index: LockIndex,
    backlog: Backlog,
    rechecks: BTreeSet<(TimeMs, Arc<str>)>,
    orders: LockOrders,
    history: History,
    evidence: MemberEvidence,
    recorder: EventLog,
    revision: u64,
    /// Number of the slice of depths that is under way.
    depth_slice: i64,
}

fn depth_slice(now: TimeMs) -> i64 {
    now.0.div_euclid(DEPTH_SLICE_MS)
}

impl Observatory {
    /// Nothing is known yet.
    pub fn new(settings: Settings, now: TimeMs) -> Self {
        let roots: Vec<RootView> = settings.roots.iter().map(|path| RootView::new(path, now)).collect();
        Self {
            settings,
            state: ModelState::new(now),
            root_ids: root::root_ids(&roots),
            roots,
            owners: BTreeSet::new(),
            locks: PathMap::default(),
            index: LockIndex::default(),
            backlog: Backlog::default(),
            rechecks: BTreeSet::new(),
            orders: LockOrders::default(),
            history: History::default(),
            evidence: MemberEvidence::default(),
            recorder: EventLog::default(),
            revision: 0,
            depth_slice: depth_slice(now),
        }
    }

    /// Takes in one observation, but for what is left to the backlog. What is frequent is only looked at.
    fn take_in(&mut self, now: TimeMs, observation: Cow<'_, Observation>, out: &mut Vec<Change>) {
        match &*observation {
            Observation::SyncNode { root, path, facts, unreadable } => {
                self.sync_node(now, *root, path, facts, *unreadable)
            }
            Observation::SyncEnded { root } => self.sync_ended(*root, out),
            Observation::Listed { root, path, names } => self.listed(now, *root, path, names, out),
            Observation::ComparisonEnded { root } => self.comparison_ended(now, *root, out),
            Observation::NodeCreated { root, path } => self.node_created(now, *root, path, out),
            Observation::NodeRead { root, path, facts, unreadable } => {
                self.node_read(now, *root, path, facts, *unreadable, out)
            }
            Observation::NodeDenied { root, path, in_sync } => self.node_denied(now, *root, path, *in_sync, out),
            Observation::NodeDeleted { root, path } => self.node_deleted(now, *root, path, out),
            Observation::Counted { root, path, facts } => self.counted(*root, path, facts, out),
            Observation::Incomplete { root, path, missing } => self.incomplete(now, *root, path, *missing, out),
            Observation::Missed { root, creates, .. } => {
                self.state.counters.missed += u64::from(*creates);
                out.push(Change::RootChanged(*root));
            }
            Observation::EventsArrived { at } => self.state.ended.lag.note(now.since(*at)),
            // They only matter to `pending`, which decides when observations are applied.
            Observation::Asked | Observation::Answered => {}
            Observation::Synced { sent_at } => {
                self.state.offset.synced(now, *sent_at);
                self.confirmed(*sent_at, out);
            }
            Observation::ClockRead { sent_at, told_at, ctime_ms } => {
                self.state.offset.read(*sent_at, *told_at, *ctime_ms)
            }
            Observation::SessionTold { session, has_ended } => self.session_told(now, *session, *has_ended, out),
            Observation::SessionTimeout { session, timeout_ms } => {
                self.evidence.note_timeout(now, *session, *timeout_ms)
            }
            Observation::Tick => self.tick(now, out),
            Observation::Link { .. }
            | Observation::SyncBegan { .. }
            | Observation::ComparisonBegan { .. }
            | Observation::RootTrouble { .. }
            | Observation::Evidence(_)
            | Observation::ConfigChanged(_)
            | Observation::OrdersSnoozed(_)
            | Observation::Recalled(_)
            | Observation::Restarted(_) => self.keep(now, observation.into_owned(), out),
        }
        self.forget_free_alone(now, out);
    }

    /// Takes in what is kept as it is.
    fn keep(&mut self, now: TimeMs, observation: Observation, out: &mut Vec<Change>) {
        match observation {
            Observation::Link { link, session, why } => self.link_changed(now, link, session, why, out),
            Observation::SyncBegan { root, why } => self.sync_began(now, root, why, out),
            Observation::ComparisonBegan { root, why } => self.comparison_began(now, root, why, out),
            Observation::RootTrouble { root, trouble, why } => self.root_trouble(now, root, trouble, why, out),
            Observation::Evidence(round) => self.heard(now, *round, out),
            Observation::ConfigChanged(config) => self.config_changed(now, *config, out),
            Observation::OrdersSnoozed(snoozes) => self.orders_snoozed(now, snoozes, out),
            Observation::Recalled(recollection) => self.recall(now, *recollection),
            Observation::Restarted(settings) => self.restarted(now, *settings, out),
            Observation::SyncNode { .. }
            | Observation::SyncEnded { .. }
            | Observation::Listed { .. }
            | Observation::ComparisonEnded { .. }
            | Observation::NodeCreated { .. }
            | Observation::NodeRead { .. }
            | Observation::NodeDenied { .. }
            | Observation::NodeDeleted { .. }
            | Observation::Counted { .. }
            | Observation::Incomplete { .. }
            | Observation::Missed { .. }
            | Observation::EventsArrived { .. }
            | Observation::Asked
            | Observation::Answered
            | Observation::Synced { .. }
            | Observation::ClockRead { .. }
            | Observation::SessionTold { .. }
            | Observation::SessionTimeout { .. }
            | Observation::Tick => {}
        }
    }

    fn link_changed(
        &mut self,
        now: TimeMs,
        link: Link,
        session: Option<SessionId>,
        why: Box<str>,
        out: &mut Vec<Change>,
    ) {
        if self.state.link == link && self.state.session == session && self.state.link_why == why {
            return;
        }
        if self.state.link != link {
            self.state.link_since = now;
            // Another member, or another leader, may stamp ctimes from here on.
            self.state.offset.forget_evidence();
        }
        self.state.link = link;
        self.state.link_why = why;
        self.state.session = session;
        out.push(Change::LinkChanged(link));
    }

    fn counted(&mut self, root: RootId, path: &str, facts: &Facts, out: &mut Vec<Change>) {
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        if !view.each_tree(|mirror| mirror.count(path, facts)) {
            return;
        }
        if let Some(lock) = self.locks.get_mut(path) {
            lock.revision = self.revision + 1;
            out.push(Change::LockTouched { lock: Arc::clone(&lock.path) });
        }
    }

    fn tick(&mut self, now: TimeMs, out: &mut Vec<Change>) {
        self.age(now, out);
        self.settle_sessions(now, out);
        self.outlive_evidence(now, out);
        self.follow_tables(now);
        self.search(now, out);
        self.judge_cycles(now, out);
        self.sweep_orders(now);
        self.backlog.due_until = Some(now);
        let slice = depth_slice(now);
        if slice != self.depth_slice && self.backlog.depth_after.is_none() {
            self.backlog.depth_after = Some((self.depth_slice, "".into()));
            self.depth_slice = slice;
        }
    }

    /// A znode that may be read shows a transaction up to which events reported everything that may be read. Its
    /// `pzxid` and znodes that may not be read prove less: of their like, an earlier one may not have been found yet.
    fn see_zxids(&mut self, facts: &Facts, unreadable: bool) {
        if !unreadable {
            self.state.zxid = self.state.zxid.max(facts.czxid).max(facts.mzxid);
        }
    }
}

/// Reading.
impl Observatory {
    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Our link: state, since when, why.
    pub fn link(&self) -> (Link, TimeMs, &str) {
        (self.state.link, self.state.link_since, &self.state.link_why)
    }

    /// Our own session.
    pub fn session(&self) -> Option<SessionId> {
        self.state.session
    }

    /// The watched roots, in configured order.
    pub fn roots(&self) -> &[RootView] {
        &self.roots
    }

    /// The believed tree of a lock's root.
    pub fn mirror_of(&self, lock: &Lock) -> Option<&Mirror> {
        self.roots.get(lock.root.0 as usize).map(|view| &view.mirror)
    }

    /// Every lock, in path order.
    pub fn locks(&self) -> impl Iterator<Item = &AssessedLock> {
        self.locks.iter().map(|(_, lock)| lock)
    }

    /// Every lock behind a path, in path order.
    pub fn locks_after(&self, path: &str) -> impl Iterator<Item = &AssessedLock> {
        self.locks.after(path).map(|(_, lock)| lock)
    }

    /// The lock at a path, or the lock that the znode at the path contends for, or whose part the directory is.
    pub fn lock(&self, path: &str) -> Option<&AssessedLock> {
        let of_child = || {
            let (parent, name) = split_path(path)?;
            self.lock_at(parent).filter(|lock| self.child_counts(lock, parent, name))
        };
        self.locks.get(path).or_else(|| self.lock_at(path)).or_else(of_child)
    }

    /// What the members said of sessions and watches.
    pub fn member_evidence(&self) -> &MemberEvidence {
        &self.evidence
    }

    /// Offset between our clock and the ensemble's.
    pub fn offset(&self) -> &ClockOffset {
        &self.state.offset
    }

    /// The newest transaction that a read showed.
    pub fn zxid(&self) -> Zxid {
        self.state.zxid
    }

    /// Counters.
    pub fn counters(&self) -> Counters {
        self.state.counters
    }

    /// What lasted how long.
    pub fn ended(&self) -> &Ended {
        &self.state.ended
    }

    /// Rises with every observation that changed something.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// When a verdict or a finding is looked at next although nothing happens, by the tick of then; None while no time
    /// changes anything. For who makes the ticks.
    pub fn looks_at(&self) -> Option<TimeMs> {
        self.rechecks.first().map(|(due, _)| *due)
    }

    /// Whether every root left its first sync.
    pub fn is_ready(&self) -> bool {
        self.roots.iter().all(RootView::was_settled)
    }

    /// The evidence for a lock's recognition, in words.
    pub fn evidence(&self, lock: &Lock) -> Vec<String> {
        let mut lines = Vec::new();
        if lock.recognition.is_configured {
            lines.push("the configuration says so for this path".to_owned());
        }
        let Some(mirror) = self.mirror_of(lock) else { return lines };
        if lock.is_alone() {
            lines.extend(lock.recognition.rule.map(|id| rule(id).evidence.to_owned()));
            return lines;
        }
        for part in [Some(&lock.parts.main), lock.parts.second.as_ref()].into_iter().flatten() {
            lines.extend(mirror.directory(part).into_iter().flat_map(recognise::evidence));
        }
        lines
    }
}
