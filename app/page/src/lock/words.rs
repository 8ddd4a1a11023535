//! The page of a lock in words. Pure.

use crate::format::{bytes, count, duration, middle, plural, visible};
use lockscope_view::{
    Capacity, Confidence, Contender, EdgeEvidence, FiredRow, HerdKnown, HoldEnd, Liveness, LockStats, QueueMap, Recipe,
    Trust,
};

pub(super) const LOCK: &str = "Lock";
/// Instead of a lock: the address names none, there is none, nothing was read.
pub(super) const WHICH: &str = "Which lock?";
pub(super) const NO_LOCK: &str = "No lock at this path";
pub(super) const NOT_READ: &str = "Not read yet";
pub(super) const NOTHING: &str = "Nothing that Lockscope has read is a lock with this path. If one is taken here, this page shows it at once. \
    The status page tells which roots are read.";

pub(super) const QUEUE: &str = "Queue";
pub(super) const HOLDS: &str = "holds";
pub(super) const LIVENESS: &str = "Liveness";
pub(super) const NO_ZNODE: &str = "no znode";
pub(super) const ZNODE_PATH: &str = "znode path";
pub(super) const NOT_KNOWN: &str = "not known";
pub(super) const HOLD: &str = "Hold";
pub(super) const WAIT: &str = "Wait";

pub(super) fn recognised(confidence: Confidence, root: &str) -> String {
    let sure = match confidence {
        Confidence::High => "for sure",
        Confidence::Medium => "probably",
        Confidence::Low => "perhaps",
    };
    format!(", recognised {sure}, under root {}", visible(root))
}

pub(super) fn holders(holders: u32) -> String {
    if holders == 1 { "Holder".to_owned() } else { plural(holders.into(), "holder", "holders") }
}

/// Holders beyond those that have a card.
pub(super) fn other_holders(more: u32) -> String {
    format!("And {more} more: they are in the table below.")
}

pub(super) fn reason(holder: &Contender, trust: &Trust) -> String {
    match (holder.liveness, holder.session_id) {
        (Liveness::Persistent, _) => {
            "No session owns this znode, so there is no client: it stays until somebody deletes it.".to_owned()
        }
        (_, None) => "The owner was not read, so the client is not known.".to_owned(),
        _ if trust.members == 0 => "The client is not known: evidence is off, or no member was asked yet.".to_owned(),
        _ if trust.members_heard < trust.members => {
            format!(
                "The client is not known: only {} of {} members report who is connected.",
                trust.members_heard, trust.members
            )
        }
        _ => "The client is not known: no member has listed the session.".to_owned(),
    }
}

pub(super) fn reason_and_way(reason: &str) -> String {
    format!("{reason} More on the ")
}

pub(super) fn chain_title(recipe: Recipe) -> &'static str {
    match recipe {
        Recipe::Election => "Candidates",
        Recipe::Membership | Recipe::DoubleBarrier => "Members",
        Recipe::Barrier => "Barrier",
        _ => QUEUE,
    }
}

pub(super) fn capacity(capacity: &Capacity) -> String {
    let of = capacity.max.map_or_else(String::new, |max| format!(" of {}", count(max)));
    format!("{}{of}: {}.", count(capacity.used), visible(&capacity.how))
}

pub(super) fn evidence(evidence: EdgeEvidence) -> &'static str {
    match evidence {
        EdgeEvidence::Inferred => "inferred from the recipe",
        EdgeEvidence::Confirmed => "confirmed: it watches that znode",
        EdgeEvidence::Missing => "missing: nobody sees it watch that znode",
        EdgeEvidence::Shared => "shared: many wait for the same znode",
    }
}

pub(super) fn edge(to: &str, known: EdgeEvidence) -> String {
    format!("waits for {to}, {}", evidence(known))
}

pub(super) fn contenders(number: u32) -> String {
    plural(number.into(), "contender", "contenders")
}

/// How many wait without a znode.
pub(super) fn hidden_waiters(number: u32) -> String {
    match number {
        1 => "1 waiter is seen only by its watch.".to_owned(),
        many => format!("{} waiters are seen only by their watches.", count(many)),
    }
}

pub(super) fn session(contender: &Contender) -> String {
    match (contender.session_id, contender.ephemeral) {
        (Some(session), _) => session.to_string(),
        (None, Some(false)) => "none: persistent".to_owned(),
        (None, _) => "not known".to_owned(),
    }
}

/// Instead of the znode that somebody has not.
pub(super) fn watches(node: &str) -> String {
    format!("no znode; watches {node}")
}

/// The first of several znodes waited for.
pub(super) fn and_more(name: &str, more: usize) -> String {
    format!("{name} and {more} more")
}

pub(super) fn rows(first: u32, last: u32, total: u32) -> String {
    format!("rows {} to {} of {}", count(first), count(last), count(total))
}

pub(super) fn dead_in_line(number: u32) -> String {
    format!("Dead in line: {} ▸", count(number))
}

/// Where a button does not lead to all of them.
pub(super) fn leads_to(first: usize) -> String {
    format!("Leads to the first {first} of them")
}

/// Where it stands and when its turn may come, with how that is known; nothing of when where no rate is known.
pub(super) fn place(map: &QueueMap, now_ms: i64) -> String {
    let Some(place) = map.place else {
        let of = if map.mapped < map.total { format!(" among the first {}", count(map.mapped)) } else { String::new() };
        return format!("No waiter of {}{of}.", middle(&visible(&map.app), 40));
    };
    let at = format!("#{}", count(place.position));
    if !map.state.is_current() {
        return format!("{at}, when this was last known.");
    }
    let Some(hand_overs) = map.hand_overs else {
        return format!("{at}; how long that takes is not known yet.");
    };
    let (rate, takes) = (hand_overs.in_1000_s(now_ms), rounded(hand_overs.time_for_ms(place.ahead, now_ms)));
    format!(
        "{at}, at {} ≈ {takes} (by the last {})",
        rate_words(rate),
        plural(hand_overs.count.into(), "hand-over", "hand-overs")
    )
}

fn rate_words(in_1000_s: i64) -> String {
    match in_1000_s {
        1_000.. => format!("{}.{} hand-overs/s", in_1000_s / 1_000, in_1000_s % 1_000 / 100),
        _ => format!("{}.{} hand-overs/min", in_1000_s * 60 / 1_000, in_1000_s * 60 % 1_000 / 100),
    }
}

/// An estimate says no more than it knows: minutes without seconds, seconds without tenths.
fn rounded(ms: i64) -> String {
    match ms {
        ..60_000 => format!("{} s", ms.div_euclid(1_000).max(1)),
        60_000..3_600_000 => format!("{} min", (ms + 30_000) / 60_000),
        _ => duration(ms),
    }
}

/// Of how many it is not known whether they are alive, and how many were not looked at.
pub(super) fn what_is_unknown(map: &QueueMap) -> Option<String> {
    let unknown: u32 = map.slices.iter().map(|slice| slice.unknown).sum();
    let beyond = map.total.saturating_sub(map.mapped);
    match (unknown, beyond) {
        (0, 0) => None,
        (0, _) => Some(format!("The last {} are not looked at.", count(beyond))),
        (_, 0) => Some(format!("Liveness unknown: {}.", count(unknown))),
        _ => Some(format!("Liveness unknown: {}. The last {} are not looked at.", count(unknown), count(beyond))),
    }
}

pub(super) const HERD_UNKNOWN: &str =
    "Whom a release wakes is not known: clients here may watch the list of children, which is in no table.";

pub(super) fn releasing_wakes(is_herd: bool) -> &'static str {
    if is_herd { "Herd: releasing it wakes " } else { "Releasing it wakes " }
}

/// What stands before a number of clients by how it is known, how that is, and at length.
fn known_words(known: HerdKnown) -> (&'static str, &'static str, &'static str) {
    match known {
        HerdKnown::Counted => ("", "counted", "Counted in every member's table of watches"),
        HerdKnown::ByRule => ("≈ ", "by rule", "By the rule of the recipe: no table of watches was read"),
        HerdKnown::AtLeast => (
            "≥ ",
            "not all are seen",
            "Some members reported nothing, or some clients watch the list of children, which is in no table",
        ),
        HerdKnown::Unknown => ("", "", ""),
    }
}

pub(super) fn woken(number: u32, known: HerdKnown) -> String {
    format!("{}{}", known_words(known).0, plural(number.into(), "client", "clients"))
}

/// How that is known, and of how many bytes the events are.
pub(super) fn how_known(known: HerdKnown, weight: Option<u64>) -> String {
    let bytes = weight.map_or_else(String::new, |weight| format!(", {} of events", bytes(weight)));
    format!(" ({}){bytes}.", known_words(known).1)
}

pub(super) fn herd_title(known: HerdKnown) -> &'static str {
    known_words(known).2
}

pub(super) fn fired(row: &FiredRow) -> String {
    let mut text = format!(
        "{}: in the last {} {} of child lists woke {}",
        visible(&row.member),
        duration(row.over_ms),
        plural(row.child_changes, "change", "changes"),
        plural(row.woken_by_child_changes, "watch", "watches")
    );
    if row.deletions > 0 {
        text.push_str(&format!(
            ", {} woke {}",
            plural(row.deletions, "deletion", "deletions"),
            count(row.woken_by_deletions)
        ));
    }
    text
}

pub(super) fn counted(stats: &LockStats) -> String {
    let times = |number: u64| plural(number, "time", "times");
    let mut text = format!("Taken {}.", times(stats.acquisitions));
    if stats.owner_unknown > 0 {
        text.push_str(&format!(" Owner unknown {}.", times(stats.owner_unknown)));
    }
    if stats.gave_up > 0 {
        text.push_str(&format!(" Left without holding it {}.", times(stats.gave_up)));
    }
    text + &sequence_words(stats)
}

/// How much of the sequence numbers is used up.
fn sequence_words(stats: &LockStats) -> String {
    let Some(ppm) = stats.sequence_used_ppm else { return String::new() };
    let percent = match ppm {
        // Nothing to think of for years.
        0 => return String::new(),
        _ => format!("{}.{:04}", ppm / 10_000, ppm % 10_000).trim_end_matches('0').trim_end_matches('.').to_owned(),
    };
    format!(" Sequence numbers used: {percent} %.")
}

pub(super) fn end(how: HoldEnd) -> &'static str {
    match how {
        HoldEnd::Released => "released",
        HoldEnd::SessionEnded => "session ended",
        HoldEnd::Unknown => "not seen",
        HoldEnd::Forced => "released through Lockscope",
    }
}

/// The record of the audit log.
pub(super) fn record(id: u64) -> String {
    format!("record #{id}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::{HandOvers, QueuePlace, QueueSlice, RootState};

    fn map() -> QueueMap {
        QueueMap {
            state: RootState::Live,
            total: 10_001,
            mapped: 10_001,
            per_slice: 42,
            slices: vec![QueueSlice::default()],
            dead_count: 0,
            dead: Vec::new(),
            hand_overs: Some(HandOvers { count: 12, since_ms: 0, until_ms: 10_000 }),
            place: Some(QueuePlace { position: 812, ahead: 812 }),
            app: "report".to_owned(),
        }
    }

    #[test]
    fn a_place_has_an_estimate_only_where_the_rate_is_known() {
        let told = |map: &QueueMap| place(map, 10_000);
        assert_eq!(told(&map()), "#812, at 1.2 hand-overs/s ≈ 11 min (by the last 12 hand-overs)");
        assert_eq!(told(&QueueMap { hand_overs: None, ..map() }), "#812; how long that takes is not known yet.");
        assert_eq!(told(&QueueMap { state: RootState::Stale, ..map() }), "#812, when this was last known.");
        assert_eq!(told(&QueueMap { place: None, ..map() }), "No waiter of report.");
        let first = QueueMap { place: None, mapped: 10_000, app: "a\u{202e}b".to_owned(), ..map() };
        assert_eq!(place(&first, 1), "No waiter of a␥b among the first 10\u{202f}000.");
        assert!(place(&map(), 600_000).starts_with("#812, at 1.2 hand-overs/min"), "it stands still");
    }

    #[test]
    fn what_is_not_known_is_said() {
        assert_eq!(what_is_unknown(&map()), None);
        let slices = vec![QueueSlice { unknown: 3, ..QueueSlice::default() }];
        let told = what_is_unknown(&QueueMap { slices, mapped: 10_000, ..map() });
        assert_eq!(told.as_deref(), Some("Liveness unknown: 3. The last 1 are not looked at."));
    }

    #[test]
    fn what_fired_in_words() {
        let mut row = FiredRow {
            member: "m1".to_owned(),
            over_ms: 5_000,
            deletions: 0,
            woken_by_deletions: 0,
            child_changes: 12,
            woken_by_child_changes: 480,
        };
        assert_eq!(fired(&row), "m1: in the last 5.0 s 12 changes of child lists woke 480 watches");
        (row.deletions, row.woken_by_deletions) = (3, 3);
        assert!(fired(&row).ends_with(", 3 deletions woke 3"));
    }
}
