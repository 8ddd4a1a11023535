//! Readers share, writers exclude.

use super::{check, expand, tell, tree};

#[test]
fn curators_waiting_readers_share_the_first_writer_though_a_nearer_one_stands() {
    check(
        "/rw
        /rw/_c_<a>-__WRIT__#0 owner=a data=w
        /rw/_c_<b>-__READ__#1 owner=b
        /rw/_c_<c>-__WRIT__#2 owner=c
        /rw/_c_<d>-__READ__#3 owner=d",
        "/rw ReadWrite High Healthy: Curator InterProcessReadWriteLock
        w holds it for writing. 3 wait.
        Write holds _c_<a>-__WRIT__#0
        Read waits _c_<b>-__READ__#1 -> _c_<a>-__WRIT__#0*
        Write waits _c_<c>-__WRIT__#2 -> _c_<b>-__READ__#1
        Read waits _c_<d>-__READ__#3 -> _c_<a>-__WRIT__#0*",
    );
}

#[test]
fn a_writer_and_a_reader_may_share_what_they_wait_for_and_one_alone_shares_nothing() {
    check(
        "/rw
        /rw/_c_<a>-__WRIT__#0 owner=a
        /rw/_c_<b>-__WRIT__#1 owner=b
        /rw/_c_<c>-__READ__#2 owner=c",
        "/rw ReadWrite High Healthy: Curator InterProcessReadWriteLock
        session 0xa holds it for writing. 2 wait.
        Write holds _c_<a>-__WRIT__#0
        Write waits _c_<b>-__WRIT__#1 -> _c_<a>-__WRIT__#0*
        Read waits _c_<c>-__READ__#2 -> _c_<a>-__WRIT__#0*",
    );
    check(
        "/rw
        /rw/_c_<a>-__READ__#0 owner=a
        /rw/_c_<b>-__READ__#1 owner=b
        /rw/_c_<c>-__WRIT__#2 owner=c
        /rw/_c_<d>-__READ__#3 owner=d",
        "/rw ReadWrite High Healthy: Curator InterProcessReadWriteLock
        session 0xa and 1 more hold it for reading. 2 wait.
        Read holds _c_<a>-__READ__#0
        Read holds _c_<b>-__READ__#1
        Write waits _c_<c>-__WRIT__#2 -> _c_<b>-__READ__#1
        Read waits _c_<d>-__READ__#3 -> _c_<c>-__WRIT__#2",
    );
}

#[test]
fn curators_writer_that_reads_as_well_holds_both_and_is_told_as_a_writer() {
    check(
        "/rw
        /rw/_c_<a>-__WRIT__#0 owner=a
        /rw/_c_<b>-__WRIT__#1 owner=b
        /rw/_c_<c>-__READ__#2 owner=a
        /rw/_c_<d>-__READ__#3 owner=d",
        "/rw ReadWrite High Healthy: Curator InterProcessReadWriteLock
        session 0xa holds it for writing, and reads as well. 2 wait.
        Write holds _c_<a>-__WRIT__#0
        Read holds _c_<c>-__READ__#2
        Write waits _c_<b>-__WRIT__#1 -> _c_<a>-__WRIT__#0*
        Read waits _c_<d>-__READ__#3 -> _c_<a>-__WRIT__#0*",
    );
}

#[test]
fn curators_newer_writer_reads_under_its_own_number() {
    // Curator 5.5 creates this READ without a sequence, by the number of the writer it belongs to.
    let mut story = check(
        "/rw
        /rw/_c_<b>-__WRIT__#7 owner=a
        /rw/_c_<a>-__READ__#7 owner=a
        /rw/_c_<c>-__READ__#8 owner=c
        /rw/_c_<d>-__WRIT__#9 owner=d",
        "/rw ReadWrite High Healthy: Curator InterProcessReadWriteLock
        session 0xa holds it for writing, and reads as well. 2 wait.
        Read holds _c_<a>-__READ__#7
        Write holds _c_<b>-__WRIT__#7
        Read waits _c_<c>-__READ__#8 -> _c_<b>-__WRIT__#7
        Write waits _c_<d>-__WRIT__#9 -> _c_<c>-__READ__#8",
    );
    tell(&mut story, "20 - /rw/_c_<b>-__WRIT__#7");
    assert_eq!(
        story.show(),
        expand("/rw ReadWrite Healthy [_c_<a>-__READ__#7 _c_<c>-__READ__#8] <- _c_<d>-__WRIT__#9")
    );
    assert_eq!(story.sentence("/rw"), "session 0xa and 1 more hold it for reading. 1 waits.");
}

#[test]
fn kazoos_waiting_readers_wait_for_the_nearest_writer() {
    check(
        "/k
        /k/{a}__rlock__#0 owner=a data=r1
        /k/{b}__lock__#1 owner=b
        /k/{c}__rlock__#2 owner=c
        /k/{d}__lock__#3 owner=d
        /k/{e}__rlock__#4 owner=e
        /k/{f}__rlock__#5 owner=f",
        "/k ReadWrite High Healthy: kazoo ReadLock and WriteLock
        r1 holds it for reading. 5 wait.
        Read holds {a}__rlock__#0
        Write waits {b}__lock__#1 -> {a}__rlock__#0
        Read waits {c}__rlock__#2 -> {b}__lock__#1
        Write waits {d}__lock__#3 -> {c}__rlock__#2
        Read waits {e}__rlock__#4 -> {d}__lock__#3*
        Read waits {f}__rlock__#5 -> {d}__lock__#3*",
    );
}

#[test]
fn kazoos_write_lock_alone_looks_like_its_lock_and_is_not_unlearned() {
    let mut story = check(
        "/k
        /k/{a}__lock__#0 owner=a
        /k/{b}__rlock__#1 owner=b
        /k/{c}__rlock__#2 owner=c",
        "/k ReadWrite High Healthy: kazoo ReadLock and WriteLock
        session 0xa holds it for writing. 2 wait.
        Write holds {a}__lock__#0
        Read waits {b}__rlock__#1 -> {a}__lock__#0*
        Read waits {c}__rlock__#2 -> {a}__lock__#0*",
    );
    tell(&mut story, "20 - /k/{b}__rlock__#1\n21 - /k/{c}__rlock__#2");
    assert_eq!(story.show(), expand("/k ReadWrite Healthy [{a}__lock__#0] <-"));
}

#[test]
fn the_documentations_read_write_lock() {
    check(
        "/d
        /d/read-#0 owner=a
        /d/read-#1 owner=b
        /d/write-#2 owner=c
        /d/read-#3 owner=d",
        "/d ReadWrite Medium Healthy: read/write lock of ZooKeeper's documentation
        session 0xa and 1 more hold it for reading. 2 wait.
        Read holds read-#0
        Read holds read-#1
        Write waits write-#2 -> read-#1
        Read waits read-#3 -> write-#2",
    );
    check(
        "/d
        /d/write-#0 owner=a",
        "/d ReadWrite Medium Healthy: read/write lock of ZooKeeper's documentation
        session 0xa holds it for writing. Nobody waits.
        Write holds write-#0",
    );
}

#[test]
fn menageries_read_write_lock() {
    check(
        "/m
        /m/writeLock-#0 owner=a
        /m/readLock-#1 owner=b
        /m/writeLock-#2 owner=c",
        "/m ReadWrite High Healthy: menagerie ReentrantZkReadWriteLock
        session 0xa holds it for writing. 2 wait.
        Write holds writeLock-#0
        Read waits readLock-#1 -> writeLock-#0
        Write waits writeLock-#2 -> readLock-#1",
    );
}

#[test]
fn whoever_looks_like_a_reader_until_it_is_read_never_held() {
    let mut story = tree("/d\n/d/read-#0 owner=a");
    tell(&mut story, "20 + /d/read-#1\n25 = /d/read-#1 data=persistent");
    assert_eq!(story.show(), expand("/d ReadWrite Healthy [read-#0] <-"));
    let lock = story.observatory.lock("/d").unwrap();
    assert_eq!((lock.tally.past.len(), lock.tally.holds.count()), (0, 0));
}
