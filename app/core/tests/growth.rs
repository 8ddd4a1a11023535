//! What is kept while locks, contenders and sessions with ever-new names come and go: as much after a long time as after
//! a short one.

use std::alloc::System;
use std::sync::Mutex;

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::wait_graph::{Budget, Search, Vertex};
use lockscope_core::znode::{Facts, SessionId, Zxid};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const ROOT: RootId = RootId(0);
const LOCKS: i64 = 20_000;
/// What may come on top while as many locks again come and go.
const GROWTH_BYTES_MAX: usize = 64 * 1_024;

fn facts(czxid: i64, owner: Option<i64>) -> Box<Facts> {
    let zxid = Zxid(czxid);
    Box::new(Facts {
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        ctime_ms: czxid,
        version: 0,
        cversion: 0,
        children: 0,
        owner: owner.map(SessionId),
        payload: Some(b"10.1.2.3".as_slice().into()),
        payload_bytes: 8,
    })
}

/// A lock that is made, taken, waited for, handed on and reaped, as Curator's containers are; all names are new.
fn live_and_die(observatory: &mut Observatory, at: i64) {
    let lock = format!("/locks/job-{at:08}");
    let contender = |number| format!("{lock}/_c_6f1e2d3c-0000-4a4a-8b8b-{at:012x}-lock-{number:010}");
    let created = |path: &str| Observation::NodeCreated { root: ROOT, path: path.into() };
    let read = |path: &str, number, owner| {
        let facts = facts(10 * at + number, owner);
        Observation::NodeRead { root: ROOT, path: path.into(), facts, unreadable: false }
    };
    let deleted = |path: &str| Observation::NodeDeleted { root: ROOT, path: path.into() };
    let (first, second) = (contender(0), contender(1));
    let all = [
        created(&lock),
        read(&lock, 1, None),
        created(&first),
        read(&first, 2, Some(2 * at)),
        created(&second),
        read(&second, 3, Some(2 * at + 1)),
        deleted(&first),
        deleted(&second),
        deleted(&lock),
        Observation::Tick,
    ];
    for observation in all {
        observatory.apply(TimeMs(1_000 + 100 * at), observation);
    }
}

/// The allocator counts for the whole process: one test at a time.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn ever_new_names_take_no_more_room_after_a_long_time_than_after_a_short_one() {
    let _turn = TURN.lock();
    let mut observatory = Observatory::new(Settings { roots: vec!["/locks".into()], ..Settings::default() }, TimeMs(0));
    observatory.apply(TimeMs(0), Observation::Link { link: Link::Live, session: None, why: "".into() });
    observatory.apply(TimeMs(0), Observation::SyncBegan { root: ROOT, why: "test".into() });
    observatory.apply(TimeMs(0), Observation::SyncEnded { root: ROOT });
    // Logs and histories are full afterwards.
    (1..=LOCKS).for_each(|at| live_and_die(&mut observatory, at));
    let region = Region::new(ALLOCATOR);
    (LOCKS + 1..=2 * LOCKS).for_each(|at| live_and_die(&mut observatory, at));
    let change = region.change();
    let grown = change.bytes_allocated.saturating_sub(change.bytes_deallocated);
    assert!(grown <= GROWTH_BYTES_MAX, "{grown} bytes for {LOCKS} locks that are gone");
    assert_eq!(observatory.locks().count(), 0);
    let kept = observatory.roots().first().unwrap().mirror.nodes();
    assert!(kept <= 1, "{kept} znodes");
}

/// Bytes asked of the allocator to find this many circles of two sessions each.
fn bytes_for_circles(pairs: i64) -> usize {
    let follow = |vertex: &Vertex, _: &mut Budget| match vertex {
        Vertex::Session(session) => vec![Vertex::Lock(format!("/l/{}", session.0 ^ 1).into())],
        Vertex::Lock(path) => vec![Vertex::Session(SessionId(path[3..].parse().unwrap_or_default()))],
    };
    let region = Region::new(ALLOCATOR);
    let mut search = Search::new((0..2 * pairs).map(SessionId).collect());
    let mut budget = Budget::new(usize::MAX);
    assert!(search.find_components(&mut budget, follow));
    let found = std::iter::from_fn(|| search.next_circle(&mut budget)).count();
    assert_eq!(found as i64, pairs);
    region.change().bytes_allocated
}

#[test]
fn circles_cost_what_they_are_long() {
    let _turn = TURN.lock();
    let (few, many) = (bytes_for_circles(500), bytes_for_circles(5_000));
    assert!(many <= 15 * few, "{few} bytes for 500 circles, {many} for ten times as many");
}
