//! The one word on a lock.

use super::assessment::Assessment;
pub use super::diagnosis::Verdict;
use super::lock::{Hold, Lock};
use super::mirror::Mirror;
use super::offset::ClockOffset;
use super::recipe::{NodeRole, Shape, rule};
use super::time::TimeMs;

/// A verdict that rests on clocks that were not compared is looked at again after so many milliseconds.
const CLOCK_AGAIN_MS: i64 = 10_000;

/// When a hold counts as slow or stuck. Both need somebody who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Holds seen before a lock's own usual time is believed.
    pub usual_after_holds: u64,
    /// Slow beyond this many times the usual (median) hold …
    pub slow_times: i64,
    /// … but not before this.
    pub slow_min_ms: i64,
    /// Stuck beyond this many times the usual hold …
    pub stuck_times: i64,
    /// … but not before this.
    pub stuck_min_ms: i64,
    /// Stuck after this while the usual hold is not known.
    pub stuck_unknown_ms: i64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            usual_after_holds: 8,
            slow_times: 8,
            slow_min_ms: 1_000,
            stuck_times: 40,
            stuck_min_ms: 10_000,
            stuck_unknown_ms: 300_000,
        }
    }
}

impl Thresholds {
    /// From when on a hold is slow, and from when on it is stuck. Nothing is slow while the usual hold is not known.
    fn limits_ms(&self, usual_ms: Option<i64>) -> (Option<i64>, i64) {
        match usual_ms {
            Some(usual) => (
                Some((usual.saturating_mul(self.slow_times)).max(self.slow_min_ms)),
                usual.saturating_mul(self.stuck_times).max(self.stuck_min_ms),
            ),
            None => (None, self.stuck_unknown_ms),
        }
    }

    /// After how long a hold of a lock counts as stuck.
    pub fn stuck_after_ms(&self, lock: &Lock) -> i64 {
        self.limits_ms(usual_hold_ms(lock, self)).1
    }
}

/// The usual hold of a lock: the median of the holds seen; None while too few were.
pub fn usual_hold_ms(lock: &Lock, thresholds: &Thresholds) -> Option<i64> {
    (lock.tally.holds.count() >= thresholds.usual_after_holds).then(|| lock.tally.holds.percentile(50)).flatten()
}

/// The verdict now, and when it may change although nothing happens. `before`: what it was.
pub fn judge(
    lock: &Lock,
    before: &Assessment,
    (mirror, offset): (&Mirror, &ClockOffset),
    now: TimeMs,
    thresholds: &Thresholds,
) -> (Verdict, Option<TimeMs>) {
    let deadlock = before.deadlock.as_ref();
    if lock.gone_since.is_some() {
        return (Verdict::NobodyHome, None);
    }
    if deadlock.is_some_and(|deadlock| deadlock.is_certain) {
        return (Verdict::Deadlocked, None);
    }
    let Some(first) = lock.holders.first() else { return (unheld(lock), None) };
    if conflict(lock).is_some() {
        return (Verdict::DoubleOwner, None);
    }
    if deadlock.is_some() {
        return (Verdict::MaybeDeadlocked, None);
    }
    if is_expiring(lock) {
        return (Verdict::Expiring, None);
    }
    // One that should have ended and holds all the same ends by no clock: the next look would find it so again, for ever.
    if let Some(ends_at) = lock.ends_at(mirror).filter(|ends_at| *ends_at > now) {
        return (Verdict::Healthy, Some(ends_at));
    }
    if orphan(lock).is_some() {
        return (Verdict::Orphan, None);
    }
    if lock.waiters_seen() == 0 || !lock.recognition.is_meant_to_pass() {
        return (Verdict::Healthy, None);
    }
    let (slow_ms, stuck_ms) = thresholds.limits_ms(usual_hold_ms(lock, thresholds));
    let since = lock.holders.iter().map(|hold| hold.since).min().unwrap_or(first.since);
    let held_ms = now.since(since);
    match slow_ms {
        _ if held_ms >= stuck_ms => (Verdict::Stuck, None),
        Some(slow_ms) if held_ms < slow_ms => (Verdict::Healthy, Some(since + slow_ms)),
        Some(_) => (Verdict::Slow, Some(since + stuck_ms)),
        None => {
            let (verdict, again_at) = by_wait(lock, before.verdict, (mirror, offset), now, stuck_ms);
            (verdict, Some((since + stuck_ms).min(again_at)))
        }
    }
}

/// By the wait, on a lock that was held when we first looked: since when is not known, and no hand-over was seen that
/// explains it. Stuck where nobody left for that long, for certain; slow where the first in line has waited that long for
/// each of those who wait, for a long queue that moves makes long waits. And when that may change.
fn by_wait(
    lock: &Lock,
    before: Verdict,
    (mirror, offset): (&Mirror, &ClockOffset),
    now: TimeMs,
    stuck_ms: i64,
) -> (Verdict, TimeMs) {
    let moved_at = lock.tally.past.front().map_or(TimeMs(i64::MIN), |past| past.until);
    let was_held = lock.holders.iter().all(|hold| hold.is_lower_bound && moved_at < hold.since);
    let oldest = lock.oldest_wait(|since| since.to_ours(offset)).filter(|_| was_held);
    let Some((waits_since, _)) = oldest else { return (Verdict::Healthy, TimeMs(i64::MAX)) };
    let still_ms = still_for_ms(lock, mirror, offset, now).unwrap_or(0);
    // Whoever comes later hides what the directory told; of this hold it stays true.
    if still_ms >= stuck_ms || before == Verdict::Stuck {
        return (Verdict::Stuck, TimeMs(i64::MAX));
    }
    let stuck_at = now + (stuck_ms - still_ms);
    let slow_at = waits_since + stuck_ms.saturating_mul(lock.waiters_seen().into());
    match slow_at <= now {
        true if offset.ms().is_none() => (Verdict::Slow, now + CLOCK_AGAIN_MS),
        true => (Verdict::Slow, stuck_at),
        false => (Verdict::Healthy, slow_at.min(stuck_at)),
    }
}

/// For how long nobody has left a line, at least: the last change that its directory tells of is that the newest of those
/// who are there came.
fn still_for_ms(lock: &Lock, mirror: &Mirror, offset: &ClockOffset, now: TimeMs) -> Option<i64> {
    let directory = mirror.directory(&lock.parts.main).filter(|_| lock.recognition.shape == Shape::Line)?;
    let stat = directory.stat.filter(|stat| stat.children as usize == directory.len())?;
    let newest = directory.numbered().next_back().filter(|_| directory.plain().next().is_none())?.1.read.as_ref()?;
    (newest.czxid == stat.pzxid).then(|| offset.age_at_least_ms(now, newest.ctime_ms)).flatten()
}

/// Nobody who holds it is connected to any member, and the leader says when each session runs out: the lock frees itself.
/// A group is no lock that anybody waits for.
fn is_expiring(lock: &Lock) -> bool {
    let frees = !matches!(lock.recognition.shape, Shape::Group | Shape::Items | Shape::TakenItems | Shape::Idle);
    frees && !lock.holders.is_empty() && lock.holders.iter().all(|hold| hold.is_disconnected() && hold.is_ending())
}

/// Nobody holds: free, where nobody who does can be missing; but members gather, and items are put and taken by clients
/// that are not seen, which is what such places are for.
fn unheld(lock: &Lock) -> Verdict {
    match lock.recognition.shape {
        _ if lock.missing().hides_holders() => Verdict::Unknown,
        Shape::Gathering if lock.contender_count() > 0 => Verdict::Healthy,
        Shape::Items | Shape::TakenItems => Verdict::Healthy,
        _ => Verdict::Free,
    }
}

/// Two of the holders that may not hold at once. One session may hold what excludes itself: a writer
/// that reads as well.
pub fn conflict(lock: &Lock) -> Option<(&Hold, &Hold)> {
    let admits_one = matches!(lock.recognition.shape, Shape::Line | Shape::LeaderElection | Shape::Fixed)
        && lock.recognition.admits() == 1;
    if !admits_one {
        return None;
    }
    let pairs = lock
        .holders
        .iter()
        .enumerate()
        .flat_map(|(at, one)| lock.holders.iter().skip(at + 1).map(move |other| (one, other)));
    pairs.into_iter().find(|(one, other)| {
        one.access.excludes(other.access)
            && (one.owner.is_none() || one.owner != other.owner || one.access == other.access)
    })
}

/// A holder that no session owns, where one should.
pub(super) fn orphan(lock: &Lock) -> Option<&Hold> {
    let should_be_owned = matches!(
        lock.recognition.shape,
        Shape::Line
            | Shape::LeaderElection
            | Shape::Fixed
            | Shape::Alone
            | Shape::LeasesAndLocks
            | Shape::LeasesAndSibling
    );
    // A lease that ends by the clock has no owner by design, even where its end can't be read.
    let should_be_owned = should_be_owned && lock.recognition.rule.is_none_or(|id| rule(id).role != NodeRole::Timed);
    lock.holders.iter().find(|hold| should_be_owned && hold.czxid.is_some() && hold.owner.is_none())
}

/// Who holds, in a word.
pub fn name_of(hold: &Hold) -> String {
    match (&hold.label, hold.owner) {
        (Some(label), _) => label.to_string(),
        (None, Some(session)) => format!("session {session}"),
        (None, None) if hold.czxid.is_some() => hold.name.to_string(),
        (None, None) => format!("{} (owner unknown)", hold.name),
    }
}

/// Who holds, in a word, and from where.
pub(super) fn place_of(hold: &Hold) -> String {
    let name = name_of(hold);
    match hold.peer.as_ref().and_then(|peer| peer.address.as_deref()) {
        Some(address) if !name.contains(address) => format!("{name} at {address}"),
        _ => name,
    }
}

/// A duration in words, short: `850 ms`, `12.3 s`, `4 min`.
pub fn duration(ms: i64) -> String {
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60_000..7_200_000 => format!("{} min", ms / 60_000),
        _ => format!("{} h", ms / 3_600_000),
    }
}
