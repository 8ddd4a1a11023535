//! The one word on a lock, and the one sentence.

use super::assessment::{AssessedLock, Deadlock};
pub use super::diagnosis::Verdict;
use super::lock::{Hold, Lock};
use super::mirror::Mirror;
use super::missing::Missing;
use super::recipe::recognise::is_marked;
use super::recipe::{Access, Dialect, NodeRole, Recipe, Shape, rule, rule_of};
use super::time::TimeMs;

/// When a hold counts as slow or stuck. Both need somebody who waits.
#[derive(Clone, Copy, Debug)]
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
    /// Slow after this while the usual hold is not known.
    pub slow_unknown_ms: i64,
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
            slow_unknown_ms: 30_000,
            stuck_unknown_ms: 300_000,
        }
    }
}

impl Thresholds {
    fn limits_ms(&self, usual_ms: Option<i64>) -> (i64, i64) {
        match usual_ms {
            Some(usual) => (
                (usual.saturating_mul(self.slow_times)).max(self.slow_min_ms),
                usual.saturating_mul(self.stuck_times).max(self.stuck_min_ms),
            ),
            None => (self.slow_unknown_ms, self.stuck_unknown_ms),
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

/// The verdict now, and when it may change although nothing happens.
pub fn judge(
    lock: &Lock,
    deadlock: Option<&Deadlock>,
    mirror: &Mirror,
    now: TimeMs,
    thresholds: &Thresholds,
) -> (Verdict, Option<TimeMs>) {
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
    if let Some(ends_at) = lock.ends_at(mirror) {
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
    if held_ms >= stuck_ms {
        (Verdict::Stuck, None)
    } else if held_ms >= slow_ms {
        (Verdict::Slow, Some(since + stuck_ms))
    } else {
        (Verdict::Healthy, Some(since + slow_ms))
    }
}

/// Nobody who holds it is connected to any member: sessions without a client run out, and the lock frees itself. A
/// group is no lock that anybody waits for.
fn is_expiring(lock: &Lock) -> bool {
    let frees = !matches!(lock.recognition.shape, Shape::Group | Shape::Items | Shape::TakenItems | Shape::Idle);
    frees && !lock.holders.is_empty() && lock.holders.iter().all(Hold::is_disconnected)
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
fn orphan(lock: &Lock) -> Option<&Hold> {
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

/// The sentence. It holds no age, so it changes only when something happens.
pub fn sentence(AssessedLock { lock, assessment }: &AssessedLock, mirror: &Mirror, thresholds: &Thresholds) -> String {
    let waiting = waiting_clause(lock);
    let Some(first) = lock.holders.first().filter(|_| lock.gone_since.is_none()) else { return sentence_unheld(lock) };
    let who = place_of(first);
    let usual =
        || usual_hold_ms(lock, thresholds).map_or_else(String::new, |ms| format!("; usual is {}", duration(ms)));
    match assessment.verdict {
        Verdict::Deadlocked | Verdict::MaybeDeadlocked => {
            assessment.deadlock.as_ref().map_or_else(String::new, |deadlock| deadlock.sentence.to_string())
        }
        Verdict::DoubleOwner => double_owner(lock, &waiting),
        Verdict::Orphan => {
            let name = orphan(lock).map_or("", |hold| &hold.name);
            format!("Orphan: {name} is persistent, no session owns it, it never frees itself{waiting}.")
        }
        Verdict::Expiring => format!(
            "Expiring: {who} is connected to no member; the lock frees itself when the session runs out{waiting}."
        ),
        Verdict::Stuck => format!("Stuck: {who} holds far beyond the usual time{}{waiting}.", usual()),
        Verdict::Slow => format!("Slow: {who} holds longer than usual{}{waiting}.", usual()),
        _ => sentence_held(lock, mirror, &who, &waiting),
    }
}

fn sentence_held(lock: &Lock, mirror: &Mirror, who: &str, waiting: &str) -> String {
    let count = lock.standing.holders;
    let and_others = if count > 1 { format!("{who} and {} more", count - 1) } else { who.to_owned() };
    match lock.recognition.recipe {
        Recipe::Election => format!("Led by {who}{waiting}."),
        Recipe::ReadWrite => match lock.holders.iter().find(|hold| hold.access == Access::Write) {
            Some(writer) => format!(
                "Written by {}{}{waiting}.",
                place_of(writer),
                if count > 1 { ", who reads as well" } else { "" }
            ),
            None => format!("Read by {and_others}{}{waiting}.", if count > 1 { " together" } else { "" }),
        },
        Recipe::Semaphore => {
            let max = lock.capacity(mirror, lock.recognition.configured_max).and_then(|capacity| capacity.max.number());
            let of = max.map_or_else(String::new, |max| format!(" of {max}"));
            format!("{count}{of} leases held, the first by {who}{waiting}.")
        }
        Recipe::Barrier => format!("Up: everybody waits until it is taken down{waiting}."),
        Recipe::DoubleBarrier if mirror.directory(&lock.parts.main).is_some_and(is_marked) => {
            format!("Open: {count} inside.")
        }
        Recipe::DoubleBarrier => format!("Leaving: {count} still inside."),
        Recipe::Queue => format!("{count} in work, the first by {who}; {}.", items(lock)),
        Recipe::Membership => format!("{count} {}: {and_others}.", if count == 1 { "member" } else { "members" }),
        Recipe::SequentialMutex | Recipe::SingleNodeMutex | Recipe::Unknown => {
            format!("Held by {and_others}{waiting}.")
        }
    }
}

fn double_owner(lock: &Lock, waiting: &str) -> String {
    let names: Vec<String> = lock.holders.iter().take(3).map(name_of).collect();
    let numbers = |hold: &Hold| crate::sequence::parse(&hold.name).map(|found| found.number);
    let same =
        lock.holders.first().is_some_and(|first| lock.holders.iter().all(|hold| numbers(hold) == numbers(first)));
    let why = match same {
        true => " with the same sequence number",
        false if lock.holders.len() > 1 && !see_each_other(lock) => {
            ", as clients of different libraries that do not see each other"
        }
        false => ", although their recipe admits one",
    };
    format!("{} hold at once{why}: {}{waiting}.", lock.standing.holders, names.join(", "))
}

/// Whether the holders' clients look at each other's names.
fn see_each_other(lock: &Lock) -> bool {
    let dialects: Vec<Dialect> =
        lock.holders.iter().filter_map(|hold| rule_of(&hold.name, None)).map(|id| rule(id).dialect).collect();
    dialects.iter().all(|one| dialects.iter().all(|other| one.sees(*other)))
}

fn sentence_unheld(lock: &Lock) -> String {
    let count = lock.standing.waiting.count;
    let last = lock.tally.past.front().map(|past| name_of(&past.hold));
    if lock.gone_since.is_some() {
        let last = last.map_or_else(String::new, |last| format!("; last held by {last}"));
        return format!("Nobody home: its directory is gone and nobody made it again{last}.");
    }
    if count == 0 && lock.missing().hides_holders() {
        let last = last.map_or_else(String::new, |last| format!("; last held by {last}"));
        return format!("Not known: nobody is seen here, and not all of its znodes can be seen{last}.");
    }
    match (lock.recognition.shape, lock.recognition.recipe) {
        (Shape::Gathering, _) if count > 0 => {
            return match lock.recognition.configured_max {
                Some(max) => format!("Gathering: {count} of {max} are there."),
                None => format!("Gathering: {count} {} for the rest.", if count == 1 { "waits" } else { "wait" }),
            };
        }
        (Shape::Gathering, _) => return "Nobody is at the barrier.".to_owned(),
        (Shape::Items | Shape::TakenItems, _) if count > 0 => return format!("{}.", items(lock)),
        (Shape::Items | Shape::TakenItems, _) => return "Empty.".to_owned(),
        (Shape::Gate, _) => return "Down: nobody has to wait.".to_owned(),
        _ => {}
    }
    let unheld = if lock.recognition.recipe == Recipe::Election { "Nobody leads" } else { "Free" };
    match last {
        Some(last) => format!("{unheld}; last held by {last}."),
        None => format!("{unheld}; nobody was seen to hold it yet."),
    }
}

fn waiting_clause(lock: &Lock) -> String {
    let missing = lock.missing();
    let least = if missing.is_empty() { "" } else { "at least " };
    match lock.waiters_seen() {
        0 if missing.is_empty() => "; nobody waits".to_owned(),
        0 if missing.has(Missing::WatchesNotRead) => "; waiters can't be seen here".to_owned(),
        0 => "; nobody is seen to wait".to_owned(),
        1 => format!("; {least}1 waits"),
        count => format!("; {least}{count} wait"),
    }
}

/// How many items of a queue nobody works on.
fn items(lock: &Lock) -> String {
    let count = lock.standing.waiting.count;
    format!("{count} {} nobody works on", if count == 1 { "item" } else { "items" })
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
