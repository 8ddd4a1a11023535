//! Histories of an ensemble: anything that an observer can say, mostly in an order in which it would, with every kind of
//! lock, of several roots.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lockscope_core::lock_order::OrderSnooze;
use lockscope_core::missing::{Missing, MissingSet};
use lockscope_core::observation::{Link, Observation, RootId, RootTrouble};
use lockscope_core::observatory::Settings;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid, is_under, split_path};

use super::kinds::{KINDS, KNOWN_DIRECTORIES, ROOTS, config, settings};
use super::rounds::{RoundKind, round};
use super::step::Step;

/// One recorded observation.
pub(super) type Recorded = (TimeMs, Observation);

#[derive(Clone, Debug)]
struct Node {
    owner: i64,
    czxid: i64,
    ctime: i64,
    version: i32,
    data: &'static str,
}

/// Turns steps into observations; what it does not say of its znodes, nobody was told.
pub(super) struct Historian {
    truth: BTreeMap<String, Node>,
    counters: BTreeMap<String, i64>,
    zxid: i64,
    now: i64,
    recorded: Vec<Recorded>,
}

impl Historian {
    /// The roots are live, and their directories known.
    pub(super) fn new() -> Self {
        let mut historian =
            Self { truth: BTreeMap::new(), counters: BTreeMap::new(), zxid: 10, now: 1_000_000, recorded: Vec::new() };
        for path in KNOWN_DIRECTORIES {
            historian.put(path, 0, if path == "/r/ksem" { "2" } else { "" });
        }
        historian.counters.insert("/r/old-locks/spent".to_owned(), 3);
        historian.say(Observation::Link { link: Link::Live, session: Some(SessionId(99)), why: "".into() });
        for root in [0, 1] {
            historian.sync(root);
        }
        historian
    }

    /// What was observed by all these steps.
    pub(super) fn of(steps: &[Step]) -> Vec<Recorded> {
        let mut historian = Self::new();
        steps.iter().for_each(|step| historian.take(step));
        historian.recorded
    }

    fn say(&mut self, observation: Observation) {
        self.recorded.push((TimeMs(self.now), observation));
    }

    fn put(&mut self, path: &str, owner: i64, data: &'static str) {
        self.zxid += 1;
        self.truth.insert(path.to_owned(), Node { owner, czxid: self.zxid, ctime: self.now - 3, version: 0, data });
    }

    fn facts(&self, path: &str) -> Option<Box<Facts>> {
        let node = self.truth.get(path)?;
        let children = self.children(path).count();
        let created = self.counters.get(path).copied().unwrap_or(0);
        let (czxid, children) = (Zxid(node.czxid), u32::try_from(children).unwrap());
        Some(Box::new(Facts {
            czxid,
            mzxid: czxid,
            pzxid: Zxid(node.czxid + created),
            ctime_ms: node.ctime,
            version: node.version,
            cversion: i32::try_from(created).unwrap() * 2,
            children,
            owner: (node.owner != 0).then_some(SessionId(node.owner)),
            payload: (node.data != "?").then(|| node.data.as_bytes().into()),
            payload_bytes: u32::try_from(node.data.len()).unwrap(),
        }))
    }

    fn children(&self, path: &str) -> impl Iterator<Item = &String> {
        self.truth.keys().filter(move |child| split_path(child).is_some_and(|(parent, _)| parent == path))
    }

    fn pick(&self, at: usize) -> Option<String> {
        let known = || self.truth.keys().filter(|path| !KNOWN_DIRECTORIES.contains(&path.as_str()));
        let count = known().count();
        (count > 0).then(|| known().nth(at % count).cloned()).flatten()
    }

    fn take(&mut self, step: &Step) {
        self.now += 7;
        match *step {
            Step::Create { kind, session, is_read } => self.create(kind, session, is_read),
            Step::Read { at, is_unreadable } => self.read(at, is_unreadable),
            Step::Write { at } => self.write(at),
            Step::Replace { at } => self.replace(at),
            Step::Deny { at, in_sync } => self.deny(at, in_sync),
            Step::Delete { at } => self.pick(at).into_iter().for_each(|path| self.delete(&path)),
            Step::DeleteDirectory { at } => self.delete_directory(at),
            Step::EndSession { session } => self.end_session(session),
            Step::Missed { at } => self.missed(at),
            Step::Sync { root } => self.sync(root),
            Step::SyncBegan { root } => self.say(Observation::SyncBegan { root: RootId(root), why: "asked".into() }),
            Step::SyncSome { root, number } => self.sync_some(root, number),
            Step::SyncEnded { root } => self.say(Observation::SyncEnded { root: RootId(root) }),
            Step::Compare { root, number } => self.compare(root, number),
            Step::Trouble { root, kind } => self.trouble(root, kind),
            Step::Link { kind } => self.link(kind),
            Step::Members { ref kind, times } => (0..times).for_each(|_| self.members(kind)),
            Step::Circle { first, second } => self.circle(first, second),
            Step::Configure { which } => {
                self.say(Observation::ConfigChanged(Box::new(config(which))));
                self.say(Observation::OrdersSnoozed(self.snoozes(which)));
            }
            Step::Count { at } => self.count(at),
            Step::Incomplete { at, bits } => self.incomplete(at, bits),
            Step::Clock { error_ms } => self.clock(error_ms),
            Step::Answer { is_synced } => self.answer(is_synced),
            Step::Arrived { ago_ms } => self.say(Observation::EventsArrived { at: TimeMs(self.now - ago_ms) }),
            Step::Tick { ms } => {
                self.now += ms;
                self.say(Observation::Tick);
            }
            Step::Restart { which } => self.restart(which),
        }
    }

    fn create(&mut self, kind: usize, session: i64, is_read: bool) {
        let (directory, name, data) = KINDS[kind];
        let hex = format!("{session:032x}");
        let dashed = format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
        let name = name.replace('@', &dashed).replace('#', &hex);
        let (name, owner) = name.strip_prefix('!').map_or((&*name, session), |name| (name, 0));
        let path = match name.strip_prefix('=') {
            Some(name) => format!("{directory}/{name}"),
            None => {
                let counter = self.counters.entry(directory.to_owned()).or_default();
                *counter += 1;
                format!("{directory}/{name}{:010}", *counter - 1)
            }
        };
        if self.truth.contains_key(&path) {
            return;
        }
        let root = root_of(&path);
        if !self.truth.contains_key(directory) {
            self.put(directory, 0, "");
            self.say(Observation::NodeCreated { root, path: directory.into() });
        }
        self.put(&path, owner, data);
        self.say(Observation::NodeCreated { root, path: path.as_str().into() });
        if is_read {
            self.now += 1;
            let facts = self.facts(&path).unwrap();
            self.say(Observation::NodeRead { root, path: path.into(), facts, unreadable: false });
        }
    }

    fn read(&mut self, at: usize, is_unreadable: bool) {
        self.pick(at).into_iter().for_each(|path| self.read_path(&path, is_unreadable));
    }

    fn read_path(&mut self, path: &str, unreadable: bool) {
        let facts = self.facts(path).unwrap();
        self.say(Observation::NodeRead { root: root_of(path), path: path.into(), facts, unreadable });
    }

    fn write(&mut self, at: usize) {
        let Some(path) = self.pick(at) else { return };
        let node = self.truth.get_mut(&path).unwrap();
        node.version += 1;
        node.data = ["worker-1", "{\"holder\":\"worker-2\"}", "10.0.0.3:1", "?"][at % 4];
        self.read(at, false);
    }

    /// It went and came again with another owner, or as a persistent one, and only the read shows it; now and then twice.
    fn replace(&mut self, at: usize) {
        let Some(path) = self.pick(at) else { return };
        for _ in 0..1 + (at % 4).min(1) {
            let owner = if self.truth.get(&path).unwrap().owner == 0 { 3 } else { 0 };
            self.put(&path, owner, "");
            self.read_path(&path, false);
        }
    }

    fn deny(&mut self, at: usize, in_sync: bool) {
        let Some(path) = self.pick(at) else { return };
        self.say(Observation::NodeDenied { root: root_of(&path), path: path.into(), in_sync });
    }

    fn delete(&mut self, path: &str) {
        self.truth.remove(path);
        self.say(Observation::NodeDeleted { root: root_of(path), path: path.into() });
    }

    fn delete_directory(&mut self, at: usize) {
        let directory = KINDS[at % KINDS.len()].0;
        let children: Vec<String> = self.children(directory).cloned().collect();
        children.iter().for_each(|path| self.delete(path));
        self.delete(directory);
    }

    fn end_session(&mut self, session: i64) {
        let owned: Vec<String> =
            self.truth.iter().filter(|(_, node)| node.owner == session).map(|(path, _)| path.clone()).collect();
        owned.iter().for_each(|path| self.delete(path));
        self.now += 50;
        self.say(Observation::Tick);
    }

    fn missed(&mut self, at: usize) {
        let Some(path) = self.pick(at) else { return };
        let parent = split_path(&path).unwrap().0;
        self.say(Observation::Missed { root: root_of(&path), path: parent.into(), creates: 2 });
    }

    fn sync(&mut self, root: u32) {
        self.say(Observation::SyncBegan { root: RootId(root), why: "reconnected".into() });
        self.sync_some(root, usize::MAX);
        self.say(Observation::SyncEnded { root: RootId(root) });
        self.say(Observation::Synced { sent_at: TimeMs(self.now - 1) });
    }

    fn sync_some(&mut self, root: u32, number: usize) {
        let inside = self.truth.keys().filter(|path| is_under(path, ROOTS[root as usize]));
        let paths: Vec<String> = inside.take(number).cloned().collect();
        for path in paths {
            let facts = self.facts(&path).unwrap();
            self.say(Observation::SyncNode { root: RootId(root), path: path.into(), facts, unreadable: false });
        }
    }

    /// Some znodes went in a gap; the directories they were in are listed.
    fn compare(&mut self, root: u32, number: usize) {
        let inside = |path: &&String| is_under(path, ROOTS[root as usize]) && !KNOWN_DIRECTORIES.contains(&&***path);
        let gone: Vec<String> = self.truth.keys().filter(inside).take(number).cloned().collect();
        self.truth.retain(|path, _| !gone.contains(path));
        let root = RootId(root);
        self.say(Observation::ComparisonBegan { root, why: "reconnected".into() });
        let moved: BTreeSet<&str> = gone.iter().map(|path| split_path(path).unwrap().0).collect();
        for directory in moved {
            let children: Vec<String> = self.children(directory).cloned().collect();
            let names = children.iter().map(|path| split_path(path).unwrap().1.into()).collect();
            self.say(Observation::Listed { root, path: directory.into(), names });
            for path in children {
                let facts = self.facts(&path).unwrap();
                self.say(Observation::NodeRead { root, path: path.into(), facts, unreadable: false });
            }
        }
        self.say(Observation::ComparisonEnded { root });
    }

    fn trouble(&mut self, root: u32, kind: usize) {
        let trouble = [RootTrouble::Gone, RootTrouble::Denied, RootTrouble::Reduced, RootTrouble::Partial][kind % 4];
        self.say(Observation::RootTrouble { root: RootId(root), trouble, why: "no such luck".into() });
    }

    fn link(&mut self, kind: usize) {
        let (link, session, why) = [
            (Link::Live, Some(SessionId(99)), ""),
            (Link::Stale, Some(SessionId(99)), "no answer"),
            (Link::Lost, None, "session expired"),
            (Link::Live, Some(SessionId(100)), ""),
        ][kind % 4];
        self.say(Observation::Link { link, session, why: why.into() });
    }

    /// Two sessions, each of which holds what the other waits for.
    fn circle(&mut self, first: i64, second: i64) {
        let kinds = ["/s/a", "/s/b"].map(|of| KINDS.iter().position(|(directory, ..)| *directory == of).unwrap());
        kinds.iter().for_each(|kind| self.delete_directory(*kind));
        for (kind, session) in [(0, first), (1, second), (1, first), (0, second)] {
            self.create(kinds[kind], session, true);
        }
        self.now += 200;
        self.say(Observation::Tick);
    }

    fn members(&mut self, kind: &RoundKind) {
        self.now += 4_000;
        let owned = self.truth.iter().filter(|(_, node)| node.owner != 0);
        let owned: Vec<(String, i64)> = owned.map(|(path, node)| (path.clone(), node.owner)).collect();
        self.say(Observation::Evidence(Box::new(round(kind, self.now, &owned))));
    }

    /// The orders of `circle`, and one that no session takes.
    fn snoozes(&self, which: usize) -> Vec<OrderSnooze> {
        let (at, until) = (TimeMs(self.now), which.is_multiple_of(2).then(|| TimeMs(self.now + 2_000)));
        let snooze = |id, classes: &[&str]| OrderSnooze {
            id,
            classes: classes.iter().map(|class| Arc::from(*class)).collect(),
            by: "ada".into(),
            reason: "known".into(),
            at,
            until,
        };
        let all = [snooze(1, &["/s/a", "/s/b"]), snooze(2, &["/s/none"])];
        all.into_iter().take(which % 3).collect()
    }

    fn count(&mut self, at: usize) {
        let directory = KINDS[at % KINDS.len()].0;
        *self.counters.entry(directory.to_owned()).or_default() += i64::from(at.is_multiple_of(3));
        if let Some(facts) = self.facts(directory) {
            self.say(Observation::Counted { root: root_of(directory), path: directory.into(), facts });
        }
    }

    fn incomplete(&mut self, at: usize, bits: usize) {
        let directory = KINDS[at % KINDS.len()].0;
        let missing =
            MissingSet::NONE.with(Missing::Unswept, bits & 1 != 0).with(Missing::UnreadableChildren, bits & 2 != 0);
        self.say(Observation::Incomplete { root: root_of(directory), path: directory.into(), missing });
    }

    fn clock(&mut self, error_ms: i64) {
        let told_at = TimeMs(self.now);
        self.say(Observation::ClockRead { sent_at: told_at - 4, told_at, ctime_ms: self.now - 2 + error_ms });
    }

    fn answer(&mut self, is_synced: bool) {
        self.say(Observation::Asked);
        let sent_at = TimeMs(self.now);
        self.now += 3;
        self.say(if is_synced { Observation::Synced { sent_at } } else { Observation::Answered });
    }

    /// Down for a while; then both roots are read.
    fn restart(&mut self, which: usize) {
        self.now += 5_000;
        self.say(Observation::Restarted(Box::new(Settings { roots: settings(which).roots, ..settings(0) })));
    }
}

fn root_of(path: &str) -> RootId {
    RootId(u32::from(!is_under(path, ROOTS[0])))
}
