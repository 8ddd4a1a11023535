//! Deadlocks: one alert each, whatever is left of several that share a lock.

use crate::rule;
use crate::watch::Watch;

/// `a` holds A and waits for B, `b` holds B and waits for A.
const FIRST: &str = "
    1000 + /locks/a
    1000 + /locks/a/lock-0000000000
    1000 = /locks/a/lock-0000000000 owner=a
    1000 + /locks/b
    1000 + /locks/b/lock-0000000000
    1000 = /locks/b/lock-0000000000 owner=b
    2000 + /locks/b/lock-0000000001
    2000 = /locks/b/lock-0000000001 owner=a
    2000 + /locks/a/lock-0000000001
    2000 = /locks/a/lock-0000000001 owner=b";
/// `c` holds C and waits for B, `b` waits for C as well.
const SECOND: &str = "
    3000 + /locks/c
    3000 + /locks/c/lock-0000000000
    3000 = /locks/c/lock-0000000000 owner=c
    3000 + /locks/b/lock-0000000002
    3000 = /locks/b/lock-0000000002 owner=c
    3000 + /locks/c/lock-0000000001
    3000 = /locks/c/lock-0000000001 owner=b";

fn locks(watch: &Watch) -> Vec<String> {
    watch.evaluator.active().into_iter().map(|alert| alert.lock.to_string()).collect()
}

#[test]
fn a_deadlock_is_one_alert_at_the_first_of_its_locks() {
    let mut watch = Watch::new(&[rule("circle", &["deadlocked", "maybe_deadlocked"], 0)]);
    watch.tell(FIRST).pass_to(10_000);
    assert_eq!(locks(&watch), ["/locks/a"]);
    watch.tell("10000 - /locks/b/lock-0000000001").pass_to(40_000);
    assert_eq!(locks(&watch), [""; 0]);
}

#[test]
fn what_is_left_of_two_that_share_a_lock_is_told() {
    let mut watch = Watch::new(&[rule("circle", &["deadlocked", "maybe_deadlocked"], 0)]);
    watch.tell(FIRST).tell(SECOND).pass_to(10_000);
    assert!(locks(&watch).contains(&"/locks/a".to_owned()), "{:?}", locks(&watch));
    // The first circle is gone, and the verdict of B is what it was.
    watch.tell("10000 - /locks/b/lock-0000000001").pass_to(40_000);
    assert_eq!(locks(&watch), ["/locks/b"]);
}
