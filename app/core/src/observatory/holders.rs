//! Who holds a lock now and who no longer does: ends holds, begins others, and notes how long both took.

use std::sync::Arc;

use crate::departure::Departure;
use crate::history::What;
use crate::label::label_of;
use crate::lock::{ContenderRef, HOLDERS_MAX, Held, Hold, Lock, QueueCounts, Since};
use crate::mirror::Mirror;
use crate::offset::ClockOffset;
use crate::recipe::NodeRole;
use crate::time::TimeMs;
use crate::znode::SessionId;

/// How a change of holder came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// By its own event: instants are exact.
    Watched,
    /// By a reading after a gap: instants are bounds.
    AfterGap,
}

impl Seen {
    pub(super) fn departure(self) -> Departure {
        match self {
            Self::Watched => Departure::Deleted,
            Self::AfterGap => Departure::DuringGap,
        }
    }
}

/// What following the holders brought to light.
#[derive(Default)]
pub(super) struct News {
    pub(super) changed: bool,
    pub(super) told: Vec<(SessionId, Box<str>, What)>,
    /// Waits and holds that ended, where both ends were seen.
    pub(super) waits_ms: Vec<i64>,
    pub(super) holds_ms: Vec<i64>,
}

/// Ends the holds of those who no longer hold and begins those of who now do.
pub(super) fn follow_holders(lock: &mut Lock, mirror: &Mirror, offset: &ClockOffset, now: TimeMs, seen: Seen) -> News {
    lock.standing.pending = lock.set_aside(mirror, now).map(Into::into);
    let mut holders = std::mem::take(&mut lock.holders);
    let mut held = lock.holding(mirror);
    for hold in &holders {
        keep(lock, mirror, hold, &mut held);
    }
    let mut news = News::default();
    let mut waits = Vec::new();
    for (at, contender) in held.contenders.iter().enumerate() {
        let same = |hold: &Hold| {
            hold.is(contender.directory, contender.key, contender.child)
                && (seen == Seen::Watched || !may_be_anothers(hold, contender))
        };
        let same = holders.iter().skip(at).position(same);
        let known = same.map(|same| holders.remove(at + same));
        let is_news = known.as_ref().is_none_or(|hold| hold.owner.is_none() && contender.child.owner().is_some());
        if known.is_none() {
            news.changed = true;
            let read = contender.child.read.as_ref().filter(|_| !lock.has_leases());
            let waited_ms = read.map(|read| now.since(offset.to_ours(read.ctime_ms)));
            // One that holds as soon as it is there did not wait, whether its read came with its creation or behind it.
            waits.extend(waited_ms.filter(|_| contender.child.arrived_at != now));
        }
        if is_news {
            news.told.extend(contender.child.owner().map(|session| (session, contender.key.name().into(), What::Held)));
        }
        holders.insert(at, follow(lock, known, contender, now, seen));
    }
    let mut ended = holders.split_off(held.contenders.len());
    news.changed |= !ended.is_empty();
    ended.retain(|hold| !was_none(lock, mirror, hold));
    lock.standing = standing(lock, mirror, &held);
    lock.holders = holders;
    if news.changed {
        lock.wake_watchers(ended.iter().any(|hold| hold.czxid.is_none()));
    }
    note(lock, &mut news, waits, ended, now, seen);
    news
}

/// After a gap, whether a hold may be another one than the one that was there before by this name, although nothing
/// shows it: its znode was never read, and its name is no number that comes once; or it is a lease that ends by the
/// clock and was written to, by the same client or by the next.
fn may_be_anothers(hold: &Hold, contender: &ContenderRef<'_>) -> bool {
    let Some(read) = &contender.child.read else { return false };
    let is_unread = hold.czxid.is_none() && contender.key.number().is_none();
    is_unread || (contender.child.role() == Some(NodeRole::Timed) && hold.version != read.version)
}

/// Counts what ended and what began.
fn note(lock: &mut Lock, news: &mut News, waits: Vec<i64>, ended: Vec<Hold>, now: TimeMs, seen: Seen) {
    let began = news.changed && !lock.holders.is_empty();
    if seen == Seen::Watched {
        if began {
            lock.tally.acquisitions += 1;
            lock.tally.hand_offs.note();
        }
        waits.iter().for_each(|ms| lock.tally.waits.note(*ms));
        // The lock's own figures have every wait; of all locks together only those for a lock count.
        news.waits_ms = if lock.recognition.counts_as_waiting() { waits } else { Vec::new() };
    }
    news.holds_ms.extend(ended.into_iter().filter_map(|hold| lock.end_hold(hold, now, seen.departure())));
}

/// One that held goes on holding while its znode is there, where a new look could miss it.
fn keep<'a>(lock: &'a Lock, mirror: &'a Mirror, hold: &Hold, held: &mut Held<'a>) {
    if !lock.keeps(mirror, hold.access) || *hold.directory != *lock.parts.main {
        return;
    }
    let Some((key, child)) = lock.child_of(mirror, hold) else { return };
    let is_there = held.contenders.iter().any(|contender| hold.is(contender.directory, contender.key, contender.child));
    let is_same = hold.is(&lock.parts.main, key, child) && !was_none(lock, mirror, hold);
    if !is_there && is_same && held.contenders.len() < HOLDERS_MAX {
        held.push(ContenderRef { directory: &lock.parts.main, key, child });
    }
}

/// Whether what was taken for a holder by its name is read by now, and no contender: it never held.
fn was_none(lock: &Lock, mirror: &Mirror, hold: &Hold) -> bool {
    let child = hold.czxid.is_none().then(|| mirror.directory(&hold.directory)?.child(&hold.name)).flatten();
    child.is_some_and(|(key, child)| child.read.is_some() && !lock.counts(&hold.directory, key, child))
}

fn standing(lock: &Lock, mirror: &Mirror, held: &Held<'_>) -> QueueCounts {
    let waiting = lock.totals(mirror).minus(held.totals);
    let holds = |contender: &ContenderRef<'_>| {
        held.contenders.iter().any(|held| held.key == contender.key && held.directory == contender.directory)
    };
    let behind = if held.totals.count as usize > held.contenders.len() { held.totals.count as usize } else { 0 };
    let oldest =
        (waiting.count > 0).then(|| lock.contenders(mirror).skip(behind).find(|contender| !holds(contender))).flatten();
    QueueCounts {
        holders: held.totals.count,
        waiting,
        oldest: oldest.map(|contender| Since::of(contender.child)),
        pending: lock.standing.pending.clone(),
        contenders_beside: lock.is_alone()
            && lock.parts.second.as_deref().is_some_and(|beside| mirror.node(beside).is_some()),
        missing: lock.missing_in(mirror, held.totals.count > 0),
    }
}

fn follow(lock: &Lock, hold: Option<Hold>, contender: &ContenderRef<'_>, now: TimeMs, seen: Seen) -> Hold {
    let mut hold = hold.unwrap_or_else(|| Hold {
        directory: Arc::clone(contender.directory),
        name: contender.key.name().into(),
        access: lock.access(contender),
        czxid: None,
        owner: None,
        label: None,
        version: 0,
        since: now,
        is_lower_bound: seen == Seen::AfterGap,
        peer: None,
    });
    hold.access = lock.access(contender);
    if let Some(read) = &contender.child.read {
        if hold.czxid.is_none() || hold.version != read.version {
            hold.label = label_of(&hold.name, &read.payload).map(Into::into);
            hold.version = read.version;
        }
        hold.czxid = Some(read.czxid);
        hold.owner = read.owner();
    } else if contender.child.denied {
        // Whoever held may hold still, or somebody else by the same name.
        (hold.czxid, hold.owner, hold.label, hold.peer, hold.is_lower_bound) = (None, None, None, None, true);
    }
    hold
}
