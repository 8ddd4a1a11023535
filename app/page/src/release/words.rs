//! The dialog that releases, in words. Pure.

use super::stage::Seen;
use crate::format::{clock, plural, visible};
use lockscope_view::{Contender, ContenderRole, Outcome, ReleasePlan};

pub(super) const CLOSE: &str = "Close";
pub(super) const CANCEL: &str = "Cancel";
/// Instead of a plan: it is asked for, or there is none.
pub(super) const LOOKING: &str = "Looking at it …";
pub(super) const REFUSED: &str = "This can’t be released";
pub(super) const NO_ANSWER: &str = "The server did not answer. Whether the request arrived is not known: look at the lock and at the audit log before you try again.";
pub(super) const RAN_OUT: &str = "The plan ran out. Refresh it to go on.";
pub(super) const IS_OUT: &str = "The request is out; its outcome comes here …";
pub(super) const NEED: &str = "Type the path and a reason to go on";
pub(super) const REVOKE: &str =
    "Writes __REVOKE__ to its znode, as Curator's revocable mutex asks for. Its owner decides; nothing is deleted.";
pub(super) const REASON_HINT: &str = "what you saw, ticket, who was asked";
pub(super) const THE_PATH: &str = "the lock’s path";

pub(super) fn release(node: &str) -> String {
    format!("Release {}", visible(node))
}

pub(super) fn sign_in_ended(at_ms: i64) -> String {
    format!("Your sign-in ended at {}", clock(at_ms))
}

pub(super) fn question(role: ContenderRole) -> &'static str {
    match role {
        ContenderRole::Holder => "Release this holder?",
        ContenderRole::Waiter => "Remove this waiter?",
    }
}

pub(super) fn go(role: ContenderRole) -> &'static str {
    match role {
        ContenderRole::Holder => "Release now (deletes its znode)",
        ContenderRole::Waiter => "Remove now (deletes its znode)",
    }
}

pub(super) fn does_for(role: ContenderRole) -> &'static str {
    match role {
        ContenderRole::Holder => "Holds for ",
        ContenderRole::Waiter => "Waits for ",
    }
}

/// What is said of a plan's znode, and why nothing can be ordered now; empty while it can.
pub(super) fn objection(seen: Seen) -> &'static str {
    match seen {
        Seen::Same | Seen::NotShown => "",
        Seen::Gone => "It is gone: nothing is left to release.",
        Seen::Other => "Another znode has its place now. This plan is not for that one.",
        Seen::Written => "Its data was written since this plan was made.",
        Seen::Moved => {
            "It moved in the queue since this plan was made: what a release does is not what is written here."
        }
        Seen::Old => "The view of this lock is not live, so nothing can be ordered.",
        Seen::Paused => "The page is paused and shows the past. Let it go on first.",
    }
}

/// What came of a request, and of which kind that is.
pub(super) fn outcome(outcome: Outcome) -> (&'static str, &'static str) {
    match outcome {
        Outcome::Released => ("good", "Released"),
        Outcome::ReleasedOther => ("stop", "Another one was released"),
        Outcome::Asked => ("good", "It was asked to let go"),
        Outcome::AlreadyGone => ("good", "It was gone already"),
        Outcome::ChangedHands => ("stop", "It changed hands: nothing was deleted"),
        Outcome::VersionMoved => ("stop", "It was written to: nothing was deleted"),
        Outcome::PlanExpired => ("stop", "The plan ran out: nothing was deleted"),
        Outcome::Denied => ("stop", "ZooKeeper denies it: nothing was deleted"),
        Outcome::Unknown => ("stop", "Not known whether it was deleted"),
        Outcome::RefusedAudit => ("stop", "It can’t be recorded: nothing was deleted"),
        Outcome::NotLive => ("stop", "The view is not live: nothing was deleted"),
    }
}

/// The record of the audit log.
pub(super) fn record(id: u64) -> String {
    format!("Record #{id}")
}

/// Before the time after which the znode goes by itself.
pub(super) fn goes_in(is_upper_bound: bool) -> &'static str {
    if is_upper_bound { "at the latest in " } else { "in " }
}

pub(super) fn move_up(waiters: u32) -> String {
    format!("{} up.", plural(waiters.into(), "waiter moves", "waiters move"))
}

/// Which incarnation of the znode the plan is for, after its path.
pub(super) fn incarnation(plan: &ReleasePlan) -> String {
    format!(", czxid {}, data version {}", plan.czxid, plan.version)
}

/// Where a contender is and which znode it has, after its name.
pub(super) fn after_name(contender: &Contender) -> String {
    let address = contender.client.as_ref().map(|client| format!(", {}", visible(&client.address)));
    let czxid = contender.czxid.map(|czxid| format!(", czxid {czxid}"));
    format!("{}{}", address.unwrap_or_default(), czxid.unwrap_or_default())
}

pub(super) fn valid_for(until_ms: i64, now_ms: i64) -> String {
    format!("Plan valid for {}", seconds_left(until_ms, now_ms))
}

/// Whole seconds, never less than are left.
fn seconds_left(until_ms: i64, now_ms: i64) -> String {
    if now_ms == 0 { "…".to_owned() } else { format!("{} s", (until_ms.saturating_sub(now_ms).max(0) + 999) / 1_000) }
}

/// What else of its session would go, before a list.
pub(super) fn falls(znodes: u32) -> String {
    match znodes {
        0 => "It owns no other znode.".to_owned(),
        many => format!("With it {} would go:", plural(many.into(), "more ephemeral", "more ephemerals")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_rounded_up() {
        assert_eq!((seconds_left(60_000, 1_000), seconds_left(60_000, 59_001)), ("59 s".to_owned(), "1 s".to_owned()));
        assert_eq!((seconds_left(5, 60_000), seconds_left(5, 0)), ("0 s".to_owned(), "…".to_owned()));
    }
}
