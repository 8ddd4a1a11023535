//! What the orders in which locks are taken need in memory at most: every list as long as its maximum, every path as long
//! as is taken in. Alone in its program: it counts what is allocated.

use std::alloc::System;
use std::sync::Arc;

use lockscope_core::lock_order::{
    Asked, EDGES_MAX, ENDS_MAX, GATES_MAX, LockOrders, OrderedLock, PATH_BYTES_MAX, SESSIONS_MAX,
};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The bound that is named in docs/performance.md.
const BYTES_MAX: usize = 4_000_000;
/// Locks held at once: each has the others as its gates.
const HELD: usize = GATES_MAX + 1;

/// A path of `bytes`, of few siblings at each place.
fn path(kind: &str, at: usize, bytes: usize) -> Arc<str> {
    let names = format!("/{kind}/{}/{}/", at % 30, at / 30);
    format!("{names}{}", "x".repeat(bytes - names.len())).into()
}

/// What is allocated once everything is full, of paths so long.
fn full(bytes: usize) -> (usize, LockOrders) {
    let region = Region::new(ALLOCATOR);
    let mut orders = LockOrders::default();
    let mut next = 1_000_000;
    for session in 1..=SESSIONS_MAX as i64 {
        let held: Vec<Arc<str>> = (0..HELD).map(|at| path("held", at, bytes)).collect();
        for wanted in 0..EDGES_MAX / HELD {
            let wanted = path("wanted", wanted, bytes);
            let lock =
                |path, czxid| OrderedLock { path, czxid: Zxid(czxid), label: Some("worker-1"), is_shared: false };
            next += 10;
            let asked = Asked {
                session: SessionId(session),
                at: TimeMs(next),
                wanted: lock(&wanted, next),
                held: held.iter().zip(1..).map(|(path, number)| lock(path, number)).collect(),
                waits_elsewhere: false,
            };
            orders.note(&asked);
            orders.left(TimeMs(next + 1), SessionId(session), Zxid(next));
        }
    }
    let change = region.change();
    (change.bytes_allocated - change.bytes_deallocated, orders)
}

#[test]
fn it_is_bounded_whatever_paths_there_are() {
    for (what, bytes, most) in
        [("usual paths of 40 bytes", 40, 2_500_000), ("the longest paths", PATH_BYTES_MAX, BYTES_MAX)]
    {
        let (used, orders) = full(bytes);
        assert!(orders.edges.len() > EDGES_MAX * 7 / 8, "{} orders", orders.edges.len());
        assert!(orders.edges.values().any(|edge| edge.ends.len() == ENDS_MAX && edge.gates.len() == GATES_MAX));
        assert!(used <= most, "{what}: {used} bytes");
    }
}
