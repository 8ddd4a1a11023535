//! Keeping one lock in line with the believed tree: recognition, holders, verdict.

use std::sync::Arc;

use super::{FREE_ALONE_MAX, Observatory};
use crate::domain::change::Change;
use crate::domain::label::label;
use crate::domain::lock::{Lock, Tenure};
use crate::domain::mirror::{Child, ChildKey, Mirror};
use crate::domain::observation::RootId;
use crate::domain::offset::ClockOffset;
use crate::domain::recipe::{self, Place, Recognition};
use crate::domain::time::TimeMs;
use crate::domain::verdict;
use crate::domain::znode::split_path;

/// What happened to a znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It is new to us.
    Arrived,
    /// It was read.
    Read,
}

/// How a change of holder came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// By its own event: instants are exact.
    Watched,
    /// By a reading after a gap: instants are bounds.
    AfterGap,
}

/// The recognition of a znode that is a lock of its own: ephemeral, of a fitting name, not the `lock` of a
/// directory (unless that directory is `/`).
pub(super) fn recognise_alone(parent: &str, child: &Child) -> Option<Recognition> {
    let rule = child.rule?;
    let place = recipe::family(rule).place;
    let alone = place == Place::FixedAlone || (place == Place::FixedInDirectory && parent == "/");
    let ephemeral = child.read.as_ref().is_some_and(|read| read.owner().is_some());
    (alone && ephemeral).then(|| recipe::alone(rule)).flatten()
}

impl Observatory {
    /// A znode arrived or was read: whatever lock it belongs to is brought in line.
    pub(super) fn touch(&mut self, now: TimeMs, root: RootId, path: &str, cause: Cause, out: &mut Vec<Change>) {
        let Some((parent, name)) = split_path(path) else { return };
        let Some((_, child)) = self.roots.get(root.0 as usize).and_then(|view| view.mirror.directory(parent)?.child(name)) else { return };
        let (counted_alone, queues) = (recognise_alone(parent, child), child.rule.is_some());
        let arrived = cause == Cause::Arrived;
        let identity = child.read.as_ref().map(|read| (read.czxid, read.owner()));
        if let Some(recognition) = counted_alone
            && !self.locks.contains_key(path)
        {
            self.appear(now, Lock::new(path.into(), root, recognition), Seen::Watched, out);
        }
        let own = self.locks.get(path).filter(|lock| lock.is_alone()).map(|lock| Arc::clone(&lock.path));
        let Some(lock) = own.or_else(|| if queues { self.lock_of_directory(now, root, parent, out) } else { None }) else { return };
        if arrived {
            out.push(Change::Arrived { lock: Arc::clone(&lock), node: name.into() });
        }
        if let Some((czxid, owner)) = identity {
            out.push(Change::Identified { lock: Arc::clone(&lock), czxid, owner });
        }
        self.refresh(now, &lock, Seen::Watched, out);
    }

    /// The lock of a directory, recognised now if it was not before.
    fn lock_of_directory(&mut self, now: TimeMs, root: RootId, path: &str, out: &mut Vec<Change>) -> Option<Arc<str>> {
        if path == "/" {
            return None;
        }
        if self.locks.contains_key(path) {
            self.recognise_again(path);
        } else {
            let directory = self.roots.get(root.0 as usize)?.mirror.directory(path)?;
            let recognition = recipe::recognise(directory)?;
            self.appear(now, Lock::new(path.into(), root, recognition), Seen::Watched, out);
        }
        self.locks.get_key_value(path).map(|(name, _)| Arc::clone(name))
    }

    /// Follows the census of a lock's directory; with nothing to tell by, the last recognition stays.
    pub(super) fn recognise_again(&mut self, path: &str) {
        let Some(lock) = self.locks.get_mut(path).filter(|lock| !lock.is_alone()) else { return };
        let Some(directory) = self.roots.get(lock.root.0 as usize).and_then(|view| lock.directory(&view.mirror)) else { return };
        let leading = recipe::leading_rule(directory);
        if leading.is_some()
            && leading != lock.recognition.rule
            && let Some(recognition) = recipe::recognise(directory)
        {
            lock.recognition = recognition;
        }
    }

    pub(super) fn appear(&mut self, now: TimeMs, lock: Lock, seen: Seen, out: &mut Vec<Change>) {
        let path = Arc::clone(&lock.path);
        if lock.is_alone() {
            self.forget_free_alone(out);
        }
        self.locks.insert(Arc::clone(&path), lock);
        out.push(Change::LockAppeared { lock: Arc::clone(&path) });
        self.refresh(now, &path, seen, out);
    }

    pub(super) fn vanish(&mut self, path: &str, out: &mut Vec<Change>) {
        if let Some((path, lock)) = self.locks.remove_entry(path) {
            if let Some(due) = lock.recheck_at {
                self.rechecks.remove(&(due, Arc::clone(&path)));
            }
            out.push(Change::LockVanished { lock: path });
        }
    }

    /// Bounds the locks whose znode is absent, which is their free state and leaves nothing to be told by.
    fn forget_free_alone(&mut self, out: &mut Vec<Change>) {
        let free = |lock: &&Lock| lock.is_alone() && lock.holders.is_empty();
        if self.locks.values().filter(|lock| lock.is_alone()).count() < FREE_ALONE_MAX {
            return;
        }
        if let Some(path) = self.locks.values().find(free).map(|lock| Arc::clone(&lock.path)) {
            self.vanish(&path, out);
        }
    }

    /// Brings a lock's holders and verdict in line with the believed tree.
    pub(super) fn refresh(&mut self, now: TimeMs, path: &str, seen: Seen, out: &mut Vec<Change>) {
        let revision = self.revision + 1;
        let Some(lock) = self.locks.get_mut(path) else { return };
        let Some(view) = self.roots.get(lock.root.0 as usize) else { return };
        lock.revision = revision;
        let changed = follow_holders(lock, &view.mirror, &self.offset, now, seen);
        lock.tally.depth.note(lock.waiter_count(&view.mirror));
        out.push(if changed {
            Change::HolderChanged { lock: Arc::clone(&lock.path), node: lock.holders.first().map(|tenure| tenure.name.clone()) }
        } else {
            Change::LockTouched { lock: Arc::clone(&lock.path) }
        });
        self.judge_again(now, path, out);
    }

    /// Works out the verdict again and plans the next look.
    pub(super) fn judge_again(&mut self, now: TimeMs, path: &str, out: &mut Vec<Change>) {
        let Some(lock) = self.locks.get_mut(path) else { return };
        let Some(view) = self.roots.get(lock.root.0 as usize) else { return };
        let (verdict, recheck_at) = verdict::judge(lock, &view.mirror, now, &self.settings.thresholds);
        if recheck_at != lock.recheck_at {
            if let Some(due) = lock.recheck_at {
                self.rechecks.remove(&(due, Arc::clone(&lock.path)));
            }
            lock.recheck_at = recheck_at;
            self.rechecks.extend(recheck_at.map(|due| (due, Arc::clone(&lock.path))));
        }
        if verdict != lock.verdict {
            lock.verdict = verdict;
            lock.revision = self.revision + 1;
            out.push(Change::VerdictChanged { lock: Arc::clone(&lock.path), verdict });
        }
    }
}

/// Ends the holds of those who no longer hold and begins those of who now do; true when the holders differ.
fn follow_holders(lock: &mut Lock, mirror: &Mirror, offset: &ClockOffset, now: TimeMs, seen: Seen) -> bool {
    let mut before = std::mem::take(&mut lock.holders);
    let holding = lock.holding(mirror);
    let mut changed = false;
    let mut waits = Vec::new();
    let mut after = Vec::with_capacity(holding.len());
    for (key, child) in holding {
        let same = before.iter().position(|tenure| is_same(tenure, key, child));
        let tenure = same.map(|at| before.remove(at));
        changed |= tenure.is_none();
        if tenure.is_none() {
            waits.extend(child.read.as_ref().map(|read| now.since(offset.to_ours(read.ctime_ms))));
        }
        after.push(follow(tenure, key, child, now, seen));
    }
    changed |= !before.is_empty();
    lock.holders = after;
    let began = changed && !lock.holders.is_empty();
    lock.tally.acquisitions += u64::from(began && seen == Seen::Watched);
    if seen == Seen::Watched {
        waits.into_iter().for_each(|ms| lock.tally.waits.note(ms));
    }
    for tenure in before {
        lock.end_tenure(tenure, now, seen == Seen::Watched);
    }
    changed
}

fn is_same(tenure: &Tenure, key: &ChildKey, child: &Child) -> bool {
    let czxid = child.read.as_ref().map(|read| read.czxid);
    &*tenure.name == key.name() && (tenure.czxid.is_none() || czxid.is_none() || tenure.czxid == czxid)
}

fn follow(tenure: Option<Tenure>, key: &ChildKey, child: &Child, now: TimeMs, seen: Seen) -> Tenure {
    let mut tenure = tenure.unwrap_or_else(|| Tenure {
        name: key.name().into(),
        czxid: None,
        owner: None,
        label: None,
        version: 0,
        since: now,
        is_lower_bound: seen == Seen::AfterGap,
    });
    if let Some(read) = &child.read {
        if tenure.czxid.is_none() || tenure.version != read.version {
            tenure.label = label(&read.payload).map(Into::into);
            tenure.version = read.version;
        }
        tenure.czxid = Some(read.czxid);
        tenure.owner = read.owner();
    }
    tenure
}
