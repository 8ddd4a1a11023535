//! How a lock comes to each verdict.

use lockscope_core::diagnosis::Verdict;

use super::{A, Life, X, Y, evidence};

pub(super) fn live(verdict: Verdict, life: &mut Life) -> i64 {
    match verdict {
        Verdict::Free => {
            life.tree("/l\n/l/lock-0000000000 owner=a").goes(2_000, "/l/lock-0000000000");
            2_000
        }
        Verdict::Healthy => {
            life.tree("/l").comes(2_000, "/l/lock-0000000000", "owner=a");
            2_000
        }
        Verdict::Unknown => {
            life.tree("/l\n/l/lock-0000000000 owner=a").tell("1000 ? /l unswept").goes(2_000, "/l/lock-0000000000");
            2_000
        }
        Verdict::Slow => {
            life.tree("/l");
            for round in 0..10 {
                let name = format!("/l/lock-{round:010}");
                life.comes(100 * round + 100, &name, "owner=b").goes(100 * round + 199, &name);
            }
            life.comes(2_000, "/l/lock-0000000050", "owner=a").comes(2_100, "/l/lock-0000000051", "owner=b");
            3_000
        }
        Verdict::Expiring => {
            evidence::queue(life);
            evidence::holder_dies(life);
            10_000
        }
        Verdict::NobodyHome => {
            life.tree(&format!("/e\n/e/{A}latch-0000000000 owner=a data=node-1"));
            life.goes(1_000, &format!("/e/{A}latch-0000000000")).goes(2_000, "/e");
            2_000
        }
        Verdict::Orphan => {
            life.tree("/l").comes(2_000, &format!("/l/{X}__lock__0000000000"), "");
            2_000
        }
        Verdict::Stuck => {
            life.tree("/l").comes(1_000, "/l/lock-0000000000", "owner=a").comes(2_000, "/l/lock-0000000001", "owner=b");
            301_000
        }
        Verdict::MaybeDeadlocked => {
            life.tree("/a\n/b\n/c\n/c/lock-0000000000 owner=1a");
            cross(life)
        }
        Verdict::DoubleOwner => {
            life.tree(&format!("/l\n/l/{X}__lock__2147483646 owner=a"));
            life.comes(2_000, &format!("/l/{Y}__lock__-2147483648"), "owner=b");
            2_000
        }
        Verdict::Deadlocked => {
            life.tree("/a\n/b");
            cross(life)
        }
    }
}

/// Two sessions hold one lock each and ask for the other's.
pub(super) fn cross(life: &mut Life) -> i64 {
    life.comes(1_000, "/a/lock-0000000000", "owner=1a").comes(1_000, "/b/lock-0000000000", "owner=1b");
    life.comes(2_000, "/b/lock-0000000001", "owner=1a").comes(2_000, "/a/lock-0000000001", "owner=1b");
    2_000
}
