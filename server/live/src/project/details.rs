//! The parts of a lock page around its contenders: capacity, findings, foreign children, what the recipe hides.

use lockscope_core::change::Departure;
use lockscope_core::finding::Finding;
use lockscope_core::lock::{Capacity, Lock, Maximum, PastHold};
use lockscope_core::mirror::{Child, ChildKey, Mirror};
use lockscope_core::recipe::Shape;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::join_path;
use lockscope_view as view;

use super::words::view_severity;

/// A ctime that is so much ahead of now is no matter of delays.
const EARLY_MS: i64 = 1_000;
const FOREIGN_MAX: usize = 50;
/// Sequence numbers there are before the counter runs over.
const SEQUENCE_MAX: u64 = 2_147_483_647;

pub(super) fn past_holder(past: &PastHold) -> view::PastHolder {
    view::PastHolder {
        node: past.hold.name.to_string(),
        session_id: past.hold.owner.map(|owner| view::SessionId(owner.0)),
        label: past.hold.label.as_deref().map(str::to_owned),
        from_ms: past.hold.since.0,
        until_ms: past.until.0,
        session_ended: past.how == Departure::SessionEnded,
        is_lower_bound: past.hold.is_lower_bound,
        address: past.hold.peer.as_ref().and_then(|peer| peer.address.as_deref()).map(str::to_owned),
        woke: past.woke,
        how: match past.how {
            Departure::Deleted => view::HoldEnd::Released,
            Departure::SessionEnded => view::HoldEnd::SessionEnded,
            Departure::DuringGap => view::HoldEnd::Unknown,
        },
        released_by: None,
        record: None,
    }
}

pub(super) fn capacity(lock: &Lock, capacity: Capacity) -> view::Capacity {
    let how = match capacity.max {
        Maximum::Unknown if lock.recognition.shape == Shape::Gathering => {
            "how many must gather is not stored in ZooKeeper; `max` in a [[lock]] entry of the configuration sets it"
        }
        Maximum::Configured(_) => "the maximum is from the configuration",
        Maximum::Stored(_) => "the maximum is the data of the semaphore's znode",
        Maximum::Seen(_) => "the maximum is not stored in ZooKeeper; the head of the queue waits while this many hold",
        Maximum::Unknown => {
            "the maximum is not stored in ZooKeeper; `max` in a [[lock]] entry of the configuration sets it"
        }
    };
    view::Capacity { used: capacity.used, max: capacity.max.number(), how: how.to_owned() }
}

pub(super) fn finding(finding: &Finding) -> view::FindingRow {
    view::FindingRow {
        code: finding.code.name().to_owned(),
        severity: view_severity(finding.severity),
        text: finding.text.to_string(),
        paths: finding.paths.iter().map(ToString::to_string).collect(),
        since_ms: finding.since.0,
    }
}

pub(super) fn sequence_used_ppm(creates_ever: u32) -> u32 {
    u32::try_from(u64::from(creates_ever) * 1_000_000 / SEQUENCE_MAX).unwrap_or(u32::MAX)
}

/// Children that are no part of the lock.
pub(super) fn foreign(lock: &Lock, mirror: &Mirror) -> Vec<view::Foreign> {
    let row = |(directory, key, _): (&str, &ChildKey, &Child)| view::Foreign {
        path: join_path(directory, key.name()),
        reason: format!("its name is not one that {} writes", lock.recognition.label),
    };
    lockscope_core::finding::foreign(lock, mirror).take(FOREIGN_MAX).map(row).collect()
}

/// Says so when contenders were created in what is still the future here: clocks differ by more than is known, or one
/// was set. Their waits are shown as nothing, never as less.
pub(super) fn early(rows: &[view::Contender], now: TimeMs) -> Option<String> {
    let early = rows.iter().filter(|row| row.created_at_ms.is_some_and(|at_ms| at_ms > now.0 + EARLY_MS)).count();
    (early > 0).then(|| {
        format!("{early} of these contenders were created in the future of this server's clock: a clock was set, or differs by more than is known. Their times are shown as zero until then.")
    })
}

pub(super) fn notes(lock: &Lock) -> Vec<String> {
    let note = match lock.recognition.shape {
        Shape::Fixed | Shape::Alone => {
            "Who waits for this lock has no znode: waiters only watch the holder's, and its release wakes all of them. The members' tables of watches show them, where they may be read."
        }
        Shape::Gate => {
            "Who waits at this barrier has no znode: clients only watch the barrier's, and all of them are woken when it goes. The members' tables of watches show them, where they may be read."
        }
        Shape::Items => "Consumers of this queue have no znode: the tree shows the items, not who waits for them.",
        Shape::TakenItems => {
            "An item under taken/ is held by the session that works on it; consumers that wait have no znode."
        }
        Shape::Group => "Members of a group wait for nobody.",
        Shape::Line
        | Shape::LeaderElection
        | Shape::LeasesAndLocks
        | Shape::LeasesAndSibling
        | Shape::Gathering
        | Shape::Idle => return Vec::new(),
    };
    vec![note.to_owned()]
}
