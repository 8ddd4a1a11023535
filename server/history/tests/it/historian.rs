//! The thread that records: over a store that works, fails, is slow, and comes back.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lockscope_core::observation::{Link, Observation};
use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_history::historian::{
    BATCHES_MAX, CHECKPOINT_MS, Historian, HistoryHandle, HistoryState, HistoryStatus, Recorder, SILENCE_MS,
};
use lockscope_history::replay::{Moment, ReplayError, Rewound};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{Gap, GapReason, Retention, Store, StoreError};
use lockscope_runtime::clock::Clock;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use crate::faulty::{Fault, open_in};
use crate::replay::{all_of, model};
use crate::strategies::life;

pub(crate) const START: i64 = 1_790_000_000_000;
pub(crate) const RETENTION: Retention =
    Retention { chunks_ms: i64::MAX, chunk_bytes_max: u64::MAX, spans_ms: i64::MAX, minutes_ms: i64::MAX };

/// Waits for a condition; what may take longer than this is broken.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "waited for: {what}");
        std::thread::yield_now();
    }
}

/// A live model whose observations are recorded, as an engine does it.
pub(crate) struct Engine {
    pub(crate) model: Observatory,
    pub(crate) recorder: Recorder,
    pub(crate) now: TimeMs,
}

impl Engine {
    pub(crate) fn new(recorder: Recorder, at: i64) -> Self {
        Self { model: model(TimeMs(at)), recorder, now: TimeMs(at) }
    }

    pub(crate) fn apply(&mut self, observation: Observation) {
        if self.recorder.wants_checkpoint() {
            self.recorder.checkpoint(self.now, self.model.checkpoint().unwrap());
        }
        self.recorder.record(vec![(self.now, observation.clone())], Vec::new());
        self.model.apply(self.now, observation);
    }

    /// Time passes and something changes.
    pub(crate) fn step(&mut self) {
        self.now = self.now + 100;
        let why = format!("at {}", self.now).into();
        self.apply(Observation::Link { link: Link::Stale, session: None, why });
    }
}

struct Setting {
    directory: tempfile::TempDir,
    fault: Arc<Fault>,
    handle: HistoryHandle,
    historian: Historian,
    engine: Engine,
}

impl Setting {
    fn new() -> Self {
        let fault = Arc::default();
        Self::over(tempfile::tempdir().unwrap(), fault, START)
    }

    fn over(directory: tempfile::TempDir, fault: Arc<Fault>, at: i64) -> Self {
        let clock = Clock::manual(at);
        let (historian, recorder) = Historian::start(open_in(directory.path(), &fault), || RETENTION, clock).unwrap();
        let handle = recorder.handle();
        Self { directory, fault, handle, historian, engine: Engine::new(recorder, at) }
    }

    fn recording() -> Self {
        let mut setting = Self::new();
        setting.record();
        setting
    }

    /// Steps until it is recorded.
    fn record(&mut self) {
        until("the store", || self.handle.store().is_some());
        let (handle, engine) = (self.handle.clone(), &mut self.engine);
        let deadline = Instant::now() + Duration::from_secs(30);
        while handle.status().state != HistoryState::Recording || engine.recorder.wants_checkpoint() {
            assert!(Instant::now() < deadline, "{:?}", handle.status());
            if engine.recorder.wants_checkpoint() {
                engine.step();
            }
            std::thread::yield_now();
        }
    }

    fn status(&self) -> HistoryStatus {
        self.handle.status()
    }

    fn stop(self) -> (tempfile::TempDir, Observatory, TimeMs) {
        let Self { directory, historian, engine, handle, .. } = self;
        let Engine { model, recorder, now } = engine;
        drop(recorder);
        historian.join();
        assert_eq!(handle.status().state, HistoryState::Ended);
        drop(handle);
        (directory, model, now)
    }
}

fn reopened(directory: &tempfile::TempDir) -> SqliteStore {
    SqliteStore::open(directory.path(), "prod").unwrap()
}

fn all_gaps(store: &dyn Store) -> Vec<Gap> {
    store.gaps(TimeMs(i64::MIN)..TimeMs(i64::MAX)).unwrap()
}

#[test]
fn what_is_recorded_is_the_model() {
    let mut runner = TestRunner::deterministic();
    let mut setting = Setting::recording();
    for _ in 0..20 {
        for (_, observation) in life().new_tree(&mut runner).unwrap().current() {
            setting.engine.now = setting.engine.now + 17;
            setting.engine.apply(observation);
        }
    }
    let (directory, model, now) = setting.stop();
    let store = reopened(&directory);
    let rewound = Rewound::new(&store, Moment::At(now)).unwrap();
    assert!(all_of(rewound.observatory()) == all_of(&model));
    assert_eq!(all_gaps(&store), []);
}

#[test]
fn it_is_stored_while_it_goes_on() {
    let mut setting = Setting::recording();
    let began = Instant::now();
    setting.engine.step();
    let store = setting.handle.store().unwrap();
    let now = setting.engine.now;
    until("it is stored", || store.coverage().unwrap().to == Some(now));
    assert!(began.elapsed() < Duration::from_secs(10), "a flush takes 250 ms");
    until("totals", || setting.status().coverage.to == Some(now));
    let status = setting.status();
    assert_eq!((status.state, status.store, status.trouble), (HistoryState::Recording, Some("sqlite"), None));
    assert!(status.written > 0 && status.checkpoints_written >= 1 && status.checkpoint_bytes > 0);
}

#[test]
fn a_restart_is_a_gap_up_to_the_first_checkpoint() {
    let (directory, _, ended) = Setting::recording().stop();
    let begins = START + 60_000;
    let mut setting = Setting::over(directory, Arc::default(), begins);
    setting.record();
    let (directory, model, now) = setting.stop();
    let store = reopened(&directory);
    let [gap] = all_gaps(&store)[..] else { panic!() };
    assert_eq!((gap.from, gap.why), (ended, GapReason::NotRunning));
    assert!(gap.to.0 >= begins && gap.to <= now);
    assert_eq!(Rewound::new(&store, Moment::At(TimeMs(begins - 5))).unwrap_err(), ReplayError::InGap(gap));
    assert!(Rewound::new(&store, Moment::At(ended)).is_ok());
    assert!(all_of(Rewound::new(&store, Moment::At(now)).unwrap().observatory()) == all_of(&model));
}

#[test]
fn a_restart_with_a_clock_that_was_set_back_keeps_the_order() {
    for by in [-3_600_000, 3_600_000, -2 * 86_400_000] {
        let (directory, _, _) = Setting::recording().stop();
        let mut setting = Setting::over(directory, Arc::default(), START + by);
        setting.record();
        let (directory, model, now) = setting.stop();
        let store = reopened(&directory);
        assert!(all_gaps(&store).iter().all(|gap| gap.from <= gap.to));
        assert!(all_of(Rewound::new(&store, Moment::At(now)).unwrap().observatory()) == all_of(&model), "{by}");
    }
}

#[test]
fn the_sender_never_waits_and_what_is_dropped_is_a_gap() {
    let mut setting = Setting::recording();
    let before = setting.engine.now;
    setting.fault.stands.store(true, Ordering::SeqCst);
    let tries = setting.fault.tries.load(Ordering::SeqCst);
    setting.engine.step();
    until("it stands", || setting.fault.tries.load(Ordering::SeqCst) > tries);
    let began = Instant::now();
    (0..2 * BATCHES_MAX).for_each(|_| setting.engine.step());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(setting.status().dropped > 0 && !setting.engine.recorder.wants_checkpoint(), "there is no room for one");
    let is_told = |status: HistoryStatus| (status.state, status.trouble.is_some()) == (HistoryState::Failing, true);
    until("it is told that the store does not answer", || is_told(setting.status()));
    setting.fault.stands.store(false, Ordering::SeqCst);
    until("the loss is told", || setting.engine.recorder.wants_checkpoint());
    setting.record();
    let dropped = setting.status().dropped;
    let (directory, model, now) = setting.stop();
    let store = reopened(&directory);
    let [gap] = all_gaps(&store)[..] else { panic!() };
    assert_eq!(gap.why, GapReason::TooBusy);
    assert!(gap.from >= before && gap.to <= now);
    assert!(((gap.to.0 - gap.from.0) / 100 - dropped as i64).abs() <= 2, "{gap:?} {dropped}");
    let in_between = TimeMs((gap.from.0 + gap.to.0) / 2);
    assert_eq!(Rewound::new(&store, Moment::At(in_between)).unwrap_err(), ReplayError::InGap(gap));
    assert!(all_of(Rewound::new(&store, Moment::At(now)).unwrap().observatory()) == all_of(&model));
}

#[test]
fn a_store_that_fails_for_a_while_loses_nothing() {
    for error in
        [StoreError::Full("disk".into()), StoreError::Denied("mode".into()), StoreError::Damaged("page".into())]
    {
        let mut setting = Setting::recording();
        setting.fault.set(Some(error.clone()));
        setting.engine.step();
        until("trouble", || setting.status().trouble.is_some());
        (0..100).for_each(|_| setting.engine.step());
        let status = setting.status();
        assert_eq!((status.state, status.dropped), (HistoryState::Failing, 0));
        assert!(status.trouble.unwrap().0.contains(&error.to_string()));
        setting.fault.set(None);
        until("it works again", || setting.status().trouble.is_none());
        setting.record();
        let (directory, model, now) = setting.stop();
        let store = reopened(&directory);
        assert_eq!(all_gaps(&store), []);
        assert!(all_of(Rewound::new(&store, Moment::At(now)).unwrap().observatory()) == all_of(&model));
    }
}

#[test]
fn a_store_that_fails_for_long_is_a_gap() {
    let mut setting = Setting::recording();
    let kept = setting.engine.now;
    setting.fault.set(Some(StoreError::Full("disk".into())));
    let large = |at: usize| format!("{at}{}", "x".repeat(1 << 20)).into();
    for at in 0..80 {
        setting.engine.now = setting.engine.now + 100;
        setting.engine.apply(Observation::Link { link: Link::Stale, session: None, why: large(at) });
    }
    until("it gave up", || setting.status().dropped > 0);
    setting.fault.set(None);
    setting.record();
    let (directory, model, now) = setting.stop();
    let store = reopened(&directory);
    let gaps = all_gaps(&store);
    assert!(!gaps.is_empty() && gaps.iter().all(|gap| gap.from >= kept && gap.to <= now), "{gaps:?}");
    assert!(all_of(Rewound::new(&store, Moment::At(now)).unwrap().observatory()) == all_of(&model));
}

#[test]
fn where_no_time_was_recorded_nobody_looked() {
    let mut setting = Setting::recording();
    let before = setting.engine.now;
    setting.engine.now = before + 2 * SILENCE_MS;
    setting.engine.step();
    let (directory, model, now) = setting.stop();
    let store = reopened(&directory);
    let gap = Gap { from: before, to: now, why: GapReason::NotRunning, after_seq: all_gaps(&store)[0].after_seq };
    assert_eq!(all_gaps(&store), [gap]);
    assert_eq!(Rewound::new(&store, Moment::At(before + SILENCE_MS)).unwrap_err(), ReplayError::InGap(gap));
    assert!(all_of(Rewound::new(&store, Moment::At(now)).unwrap().observatory()) == all_of(&model));
}

#[test]
fn where_no_time_was_recorded_within_what_is_handed_over_at_once_nobody_looked() {
    let mut setting = Setting::recording();
    let before = setting.engine.now + 100;
    let after = before + 2 * SILENCE_MS;
    let batch = [before, after].map(|now| {
        let observation = Observation::Link { link: Link::Stale, session: None, why: format!("at {now}").into() };
        setting.engine.model.apply(now, observation.clone());
        (now, observation)
    });
    setting.engine.recorder.record(batch.to_vec(), Vec::new());
    setting.engine.now = after;
    let (directory, model, now) = setting.stop();
    let store = reopened(&directory);
    let gap = Gap { from: before, to: now, why: GapReason::NotRunning, after_seq: all_gaps(&store)[0].after_seq };
    assert_eq!(all_gaps(&store), [gap]);
    assert_eq!(Rewound::new(&store, Moment::At(before + SILENCE_MS)).unwrap_err(), ReplayError::InGap(gap));
    assert!(all_of(Rewound::new(&store, Moment::At(now)).unwrap().observatory()) == all_of(&model));
}

#[test]
fn a_checkpoint_that_was_wanted_hides_no_time_in_which_nobody_looked() {
    let mut setting = Setting::recording();
    // Not one step more: the next one makes the checkpoint.
    let due = setting.engine.now + CHECKPOINT_MS;
    while setting.engine.now < due {
        setting.engine.now = setting.engine.now + SILENCE_MS / 2;
        setting.engine.step();
    }
    until("a checkpoint is wanted", || setting.engine.recorder.wants_checkpoint());
    let before = setting.engine.now;
    setting.engine.now = before + 2 * SILENCE_MS;
    setting.engine.step();
    let (directory, model, now) = setting.stop();
    let store = reopened(&directory);
    let gap = Gap { from: before, to: now, why: GapReason::NotRunning, after_seq: all_gaps(&store)[0].after_seq };
    assert_eq!(all_gaps(&store), [gap]);
    assert!(all_of(Rewound::new(&store, Moment::At(now)).unwrap().observatory()) == all_of(&model));
}

#[test]
fn a_store_that_can_not_be_opened_is_opened_later() {
    let fault = Arc::new(Fault::default());
    fault.set(Some(StoreError::Denied("read-only".into())));
    let mut setting = Setting::over(tempfile::tempdir().unwrap(), Arc::clone(&fault), START);
    until("trouble", || setting.status().trouble.is_some());
    (0..10).for_each(|_| setting.engine.step());
    assert_eq!((setting.status().state, setting.handle.store().is_none()), (HistoryState::Opening, true));
    fault.set(None);
    setting.record();
    assert_eq!(setting.status().trouble, None);
    let (directory, model, now) = setting.stop();
    let store = reopened(&directory);
    assert!(all_of(Rewound::new(&store, Moment::At(now)).unwrap().observatory()) == all_of(&model));
}

#[test]
fn checkpoints_are_asked_for_by_time_and_at_midnight() {
    let mut setting = Setting::recording();
    assert!(!setting.engine.recorder.wants_checkpoint());
    setting.engine.now = setting.engine.now + 600_000;
    setting.engine.step();
    until("ten minutes", || setting.engine.recorder.wants_checkpoint());
    setting.record();
    let midnight = (setting.engine.now.0 / 86_400_000 + 1) * 86_400_000;
    setting.engine.now = TimeMs(midnight - 200_000);
    setting.engine.step();
    setting.record();
    setting.engine.now = TimeMs(midnight);
    setting.engine.step();
    until("midnight", || setting.engine.recorder.wants_checkpoint());
    setting.record();
    let (directory, _, now) = setting.stop();
    let checkpoint = reopened(&directory).checkpoint_before(u64::MAX).unwrap().unwrap();
    assert!(checkpoint.first_at.0 >= midnight && checkpoint.first_at <= now);
}
