//! Up to a maximum of leases.

use super::{check, expand, says, tell, tree};

#[test]
fn curators_newest_lease_is_pending_while_its_session_heads_the_queue() {
    check(
        "/s
        /s/leases
        /s/locks
        /s/leases/_c_<a>-lease-#0 owner=a data=app-1
        /s/leases/_c_<b>-lease-#1 owner=b
        /s/locks/_c_<c>-lock-#2 owner=c
        /s/leases/_c_<d>-lease-#2 owner=c
        /s/locks/_c_<e>-lock-#3 owner=e",
        "/s Semaphore High Healthy: Curator InterProcessSemaphoreV2 or InterProcessSemaphoreMutex
        2 of 2 leases are held, the first by app-1. 2 wait.
        Lease holds _c_<a>-lease-#0
        Lease holds _c_<b>-lease-#1
        Lease waits _c_<c>-lock-#2 -> _c_<a>-lease-#0 _c_<b>-lease-#1
        Lease waits _c_<e>-lock-#3 -> _c_<c>-lock-#2",
    );
}

#[test]
fn one_session_may_hold_a_lease_and_wait_for_another() {
    check(
        "/s
        /s/leases
        /s/locks
        /s/leases/_c_<a>-lease-#0 owner=a
        /s/locks/_c_<c>-lock-#1 owner=a
        /s/leases/_c_<d>-lease-#1 owner=a",
        "/s Semaphore High Healthy: Curator InterProcessSemaphoreV2 or InterProcessSemaphoreMutex
        1 of 1 leases are held, the first by session 0xa. 1 waits.
        Lease holds _c_<a>-lease-#0
        Lease waits _c_<c>-lock-#1 -> _c_<a>-lease-#0",
    );
    // The newest lease is older than the place in the queue: it is held, and none is asked for yet.
    check(
        "/s
        /s/leases
        /s/locks
        /s/leases/_c_<a>-lease-#0 owner=a
        /s/locks/_c_<c>-lock-#1 owner=a",
        "/s Semaphore High Healthy: Curator InterProcessSemaphoreV2 or InterProcessSemaphoreMutex
        1 lease is held, the first by session 0xa. 1 waits.
        Lease holds _c_<a>-lease-#0
        Lease waits _c_<c>-lock-#1 -> _c_<a>-lease-#0",
    );
}

#[test]
fn a_lease_that_was_not_read_yet_is_nobodys_while_somebody_queues() {
    let mut story = tree(
        "/s
        /s/leases
        /s/locks
        /s/leases/_c_<a>-lease-#0 owner=a
        /s/locks/_c_<c>-lock-#1 owner=c",
    );
    tell(&mut story, "20 + /s/leases/_c_<c>-lease-#1");
    assert_eq!(story.show(), expand("/s Semaphore Healthy [_c_<a>-lease-#0] <- _c_<c>-lock-#1"));
    tell(&mut story, "21 = /s/leases/_c_<c>-lease-#1 owner=c");
    assert_eq!(story.show(), expand("/s Semaphore Healthy [_c_<a>-lease-#0] <- _c_<c>-lock-#1"));
    tell(&mut story, "22 - /s/leases/_c_<a>-lease-#0\n23 - /s/locks/_c_<c>-lock-#1");
    assert_eq!(story.show(), expand("/s Semaphore Healthy [_c_<c>-lease-#1] <-"));
}

#[test]
fn curators_semaphore_mutex_changes_hands() {
    let mut story = check(
        "/s
        /s/leases
        /s/locks
        /s/leases/_c_<a>-lease-#0 owner=a
        /s/locks/_c_<b>-lock-#1 owner=b
        /s/leases/_c_<c>-lease-#1 owner=b",
        "/s Semaphore High Healthy: Curator InterProcessSemaphoreV2 or InterProcessSemaphoreMutex
        1 of 1 leases are held, the first by session 0xa. 1 waits.
        Lease holds _c_<a>-lease-#0
        Lease waits _c_<b>-lock-#1 -> _c_<a>-lease-#0",
    );
    tell(&mut story, "20 - /s/leases/_c_<a>-lease-#0\n21 - /s/locks/_c_<b>-lock-#1");
    says(
        &story,
        "/s Semaphore High Healthy: Curator InterProcessSemaphoreV2 or InterProcessSemaphoreMutex
        1 lease is held, the first by session 0xb. Nobody waits.
        Lease holds _c_<c>-lease-#1",
    );
}

#[test]
fn kazoos_semaphore_says_how_many_and_queues_beside_itself() {
    let story = check(
        "/sem data=2
        /sem-__lock__
        /sem/{a} owner=a data=worker-1
        /sem/{b} owner=b data=worker-2
        /sem-__lock__/{c}__lock__#2 owner=c data=b'worker-3'
        /sem-__lock__/{d}__lock__#3 owner=d data=b'worker-4'",
        "/sem Semaphore High Healthy: kazoo Semaphore
        2 of 2 leases are held, the first by worker-1. 2 wait.
        Lease holds {a}
        Lease holds {b}
        Lease waits {c}__lock__#2 -> {a} {b}
        Lease waits {d}__lock__#3 -> {c}__lock__#2",
    );
    assert_eq!(&*story.lock("/sem-__lock__").path, "/sem");
    assert_eq!(&*story.lock(&expand("/sem-__lock__/{c}__lock__#2")).path, "/sem");
}

#[test]
fn kazoos_semaphore_without_a_queue_and_with_only_a_queue() {
    check(
        "/sem data=3
        /sem/{a} owner=a",
        "/sem Semaphore High Healthy: kazoo Semaphore
        1 of 3 leases are held, the first by session 0xa. Nobody waits.
        Lease holds {a}",
    );
    check(
        "/sem data=1
        /sem-__lock__
        /sem-__lock__/{a}__lock__#0 owner=a",
        "/sem Semaphore High Free: kazoo Semaphore
        Free; nobody was seen to hold it yet.
        Lease waits {a}__lock__#0",
    );
}
