//! The hour by itself: it is the same each time, goes forward, and is small.

use std::collections::BTreeMap;

use super::*;

const FROM: TimeMs = TimeMs(1_790_000_000_000);

fn hour(seed: u64) -> Vec<Step> {
    GeneratedHour::new(seed, FROM).collect()
}

#[test]
fn a_seed_gives_the_same_hour_and_another_one_another() {
    let one = hour(1);
    assert_eq!(one, hour(1));
    assert_ne!(one, hour(2));
}

#[test]
fn it_goes_forward_within_its_hour_and_has_one_stop() {
    let (mut before, mut stops) = (FROM, 0);
    for step in hour(1) {
        match step {
            Step::Observed(now, _) => {
                assert!(before <= now && now < FROM + GENERATED_MS, "{now} after {before}");
                before = now;
            }
            Step::Stopped { until } => {
                assert_eq!(until.since(before) / 1_000, 40);
                (before, stops) = (until, stops + 1);
            }
            Step::Forced(_) => {}
        }
    }
    assert_eq!(stops, 1);
    assert!((FROM + GENERATED_MS).since(before) <= BEAT_MS);
}

#[test]
fn every_znode_that_goes_had_come_and_no_transaction_is_told_twice() {
    let mut there = BTreeMap::new();
    let mut newest = 0;
    for step in hour(3) {
        match step {
            Step::Observed(_, Observation::SyncBegan { .. }) => there.clear(),
            Step::Observed(_, Observation::SyncNode { path, facts, .. }) => drop(there.insert(path, facts.czxid)),
            Step::Observed(_, Observation::NodeRead { path, facts, .. }) => {
                assert!(newest < facts.czxid.0, "{path}");
                newest = facts.czxid.0;
                assert!(there.insert(path, facts.czxid).is_none());
            }
            Step::Observed(_, Observation::NodeDeleted { path, .. }) => {
                assert!(there.remove(&path).is_some(), "{path}");
            }
            Step::Observed(..) | Step::Forced(_) | Step::Stopped { .. } => {}
        }
    }
}

#[test]
fn it_is_bounded() {
    for seed in 0..3 {
        let steps = hour(seed).len();
        assert!((20_000..60_000).contains(&steps), "{steps} steps");
    }
}
