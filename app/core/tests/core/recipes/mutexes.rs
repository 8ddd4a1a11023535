//! Queues of numbered znodes where one holds.

use super::{check, says, tell, tree};

#[test]
fn curators_mutex() {
    check(
        "/m
        /m/_c_<a>-lock-#0 owner=a data=10.0.0.1
        /m/_c_<c>-lock-#1 owner=b data=10.0.0.2
        /m/_c_<b>-lock-#2 owner=c data=10.0.0.3",
        "/m SequentialMutex High Healthy: Curator InterProcessMutex or LeaderSelector
        10.0.0.1 holds it. 2 wait.
        Exclusive holds _c_<a>-lock-#0
        Exclusive waits _c_<c>-lock-#1 -> _c_<a>-lock-#0
        Exclusive waits _c_<b>-lock-#2 -> _c_<c>-lock-#1",
    );
}

#[test]
fn curators_revocable_mutex_has_no_payload_until_it_is_asked_to_let_go() {
    let mut story = check(
        "/m
        /m/_c_<a>-lock-#0 owner=a
        /m/_c_<b>-lock-#1 owner=b",
        "/m SequentialMutex High Healthy: Curator InterProcessMutex or LeaderSelector
        session 0xa holds it. 1 waits.
        Exclusive holds _c_<a>-lock-#0
        Exclusive waits _c_<b>-lock-#1 -> _c_<a>-lock-#0",
    );
    tell(&mut story, "20 = /m/_c_<a>-lock-#0 owner=a czxid=102 version=1 data=__REVOKE__");
    assert_eq!(story.sentence("/m"), "session 0xa holds it. 1 waits.");
}

#[test]
fn curators_leader_selector_is_told_by_its_path_only() {
    check(
        "/app/leader
        /app/leader/_c_<a>-lock-#4 owner=a data=node-1
        /app/leader/_c_<b>-lock-#5 owner=b data=node-2",
        "/app/leader Election Medium Healthy: Curator InterProcessMutex or LeaderSelector
        Leader: node-1. 1 standby.
        Leader holds _c_<a>-lock-#4
        Leader waits _c_<b>-lock-#5 -> _c_<a>-lock-#4",
    );
}

#[test]
fn a_multi_mutex_is_one_mutex_a_path() {
    let story = tree(
        "/m
        /m/a
        /m/b
        /m/a/_c_<a>-lock-#0 owner=a
        /m/b/_c_<b>-lock-#0 owner=a
        /m/b/_c_<c>-lock-#1 owner=b",
    );
    assert_eq!(story.paths(), ["/m/a", "/m/b"]);
    says(
        &story,
        "/m/b SequentialMutex High Healthy: Curator InterProcessMutex or LeaderSelector
        session 0xa holds it. 1 waits.
        Exclusive holds _c_<b>-lock-#0
        Exclusive waits _c_<c>-lock-#1 -> _c_<b>-lock-#0",
    );
}

#[test]
fn kazoos_lock() {
    check(
        "/k
        /k/{b}__lock__#0 owner=a data=worker-1
        /k/{a}__lock__#1 owner=b",
        "/k SequentialMutex High Healthy: kazoo Lock
        worker-1 holds it. 1 waits.
        Exclusive holds {b}__lock__#0
        Exclusive waits {a}__lock__#1 -> {b}__lock__#0",
    );
}

#[test]
fn kazoos_lock_that_outlives_its_client_is_an_orphan() {
    check(
        "/k
        /k/{a}__lock__#0 data=worker-1
        /k/{b}__lock__#1 data=worker-2
        /k/{c}__lock__#2 owner=a",
        "/k SequentialMutex High Orphan: kazoo Lock
        No session owns {a}__lock__#0, so it never frees itself. 2 wait.
        Exclusive holds {a}__lock__#0
        Exclusive waits {b}__lock__#1 -> {a}__lock__#0
        Exclusive waits {c}__lock__#2 -> {b}__lock__#1",
    );
}

#[test]
fn zookeepers_write_lock() {
    check(
        "/w
        /w/x-72057655109877762-#0 owner=a hex=1234
        /w/x-72057655109877763-#1 owner=b hex=1234",
        "/w SequentialMutex High Healthy: ZooKeeper recipes WriteLock
        session 0xa holds it. 1 waits.
        Exclusive holds x-72057655109877762-#0
        Exclusive waits x-72057655109877763-#1 -> x-72057655109877762-#0",
    );
    check(
        "/w
        /w/x--72057655109877762-#0 owner=a",
        "/w SequentialMutex High Healthy: ZooKeeper recipes WriteLock
        session 0xa holds it. Nobody waits.
        Exclusive holds x--72057655109877762-#0",
    );
}

#[test]
fn go_zookeepers_lock() {
    check(
        "/g
        /g/_c_{b}-lock-#7 owner=a
        /g/_c_{a}-lock-#8 owner=b",
        "/g SequentialMutex High Healthy: go-zookeeper Lock
        session 0xa holds it. 1 waits.
        Exclusive holds _c_{b}-lock-#7
        Exclusive waits _c_{a}-lock-#8 -> _c_{b}-lock-#7",
    );
}

#[test]
fn go_zookeeper_sees_kazoo_and_kazoo_does_not_see_it() {
    check(
        "/g
        /g/{a}__lock__#0 owner=a
        /g/_c_{b}-lock-#1 owner=b
        /g/{c}__lock__#2 owner=c",
        "/g SequentialMutex High Healthy: kazoo Lock
        session 0xa holds it. 2 wait.
        Exclusive holds {a}__lock__#0
        Exclusive waits _c_{b}-lock-#1 -> {a}__lock__#0*
        Exclusive waits {c}__lock__#2 -> {a}__lock__#0*",
    );
    check(
        "/g
        /g/_c_{b}-lock-#0 owner=b
        /g/{a}__lock__#1 owner=a
        /g/{c}__lock__#2 owner=c",
        "/g SequentialMutex High DoubleOwner: kazoo Lock
        session 0xb and session 0xa both hold it: their libraries don't see each other. 1 waits.
        Exclusive holds _c_{b}-lock-#0
        Exclusive holds {a}__lock__#1
        Exclusive waits {c}__lock__#2 -> {a}__lock__#1",
    );
}

#[test]
fn menageries_lock_and_plain_ones() {
    check(
        "/p
        /p/lock-#0 owner=a
        /p/lock-#1 owner=b",
        "/p SequentialMutex Medium Healthy: plain sequential lock or menagerie ReentrantZkLock
        session 0xa holds it. 1 waits.
        Exclusive holds lock-#0
        Exclusive waits lock-#1 -> lock-#0",
    );
    check(
        "/p
        /p/invoices_#3 owner=a data=app-1
        /p/invoices_#5 owner=b data=app-2",
        "/p SequentialMutex Medium Healthy: plain sequential lock
        app-1 holds it. 1 waits.
        Exclusive holds invoices_#3
        Exclusive waits invoices_#5 -> invoices_#3",
    );
}

#[test]
fn zookeeper_clients_shared_and_custom_names() {
    check(
        "/z
        /z/shared#0 owner=a
        /z/shared#1 owner=b",
        "/z SequentialMutex Medium Healthy: plain sequential lock
        session 0xa holds it. 1 waits.
        Exclusive holds shared#0
        Exclusive waits shared#1 -> shared#0",
    );
}

#[test]
fn npms_lock() {
    check(
        "/n
        /n/-lock#0 owner=a data=[12,1700000000000]
        /n/-lock#1 owner=b data=[13,1700000000001]",
        "/n SequentialMutex Medium Healthy: npm zookeeper-client lock
        session 0xa holds it. 1 waits.
        Exclusive holds -lock#0
        Exclusive waits -lock#1 -> -lock#0",
    );
}
