//! Sessions that wait for each other.

use crate::language::Story;

fn two_locks() -> Story {
    let mut story = Story::new(&["/"]);
    story.tell(
        "10 sync /
        10 node /a
        10 node /b
        10 node /a/lock-0000000000 owner=1a
        10 node /b/lock-0000000000 owner=1b
        10 end /",
    );
    story
}

const CROSS: &str = "
    20 + /a/lock-0000000001
    21 = /a/lock-0000000001 owner=1b
    30 + /b/lock-0000000001
    31 = /b/lock-0000000001 owner=1a
    32 tick";

fn cycles(story: &Story) -> Vec<String> {
    story.observatory.cycles().iter().map(|cycle| cycle.sentence(|session| session.to_string())).collect()
}

#[test]
fn two_sessions_that_wait_for_each_other_are_deadlocked_and_then_not() {
    let mut story = two_locks();
    story.tell(CROSS);
    assert_eq!(
        story.show(),
        "/a SequentialMutex Deadlocked [lock-0000000000] <- lock-0000000001\n/b SequentialMutex Deadlocked [lock-0000000000] <- lock-0000000001"
    );
    assert_eq!(
        cycles(&story),
        [
            "Deadlock: 0x1a waits for /b, held by 0x1b; 0x1b waits for /a, held by 0x1a. Releasing 0x1b's hold on /b costs least."
        ]
    );
    story.tell("40 - /b/lock-0000000001");
    assert!(cycles(&story).is_empty());
    assert!(!story.show().contains("Deadlocked"));
}

#[test]
fn a_deadlock_that_was_there_before_us_is_found() {
    let mut story = Story::new(&["/"]);
    story.tell(
        "10 sync /
        10 node /a
        10 node /b
        10 node /c
        10 node /a/lock-0000000000 owner=1a
        10 node /b/lock-0000000000 owner=1b
        10 node /c/lock-0000000000 owner=1c
        10 node /a/lock-0000000001 owner=1c
        10 node /b/lock-0000000001 owner=1a
        10 node /c/lock-0000000001 owner=1b
        10 end /
        10 tick",
    );
    assert_eq!(
        cycles(&story),
        [
            "Deadlock: 0x1a waits for /b, held by 0x1b; 0x1b waits for /c, held by 0x1c; 0x1c waits for /a, held by 0x1a. Releasing 0x1b's hold on /b costs least."
        ]
    );
}

#[test]
fn a_deadlock_closes_when_the_lock_changes_hands() {
    let mut story = two_locks();
    story.tell("20 + /a/lock-0000000001\n21 = /a/lock-0000000001 owner=1c\n22 + /a/lock-0000000002\n23 = /a/lock-0000000002 owner=1b");
    story.tell("30 + /b/lock-0000000001\n31 = /b/lock-0000000001 owner=1c\n32 tick");
    assert!(cycles(&story).is_empty(), "0x1c waits for /b, and for /a behind 0x1a, who waits for nobody");
    story.tell("40 - /a/lock-0000000000\n41 tick");
    assert_eq!(cycles(&story).len(), 1);
}

#[test]
fn a_session_that_waits_for_itself_is_no_deadlock_of_sessions() {
    let mut story = two_locks();
    story.tell("20 + /a/lock-0000000001\n21 = /a/lock-0000000001 owner=1a\n22 tick");
    assert!(cycles(&story).is_empty());
}

const SHARED: &str = "
    15 + /c
    16 + /c/lock-0000000000
    17 = /c/lock-0000000000 owner=1a";

#[test]
fn a_circle_through_a_session_that_contends_for_more_only_looks_like_a_deadlock() {
    let mut story = two_locks();
    story.tell(SHARED).tell(CROSS);
    assert!(
        story.show().contains("/a SequentialMutex MaybeDeadlocked")
            && story.show().contains("/b SequentialMutex MaybeDeadlocked")
    );
    assert_eq!(
        story.sentence("/a"),
        "Looks like a deadlock, if one thread does both: 0x1a waits for /b, held by 0x1b; 0x1b waits for /a, held by 0x1a. Releasing 0x1b's hold on /b costs least."
            .replace("0x", "session 0x")
    );
    story.tell("400 tick");
    assert!(story.findings("/a").starts_with("deadlock Warning: Looks like a deadlock"), "{}", story.findings("/a"));
    // It has nothing else in hand any more.
    story.tell("1000 - /c/lock-0000000000\n1250 tick\n1500 tick");
    assert!(
        story.show().contains("/a SequentialMutex Deadlocked")
            && story.show().contains("/b SequentialMutex Deadlocked")
    );
    assert!(story.findings("/b").starts_with("deadlock Critical: Deadlock: "), "{}", story.findings("/b"));
}

#[test]
fn a_circle_that_stands_still_for_longer_than_its_locks_are_ever_held_is_a_deadlock() {
    let mut story = two_locks();
    story.tell(SHARED).tell(CROSS);
    story.tell("299000 tick");
    assert!(story.show().contains("/a SequentialMutex MaybeDeadlocked"));
    story.tell("300032 tick");
    assert!(
        story.show().contains("/a SequentialMutex Deadlocked")
            && story.show().contains("/b SequentialMutex Deadlocked")
    );
    // Another of its threads takes the place of the one that waits.
    story.tell(
        "300100 + /b/lock-0000000002\n300101 = /b/lock-0000000002 owner=1a\n300102 - /b/lock-0000000001\n300350 tick",
    );
    assert!(story.show().contains("/a SequentialMutex MaybeDeadlocked"), "it moved: {}", story.show());
    assert_eq!(cycles(&story).len(), 1, "and is the same circle");
}

#[test]
fn a_session_that_is_a_member_of_a_group_besides_is_not_doubtful() {
    let mut story = two_locks();
    story.tell(
        "15 + /party/6f1e2d3c00004a4a8b8b0123456789ab__party__0000000000\n16 = /party/6f1e2d3c00004a4a8b8b0123456789ab__party__0000000000 owner=1a",
    );
    story.tell(CROSS);
    assert!(story.show().contains("/a SequentialMutex Deadlocked"), "{}", story.show());
}
