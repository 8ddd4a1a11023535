//! Reading a root anew: everything goes into a side buffer that becomes the believed tree at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Observatory, refresh};
use crate::domain::change::{Change, Departure};
use crate::domain::lock::Lock;
use crate::domain::mirror::Mirror;
use crate::domain::observation::{RootId, RootTrouble};
use crate::domain::recipe;
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
        let Some(fresh) = view.side.take() else { return };
        let stale = std::mem::replace(&mut view.mirror, fresh);
        view.synced = true;
        view.trouble = None;
        view.why = "".into();
        view.since = now;
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
        let Some(view) = self.roots.get(root.0 as usize) else { return };
        let known: Vec<Arc<str>> = self.locks.values().filter(|lock| lock.root == root).map(|lock| Arc::clone(&lock.path)).collect();
        let (gone, kept): (Vec<_>, Vec<_>) = known.into_iter().partition(|path| match self.locks.get(path) {
            Some(lock) if lock.is_alone() => !is_under(path, &view.path) || view.mirror.directory(lock.directory_path()).is_none(),
            _ => view.mirror.directory(path).is_none(),
        });
        for path in &kept {
            departures(self.locks.get(path), stale, &view.mirror, out);
        }
        for path in gone {
            self.vanish(&path, out);
        }
        let kept: BTreeSet<Arc<str>> = kept.into_iter().collect();
        self.appear_all(now, root, out);
        for path in &kept {
            self.recognise_again(path);
            self.refresh(now, path, refresh::Seen::AfterGap, out);
        }
    }

    /// Recognises every lock of a root that is not known yet.
    fn appear_all(&mut self, now: TimeMs, root: RootId, out: &mut Vec<Change>) {
        let Some(view) = self.roots.get(root.0 as usize) else { return };
        let mut fresh = Vec::new();
        for (path, directory) in view.mirror.directories() {
            let known = self.locks.contains_key(path) || &**path == "/";
            let found = || recipe::recognise(directory).or_else(|| recipe::recognise_idle(path, directory));
            if let Some(recognition) = (!known).then(found).flatten() {
                fresh.push(Lock::new(Arc::clone(path), root, recognition));
            }
            for (key, child) in directory.plain() {
                let own = || Arc::<str>::from(join_path(path, key.name()));
                if let Some(recognition) = refresh::recognise_alone(path, child)
                    && !self.locks.contains_key(&own())
                {
                    fresh.push(Lock::new(own(), root, recognition));
                }
            }
        }
        for lock in fresh {
            self.appear(now, lock, refresh::Seen::AfterGap, out);
        }
    }
}

/// Contenders of a lock that were there before the gap and are not now.
fn departures(lock: Option<&Lock>, stale: &Mirror, fresh: &Mirror, out: &mut Vec<Change>) {
    let Some(lock) = lock else { return };
    let now = lock.directory(fresh);
    for (key, child) in lock.contenders(stale) {
        let before = child.read.as_ref().map(|read| read.czxid);
        let same = now
            .and_then(|directory| directory.child(key.name()))
            .is_some_and(|(_, found)| before.is_none() || found.read.as_ref().is_none_or(|read| Some(read.czxid) == before));
        if !same {
            let owner = child.read.as_ref().and_then(crate::domain::mirror::Read::owner);
            out.push(Change::Left { lock: Arc::clone(&lock.path), node: key.name().into(), czxid: before, owner, how: Departure::DuringGap });
        }
    }
}
