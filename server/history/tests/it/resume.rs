//! A process that was killed is gone with rows that it had derived and not written. Whoever starts next has them: what is
//! stored in the end is what a twin has that was never killed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lockscope_core::observation::Observation;
use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_history::codec::Encoder;
use lockscope_history::derive::{Deriver, Tap, apply};
use lockscope_history::historian::{Historian, HistoryState, MINUTES_FLUSH_MS, Open, ROWS_FLUSH_MS};
use lockscope_history::resume::resume;
use lockscope_history::store::rows::{Fact, FactQuery, Minute, MinuteQuery, Rows, Span, SpanEnd, SpanQuery};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{Coverage, Gap, GapReason, Store, StoreError};
use lockscope_runtime::clock::Clock;
use proptest::prelude::*;

use crate::codec::Told;
use crate::derive::{Step, observed, steps};
use crate::faulty::{Fault, open_in};
use crate::historian::{Engine, RETENTION, until};
use crate::replay::model;

/// What is stored of all time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) spans: Vec<Span>,
    pub(crate) minutes: Vec<Minute>,
    pub(crate) facts: Vec<Fact>,
}

pub(crate) fn stored(store: &dyn Store) -> Stored {
    Stored {
        spans: store.spans(&SpanQuery::default()).unwrap(),
        minutes: store.minutes(&MinuteQuery::default()).unwrap(),
        facts: store.facts(&FactQuery::default()).unwrap(),
    }
}

/// A process that derives, and writes its rows now and then.
pub(crate) struct Process {
    pub(crate) model: Observatory,
    tap: Tap,
    pub(crate) deriver: Deriver,
}

impl Process {
    pub(crate) fn new(at: TimeMs) -> Self {
        let mut deriver = Deriver::default();
        deriver.begin(at, Vec::new());
        Self { model: model(at), tap: Tap::default(), deriver }
    }

    pub(crate) fn take(&mut self, (now, observation): &(TimeMs, Observation)) {
        let mut events = Vec::new();
        apply(&mut self.tap, &mut self.model, *now, observation.clone(), &mut events);
        events.into_iter().for_each(|(at, event)| self.deriver.take(at, event));
        self.deriver.advance(*now);
    }

    pub(crate) fn rows(&mut self, with_minutes: bool) -> Rows {
        let mut rows = self.deriver.complete();
        if with_minutes {
            rows.minutes.extend(self.deriver.under_way());
        }
        rows
    }
}

/// Time passes in ticks.
pub(crate) fn with_ticks(told: Told) -> Told {
    let mut all = Told::new();
    for (now, observation) in told {
        let last = all.last().map_or(now, |(at, _)| *at);
        let ticks = (1..).map(|number| last + 1_000 * number).take_while(|at| *at < now);
        all.extend(ticks.map(|at| (at, Observation::Tick)));
        all.push((now, observation));
    }
    all
}

/// Records all of it with a checkpoint before each so many; rows are written when they are due, and what comes later is lost.
fn killed(store: &SqliteStore, told: &Told, checkpoint_every: usize, phase_ms: i64) {
    let (mut process, mut encoder, mut chunks) = (Process::new(told[0].0), Encoder::new(1), Vec::new());
    let (mut rows_at, mut minutes_at) = (told[0].0 + phase_ms % 1_000, told[0].0 + phase_ms);
    for (at, one) in told.iter().enumerate() {
        if at % checkpoint_every == 0 {
            let checkpoint = process.model.checkpoint().unwrap();
            chunks.extend(encoder.checkpoint(one.0, checkpoint.observations()).unwrap());
        }
        encoder.push(one.0, &one.1, &mut chunks).unwrap();
        if one.0 >= rows_at {
            let with_minutes = one.0 >= minutes_at;
            store.write_rows(&process.rows(with_minutes)).unwrap();
            rows_at = one.0 + ROWS_FLUSH_MS as i64;
            minutes_at = if with_minutes { one.0 + MINUTES_FLUSH_MS as i64 } else { minutes_at };
        }
        process.take(one);
    }
    chunks.extend(encoder.close());
    store.append(&chunks, &[]).unwrap();
}

fn twin(store: &SqliteStore, told: &Told) {
    let mut process = Process::new(told[0].0);
    told.iter().for_each(|one| process.take(one));
    store.write_rows(&process.deriver.finish()).unwrap();
}

pub(crate) fn empty() -> (tempfile::TempDir, SqliteStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), "prod").unwrap();
    (directory, store)
}

/// Without charges: whoever was there at a checkpoint waited before it for somebody whom nobody remembers.
pub(crate) fn bare(spans: &[Span]) -> Vec<Span> {
    spans.iter().cloned().map(|span| Span { charges: None, ..span }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_killed_process_did_not_write_is_derived_again(
        steps in steps(),
        checkpoint_every in 20..400_usize,
        phase_ms in 0..10_000_i64,
    ) {
        let told = with_ticks(observed(&steps));
        let ((_first, ours), (_second, theirs)) = (empty(), empty());
        killed(&ours, &told, checkpoint_every, phase_ms);
        twin(&theirs, &told);
        let mut resumed = resume(&ours).unwrap();
        let mut process = Process::new(told[0].0);
        told.iter().for_each(|one| process.take(one));
        prop_assert!(resumed.observatory == process.model, "it goes on with the same model");
        let rows = resumed.deriver.finish();
        ours.write_rows(&rows).unwrap();
        let (ours, theirs) = (stored(&ours), stored(&theirs));
        prop_assert_eq!(bare(&ours.spans), bare(&theirs.spans));
        for span in &ours.spans {
            let charges = span.charges.clone().unwrap();
            prop_assert_eq!(charges.direct.sum_ms() + charges.hand_off_ms + charges.unknown_ms, span.wait_ms);
        }
        let by_key = |minutes: &[Minute]| -> BTreeMap<(Box<str>, TimeMs), Minute> {
            minutes.iter().map(|minute| ((minute.lock.clone(), minute.at), minute.clone())).collect()
        };
        prop_assert_eq!(by_key(&ours.minutes), by_key(&theirs.minutes));
        prop_assert_eq!(ours.facts, theirs.facts);
    }
}

/// Three come and two of them leave; nothing of it is derived. Gives when it began.
pub(crate) fn recorded(store: &SqliteStore, first_seq: u64, later_ms: i64, gaps: &[Gap]) -> TimeMs {
    let come = Step::Come { lock: 0, lag: 0, is_read: true };
    let (pass, leave) = (Step::Pass(200), Step::Leave(0));
    let told = observed(&[come, come, come, pass, leave, pass, leave, pass])
        .into_iter()
        .map(|(at, one)| (at + later_ms, one))
        .collect::<Told>();
    let (process, mut encoder, mut chunks) = (Process::new(told[0].0), Encoder::new(first_seq), Vec::new());
    let checkpoint = process.model.checkpoint().unwrap();
    chunks.extend(encoder.checkpoint(told[0].0, checkpoint.observations()).unwrap());
    told.iter().for_each(|(at, one)| encoder.push(*at, one, &mut chunks).unwrap());
    chunks.extend(encoder.close());
    store.append(&chunks, gaps).unwrap();
    told[0].0
}

/// Two recordings, the later one behind a gap, of processes that wrote no rows. Gives when the later one began.
fn recorded_twice(store: &SqliteStore) -> TimeMs {
    recorded(store, 1, 0, &[]);
    let Coverage { last_seq, to, .. } = store.coverage().unwrap();
    let from = to.unwrap();
    let gap = Gap { after_seq: last_seq, from, to: from + 1_000, why: GapReason::NotRunning };
    recorded(store, last_seq + 1, 2_000, &[gap])
}

#[test]
fn behind_a_gap_lives_and_minutes_of_both_sides_are_derived_again() {
    let (_directory, store) = empty();
    let began = recorded_twice(&store);
    let rows = resume(&store).unwrap().deriver.finish();
    let ended = rows.spans.iter().map(|span| (span.how, span.left_at < began));
    let released = |is_before| [(SpanEnd::Released, is_before); 2];
    assert_eq!(ended.collect::<Vec<_>>(), [released(true), released(false)].concat(), "{:#?}", rows.spans);
    let (_directory, alone) = empty();
    recorded(&alone, 1, 0, &[]);
    let of_one = arrivals(&resume(&alone).unwrap().deriver.finish());
    assert!(of_one > 0);
    assert_eq!(arrivals(&rows), 2 * of_one, "minutes have both sides");
}

/// All that came, by the last row of each minute.
pub(crate) fn arrivals(rows: &Rows) -> u32 {
    let last = rows.minutes.iter().map(|minute| ((&minute.lock, minute.at), minute.arrivals));
    last.collect::<BTreeMap<_, _>>().values().sum()
}

/// Damages the first chunk of a recording that is no checkpoint.
pub(crate) fn damage_first_events(directory: &tempfile::TempDir) {
    let mut files = std::fs::read_dir(directory.path().join("prod")).unwrap().map(|entry| entry.unwrap().path());
    let is_recording = |path: &std::path::PathBuf| {
        path.extension().is_some_and(|name| name == "db") && !path.to_string_lossy().ends_with(".rows.db")
    };
    let file = files.find(is_recording).unwrap();
    let damage = "UPDATE chunk SET body = x'00' WHERE kind <> 1 AND seq = (SELECT min(seq) FROM chunk WHERE kind <> 1)";
    assert_eq!(rusqlite::Connection::open(file).unwrap().execute(damage, []).unwrap(), 1);
}

#[test]
fn what_is_damaged_before_a_gap_keeps_nothing_back_that_lies_behind_it() {
    let (directory, store) = empty();
    let began = recorded_twice(&store);
    damage_first_events(&directory);
    let rows = resume(&store).unwrap().deriver.complete();
    assert_eq!(rows.spans.iter().filter(|span| span.left_at > began).count(), 2, "{:#?}", rows.spans);
    assert_eq!(rows.minutes, [], "of the minute a part is not known");
}

#[test]
fn lives_that_ended_just_before_a_checkpoint_are_derived_again_however_far_the_one_before_is() {
    let (_directory, store) = empty();
    let come = Step::Come { lock: 0, lag: 0, is_read: true };
    let told = observed(&[come, come, Step::Pass(200), Step::Leave(0), Step::Leave(0), Step::Pass(200)]);
    let (mut process, mut encoder, mut chunks) = (Process::new(told[0].0), Encoder::new(1), Vec::new());
    chunks.extend(encoder.checkpoint(told[0].0, process.model.checkpoint().unwrap().observations()).unwrap());
    for (at, one) in &told {
        encoder.push(*at, one, &mut chunks).unwrap();
        process.take(&(*at, one.clone()));
    }
    let end = told.last().unwrap().0;
    for _ in 0..200 {
        encoder.push(end, &Observation::Tick, &mut chunks).unwrap();
        chunks.extend(encoder.close());
    }
    chunks.extend(encoder.checkpoint(end, process.model.checkpoint().unwrap().observations()).unwrap());
    encoder.push(end + 100, &Observation::Tick, &mut chunks).unwrap();
    chunks.extend(encoder.close());
    store.append(&chunks, &[]).unwrap();
    assert_eq!(resume(&store).unwrap().deriver.finish().spans.len(), 2);
}

#[test]
fn whoever_takes_over_a_recording_writes_the_rows_that_the_one_before_did_not() {
    let (directory, store) = empty();
    let began = recorded(&store, 1, 0, &[]);
    drop(store);
    let place = directory.path().to_owned();
    let open: Open = Box::new(move || Ok(Arc::new(SqliteStore::open(&place, "prod")?)));
    let (historian, recorder) = Historian::start(open, || RETENTION, Clock::manual(began.0 + 5_000)).unwrap();
    let handle = recorder.handle();
    until("the store", || handle.store().is_some());
    drop((recorder, handle));
    historian.join();
    let store = SqliteStore::open(directory.path(), "prod").unwrap();
    assert_eq!(stored(&store).spans.len(), 2);
}

#[test]
fn the_gap_ends_before_the_rows_of_the_one_before_are_derived() {
    let (directory, store) = empty();
    let began = recorded(&store, 1, 0, &[]);
    let ended = store.coverage().unwrap().to.unwrap();
    drop(store);
    let fault = Arc::new(Fault::default());
    fault.set(Some(StoreError::InUse("another one records".into())));
    let open = open_in(directory.path(), &fault);
    let (historian, recorder) = Historian::start(open, || RETENTION, Clock::manual(began.0 + 5_000)).unwrap();
    let (handle, mut engine) = (recorder.handle(), Engine::new(recorder, began.0 + 5_000));
    // The historian of a standby drops everything, the first checkpoint as well.
    while fault.tries.load(Ordering::SeqCst) <= 2 || engine.recorder.wants_checkpoint() {
        engine.step();
        std::thread::yield_now();
    }
    fault.reads_stand.store(true, Ordering::SeqCst);
    fault.set(None);
    until("another checkpoint is wanted", || engine.recorder.wants_checkpoint());
    engine.step();
    let recorded_from = engine.now;
    (0..100).for_each(|_| engine.step());
    fault.reads_stand.store(false, Ordering::SeqCst);
    until("it records", || handle.status().state == HistoryState::Recording);
    drop((engine, handle));
    historian.join();
    let store = SqliteStore::open(directory.path(), "prod").unwrap();
    assert_eq!(stored(&store).spans.len(), 2);
    let [gap] = store.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap()[..] else { panic!() };
    assert_eq!((gap.from, gap.to), (ended, recorded_from));
}

#[test]
fn nothing_kept_is_nothing_to_go_on_with() {
    let (_directory, store) = empty();
    assert!(resume(&store).is_err());
}
