//! Reading a root anew: everything goes into a side buffer that becomes the believed tree at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Observatory, refresh};
use crate::domain::change::{Change, Departure};
use crate::domain::lock::Lock;
use crate::domain::mirror::Mirror;
use crate::domain::observation::{RootId, RootTrouble};
use crate::domain::recipe::recognise::{self, Found};
use crate::domain::recipe::{Recognition, Shape};
use crate::domain::time::TimeMs;
use crate::domain::znode::{Facts, is_under, join_path};

impl Observatory {
    pub(super) fn sync_began(&mut self, now: TimeMs, root: RootId, why: Box<str>, out: &mut Vec<Change>) {
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        self.counters.resyncs += u64::from(view.was_settled());
        view.side = Some(Mirror::default());
        view.why = why;
        view.since = now;
        out.push(Change::RootChanged(root));
    }

    pub(super) fn sync_node(&mut self, now: TimeMs, root: RootId, path: &str, facts: &Facts, unreadable: bool) {
        self.see_zxids(facts);
        if let Some(side) = self.roots.get_mut(root.0 as usize).and_then(|view| view.side.as_mut()) {
            side.read(path, facts, unreadable, now);
        }
    }

    pub(super) fn sync_ended(&mut self, now: TimeMs, root: RootId, out: &mut Vec<Change>) {
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        let Some(mut fresh) = view.side.take() else { return };
        fresh.pack();
        let stale = std::mem::replace(&mut view.mirror, fresh);
        view.synced = true;
        view.trouble = None;
        view.why = "".into();
        view.since = now;
        view.doubt();
        out.push(Change::RootChanged(root));
        self.reconcile(now, root, &stale, out);
    }

    pub(super) fn root_trouble(&mut self, now: TimeMs, root: RootId, trouble: RootTrouble, why: Box<str>, out: &mut Vec<Change>) {
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        if view.trouble != Some(trouble) {
            view.since = now;
        }
        view.why = why;
        view.trouble = Some(trouble);
        out.push(Change::RootChanged(root));
        if trouble == RootTrouble::Reduced {
            return;
        }
        view.side = None;
        let stale = std::mem::take(&mut view.mirror);
        self.reconcile(now, root, &stale, out);
    }

    /// Brings every lock of a root in line with a tree that was swapped in.
    fn reconcile(&mut self, now: TimeMs, root: RootId, stale: &Mirror, out: &mut Vec<Change>) {
        let known: Vec<Arc<str>> = self.locks.values().filter(|lock| lock.root == root).map(|lock| Arc::clone(&lock.path)).collect();
        let Some(view) = self.roots.get(root.0 as usize) else { return };
        let is_there = |path: &str| view.mirror.directory(path).is_some() || view.mirror.node(path).is_some();
        let (kept, gone): (Vec<_>, Vec<_>) = known.into_iter().partition(|path| match self.locks.get(path) {
            Some(lock) if lock.is_alone() => is_under(path, &view.path) && view.mirror.directory(&lock.parts.main).is_some(),
            Some(lock) => is_there(path) || is_there(&lock.parts.main),
            None => false,
        });
        for path in kept.iter().chain(&gone) {
            departures(self.locks.get(path), stale, &view.mirror, out);
        }
        for path in gone {
            self.lose(now, &path, refresh::Seen::AfterGap, out);
        }
        self.recognise_all(now, root, out);
        for path in &kept {
            self.refresh(now, path, refresh::Seen::AfterGap, out);
        }
        self.search_all(now, out);
    }

    /// Recognises every lock of a root anew.
    pub(super) fn recognise_all(&mut self, now: TimeMs, root: RootId, out: &mut Vec<Change>) {
        let Some(view) = self.roots.get(root.0 as usize) else { return };
        let mut fresh: BTreeMap<Arc<str>, (Recognition, (u64, u64))> = BTreeMap::new();
        let mut alone: Vec<Lock> = Vec::new();
        for (path, directory) in view.mirror.directories() {
            if &**path != "/" {
                let found = self.find(&view.mirror, path).map(|found| (found.home, found.recognition));
                let idle = || recognise::recognise_idle(path, directory).and_then(|idle| self.as_configured(path, idle));
                let found = found.or_else(|| idle().filter(|_| self.lock_at(path).is_none()).map(|idle| (Arc::clone(path), idle)));
                fresh.extend(found.map(|(home, recognition)| (home, (recognition, directory.kinds()))));
            }
            for (key, child) in directory.plain().filter(|(_, child)| child.rule.is_some() || !self.settings.configured.is_empty()) {
                let own = join_path(path, key.name());
                let found = self.find_alone(&view.mirror, &own, path, key.name(), child);
                alone.extend(found.map(|found| Lock::new(own.into(), root, found)));
            }
        }
        for (home, (recognition, kinds)) in fresh {
            let path = Arc::clone(&home);
            self.become_found(now, root, Found { home, recognition }, refresh::Seen::AfterGap, out);
            if let Some(lock) = self.locks.get_mut(&path) {
                lock.kinds = kinds;
            }
        }
        for lock in alone {
            let is_office = self.lock_at(&lock.parts.main).is_some_and(|found| found.recognition.shape == Shape::Office);
            if !is_office && !self.locks.contains_key(&lock.path) {
                self.appear(now, lock, refresh::Seen::AfterGap, out);
            }
        }
    }
}

/// Contenders of a lock that were there before the gap and are not now.
fn departures(lock: Option<&Lock>, stale: &Mirror, fresh: &Mirror, out: &mut Vec<Change>) {
    let Some(lock) = lock else { return };
    for seat in lock.contenders(stale) {
        let before = seat.child.read.as_ref().map(|read| read.czxid);
        let same = fresh
            .directory(seat.directory)
            .and_then(|directory| directory.child(seat.key.name()))
            .is_some_and(|(_, found)| before.is_none() || found.read.as_ref().is_none_or(|read| Some(read.czxid) == before));
        if !same {
            let (lock, node) = (Arc::clone(&lock.path), seat.key.name().into());
            out.push(Change::Left { lock, node, czxid: before, owner: seat.child.owner(), how: Departure::DuringGap });
        }
    }
}
