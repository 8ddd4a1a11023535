//! How long a waiter still has to wait: what holds of any line, and what is said where little is known.

#![expect(clippy::unwrap_used, reason = "tests take what they made themselves for granted")]

use lockscope_core::time_to_lock::{Admission, Habits, HoldTimes, HolderAge, LEASES_MAX, Line, NoEstimate, WaitRange};
use proptest::collection::vec;
use proptest::prelude::*;

fn habits(holds: impl Iterator<Item = i64>) -> Habits {
    Habits { holds: HoldTimes::of(holds), ..Habits::default() }
}

fn held_for(age_ms: i64) -> HolderAge {
    HolderAge { age_ms, reads: false }
}

fn reading_for(age_ms: i64) -> HolderAge {
    HolderAge { age_ms, reads: true }
}

/// The range of the one with so many before it in the line.
fn behind(habits: &Habits, admission: Admission, holders: &[HolderAge], ahead: usize) -> WaitRange {
    let mut line = Line::new(habits, admission, holders).unwrap();
    line.pass_many(ahead);
    line.wait(false)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nobody_waits_for_less_than_whoever_stands_before_and_never_for_less_than_nothing(
        holds in vec(0..100_000_i64, 20..200),
        ages in vec(-50..5_000_i64, 0..5),
        places in 1..8_usize,
        hand_off_ms in 0..50_i64,
        give_up_rate in prop_oneof![Just(0.0), 1e-9..1.0_f64],
    ) {
        let habits = Habits { hand_off_ms, give_up_rate, ..habits(holds.into_iter()) };
        let holders: Vec<HolderAge> = ages.into_iter().map(held_for).collect();
        for admission in [Admission::One, Admission::Some(places), Admission::Readers] {
            let Ok(mut line) = Line::new(&habits, admission, &holders) else { return Ok(()) };
            let mut before = WaitRange::default();
            for at in 0..60_usize {
                let range = line.wait(false);
                prop_assert!(0 <= range.low_ms && range.low_ms <= range.middle_ms && range.middle_ms <= range.high_ms);
                let is_longer = range.low_ms >= before.low_ms && range.high_ms >= before.high_ms;
                prop_assert!(is_longer, "{:?} at {at}: {:?} after {:?}", admission, range, before);
                if admission == Admission::Readers {
                    prop_assert!(line.wait(true).high_ms <= range.high_ms, "a reader waits for no more than a writer");
                    line.pass(at % 3 > 0);
                } else {
                    line.pass(false);
                }
                before = range;
            }
        }
        let mut before = WaitRange::default();
        for ahead in [0, 1, 47, 48, 49, 50, 60, 100, 1_000, 10_000, 1_000_000] {
            let Ok(mut line) = Line::new(&habits, Admission::One, &holders) else { return Ok(()) };
            line.pass_many(ahead);
            let range = line.wait(false);
            prop_assert!(range.low_ms >= before.low_ms && range.high_ms >= before.high_ms, "{ahead}: {range:?} after {before:?}");
            before = range;
        }
    }

    #[test]
    fn what_a_hold_may_still_last_is_what_longer_holds_lasted(
        holds in vec(1..10_000_i64, 30..300),
        age_ms in 0..9_000_i64,
    ) {
        let mut longer: Vec<i64> = holds.iter().filter(|ms| **ms >= age_ms).map(|ms| ms - age_ms).collect();
        longer.sort_unstable();
        let habits = habits(holds.into_iter());
        match Line::new(&habits, Admission::One, &[held_for(age_ms)]) {
            Ok(line) => {
                let range = line.wait(false);
                prop_assert!(longer.len() >= 3);
                prop_assert!(range.low_ms >= longer[0] && range.high_ms <= longer[longer.len() - 1]);
                let not_longer = longer.iter().filter(|ms| **ms <= range.high_ms).count() as f64 / longer.len() as f64;
                prop_assert!(longer.len() < 30 || (0.85..=0.97).contains(&not_longer), "{not_longer}");
            }
            Err(reason) => prop_assert!(reason == NoEstimate::HolderBeyondSeen && longer.len() < 3),
        }
    }
}

#[test]
fn sums_have_the_mean_and_the_spread_that_they_should() {
    // Holds of 0 to 1,000 ms, all alike: n of them come to 500 n, with a deviation of 289 · √n.
    let habits = habits(0..=500).holds;
    let habits = Habits { holds: habits, ..Habits::default() };
    for ahead in [4_usize, 16, 40, 100, 10_000] {
        let range = behind(&habits, Admission::One, &[held_for(0)], ahead);
        let n = ahead as f64 + 1.0;
        let (mean, deviation) = (250.0 * n, 144.6 * n.sqrt());
        let wanted = [mean - 1.2816 * deviation, mean, mean + 1.2816 * deviation];
        for (is, wanted) in [range.low_ms, range.middle_ms, range.high_ms].into_iter().zip(wanted) {
            assert!((is as f64 - wanted).abs() < 0.25 * deviation, "{ahead}: {range:?}, not {wanted:.0}");
        }
    }
}

#[test]
fn one_hold_says_nothing_and_holds_of_nothing_say_nothing_is_to_wait() {
    let new = |habits: &Habits| Line::new(habits, Admission::One, &[held_for(0)]).map(|line| line.wait(false));
    assert_eq!(new(&habits(std::iter::once(700))), Err(NoEstimate::TooFewHolds));
    assert_eq!(new(&Habits::default()), Err(NoEstimate::TooFewHolds));
    assert_eq!(new(&habits(std::iter::repeat_n(0, 50))), Ok(WaitRange::default()));
}

#[test]
fn a_holder_that_is_older_than_all_says_nothing() {
    let habits = habits((0..200).map(|number| 100 + number));
    let new = |age_ms| Line::new(&habits, Admission::One, &[held_for(age_ms)]).map(|line| line.wait(false));
    assert_eq!(new(10_000), Err(NoEstimate::HolderBeyondSeen));
    let (young, old) = (new(0).unwrap(), new(280).unwrap());
    assert!(old.high_ms < young.low_ms, "{old:?} {young:?}");
    assert_eq!(new(i64::MIN), Ok(young), "a clock that was set back");
}

#[test]
fn several_leases_are_served_side_by_side() {
    let habits = habits(std::iter::repeat_n(1_000, 30));
    let holders = [held_for(0), held_for(500), held_for(900)];
    let mut line = Line::new(&habits, Admission::Some(3), &holders).unwrap();
    let mut waits = Vec::new();
    for _ in 0..5 {
        waits.push(line.wait(false).middle_ms);
        line.pass(false);
    }
    assert_eq!(waits, [100, 500, 1_000, 1_100, 1_500]);
    let one_free = Line::new(&habits, Admission::Some(4), &holders).unwrap();
    assert_eq!(one_free.wait(false), WaitRange::default());
    let too_many = vec![held_for(0); LEASES_MAX + 1];
    let refused = Line::new(&habits, Admission::Some(100), &too_many).map(|line| line.wait(false));
    assert_eq!(refused, Err(NoEstimate::TooManyHolders));
}

#[test]
fn readers_go_together_and_a_writer_waits_for_all() {
    let habits = habits(std::iter::repeat_n(1_000, 30));
    let mut line = Line::new(&habits, Admission::Readers, &[reading_for(200), reading_for(700)]).unwrap();
    assert_eq!(line.wait(true), WaitRange::default(), "a reader behind readers waits for nobody");
    assert_eq!(line.wait(false).middle_ms, 800);
    line.pass(false);
    assert_eq!((line.wait(true).middle_ms, line.wait(false).middle_ms), (1_800, 1_800));
    line.pass(true);
    line.pass(true);
    assert_eq!((line.wait(true).middle_ms, line.wait(false).middle_ms), (1_800, 2_800));
}

#[test]
fn those_who_give_up_make_room() {
    let steady = habits(std::iter::repeat_n(1_000, 30));
    let leaving = Habits { give_up_rate: 1.0 / 20_000.0, ..steady.clone() };
    let wait = |habits: &Habits, ahead| behind(habits, Admission::One, &[held_for(0)], ahead).middle_ms;
    assert_eq!(wait(&steady, 1_000), 1_001_000);
    // The line moves by 1,000 · exp(−t / 20,000) a contender: 20,000 · ln(1 + n / 20) behind n.
    for ahead in [10, 40, 100, 1_000, 10_000] {
        let wanted = 1_000.0 + 20_000.0 * (1.0 + (ahead as f64) / 20.0 / 1.05).ln();
        let is = wait(&leaving, ahead) as f64;
        assert!((is / wanted - 1.0).abs() < 0.1, "{ahead}: {is}, not {wanted:.0}");
    }
    let all_leave = Habits { give_up_rate: 1e9, ..steady };
    assert!(wait(&all_leave, 10_000) <= 2_000);
}

#[test]
fn the_same_question_has_the_same_answer() {
    let habits = habits((0..300).map(|number| number * number));
    let ask = || behind(&habits, Admission::Some(2), &[held_for(7), held_for(9)], 70);
    assert_eq!(ask(), ask());
}
