//! One watched root: what is known of its tree and what must be read next. Pure: events and replies come in,
//! observations and requests go out; every event that arrived before a reply must be handled before it.

mod bound;
mod comparison;
mod handle;
mod hints;
mod left_out;
mod own_events;
mod sweep;
#[cfg(test)]
mod tests;
mod trust;

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use lockscope_core::observation::{Observation, RootId, RootTrouble};
use lockscope_core::znode::{Facts, Zxid, split_path};

use self::bound::Bound;
pub(super) use self::bound::Room;
use self::comparison::{Kept, Refresh};
use self::hints::DirectoryHints;
use self::left_out::LeftOut;
use self::own_events::{Hurry, WatchLosses};
use self::sweep::Sweep;
pub(super) use self::trust::Distrust;
use self::trust::Trust;
use super::outbox::Outbox;
use super::reads::{Purpose, Reads};
use super::request::{
    Epoch, LISTS_A_REQUEST, ListPurpose, NAMES_A_REQUEST, READS_A_REQUEST, REQUEST_BYTES_MAX, Request,
};
use super::stat_counters::StatCounters;
use super::translate::trouble_text;
use super::watch::{Action, Input, State, Why, step};

/// With so many reads waiting, further lists wait: a sync needs little room, however big the tree.
const LISTS_PAUSE_AT: usize = 10_000;
/// Directories that wait to be listed. Overflow policy: the root is read anew later.
const LISTS_MAX: usize = 1 << 20;
/// Denied znodes whose Stat waits to be asked for: no more than were asked for at once. Overflow policy: the same.
const DENIED_MAX: usize = 8_192;
/// Children that may go while their directory is being listed. Overflow policy: the root is read anew.
const GONE_MAX: usize = 1 << 16;
/// Why a root is not followed whose watch costs the connection.
const WATCH_FATAL: &str =
    "the connection ends each time that a persistent watch is set; read in full every few seconds";
/// What ZooKeeper keeps for itself.
const SYSTEM: &str = "/zookeeper";

#[derive(Debug)]
struct Listing {
    directory: Arc<str>,
    purpose: ListPurpose,
    /// Children it had when last read.
    names: u32,
}

/// A directory that is being listed to see what came and went unseen.
#[derive(Clone, Debug, Default)]
struct Recheck {
    lists: usize,
    /// More than one list was under way, so what they show can't be attributed.
    is_mixed: bool,
    /// Children whose deletion events reported meanwhile: a list may still name them.
    gone: HashSet<Box<str>>,
    /// Children whose creation events reported meanwhile: a list may not name them yet.
    came: HashSet<Box<str>>,
}

#[derive(Debug)]
pub(super) struct RootWatch {
    id: RootId,
    path: Arc<str>,
    hides_system: bool,
    left_out: LeftOut,
    state: State,
    epoch: Epoch,
    /// `SyncBegan` has been said for the sync under way.
    announced: bool,
    sync_why: Why,
    wants_watch: bool,
    reads: Reads,
    /// Being read, and denied: their Stat is asked for.
    denied: VecDeque<Arc<str>>,
    lists: VecDeque<Listing>,
    rechecks: HashMap<Arc<str>, Recheck>,
    sync_lists_left: usize,
    other_lists_left: usize,
    /// What the next sync may build on.
    kept: Option<Kept>,
    is_comparing: bool,
    /// Hashes of the paths in directories that were listed after a gap: `known` has those that went in it still.
    moved: HashMap<Arc<str>, HashSet<u64>>,
    refresh: Option<Refresh>,
    sweep: Sweep,
    /// The next request is a comparison, if any waits; so that neither reads nor comparisons wait for the others' end.
    turn_of_checks: bool,
    /// The czxids of all known znodes, as far as they were read, by hashes of their paths. The keys are random, so that
    /// nobody can choose paths that collide.
    known: HashMap<u64, Zxid>,
    keys: RandomState,
    ledger: StatCounters,
    /// Both as they were before the sync under way.
    before: Option<(HashMap<u64, Zxid>, StatCounters)>,
    /// The servers went on with another history, and the root was not read to its end since.
    other_history: Option<Why>,
    hints: DirectoryHints,
    /// Something here may not be read, or might not at some time: what comes unseen is expected from then on.
    guarded: bool,
    trust: Trust,
    hurry: Hurry,
    losses: WatchLosses,
    bound: Bound,
    ticks: u32,
    missed: u64,
}

impl RootWatch {
    pub(super) fn new(id: RootId, path: &str, hides_system: bool, room: Room) -> Self {
        Self {
            id,
            path: path.into(),
            hides_system,
            left_out: LeftOut::default(),
            state: State::Offline,
            epoch: Epoch::default(),
            announced: false,
            sync_why: Why::FirstSync,
            wants_watch: false,
            reads: Reads::default(),
            denied: VecDeque::new(),
            lists: VecDeque::new(),
            rechecks: HashMap::new(),
            sync_lists_left: 0,
            other_lists_left: 0,
            kept: None,
            is_comparing: false,
            moved: HashMap::new(),
            refresh: None,
            sweep: Sweep::default(),
            turn_of_checks: false,
            known: HashMap::new(),
            keys: RandomState::new(),
            ledger: StatCounters::default(),
            before: None,
            other_history: None,
            hints: DirectoryHints::default(),
            guarded: false,
            trust: Trust::default(),
            hurry: Hurry::default(),
            losses: WatchLosses::default(),
            bound: Bound::new(room),
            ticks: 0,
            missed: 0,
        }
    }

    /// Its next request sets its watch.
    pub(super) fn wants_watch(&self) -> bool {
        self.wants_watch
    }

    pub(super) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Its watch is not set: what is believed of it may be old.
    pub(super) fn is_unwatched_yet(&self) -> bool {
        matches!(self.state, State::Offline | State::Arming { .. })
    }

    pub(super) fn input(&mut self, input: Input, out: &mut Outbox) {
        self.count_loss(input);
        let (state, action) = step(self.state, input);
        if state != self.state
            && !matches!(
                (state, self.state),
                (State::Resting { .. }, State::Resting { .. }) | (State::Polling { .. }, State::Polling { .. })
            )
        {
            tracing::debug!(root = %self.path, from = ?self.state, to = ?state, ?input, "root");
        }
        let was_live = std::mem::replace(&mut self.state, state) == State::Live;
        if was_live && action == Action::Abandon {
            self.kept = self.keep();
        }
        match action {
            Action::Nothing => {}
            Action::Abandon => self.abandon(),
            Action::SetWatch if self.is_watch_fatal() => {
                self.abandon();
                self.input(Input::Refused, out);
            }
            Action::SetWatch => {
                self.abandon();
                self.wants_watch = true;
            }
            Action::BeginSync(why) => self.begin_sync(why, out),
            Action::EndSync => {
                self.end_sync(out);
                self.report_partial(out);
            }
            Action::EndReducedSync => {
                self.hurry.end(self.ticks);
                self.end_sync(out);
                self.report_reduced(out);
            }
            Action::AwaitRetry => {
                let announced = self.announced;
                self.abandon();
                self.sync_why = Why::ReadFailed;
                self.announced = announced;
                self.announce(out);
            }
            Action::ReportGone => {
                self.abandon();
                self.other_history = None;
                self.report(RootTrouble::Gone, out);
            }
            Action::ReportDenied => {
                self.abandon();
                self.report(RootTrouble::Denied, out);
            }
        }
    }

    pub(super) fn tick(&mut self, out: &mut Outbox) {
        self.ticks = self.ticks.wrapping_add(1);
        if self.is_swept() {
            self.tick_sweep();
            self.tick_refresh();
        }
        self.tick_losses(out);
        self.tick_hurry(out);
        self.tick_bound(out);
        self.input(Input::Tick, out);
    }

    /// Znodes wait to be read, and nothing else to be asked for.
    pub(super) fn waits_to_read(&self) -> bool {
        self.reads.waits()
    }

    /// The next request to send, if any.
    /// A root that is live asks for no fewer reads than that.
    pub(super) fn next_request(&mut self, least_reads: usize) -> Option<Request> {
        if std::mem::take(&mut self.wants_watch) {
            return Some(Request::Watch(Arc::clone(&self.path)));
        }
        if !self.denied.is_empty() {
            let count = self.denied.len().min(READS_A_REQUEST);
            return Some(Request::Stat(self.denied.drain(..count).collect()));
        }
        if !self.lists.is_empty() && self.reads.len() < LISTS_PAUSE_AT {
            return Some(self.take_lists());
        }
        if self.is_comparing {
            return self.next_checks().or_else(|| self.next_reads(least_reads));
        }
        self.turn_of_checks = !self.turn_of_checks;
        if self.turn_of_checks {
            self.next_checks().or_else(|| self.next_reads(least_reads))
        } else {
            self.next_reads(least_reads).or_else(|| self.next_checks())
        }
    }

    fn next_reads(&mut self, least: usize) -> Option<Request> {
        if self.state == State::Live && self.reads.len() < least {
            return None;
        }
        let paths = self.reads.take(READS_A_REQUEST, REQUEST_BYTES_MAX);
        (!paths.is_empty()).then_some(Request::Read(paths))
    }

    fn take_lists(&mut self) -> Request {
        let (mut taken, mut names, mut bytes) = (Vec::new(), 0, 0);
        while taken.len() < LISTS_A_REQUEST
            && let Some(next) = self.lists.front()
            && (taken.is_empty()
                || (names + next.names as usize <= NAMES_A_REQUEST
                    && bytes + next.directory.len() <= REQUEST_BYTES_MAX))
            && let Some(listing) = self.lists.pop_front()
        {
            names += listing.names as usize;
            bytes += listing.directory.len();
            taken.push((listing.directory, listing.purpose));
        }
        Request::List(taken, names)
    }

    fn begin_sync(&mut self, why: Why, out: &mut Outbox) {
        let why = self.other_history.unwrap_or(why);
        // What counters can't tell from another history is read where that takes no longer than to compare them.
        let is_enough = why == Why::Reconnected || (why == Why::NewSession && self.known.len() > READS_A_REQUEST);
        let kept = self.kept.take().filter(|_| is_enough && self.state == State::Syncing { watched: true });
        self.abandon();
        if let Some(kept) = kept {
            return self.begin_comparison(why, kept, out);
        }
        self.trust.begin_anew();
        self.bound.begin_anew();
        self.hurry.begin(self.ticks);
        let before = (std::mem::take(&mut self.known), std::mem::take(&mut self.ledger));
        if why.is_other_history() {
            (self.before, self.other_history) = (None, Some(why));
        } else {
            self.before.get_or_insert(before);
        }
        self.moved.clear();
        self.left_out.clear();
        self.sync_why = why;
        if !why.is_quiet() {
            self.announce(out);
        }
        let root = Arc::clone(&self.path);
        self.reads.want(&root, Purpose::Sync);
    }

    fn announce(&mut self, out: &mut Outbox) {
        if !std::mem::replace(&mut self.announced, true) {
            out.sync_began(self.id, self.sync_why);
        }
    }

    fn end_sync(&mut self, out: &mut Outbox) {
        self.announced = false;
        if std::mem::take(&mut self.is_comparing) {
            return self.end_comparison(out);
        }
        (self.before, self.other_history) = (None, None);
        self.reads.shrink();
        self.lists.shrink_to_fit();
        // What may be missing is reported first: nothing is complete for a moment.
        self.begin_sweep(out);
        out.push(Observation::SyncEnded { root: self.id });
    }

    fn report(&self, trouble: RootTrouble, out: &mut Outbox) {
        out.push(Observation::RootTrouble { root: self.id, trouble, why: trouble_text(trouble).into() });
    }

    /// It is not followed: why, and what of it is not even read.
    fn report_reduced(&self, out: &mut Outbox) {
        let why = match self.trust.distrust() {
            Some(distrust) => distrust.text(),
            None if self.is_watch_fatal() => WATCH_FATAL,
            None => trouble_text(RootTrouble::Reduced),
        };
        let left_out = self.bound.text();
        let why = if left_out.is_empty() { why.to_owned() } else { format!("{why}; {left_out}") };
        out.push(Observation::RootTrouble { root: self.id, trouble: RootTrouble::Reduced, why: why.into() });
    }

    /// The servers went on with another history: nothing is believed any longer. The watch is set anew, for the server
    /// may have lost it with the data that it was set on.
    pub(super) fn begin_other_history(&mut self, why: Why, out: &mut Outbox) {
        self.other_history = Some(why);
        if self.state != State::Offline {
            self.input(Input::Connected(why), out);
        }
    }

    /// Whether a reply shows a znode that is older than the one known by its name, or a directory before its last
    /// change that was seen; nothing else of its request counts then. No reply is late: a read is asked for once at a
    /// time, its connection was synced before, and a server takes over no session that has seen more than it has.
    /// Counters of members may differ for good (ZOOKEEPER-5010): where a session may have moved they prove nothing.
    fn is_of_other_history(&mut self, path: &str, facts: &Facts, counts: bool, out: &mut Outbox) -> bool {
        out.history.saw(facts);
        let now = (&self.known, &self.ledger);
        let (known, ledger) = self.before.as_ref().map_or(now, |(known, ledger)| (known, ledger));
        let is_other = known.get(&self.keys.hash_one(path)).is_some_and(|czxid| facts.czxid < *czxid)
            || (counts && ledger.is_older(path, facts));
        if is_other {
            out.history.found_other();
            self.abandon();
        }
        is_other
    }

    /// Forgets what is under way; replies to it are ignored from now on.
    fn abandon(&mut self) {
        self.epoch = Epoch(self.epoch.0.wrapping_add(1));
        self.announced = false;
        self.wants_watch = false;
        self.reads.clear();
        self.denied.clear();
        self.lists.clear();
        self.rechecks.clear();
        self.sync_lists_left = 0;
        self.other_lists_left = 0;
        self.is_comparing = false;
        self.refresh = None;
        self.sweep = Sweep::default();
    }

    fn knows(&self, path: &str) -> bool {
        self.known.contains_key(&self.keys.hash_one(path))
    }

    /// A znode is there; `czxid` is 0 where it was not read.
    fn know(&mut self, path: &str, czxid: Zxid) {
        let hash = self.keys.hash_one(path);
        let newest = self.known.entry(hash).or_default();
        *newest = czxid.max(*newest);
        if let Some(moved) = self.moved_around(path) {
            moved.insert(hash);
        }
        if let Some(refresh) = &mut self.refresh {
            refresh.know(hash, czxid);
        }
    }

    fn moved_around(&mut self, path: &str) -> Option<&mut HashSet<u64>> {
        if self.moved.is_empty() {
            return None;
        }
        self.moved.get_mut(split_path(path)?.0)
    }

    fn knows_in(&self, directory: &str, path: &str) -> bool {
        let hash = self.keys.hash_one(path);
        self.moved.get(directory).map_or_else(|| self.known.contains_key(&hash), |moved| moved.contains(&hash))
    }
}
