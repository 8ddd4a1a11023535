//! What the fleet page says.

use crate::parts::verdict_word;
use lockscope_view::words::{count, duration, plural};
use lockscope_view::{Fleet, FleetTile, Link, Verdict};

pub(super) const AS_OF: &str = "As of";
pub(super) const SEARCH: &str = "Search";
pub(super) const LOCK: &str = "Lock";
pub(super) const LOCK_EXAMPLE: &str = "part of a path, in any ensemble";
pub(super) const FILTER: &str = "Filter";
pub(super) const NAME: &str = "Ensemble";
pub(super) const ALL: &str = "Show all";
pub(super) const BY_VERDICT: &str = "Filter by worst verdict";
pub(super) const BY_LABEL: &str = "Filter by label";
pub(super) const PAGES: &str = "Pages of ensembles";
pub(super) const BEFORE: &str = "Previous";
pub(super) const AFTER: &str = "Next";

pub(super) fn lead(fleet: &Fleet) -> String {
    let all = plural(u64::from(fleet.all), "ensemble", "ensembles");
    let shown = if fleet.total == fleet.all {
        format!("{all}, the worst first.")
    } else {
        format!("{} of {all}, the worst first.", count(fleet.total))
    };
    match fleet.not_live {
        0 => shown,
        1 => format!("{shown} 1 of them is not live: its locks may have changed."),
        some => format!("{shown} {} of them are not live: their locks may have changed.", count(some)),
    }
}

pub(super) fn no_tile(all: u32) -> &'static str {
    if all == 0 { "There is no ensemble that you may see." } else { "No ensemble fits the filter." }
}

pub(super) fn label(key: &str, value: &str) -> String {
    format!("{key}: {value}")
}

pub(super) fn more_labels(number: u32) -> String {
    format!("and {}", plural(u64::from(number), "more label", "more labels"))
}

pub(super) fn range(offset: u32, shown: u32, total: u32) -> String {
    format!("{} to {} of {}", count(offset.saturating_add(1)), count(offset.saturating_add(shown)), count(total))
}

/// What stands for the worst verdict where there is none. Of what is not live nobody knows whether there are locks.
pub(super) fn no_verdict(tile: &FleetTile) -> &'static str {
    if tile.is_live { "no lock" } else { "not known" }
}

/// Locks and waiters; a lower bound where more may wait than are seen. What is not live is told as it was read last.
pub(super) fn counts(tile: &FleetTile) -> String {
    if !tile.is_live && tile.locks == 0 {
        return "nothing is known of its locks".to_owned();
    }
    let when = if tile.is_live { "" } else { "as last read: " };
    let locks = plural(u64::from(tile.locks), "lock", "locks");
    let least = if tile.incomplete > 0 { "≥\u{a0}" } else { "" };
    format!("{when}{locks}, {} held, {least}{} waiting", count(tile.held), count(tile.waiters))
}

pub(super) fn oldest(wait_ms: i64) -> String {
    format!(", longest wait {}", duration(wait_ms.max(0)))
}

pub(super) fn locks_that_are(verdict: Verdict, number: u32) -> String {
    format!("{} {}", count(number), verdict_word(verdict))
}

pub(super) fn link(link: Link) -> &'static str {
    match link {
        Link::Live => "Not live since",
        Link::Syncing => "Syncing since",
        Link::Stale => "Stale since",
        Link::Lost => "No connection since",
    }
}
