//! The one word on a lock, and the one sentence.

use super::lock::{Lock, Tenure};
use super::mirror::Mirror;
use super::recipe::{Access, Place, family};
use super::time::TimeMs;

/// Worst last. Meanings as in the wire's enum of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "named as on the wire, documented there")]
pub enum Verdict {
    Free,
    Healthy,
    Unknown,
    Slow,
    Expiring,
    NobodyHome,
    Orphan,
    Stuck,
    DoubleOwner,
    Deadlocked,
}

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
            Some(usual) => {
                ((usual.saturating_mul(self.slow_times)).max(self.slow_min_ms), usual.saturating_mul(self.stuck_times).max(self.stuck_min_ms))
            }
            None => (self.slow_unknown_ms, self.stuck_unknown_ms),
        }
    }
}

/// The usual hold of a lock: the median of the holds seen; None while too few were.
pub fn usual_hold_ms(lock: &Lock, thresholds: &Thresholds) -> Option<i64> {
    (lock.tally.holds.count() >= thresholds.usual_after_holds).then(|| lock.tally.holds.percentile(50)).flatten()
}

/// The verdict now, and when it may change although nothing happens.
pub fn judge(lock: &Lock, mirror: &Mirror, now: TimeMs, thresholds: &Thresholds) -> (Verdict, Option<TimeMs>) {
    if lock.recognition.place == Place::Unread {
        return (Verdict::Unknown, None);
    }
    let Some(first) = lock.holders.first() else { return (Verdict::Free, None) };
    if lock.holders.len() > 1 {
        return (Verdict::DoubleOwner, None);
    }
    if first.czxid.is_some() && first.owner.is_none() {
        return (Verdict::Orphan, None);
    }
    if lock.waiter_count(mirror) == 0 || is_leading(lock) {
        return (Verdict::Healthy, None);
    }
    let (slow_ms, stuck_ms) = thresholds.limits_ms(usual_hold_ms(lock, thresholds));
    let held_ms = now.since(first.since);
    if held_ms >= stuck_ms {
        (Verdict::Stuck, None)
    } else if held_ms >= slow_ms {
        (Verdict::Slow, Some(first.since + stuck_ms))
    } else {
        (Verdict::Healthy, Some(first.since + slow_ms))
    }
}

/// A leader is meant to stay: its long hold is no sign of trouble.
fn is_leading(lock: &Lock) -> bool {
    lock.recognition.rule.is_some_and(|rule| family(rule).access == Access::Leader)
}

/// The sentence. It holds no age, so it changes only when something happens.
pub fn sentence(lock: &Lock, mirror: &Mirror, thresholds: &Thresholds) -> String {
    let waiting = waiting_clause(lock, mirror);
    let Some(first) = lock.holders.first() else { return sentence_unheld(lock) };
    let who = name_of(first);
    let usual = usual_hold_ms(lock, thresholds).map_or_else(String::new, |ms| format!("; usual is {}", duration(ms)));
    let holds = if is_leading(lock) { "Led by" } else { "Held by" };
    match lock.verdict {
        Verdict::DoubleOwner => {
            let names: Vec<String> = lock.holders.iter().take(3).map(name_of).collect();
            format!("{} hold at once with the same sequence number: {}{waiting}.", lock.holders.len(), names.join(", "))
        }
        Verdict::Orphan => format!("Orphan: {} is persistent, no session owns it, it never frees itself{waiting}.", first.name),
        Verdict::Stuck => format!("Stuck: {who} holds far beyond the usual time{usual}{waiting}."),
        Verdict::Slow => format!("Slow: {who} holds longer than usual{usual}{waiting}."),
        _ => format!("{holds} {who}{waiting}."),
    }
}

fn sentence_unheld(lock: &Lock) -> String {
    if lock.recognition.place == Place::Unread {
        return format!("Recognised as {}; its queue is not read by this version.", lock.recognition.label);
    }
    match lock.tally.past.front() {
        Some(past) => format!("Free; last held by {}.", name_of(&past.tenure)),
        None => "Free; nobody was seen to hold it yet.".to_owned(),
    }
}

fn waiting_clause(lock: &Lock, mirror: &Mirror) -> String {
    match (lock.recognition.place, lock.waiter_count(mirror)) {
        (Place::FixedInDirectory | Place::FixedAlone, _) => "; who waits has no znode".to_owned(),
        (_, 0) => "; nobody waits".to_owned(),
        (_, 1) => "; 1 waits".to_owned(),
        (_, count) => format!("; {count} wait"),
    }
}

fn name_of(tenure: &Tenure) -> String {
    match (&tenure.label, tenure.owner) {
        (Some(label), _) => label.to_string(),
        (None, Some(session)) => format!("session {session}"),
        (None, None) if tenure.czxid.is_some() => tenure.name.to_string(),
        (None, None) => format!("{} (owner unknown)", tenure.name),
    }
}

/// A duration in words, short: `850 ms`, `12.3 s`, `4 min`.
fn duration(ms: i64) -> String {
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60_000..7_200_000 => format!("{} min", ms / 60_000),
        _ => format!("{} h", ms / 3_600_000),
    }
}
