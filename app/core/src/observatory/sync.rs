//! Reading a root anew: everything goes into a side buffer that becomes the believed tree at once. Its locks are
//! brought in line with it piece by piece.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::Observatory;
use super::holders::Seen;
use crate::change::{Change, Departure};
use crate::lock::Lock;
use crate::mirror::{Child, ChildKey, Mirror};
use crate::observation::{RootId, RootTrouble, is_other_history};
use crate::recipe::recognise::{self, Found};
use crate::recipe::{Recognition, Shape};
use crate::time::TimeMs;
use crate::znode::{Facts, SessionId, Zxid, is_under, join_path};

/// Children of a directory that are looked at as one piece.
const CHILDREN_A_PIECE: usize = 16;
/// Sessions of one slice of work.
const SESSIONS_A_PIECE: usize = 16;

/// How far the locks of a root are in line with a tree that was swapped in. It has as many paths as there are locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settling {
    root: RootId,
    /// The tree that was believed before.
    stale: Mirror,
    /// What is there was there before anybody watched.
    pub(super) is_first_look: bool,
    known: VecDeque<Arc<str>>,
    gone: VecDeque<Arc<str>>,
    kept: VecDeque<Arc<str>>,
    recognise: Option<ScanPosition>,
    fresh: BTreeMap<Arc<str>, (Recognition, (u64, u64))>,
    alone: VecDeque<Lock>,
    suspects: Option<SessionId>,
    is_settled: bool,
}

/// How far a tree was looked through.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ScanPosition {
    /// All of this directory.
    Behind(Arc<str>),
    /// The children of this directory up to this one.
    Among(Arc<str>, ChildKey),
}

impl Settling {
    fn new(root: RootId, stale: Mirror, known: VecDeque<Arc<str>>) -> Self {
        Self {
            root,
            stale,
            is_first_look: false,
            known,
            gone: VecDeque::new(),
            kept: VecDeque::new(),
            recognise: Some(ScanPosition::Behind("".into())),
            fresh: BTreeMap::new(),
            alone: VecDeque::new(),
            suspects: Some(SessionId(i64::MIN)),
            is_settled: false,
        }
    }
}

impl Observatory {
    pub(super) fn sync_began(&mut self, now: TimeMs, root: RootId, why: Box<str>, out: &mut Vec<Change>) {
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        self.state.counters.resyncs += u64::from(view.was_settled());
        (view.side, view.status.is_comparing) = (Some(Mirror::default()), false);
        if is_other_history(&why) && root == RootId(0) {
            self.state.zxid = Zxid(0);
        }
        view.status.why = why;
        view.status.since = now;
        out.push(Change::RootChanged(root));
    }

    pub(super) fn sync_node(&mut self, now: TimeMs, root: RootId, path: &str, facts: &Facts, unreadable: bool) {
        self.see_zxids(facts, unreadable);
        self.state.offset.bound(now, facts.ctime_ms);
        if let Some(side) = self.roots.get_mut(root.0 as usize).and_then(|view| view.side.as_mut()) {
            side.read(path, facts, unreadable, now);
        }
    }

    pub(super) fn sync_ended(&mut self, root: RootId, out: &mut Vec<Change>) {
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        let Some(mut fresh) = view.side.take() else { return };
        fresh.pack();
        let stale = std::mem::replace(&mut view.mirror, fresh);
        let is_first_look = !view.status.is_synced;
        view.status.trouble = None;
        view.doubt();
        out.push(Change::RootChanged(root));
        self.begin_settling(root, stale, is_first_look);
    }

    pub(super) fn root_trouble(
        &mut self,
        now: TimeMs,
        root: RootId,
        trouble: RootTrouble,
        why: Box<str>,
        out: &mut Vec<Change>,
    ) {
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        if view.status.trouble != Some(trouble) {
            view.status.since = now;
        }
        view.status.why = why;
        view.status.trouble = Some(trouble);
        out.push(Change::RootChanged(root));
        if matches!(trouble, RootTrouble::Reduced | RootTrouble::Partial) {
            return;
        }
        (view.side, view.status.is_comparing) = (None, false);
        let stale = std::mem::take(&mut view.mirror);
        self.begin_settling(root, stale, false);
    }

    /// Every lock of a root is to be brought in line with a tree that was swapped in; until then the root says that it
    /// is being read.
    fn begin_settling(&mut self, root: RootId, stale: Mirror, is_first_look: bool) {
        self.index_tree(root, &stale);
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        view.is_settling = true;
        self.orders.forget_windows();
        let (own, below) = (&*view.path, join_path(&view.path, ""));
        let own = self.locks.entry(own).into_iter();
        let known = own.chain(self.locks.starting_with(&below)).map(|(path, _)| Arc::clone(path)).collect();
        self.backlog.settling = Some(Box::new(Settling { is_first_look, ..Settling::new(root, stale, known) }));
    }

    /// Does the next piece; false when all is done.
    pub(super) fn settle(&mut self, now: TimeMs, work: &mut Settling, out: &mut Vec<Change>) -> bool {
        if let Some(path) = work.known.pop_front() {
            self.compare(work, path.clone(), out);
            self.end_holds_of_other_history(now, &path);
        } else if let Some(path) = work.gone.pop_front() {
            self.lose(now, &path, Seen::AfterGap, out);
        } else if let Some(from) = work.recognise.take() {
            work.recognise = self.recognise_some(work, from);
        } else if let Some((home, (recognition, kinds))) = work.fresh.pop_first() {
            self.take_on(now, work.root, home, recognition, kinds, out);
        } else if let Some(lock) = work.alone.pop_front() {
            self.take_on_alone(now, lock, out);
        } else if let Some(path) = work.kept.pop_front() {
            self.refresh(now, &path, Seen::AfterGap, out);
        } else if let Some(from) = work.suspects.take() {
            work.suspects = self.suspect_from(work.root, from, SESSIONS_A_PIECE);
        } else if !std::mem::replace(&mut work.is_settled, true) {
            // Circles are searched for with the next tick: once for all roots that are read meanwhile.
            self.settled(now, work.root, out);
        } else {
            return work.stale.shed();
        }
        true
    }

    fn settled(&mut self, now: TimeMs, root: RootId, out: &mut Vec<Change>) {
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        view.is_settling = false;
        view.follow_readability(now);
        if view.status.trouble.is_none() {
            view.status.is_synced = true;
            if !is_other_history(&view.status.why) {
                view.status.why = "".into();
            }
            view.status.since = now;
        }
        self.require(now, root, out);
        out.push(Change::RootChanged(root));
    }

    /// Reports who left a lock in the gap, and whether it is there.
    fn compare(&self, work: &mut Settling, path: Arc<str>, out: &mut Vec<Change>) {
        let Some((view, lock)) = self.roots.get(work.root.0 as usize).zip(self.locks.get(&path)) else { return };
        departures(lock, &work.stale, (!is_other_history(&view.status.why)).then_some(&view.mirror), out);
        let is_there = |path: &str| view.mirror.directory(path).is_some() || view.mirror.node(path).is_some();
        let stays = match lock.is_alone() {
            true => is_under(&path, &view.path) && view.mirror.directory(&lock.parts.main).is_some(),
            false => is_there(&path) || is_there(&lock.parts.main),
        };
        if stays { &mut work.kept } else { &mut work.gone }.push_back(path);
    }

    /// Who holds now may have the names and the numbers of those who held in the history before.
    fn end_holds_of_other_history(&mut self, now: TimeMs, path: &str) {
        let Some(lock) = self.locks.get_mut(path) else { return };
        if self.roots.get(lock.root.0 as usize).is_some_and(|view| is_other_history(&view.status.why)) {
            for hold in std::mem::take(&mut lock.holders) {
                lock.end_hold(hold, now, Departure::DuringGap);
            }
        }
    }

    /// Recognises every lock of a root anew.
    pub(super) fn recognise_all(&mut self, now: TimeMs, root: RootId, out: &mut Vec<Change>) {
        let mut work = Settling::new(root, Mirror::default(), VecDeque::new());
        while let Some(from) = work.recognise.take() {
            work.recognise = self.recognise_some(&mut work, from);
        }
        while let Some((home, (recognition, kinds))) = work.fresh.pop_first() {
            self.take_on(now, root, home, recognition, kinds, out);
        }
        while let Some(lock) = work.alone.pop_front() {
            self.take_on_alone(now, lock, out);
        }
    }

    /// Looks at the next directory, or at some more children of one; gives the place to go on from.
    fn recognise_some(&self, work: &mut Settling, from: ScanPosition) -> Option<ScanPosition> {
        let mirror = &self.roots.get(work.root.0 as usize)?.mirror;
        match from {
            ScanPosition::Behind(path) => {
                let (path, directory) = mirror.directory_after(&path)?;
                if &**path != "/" {
                    let found = self.find(mirror, path).map(|found| (found.home, found.recognition));
                    let idle =
                        || recognise::recognise_idle(path, directory).and_then(|idle| self.as_configured(path, idle));
                    let found = found.or_else(|| {
                        idle().filter(|_| self.lock_at(path).is_none()).map(|idle| (Arc::clone(path), idle))
                    });
                    work.fresh.extend(found.map(|(home, recognition)| (home, (recognition, directory.kinds()))));
                }
                Some(self.recognise_children(work, mirror, path, directory.plain()))
            }
            ScanPosition::Among(path, key) => {
                let Some(directory) = mirror.directory(&path) else { return Some(ScanPosition::Behind(path)) };
                Some(self.recognise_children(work, mirror, &path, directory.plain_after(&key)))
            }
        }
    }

    fn recognise_children<'a>(
        &self,
        work: &mut Settling,
        mirror: &Mirror,
        path: &Arc<str>,
        children: impl Iterator<Item = (&'a ChildKey, &'a Child)>,
    ) -> ScanPosition {
        let (mut left, mut last) = (CHILDREN_A_PIECE, None);
        for (key, child) in children.take(CHILDREN_A_PIECE) {
            (left, last) = (left - 1, Some(key));
            if child.rule.is_some() || self.is_told_of_paths() {
                let own = join_path(path, key.name());
                let found = self.find_alone(mirror, &own, path, key.name(), child);
                work.alone.extend(found.map(|found| Lock::new(own.into(), work.root, found)));
            }
        }
        let more = last.filter(|_| left == 0).map(|key| ScanPosition::Among(Arc::clone(path), key.clone()));
        more.unwrap_or_else(|| ScanPosition::Behind(Arc::clone(path)))
    }

    fn take_on(
        &mut self,
        now: TimeMs,
        root: RootId,
        home: Arc<str>,
        recognition: Recognition,
        kinds: (u64, u64),
        out: &mut Vec<Change>,
    ) {
        let path = Arc::clone(&home);
        self.become_found(now, root, Found { home, recognition }, Seen::AfterGap, out);
        if let Some(lock) = self.locks.get_mut(&path) {
            lock.kinds = kinds;
        }
    }

    fn take_on_alone(&mut self, now: TimeMs, lock: Lock, out: &mut Vec<Change>) {
        let is_office =
            self.lock_at(&lock.parts.main).is_some_and(|found| found.recognition.shape == Shape::LeaderElection);
        if !is_office {
            self.appear_alone(now, lock, Seen::AfterGap, out);
        }
    }
}

/// Contenders of a lock that were there before the gap and are not now; all of them where nothing is `fresh` of the same
/// history.
fn departures(lock: &Lock, stale: &Mirror, fresh: Option<&Mirror>, out: &mut Vec<Change>) {
    for contender in lock.contenders(stale) {
        let before = contender.child.read.as_ref();
        let same = fresh
            .and_then(|fresh| fresh.directory(contender.directory))
            .and_then(|directory| directory.child(contender.key.name()))
            .is_some_and(|(_, found)| {
                before.zip(found.read.as_ref()).is_none_or(|(one, other)| one.is_same_znode(other))
            });
        if !same {
            let (lock, node) = (Arc::clone(&lock.path), contender.key.name().into());
            out.push(Change::Left {
                lock,
                node,
                czxid: before.map(|read| read.czxid),
                owner: contender.child.owner(),
                how: Departure::DuringGap,
            });
        }
    }
}
