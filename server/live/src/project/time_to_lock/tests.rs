//! What is told of a line, and above all where nothing may be told.

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::recipe::Recipe;
use lockscope_core::time::TimeMs;
use lockscope_core::time_to_lock::{Habits, HoldTimes};
use lockscope_view::{HoldsSource, LockQuery, NoEstimateReason, RootState, Scope, TimeToLock, WaitCalibration};

use super::{RecordedHabits, time_to_lock};
use crate::project::problems::tests::{facts, model_after};
use crate::project::{EnsembleInfo, ProjectionContext};

/// Shortly after the last contender came, when nothing is stuck yet.
const SOON: TimeMs = TimeMs(1_500);

fn queue(lock: &str, waiters: usize) -> Vec<(String, i64)> {
    (0..=waiters).map(|at| (format!("{lock}/lock-{at:010}"), at as i64 + 1)).collect()
}

fn young(contenders: &[(String, i64)]) -> Observatory {
    let borrowed: Vec<(&str, i64)> = contenders.iter().map(|(path, owner)| (path.as_str(), *owner)).collect();
    model_after(&borrowed, &[500, 1_000, SOON.0])
}

/// Holds of a second to two.
fn recorded() -> Option<RecordedHabits> {
    let holds = HoldTimes::of((0..500).map(|number| 400_000 + number * 2));
    Some(RecordedHabits { habits: Habits { holds, ..Habits::default() }, calibration: WaitCalibration::default() })
}

fn told(
    model: &Observatory,
    path: &str,
    now: TimeMs,
    recorded: Option<RecordedHabits>,
    state: RootState,
) -> TimeToLock {
    let ensemble = EnsembleInfo {
        name: "default".into(),
        connect: "zk:2181".into(),
        color: None,
        has_others: false,
        labels: Default::default(),
        excluded: None,
        proof: Default::default(),
    };
    let look = ProjectionContext { observatory: model, ensemble: &ensemble, scope: &Scope::ALL, now };
    let query = LockQuery { path: path.to_owned(), limit: 3, ..LockQuery::default() };
    time_to_lock(look.line(&query).unwrap(), recorded, state)
}

fn reason(model: &Observatory, path: &str) -> Option<NoEstimateReason> {
    told(model, path, SOON, recorded(), RootState::Live).reason
}

#[test]
fn the_first_few_the_one_that_is_asked_for_and_the_last_are_told() {
    let model = young(&queue("/l", 200));
    let all = told(&model, "/l/lock-0000000100", SOON, recorded(), RootState::Live);
    assert_eq!((all.waiter_count, all.reason, all.hold_count, all.source), (200, None, 500, HoldsSource::Recording));
    assert_eq!(all.waits.iter().map(|wait| wait.place).collect::<Vec<_>>(), [1, 2, 3]);
    let (asked, last) = (all.asked.unwrap(), all.last.unwrap());
    assert_eq!((asked.place, last.place), (100, 200));
    let mut before = 0;
    for (wait, holds) in all.waits.iter().zip(1..).chain([(&asked, 100), (&last, 200)]) {
        let range = wait.remaining.unwrap();
        let mean = holds * 400_500 - 1_500;
        assert!((mean - 1_000 * holds..mean + 1_000 * holds).contains(&range.middle_ms), "{}: {range:?}", wait.place);
        assert!(range.low_ms > before, "{range:?}");
        before = range.high_ms;
    }
    let holder = told(&model, "/l/lock-0000000000", SOON, recorded(), RootState::Live);
    assert_eq!(holder.asked, None, "whoever holds waits for nothing");
}

#[test]
fn nobody_in_a_deadlock_is_given_a_time() {
    let crossed = [("/a/lock-0", 1), ("/b/lock-0", 2), ("/a/lock-1", 2), ("/b/lock-1", 1)];
    let named = crossed.map(|(path, owner)| (path.replacen("lock-", "lock-000000000", 1), owner));
    // Behind both: whoever holds it waits for one that waits for ever.
    let mut contenders = named.to_vec();
    contenders.extend([("/c/lock-0000000000".to_owned(), 3), ("/a/lock-0000000002".to_owned(), 3)]);
    contenders.push(("/c/lock-0000000001".to_owned(), 4));
    let model = young(&contenders);
    for path in ["/a", "/b"] {
        let told = told(&model, path, SOON, recorded(), RootState::Live);
        assert_eq!(told.reason, Some(NoEstimateReason::Deadlocked), "{path}");
        assert!(told.waits.iter().chain(&told.last).all(|wait| wait.remaining.is_none()), "{told:?}");
    }
    assert_eq!(reason(&model, "/c"), Some(NoEstimateReason::HolderBlocked));
}

#[test]
fn what_is_too_old_or_not_known_is_told_to_nobody() {
    let model = young(&queue("/l", 3));
    for (state, wanted) in [
        (RootState::Live, None),
        (RootState::Past, None),
        (RootState::Partial, None),
        (RootState::Stale, Some(NoEstimateReason::NotLive)),
        (RootState::Syncing, Some(NoEstimateReason::NotLive)),
    ] {
        assert_eq!(told(&model, "/l", SOON, recorded(), state).reason, wanted, "{state}");
    }
    let nothing = told(&model, "/l", SOON, None, RootState::Live);
    assert_eq!((nothing.reason, nothing.source), (Some(NoEstimateReason::TooFewHolds), HoldsSource::Model));
    let late = told(&model, "/l", TimeMs(900_000), recorded(), RootState::Live);
    let allowed = [Some(NoEstimateReason::HolderBeyondSeen), Some(NoEstimateReason::Stuck)];
    assert!(allowed.contains(&late.reason), "{late:?}");
}

#[test]
fn whoever_held_when_it_was_first_looked_has_no_age() {
    let mut model = Observatory::new(Settings { roots: vec!["/l".into()], ..Settings::default() }, TimeMs(0));
    let root = RootId(0);
    let mut apply = |observation| drop(model.apply(TimeMs(1_000), observation));
    apply(Observation::Link { link: Link::Live, session: None, why: "".into() });
    apply(Observation::SyncBegan { root, why: "test".into() });
    for (path, number) in [("/l/lock-0000000000", 1), ("/l/lock-0000000001", 2)] {
        apply(Observation::SyncNode { root, path: path.into(), facts: facts(number, number), unreadable: false });
    }
    apply(Observation::SyncEnded { root });
    assert_eq!(reason(&model, "/l"), Some(NoEstimateReason::HolderAgeUnknown));
}

#[test]
fn an_election_is_no_queue_that_moves() {
    let model = young(&[
        ("/e/_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-latch-0000000000".to_owned(), 1),
        ("/e/_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ac-latch-0000000001".to_owned(), 2),
    ]);
    assert_eq!(model.lock("/e").map(|lock| lock.recognition.recipe), Some(Recipe::Election));
    assert_eq!(reason(&model, "/e"), Some(NoEstimateReason::NotAQueue));
}
