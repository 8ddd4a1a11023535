//! Who holds a lock now and who no longer does: ends tenures, begins others, and notes how long both took.

use std::sync::Arc;

use crate::departure::Departure;
use crate::history::What;
use crate::label::label_of;
use crate::lock::{ContenderRef, HOLDERS_MAX, Held, Hold, Lock, QueueCounts, Since};
use crate::mirror::Mirror;
use crate::offset::ClockOffset;
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
    let mut before = std::mem::take(&mut lock.holders);
    let mut held = lock.holding(mirror);
    for tenure in &before {
        keep(lock, mirror, tenure, &mut held);
    }
    let mut news = News::default();
    let mut after = Vec::with_capacity(held.seats.len());
    let mut waits = Vec::new();
    for seat in &held.seats {
        let same = |tenure: &Hold| tenure.is(seat.directory, seat.key, seat.child);
        let same = before.iter().position(same);
        let known = same.map(|at| before.remove(at));
        let is_news = known.as_ref().is_none_or(|tenure| tenure.owner.is_none() && seat.child.owner().is_some());
        if known.is_none() {
            news.changed = true;
            waits.extend(seat.child.read.as_ref().filter(|_| !lock.has_leases()).map(|read| now.since(offset.to_ours(read.ctime_ms))));
        }
        if is_news {
            news.told.extend(seat.child.owner().map(|session| (session, seat.key.name().into(), What::Held)));
        }
        after.push(follow(lock, known, seat, now, seen));
    }
    news.changed |= !before.is_empty();
    lock.standing = standing(lock, mirror, &held);
    lock.holders = after;
    if news.changed {
        lock.wake_watchers(before.iter().any(|tenure| tenure.czxid.is_none()));
    }
    note(lock, &mut news, waits, before, now, seen);
    news
}

/// Counts what ended and what began.
fn note(lock: &mut Lock, news: &mut News, waits: Vec<i64>, ended: Vec<Hold>, now: TimeMs, seen: Seen) {
    let began = news.changed && !lock.holders.is_empty();
    if seen == Seen::Watched {
        lock.tally.acquisitions += u64::from(began);
        waits.iter().for_each(|ms| lock.tally.waits.note(*ms));
        news.waits_ms = waits;
    }
    news.holds_ms.extend(ended.into_iter().filter_map(|tenure| lock.end_tenure(tenure, now, seen.departure())));
}

/// One that held goes on holding while its znode is there, where a new look could miss it.
fn keep<'a>(lock: &'a Lock, mirror: &'a Mirror, tenure: &Hold, held: &mut Held<'a>) {
    if !lock.keeps(mirror, tenure.access) || *tenure.directory != *lock.parts.main {
        return;
    }
    let Some((key, child)) = lock.child_of(mirror, tenure) else { return };
    let is_there = held.seats.iter().any(|seat| tenure.is(seat.directory, seat.key, seat.child));
    if !is_there && tenure.is(&lock.parts.main, key, child) && held.seats.len() < HOLDERS_MAX {
        held.push(ContenderRef { directory: &lock.parts.main, key, child });
    }
}

fn standing(lock: &Lock, mirror: &Mirror, held: &Held<'_>) -> QueueCounts {
    let waiting = lock.totals(mirror).minus(held.totals);
    let holds = |seat: &ContenderRef<'_>| held.seats.iter().any(|held| held.key == seat.key && held.directory == seat.directory);
    let behind = if held.totals.count as usize > held.seats.len() { held.totals.count as usize } else { 0 };
    let oldest = (waiting.count > 0).then(|| lock.contenders(mirror).skip(behind).find(|seat| !holds(seat))).flatten();
    QueueCounts {
        holders: held.totals.count,
        waiting,
        oldest: oldest.map(|seat| Since::of(seat.child)),
        pending: lock.standing.pending.clone(),
        seated_beside: lock.is_alone() && lock.parts.second.as_deref().is_some_and(|beside| mirror.node(beside).is_some()),
        missing: lock.missing_in(mirror, held.totals.count > 0),
    }
}

fn follow(lock: &Lock, tenure: Option<Hold>, seat: &ContenderRef<'_>, now: TimeMs, seen: Seen) -> Hold {
    let mut tenure = tenure.unwrap_or_else(|| Hold {
        directory: Arc::clone(seat.directory),
        name: seat.key.name().into(),
        access: lock.access(seat),
        czxid: None,
        owner: None,
        label: None,
        version: 0,
        since: now,
        is_lower_bound: seen == Seen::AfterGap,
        peer: None,
    });
    tenure.access = lock.access(seat);
    if let Some(read) = &seat.child.read {
        if tenure.czxid.is_none() || tenure.version != read.version {
            tenure.label = label_of(&tenure.name, &read.payload).map(Into::into);
            tenure.version = read.version;
        }
        tenure.czxid = Some(read.czxid);
        tenure.owner = read.owner();
    } else if seat.child.denied {
        // Whoever held may hold still, or somebody else by the same name.
        (tenure.czxid, tenure.owner, tenure.label, tenure.peer, tenure.is_lower_bound) = (None, None, None, None, true);
    }
    tenure
}
