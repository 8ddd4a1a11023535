//! The one sentence on a lock: which one it is, and with what names and numbers. How it reads is in `english`: another
//! language is another such table. A sentence holds no age, so it changes only when something happens.

mod english;
mod oddity;

use super::assessment::AssessedLock;
use super::diagnosis::Verdict;
use super::lock::{Hold, Lock};
use super::mirror::Mirror;
use super::missing::Missing;
use super::recipe::recognise::is_marked;
use super::recipe::{Access, Dialect, Recipe, Shape, rule, rule_of};
use super::verdict::{Thresholds, name_of, orphan, usual_hold_ms};
use super::znode::Zxid;

pub use oddity::{Duplicate, DuplicateEffect, ForeignEffect, Oddity, OfficeConflict, Trend};

/// Holders named in one sentence; more are a number.
const NAMED_MAX: usize = 3;

/// What a sentence says of who holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Statement {
    /// The sentence of a circle.
    Circle(String),
    HeldAtOnce {
        names: Vec<String>,
        more: u32,
        why: Conflict,
    },
    Orphan {
        znode: String,
    },
    Expiring {
        who: String,
    },
    /// Beyond what is usual; by far where `is_stuck`.
    HeldTooLong {
        who: String,
        usual_ms: Option<i64>,
        is_stuck: bool,
    },
    /// The first in line has waited for long; since when it is held is not known.
    WaitedTooLong {
        who: String,
    },
    Held {
        who: String,
        more: u32,
    },
    /// So often that who has it this moment says little.
    ChangesHands {
        in_10_s: u32,
    },
    Leader {
        who: String,
    },
    Written {
        who: String,
        reads_as_well: bool,
    },
    Read {
        who: String,
        more: u32,
    },
    Leases {
        held: u32,
        max: Option<u32>,
        first: String,
    },
    BarrierUp,
    BarrierDown,
    BarrierOpen {
        inside: u32,
    },
    BarrierLeaving {
        inside: u32,
    },
    NobodyAtBarrier,
    Gathering {
        count: u32,
        max: Option<u32>,
    },
    InWork {
        count: u32,
        first: String,
        items: u32,
    },
    Items {
        items: u32,
    },
    Empty,
    Members {
        count: u32,
        first: String,
        more: u32,
    },
    NobodyHome {
        last: Option<String>,
    },
    NotKnown {
        last: Option<String>,
    },
    NobodyLeads {
        last: Option<String>,
    },
    Free {
        last: Option<String>,
    },
}

/// Why several hold what admits one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conflict {
    SameNumber,
    BlindLibraries,
    Unexplained,
}

/// What a sentence says of who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// It says nothing.
    Unsaid,
    Nobody,
    NobodySeen,
    CantBeCounted,
    Waiters {
        count: u32,
        is_least: bool,
    },
    Standbys {
        count: u32,
        is_least: bool,
    },
}

/// The sentence on a lock.
pub fn sentence(lock: &AssessedLock, mirror: &Mirror, thresholds: &Thresholds) -> String {
    let (statement, waiting) = statement(lock, mirror, thresholds);
    english::sentence(&statement, waiting)
}

/// Who waits, as a sentence says it; empty where nobody does and that needs no word.
pub fn waiting_text(lock: &Lock) -> String {
    english::waiting(match waiting(lock) {
        Waiting::Nobody => Waiting::Unsaid,
        waiting => waiting,
    })
}

/// What a finding says.
pub fn oddity_sentence(oddity: &Oddity) -> String {
    english::findings::sentence(oddity)
}

/// Sessions that wait for each other, by the names they are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Circle {
    /// Who waits, for which lock, and who holds that.
    pub(crate) steps: Vec<(String, String, String)>,
    /// Steps that are not listed.
    pub(crate) more: usize,
    /// Whose hold on which lock costs least to release.
    pub(crate) victim: Option<(String, String)>,
    pub(crate) is_certain: bool,
}

/// The sentence on a circle.
pub(crate) fn circle_sentence(circle: &Circle) -> String {
    english::deadlocks::sentence(circle)
}

/// Who holds after a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextHolder {
    BarrierOpens,
    NobodyInItsPlace,
    ItemFree,
    /// A lease is free, and the znode at this path is first in line.
    Lease {
        first: Option<String>,
    },
    /// Whoever of those that watch the znode creates it first.
    AnyWatcher {
        sessions: u32,
    },
    Free,
    NobodySeen,
    Unchanged,
    /// Those that hold as well go on.
    Others {
        count: usize,
    },
    /// These, with the fencing token of each, and so many more.
    Gets {
        names: Vec<(String, Option<Zxid>)>,
        more: usize,
        leads: bool,
    },
}

/// Who gets a lock after a release.
pub(crate) fn next_holder_sentence(next: &NextHolder) -> String {
    english::releases::sentence(next)
}

fn statement(lock: &AssessedLock, mirror: &Mirror, thresholds: &Thresholds) -> (Statement, Waiting) {
    if let Some(in_10_s) = rate(lock) {
        return (Statement::ChangesHands { in_10_s }, Waiting::Unsaid);
    }
    let Some(first) = lock.holders.first().filter(|_| lock.gone_since.is_none()) else {
        return (unheld(lock), Waiting::Unsaid);
    };
    let who = name_of(first);
    let too_long =
        |is_stuck| Statement::HeldTooLong { who: who.clone(), usual_ms: usual_hold_ms(lock, thresholds), is_stuck };
    let statement = match lock.assessment.verdict {
        Verdict::Deadlocked | Verdict::MaybeDeadlocked => {
            let circle = lock.assessment.deadlock.as_ref();
            let text = circle.map_or_else(String::new, |deadlock| deadlock.sentence.to_string());
            return (Statement::Circle(text), Waiting::Unsaid);
        }
        Verdict::DoubleOwner => Statement::HeldAtOnce {
            names: lock.holders.iter().take(NAMED_MAX).map(name_of).collect(),
            more: lock.standing.holders.saturating_sub(NAMED_MAX as u32),
            why: conflict_of(lock),
        },
        Verdict::Orphan => {
            Statement::Orphan { znode: orphan(lock).map_or_else(String::new, |hold| hold.name.to_string()) }
        }
        Verdict::Expiring => Statement::Expiring { who },
        Verdict::Stuck => too_long(true),
        // How long it is held is not known, or it would be called stuck.
        Verdict::Slow if usual_hold_ms(lock, thresholds).is_none() => Statement::WaitedTooLong { who },
        Verdict::Slow => too_long(false),
        Verdict::Free | Verdict::Healthy | Verdict::Unknown | Verdict::NobodyHome => return held(lock, mirror, who),
    };
    (statement, waiting(lock))
}

/// How often a lock changes hands in 10 s, where that says more than who holds it: nothing is wrong, and it is often.
pub fn rate(lock: &AssessedLock) -> Option<u32> {
    let is_well = matches!(lock.assessment.verdict, Verdict::Free | Verdict::Healthy);
    lock.tally.hand_offs.in_10_s().filter(|_| is_well && lock.recognition.counts_as_waiting())
}

fn held(lock: &Lock, mirror: &Mirror, who: String) -> (Statement, Waiting) {
    let count = lock.standing.holders;
    let more = count.saturating_sub(1);
    let statement = match lock.recognition.recipe {
        _ if lock.recognition.is_led() => Statement::Leader { who },
        Recipe::ReadWrite => match lock.holders.iter().find(|hold| hold.access == Access::Write) {
            Some(writer) => Statement::Written { who: name_of(writer), reads_as_well: count > 1 },
            None => Statement::Read { who, more },
        },
        Recipe::Semaphore => {
            let capacity = lock.capacity(mirror, lock.recognition.configured_max);
            Statement::Leases { held: count, max: capacity.and_then(|capacity| capacity.max.number()), first: who }
        }
        Recipe::Barrier => Statement::BarrierUp,
        Recipe::DoubleBarrier if mirror.directory(&lock.parts.main).is_some_and(is_marked) => {
            return (Statement::BarrierOpen { inside: count }, Waiting::Unsaid);
        }
        Recipe::DoubleBarrier => return (Statement::BarrierLeaving { inside: count }, Waiting::Unsaid),
        Recipe::Queue => {
            let items = lock.standing.waiting.count;
            return (Statement::InWork { count, first: who, items }, Waiting::Unsaid);
        }
        Recipe::Membership => return (Statement::Members { count, first: who, more }, Waiting::Unsaid),
        Recipe::SequentialMutex | Recipe::SingleNodeMutex | Recipe::Election | Recipe::Unknown => {
            Statement::Held { who, more }
        }
    };
    (statement, waiting(lock))
}

fn conflict_of(lock: &Lock) -> Conflict {
    let number = |hold: &Hold| crate::sequence::parse(&hold.name).map(|found| found.number);
    let is_same =
        lock.holders.first().is_some_and(|first| lock.holders.iter().all(|hold| number(hold) == number(first)));
    match is_same {
        true => Conflict::SameNumber,
        false if lock.holders.len() > 1 && !see_each_other(lock) => Conflict::BlindLibraries,
        false => Conflict::Unexplained,
    }
}

/// Whether the holders' clients look at each other's names.
fn see_each_other(lock: &Lock) -> bool {
    let dialects: Vec<Dialect> =
        lock.holders.iter().filter_map(|hold| rule_of(&hold.name, None)).map(|id| rule(id).dialect).collect();
    dialects.iter().all(|one| dialects.iter().all(|other| one.sees(*other)))
}

fn unheld(lock: &Lock) -> Statement {
    let count = lock.standing.waiting.count;
    let last = lock.tally.past.front().map(|past| name_of(&past.hold));
    if lock.gone_since.is_some() {
        return Statement::NobodyHome { last };
    }
    if count == 0 && lock.missing().hides_holders() {
        return Statement::NotKnown { last };
    }
    match (lock.recognition.shape, lock.recognition.recipe) {
        (Shape::Gathering, _) if count > 0 => Statement::Gathering { count, max: lock.recognition.configured_max },
        (Shape::Gathering, _) => Statement::NobodyAtBarrier,
        (Shape::Items | Shape::TakenItems, _) if count > 0 => Statement::Items { items: count },
        (Shape::Items | Shape::TakenItems, _) => Statement::Empty,
        (Shape::Gate, _) => Statement::BarrierDown,
        (_, Recipe::Election) => Statement::NobodyLeads { last },
        _ => Statement::Free { last },
    }
}

fn waiting(lock: &Lock) -> Waiting {
    let missing = lock.missing();
    let is_least = !missing.is_empty();
    match lock.waiters_seen() {
        0 if missing.is_empty() => Waiting::Nobody,
        0 if missing.has(Missing::WatchesNotRead) => Waiting::CantBeCounted,
        0 => Waiting::NobodySeen,
        count if lock.recognition.is_led() => Waiting::Standbys { count, is_least },
        count => Waiting::Waiters { count, is_least },
    }
}
