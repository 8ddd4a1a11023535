//! What an event asks of the allocator, in the model: the same however long the queue is and however many locks there
//! are.
#![expect(clippy::unwrap_used, reason = "tests take what they made themselves for granted")]

use std::alloc::System;

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const ROOT: RootId = RootId(0);
/// A contender that comes, is read, and goes.
const OBSERVATIONS: usize = 3;
const CYCLES: usize = 1_000;
/// Allocations an observation, on average.
const ALLOCATIONS_MAX: f64 = 5.1;

fn facts(czxid: usize) -> Box<Facts> {
    let zxid = Zxid(i64::try_from(czxid).unwrap());
    Box::new(Facts {
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        ctime_ms: 0,
        version: 0,
        cversion: 0,
        children: 0,
        owner: Some(SessionId(zxid.0)),
        payload: Some(b"10.1.2.3".as_slice().into()),
        payload_bytes: 8,
    })
}

fn name(lock: usize, sequence: usize) -> Box<str> {
    format!("/locks/{lock:05}/_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-lock-{sequence:010}").into()
}

fn observatory(locks: usize, contenders: usize) -> Observatory {
    let mut observatory = Observatory::new(Settings { roots: vec!["/locks".into()], ..Settings::default() }, TimeMs(0));
    observatory.apply(TimeMs(0), Observation::Link { link: Link::Live, session: None, why: "".into() });
    observatory.apply(TimeMs(0), Observation::SyncBegan { root: ROOT, why: "test".into() });
    for at in 0..locks * contenders {
        let (path, facts) = (name(at / contenders, at % contenders), facts(at + 1));
        observatory.apply(TimeMs(0), Observation::SyncNode { root: ROOT, path, facts, unreadable: false });
    }
    observatory.apply(TimeMs(0), Observation::SyncEnded { root: ROOT });
    observatory
}

/// Allocations an observation. Contenders come to the end of one queue and go from there.
fn allocations(locks: usize, contenders: usize) -> f64 {
    let mut observatory = observatory(locks, contenders);
    let cycle = |at: usize| {
        let path = name(0, contenders + at);
        [
            Observation::NodeCreated { root: ROOT, path: path.clone() },
            Observation::NodeRead { root: ROOT, path: path.clone(), facts: facts(1_000_000 + at), unreadable: false },
            Observation::NodeDeleted { root: ROOT, path },
        ]
    };
    // Logs and histories are full afterwards.
    for observation in (0..20 * CYCLES).flat_map(cycle) {
        observatory.apply(TimeMs(1_000), observation);
    }
    let all: Vec<Observation> = (20 * CYCLES..21 * CYCLES).flat_map(cycle).collect();
    let region = Region::new(ALLOCATOR);
    for observation in all {
        observatory.apply(TimeMs(1_000), observation);
    }
    let change = region.change();
    (change.allocations + change.reallocations) as f64 / (OBSERVATIONS * CYCLES) as f64
}

#[test]
fn an_event_asks_as_little_of_the_allocator_among_many_as_among_few() {
    let few = allocations(1, 5);
    assert!(few <= ALLOCATIONS_MAX, "{few}");
    for (locks, contenders) in [(1, 50_000), (10_000, 5)] {
        let many = allocations(locks, contenders);
        assert!(many <= few + 0.1, "{many} in a queue of {contenders} among {locks} locks, {few} among few");
    }
}
