//! Many states over many transactions: seconds, also where all is wrong.

use std::time::{Duration, Instant};

use lockscope_judge::{Capture, Kind, Shown, judge};

use crate::world::World;

const TRANSACTIONS: u32 = 50_000;
const STATES: u32 = 200_000;
/// Contenders at a time.
const DEPTH: u32 = 20;
/// On a busy machine; a tenth of it is usual.
const TOOK_MAX: Duration = Duration::from_secs(60);

/// One lock that changes hands all the time, and frames of eight sockets.
fn scene() -> (World, Vec<Capture>) {
    let mut world = World::long();
    let mut captures = Vec::new();
    let mut next = 0;
    while world.transactions.len() < TRANSACTIONS as usize {
        world.queue(11 + i64::from(next % 1_000), next);
        if next >= DEPTH {
            let first = next - DEPTH;
            world.leave(11 + i64::from(first % 1_000), first);
        }
        next += 1;
        world.wait(1);
        let shown = world.shown(0);
        for socket in 0..STATES * 2 / TRANSACTIONS {
            let mut shown = Shown { socket, ..shown.clone() };
            // Half of them have the lock's page, the others a row of the board.
            if socket % 2 == 1 {
                shown.waiters.clear();
            }
            captures.push(Capture::Shown(shown));
        }
    }
    (world, captures)
}

#[test]
fn seconds() {
    let (world, mut captures) = scene();
    let truth = world.truth();
    let began = Instant::now();
    let report = judge(&truth, &captures, &[]);
    let honest = began.elapsed();
    assert!(report.is_clean(), "{:#?}", report.wrong.first());
    assert!(report.counts.live >= u64::from(STATES), "{:?}", report.counts);
    // Every frame swaps two waiters, or miscounts them.
    for capture in &mut captures {
        let Capture::Shown(shown) = capture else { continue };
        if shown.waiters.len() > 1 {
            shown.waiters.swap(0, 1);
        } else {
            shown.waiter_count += 100;
        }
    }
    let began = Instant::now();
    let report = judge(&truth, &captures, &[]);
    let lies = began.elapsed();
    assert!(report.count(Kind::SwappedWaiters) > u64::from(STATES) * 2 / 5, "{:?}", report.wrong_by_kind);
    assert_eq!(report.wrong_by_kind.values().sum::<u64>(), report.counts.live);
    assert!(honest < TOOK_MAX && lies < TOOK_MAX, "{honest:?} {lies:?}");
    eprintln!(
        "{} states over {} transactions: {honest:?}, all of them wrong: {lies:?}",
        report.counts.live,
        world.transactions.len()
    );
}
