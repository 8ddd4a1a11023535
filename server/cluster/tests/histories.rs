//! Members come and go through many made-up histories: what moves, and what is ever without an owner.
//! `CLUSTER_HISTORIES=100000` is the long form.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use cluster::assignment::{Assignment, OWNERS, SETTLE_MS};

/// Units in each history.
const UNITS: usize = 24;
/// Members that there may be.
const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
/// Changes of a history.
const STEPS: usize = 8;

/// Numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % (limit as u64)).unwrap()
    }
}

fn histories() -> u64 {
    std::env::var("CLUSTER_HISTORIES").ok().and_then(|number| number.parse().ok()).unwrap_or(2_000)
}

/// Units by name, other ones in each history.
fn units(seed: u64) -> Vec<String> {
    (0..UNITS).map(|unit| format!("ensemble-{seed}-{unit}")).collect()
}

fn owned(assignment: &Assignment, units: &[String]) -> Vec<BTreeSet<String>> {
    units.iter().map(|unit| assignment.owners(unit).into_iter().map(str::to_owned).collect()).collect()
}

fn observe(assignment: &mut Assignment, now_ms: i64, here: &BTreeSet<&'static str>) {
    assignment.observe(now_ms, here.iter().map(|id| (*id, 1)));
}

/// Places of units that were taken from one member and given to another.
fn moved(before: &[BTreeSet<String>], after: &[BTreeSet<String>]) -> usize {
    before.iter().zip(after).map(|(before, after)| after.difference(before).count()).sum()
}

#[test]
fn a_change_of_one_member_moves_its_share_and_no_more() {
    // Places moved and places there were, by the number of members (the larger of before and after).
    let mut shares: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for seed in 0..histories() {
        let (mut random, units) = (Random(seed), units(seed));
        let mut assignment = Assignment::default();
        let mut here: BTreeSet<&str> = NAMES.into_iter().filter(|_| random.below(2) == 0).collect();
        here.extend(["a", "b", "c"]);
        let mut now_ms = 0;
        observe(&mut assignment, now_ms, &here);
        for _ in 0..STEPS {
            let before = owned(&assignment, &units);
            let id = NAMES[random.below(NAMES.len())];
            let (comes, number) = (!here.contains(id), here.len());
            if !comes && number <= OWNERS + 1 {
                continue;
            }
            if comes {
                here.insert(id)
            } else {
                here.remove(id)
            };
            now_ms += 1 + i64::try_from(random.below(100_000)).unwrap();
            observe(&mut assignment, now_ms, &here);
            let meanwhile = owned(&assignment, &units);
            assert!(moved(&before, &meanwhile) == 0, "{seed}: nothing moves before ten seconds while an owner is left");
            now_ms += SETTLE_MS;
            assignment.advance(now_ms);
            let after = owned(&assignment, &units);
            for (before, after) in before.iter().zip(&after) {
                // Exactly what the one that went had, or what the one that came wins.
                let given: Vec<_> = after.difference(before).collect();
                assert!(given.len() <= 1, "{seed}: {before:?} {after:?}");
                assert!(given.is_empty() || if comes { given == [id] } else { before.contains(id) }, "{seed}");
            }
            let share = shares.entry(number.max(here.len())).or_default();
            share.0 += moved(&before, &after);
            share.1 += UNITS * OWNERS;
        }
    }
    for (number, (moved, all)) in shares {
        let share = moved as f64 / all as f64;
        eprintln!("{number} members: {:.4} of the places moved, 1/N is {:.4}", share, 1.0 / number as f64);
        assert!(share <= 1.1 / number as f64, "{number} members: {share}");
    }
}

#[test]
fn nothing_is_without_an_owner_while_anybody_is_there() {
    for seed in 0..histories() {
        let (mut random, units) = (Random(!seed), units(seed));
        let mut assignment = Assignment::default();
        let mut now_ms = 0;
        for _ in 0..STEPS * 2 {
            let here: BTreeSet<&str> = NAMES.into_iter().filter(|_| random.below(3) == 0).collect();
            now_ms += i64::try_from(random.below(15_000)).unwrap();
            observe(&mut assignment, now_ms, &here);
            for unit in &units {
                let owners = assignment.owners(unit);
                assert!(owners.is_empty() == here.is_empty(), "{seed}: {owners:?} of {here:?}");
                assert!(owners.iter().all(|id| here.contains(id)), "{seed}: {owners:?} of {here:?}");
            }
            // Once all have settled, everybody names the same owners, whatever happened before.
            let Some(due_ms) = assignment.due_ms() else { continue };
            assert!(due_ms <= now_ms + SETTLE_MS, "{seed}: who settles is never put off");
        }
        let last: BTreeSet<&str> = NAMES.into_iter().filter(|_| random.below(2) == 0).collect();
        observe(&mut assignment, now_ms, &last);
        assignment.advance(now_ms + SETTLE_MS);
        let mut fresh = Assignment::default();
        observe(&mut fresh, 0, &last);
        assert_eq!(owned(&assignment, &units), owned(&fresh, &units), "{seed}");
    }
}
