//! Queues of items.

use super::{check, check_none, says, tell};

#[test]
fn kazoos_queue() {
    check(
        "/q
        /q/entry-100-#0 data=one
        /q/entry-050-#1 data=two",
        "/q Queue High Healthy: kazoo Queue
        2 items wait.
        Item waits entry-100-#0
        Item waits entry-050-#1",
    );
}

#[test]
fn kazoos_locking_queue_shows_who_works_on_what() {
    let mut story = check(
        "/q
        /q/entries
        /q/taken
        /q/entries/entry-100-#0 data=one
        /q/entries/entry-100-#1 data=two
        /q/entries/entry-100-#2 data=three
        /q/taken/entry-100-#1 owner=a data=client-1",
        "/q Queue High Healthy: kazoo LockingQueue
        1 in work, the first by client-1. 2 items wait.
        Item holds entry-100-#1
        Item waits entry-100-#0
        Item waits entry-100-#2",
    );
    tell(&mut story, "20 - /q/entries/entry-100-#1\n20 - /q/taken/entry-100-#1");
    assert_eq!(story.sentence("/q"), "2 items wait.");
    tell(&mut story, "30 - /q/entries/entry-100-#0\n30 - /q/entries/entry-100-#2");
    says(
        &story,
        "/q Queue High Healthy: kazoo LockingQueue
        Empty.",
    );
}

#[test]
fn curators_zookeepers_and_other_queues() {
    for (name, label, confidence) in [
        ("queue-", "Curator DistributedQueue", "High"),
        ("qn-", "ZooKeeper recipes DistributedQueue", "High"),
        ("element", "queue of persistent items", "Medium"),
        ("task-", "queue of persistent items", "Medium"),
    ] {
        check(
            &format!("/queue\n/queue/{name}#0 data=x\n/queue/{name}#1"),
            &format!(
                "/queue Queue {confidence} Healthy: {label}
                2 items wait.
                Item waits {name}#0
                Item waits {name}#1"
            ),
        );
    }
}

#[test]
fn other_persistent_numbers_are_no_queue() {
    check_none(
        "/backups
        /backups/2026-#1
        /log
        /log/log-#0
        /log/log-#1",
    );
}
