//! The board in words. Pure.

use crate::format::{count, middle, plural, visible};
pub(super) use lockscope_view::live::{calm, need_you};
use lockscope_view::{RootState, Sort, Verdict};

pub(super) const NOT_READ: &str = "Not read yet";
pub(super) const CONNECTING: &str = "Connecting to ZooKeeper";
pub(super) const READING: &str = "Reading the tree";
pub(super) const NO_ROOT: &str = "No root can be read";
pub(super) const NO_LOCKS: &str = "No locks here yet";
pub(super) const WHAT_A_LOCK_IS: &str = "A lock is a directory of numbered znodes, as Curator, kazoo and ZooKeeper's recipes make it. One that is taken shows \
    here at once. To see one, in zkCli:";
/// What no filter fits.
pub(super) const LOCK: &str = "lock";
pub(super) const ALL: &str = "all";
pub(super) const MORE_LOCKS: &str = "More locks";
pub(super) const SORT_BY_DAMAGE: &str = "Sort by total waiting time";
pub(super) const NOT_KEPT: &str = "Not kept: the server did not answer. It lasts as long as this page.";

pub(super) fn sort(sort: Sort) -> &'static str {
    match sort {
        Sort::Worst => "worst first",
        Sort::Damage => "total waiting time",
        Sort::OldestWait => "oldest wait",
        Sort::Depth => "waiters",
        Sort::Hold => "hold time",
        Sort::Path => "path",
        Sort::Recipe => "recipe",
        Sort::Holder => "holder",
    }
}

pub(super) fn root(path: &str, state: RootState, locks: u32) -> String {
    let trouble = if state == RootState::Live { String::new() } else { format!(", {state}") };
    format!("{} ({}{trouble})", middle(&visible(path), 40), count(locks))
}

pub(super) fn locks_of(number: u32, all: u32) -> String {
    let locks = plural(number.into(), "lock", "locks");
    if number == all { locks } else { format!("{locks} of {all}") }
}

pub(super) fn held_and_waits(held: u32, waiters: u32) -> String {
    let waits = match waiters {
        0 => "nobody waits".to_owned(),
        1 => "1 waits".to_owned(),
        many => format!("{} wait", count(many)),
    };
    format!(" {} held, {waits}", count(held))
}

/// Before the kinds of those that have no line.
pub(super) fn and_more_problems(number: u64) -> String {
    format!("And {}: ", plural(number, "more problem", "more problems"))
}

/// Where it says what to write into the servers' configuration.
pub(super) const WITHOUT_EVIDENCE_HELP: &str = "What would help.";

/// That no member of some ensembles says who is connected to it.
pub(super) fn without_evidence(ensembles: u32) -> String {
    let of = if ensembles > 1 { format!(" of {} ensembles", count(ensembles)) } else { String::new() };
    format!("No server{of} says who is connected to it: no client is called disconnected, and no lock expiring.")
}

pub(super) fn in_root(root: &str) -> String {
    format!("in {root}")
}

pub(super) fn findings(number: u64) -> String {
    plural(number, "finding", "findings")
}

pub(super) fn pin(is_pinned: bool) -> &'static str {
    if is_pinned { "Unpin" } else { "Pin on top" }
}

pub(super) fn with_key(label: &str) -> String {
    format!("{label} (s)")
}

pub(super) fn nobody(verdict: Verdict) -> &'static str {
    if verdict == Verdict::Unknown { "not known" } else { "nobody" }
}

/// The sign before a number that may not be the whole of it, and why.
pub(super) fn at_least(incomplete: u32) -> (&'static str, String) {
    match incomplete {
        0 => ("", String::new()),
        1 => ("≥ ", "At least: not all who wait for 1 lock can be seen".to_owned()),
        many => ("≥ ", format!("At least: not all who wait for {} locks can be seen", count(many))),
    }
}

pub(super) fn forget(view: &str) -> String {
    format!("Forget {view}")
}

pub(super) fn kept(is_by_server: bool) -> &'static str {
    if is_by_server { "Kept for you, in every browser." } else { "Kept in this browser." }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::RootBrief;

    #[test]
    fn all_are_fine_only_where_all_are_known() {
        let mut head = lockscope_view::BoardHead::default();
        head.totals.locks = 17;
        head.totals.verdicts = vec![(Verdict::Healthy, 17)];
        assert_eq!(calm(&head, true), "All 17 locks are fine.");
        assert!(!calm(&head, false).contains("fine"));
        head.totals.verdicts = vec![(Verdict::Unknown, 3), (Verdict::Healthy, 14)];
        assert_eq!(calm(&head, true), "No problem is seen; of 3 locks it is not known.");
        head.totals.verdicts = vec![(Verdict::Healthy, 17)];
        head.roots = vec![RootBrief {
            tag: None,
            path: "/a".to_owned(),
            state: RootState::Partial,
            since_ms: 0,
            why: String::new(),
            locks: 17,
            help: String::new(),
        }];
        assert_eq!(calm(&head, true), "No problem is seen, but not every root can be read.");
    }
}
