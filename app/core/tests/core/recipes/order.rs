//! Order and sequence: counters that ran out, parents that come and go.

use super::{check, expand, says, tell, tree};

#[test]
fn a_stuck_counter_lets_several_hold_where_only_lower_numbers_block() {
    for (one, two, three) in [
        ("{b}__lock__2147483647", "{a}__lock__2147483647", "kazoo Lock"),
        ("_c_<b>-lock-2147483647", "_c_<a>-lock-2147483647", "Curator InterProcessMutex or LeaderSelector"),
    ] {
        check(
            &format!("/k\n/k/{one} owner=a\n/k/{two} owner=b"),
            &format!(
                "/k SequentialMutex High DoubleOwner: {three}
                session 0xb and session 0xa both hold it: they have the same sequence number. Nobody waits.
                Exclusive holds {two}
                Exclusive holds {one}"
            ),
        );
    }
}

#[test]
fn a_stuck_counter_leaves_one_where_the_rest_of_the_name_decides() {
    check(
        "/w
        /w/x-72057655109877763-2147483647 owner=b
        /w/x-72057655109877762-2147483647 owner=a",
        "/w SequentialMutex High Healthy: ZooKeeper recipes WriteLock
        session 0xa holds it. 1 waits.
        Exclusive holds x-72057655109877762-2147483647
        Exclusive waits x-72057655109877763-2147483647 -> x-72057655109877762-2147483647",
    );
}

#[test]
fn past_the_end_a_newcomer_believes_that_it_holds_and_the_holder_goes_on() {
    let mut story = tree("/k\n/k/{a}__lock__2147483647 owner=a");
    tell(&mut story, "20 + /k/{b}__lock__-2147483648\n21 = /k/{b}__lock__-2147483648 owner=b");
    says(
        &story,
        "/k SequentialMutex High DoubleOwner: kazoo Lock
        session 0xa and session 0xb both hold it, although their recipe admits one. Nobody waits.
        Exclusive holds {a}__lock__2147483647
        Exclusive holds {b}__lock__-2147483648",
    );
}

#[test]
fn past_the_end_only_the_first_newcomer_holds_beside_the_old_holder_where_numbers_are_compared() {
    check(
        "/p
        /p/lock-2147483646 owner=a
        /p/lock-2147483647 owner=b
        /p/lock--2147483648 owner=c
        /p/lock--2147483647 owner=d
        /p/lock--2147483646 owner=e",
        "/p SequentialMutex Medium DoubleOwner: plain sequential lock or menagerie ReentrantZkLock
        session 0xa and session 0xc both hold it, although their recipe admits one. 3 wait.
        Exclusive holds lock-2147483646
        Exclusive holds lock--2147483648
        Exclusive waits lock-2147483647 -> lock-2147483646
        Exclusive waits lock--2147483647 -> lock--2147483648
        Exclusive waits lock--2147483646 -> lock--2147483647",
    );
}

#[test]
fn far_past_the_end_the_order_is_that_of_creation() {
    check(
        "/p
        /p/lock--2147483648 owner=a
        /p/lock--2147483647 owner=b
        /p/lock--2147483646 owner=c",
        "/p SequentialMutex Medium Healthy: plain sequential lock or menagerie ReentrantZkLock
        session 0xa holds it. 2 wait.
        Exclusive holds lock--2147483648
        Exclusive waits lock--2147483647 -> lock--2147483648
        Exclusive waits lock--2147483646 -> lock--2147483647",
    );
}

#[test]
fn a_dash_before_ten_digits_is_a_separator() {
    check(
        "/p
        /p/job-42-#7 owner=a
        /p/job-42-#8 owner=b",
        "/p SequentialMutex Medium Healthy: plain sequential lock
        session 0xa holds it. 1 waits.
        Exclusive holds job-42-#7
        Exclusive waits job-42-#8 -> job-42-#7",
    );
}

#[test]
fn a_container_that_is_reaped_and_made_again_is_counted() {
    // A container or TTL parent has no owner that a client can see; it goes when it is empty for a while.
    let mut story = tree("/c\n/c/m created=1\n/c/m/_c_<a>-lock-#0 owner=a");
    tell(&mut story, "20 - /c/m/_c_<a>-lock-#0\n90 - /c/m");
    assert!(story.paths().is_empty());
    tell(&mut story, "100 + /c/m\n101 = /c/m\n102 + /c/m/_c_<b>-lock-#0\n103 = /c/m/_c_<b>-lock-#0 owner=b");
    assert_eq!(story.show(), expand("/c/m SequentialMutex Healthy [_c_<b>-lock-#0] <-"));
    assert_eq!(story.lock("/c/m").tally.reaped, 1);
}

#[test]
fn equal_numbers_are_ordered_by_name_whatever_came_first() {
    let lines =
        ["/k/{c}__lock__#4 owner=c czxid=7", "/k/{a}__lock__#4 owner=a czxid=9", "/k/{b}__lock__#3 owner=b czxid=8"];
    for rotation in 0..3 {
        let mut lines = lines;
        lines.rotate_left(rotation);
        let story = tree(&format!("/k\n{}", lines.join("\n")));
        assert_eq!(story.show(), expand("/k SequentialMutex Healthy [{b}__lock__#3] <- {a}__lock__#4 {c}__lock__#4"));
    }
}
