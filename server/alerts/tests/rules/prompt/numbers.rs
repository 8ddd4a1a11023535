//! How each number gets above its limit.

use lockscope_alerts::rule::Condition;

use super::Life;

/// Each of them, with a limit.
pub(super) const ALL: [&str; 5] = ["waiting > 30s", "held > 5m", "depth > 2", "not_held > 30s", "unseen > 1m"];

pub(super) fn live(condition: Condition, life: &mut Life) -> i64 {
    life.tree("/l\n/l/lock-0000000000 owner=a");
    match condition {
        Condition::Waiting(ms) => {
            life.comes(2_000, "/l/lock-0000000001", "owner=b");
            2_000 + ms
        }
        // It held when it was first seen: that is all that is known.
        Condition::Held(ms) => ms,
        Condition::Depth(count) => {
            for number in 1..=i64::from(count) + 1 {
                life.comes(1_000 * number, &format!("/l/lock-{number:010}"), &format!("owner={number}"));
            }
            1_000 * (i64::from(count) + 1)
        }
        Condition::NotHeld(ms) => {
            life.goes(2_000, "/l/lock-0000000000");
            2_000 + ms
        }
        Condition::Unseen(ms) => {
            life.tell("2000 link lost no answer").0.is_answering = false;
            2_000 + ms
        }
        Condition::Verdict(_) | Condition::Finding(_) => unreachable!("those are no numbers"),
    }
}
