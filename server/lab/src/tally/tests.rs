//! A herd, a queue, and clients that are gone.

use super::*;

fn gathered(wakes_all: bool) -> Tally {
    let mut tally = Tally::new(3, wakes_all);
    (0..3).for_each(|client| tally.comes(client, 0));
    tally.holds(0, 10);
    tally.queued(1);
    tally.queued(2);
    tally.count_from(100);
    tally
}

#[test]
fn a_herd_drains() {
    let mut tally = gathered(true);
    assert_eq!((tally.seats().as_str(), tally.progress().unsettled), ("hww", 0));
    tally.releases(0, 200, 0);
    tally.sit(0, Seat::Done);
    assert_eq!(tally.progress().unsettled, 2, "both are about to be woken");
    tally.woken(2);
    tally.holds(2, 250);
    assert_eq!((tally.seats().as_str(), tally.progress().unsettled), ("dwh", 1));
    tally.woken(1);
    tally.queued(1);
    assert_eq!((tally.seats().as_str(), tally.progress().unsettled, tally.woken, tally.wasted), ("dkh", 0, 2, 1));
    assert_eq!(tally.inversions, 1, "the third came after the second");
    tally.releases(2, 300, 2);
    tally.woken(1);
    tally.holds(1, 330);
    tally.releases(1, 400, 3);
    tally.close_release(3);
    assert_eq!(tally.per_release, [(2, 2), (1, 1), (0, 0)]);
    assert_eq!((tally.handoffs.spread().count, tally.waits.spread().count, tally.progress().acquisitions), (2, 2, 3));
    assert_eq!(tally.handoffs.spread().max, 0.05);
}

#[test]
fn a_queue_wakes_one() {
    let mut tally = gathered(false);
    tally.releases(0, 200, 0);
    assert_eq!(tally.progress().unsettled, 0, "nobody knows who is woken");
    tally.woken(1);
    assert_eq!(tally.progress().unsettled, 1);
    tally.holds(1, 210);
    assert_eq!((tally.inversions, tally.wasted, tally.woken), (0, 0, 1));
}

#[test]
fn numbers_decide_who_came_first() {
    let mut tally = Tally::new(2, false);
    (0..2).for_each(|client| tally.comes(client, 0));
    tally.came(1, Some(7));
    tally.came(0, Some(6));
    tally.holds(0, 1);
    assert_eq!(tally.inversions, 0);
}

#[test]
fn who_is_gone_is_not_waited_for() {
    let mut tally = gathered(true);
    tally.releases(0, 1, 0);
    tally.sit(1, Seat::Killed);
    tally.sit(2, Seat::GaveUp);
    assert_eq!((tally.seats().as_str(), tally.progress().unsettled, tally.progress().waiting), (".xg", 0, 0));
    tally.sit(2, Seat::Lost);
    assert_eq!((tally.seats().as_str(), tally.progress().absent), (".xl", 1));
}

#[test]
fn points_are_thinned() {
    let mut tally = Tally::new(1, false);
    for events in 0..10_000 {
        tally.releases(0, 1, events);
    }
    assert!((LAB_POINTS_MAX / 2..=LAB_POINTS_MAX).contains(&tally.per_release.len()), "{}", tally.per_release.len());
}
