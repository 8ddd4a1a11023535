//! Where a recording breaks in odd ways: clocks that were set back, what was generated, what is damaged, a store that failed
//! for a while, and when the rows of the process before are written.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lockscope_core::observation::Observation;
use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_history::codec::Encoder;
use lockscope_history::derive::{Tap, apply};
use lockscope_history::historian::{Historian, HistoryState, Recorder};
use lockscope_history::resume::resume;
use lockscope_history::store::rows::{SpanEnd, SpanQuery};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{Coverage, Gap, GapReason, Store};
use lockscope_runtime::clock::Clock;

use crate::codec::Told;
use crate::derive::{Step, observed};
use crate::faulty::{Fault, Wrote, open_in};
use crate::historian::{RETENTION, until};
use crate::replay::model;
use crate::resume::{Process, arrivals, damage_first_events, empty, recorded, stored};

const HOUR_MS: i64 = 3_600_000;
const COME: Step = Step::Come { lock: 0, lag: 0, is_read: true };

/// Three come, two of them leave, and some time passes.
fn three_of_whom_two_leave(then_ms: i64) -> Told {
    let (pass, leave) = (Step::Pass(200), Step::Leave(0));
    observed(&[COME, COME, COME, pass, leave, pass, leave, Step::Pass(then_ms)])
}

fn gap_behind(store: &dyn Store, why: GapReason) -> (u64, Gap) {
    let Coverage { last_seq, to, .. } = store.coverage().unwrap();
    let from = to.unwrap();
    (last_seq + 1, Gap { after_seq: last_seq, from, to: from, why })
}

/// Another recording of the same, by other znodes, behind a gap. Gives when it began.
fn recorded_again(store: &SqliteStore, later_ms: i64, why: GapReason) -> TimeMs {
    let (next, gap) = gap_behind(store, why);
    let told = three_of_whom_two_leave(200);
    let (mut encoder, mut chunks) = (Encoder::new(next), Vec::new());
    let began = told[0].0 + later_ms;
    let model = model(began);
    chunks.extend(encoder.checkpoint(began, model.checkpoint().unwrap().observations()).unwrap());
    for (at, mut one) in told {
        if let Observation::NodeRead { facts, .. } = &mut one {
            facts.czxid = Zxid(facts.czxid.0 + 100);
        }
        encoder.push(at + later_ms, &one, &mut chunks).unwrap();
    }
    chunks.extend(encoder.close());
    store.append(&chunks, &[gap]).unwrap();
    began
}

#[test]
fn lives_behind_a_clock_that_was_set_back_are_derived_again() {
    for back_ms in [30_000, HOUR_MS, 400 * 24 * HOUR_MS] {
        let (_directory, store) = empty();
        recorded(&store, 1, 0, &[]);
        store.write_rows(&{ resume(&store).unwrap().deriver }.finish()).unwrap();
        let began = recorded_again(&store, -back_ms, GapReason::NotRunning);
        let resumed = resume(&store).unwrap();
        let rows = { resumed.deriver }.finish();
        assert_eq!(rows.spans.len(), 2, "{back_ms}: {:#?}", rows.spans);
        assert!(rows.spans.iter().all(|span| (began..began + 10_000).contains(&span.left_at)));
        store.write_rows(&rows).unwrap();
        assert_eq!({ resume(&store).unwrap().deriver }.finish().spans, [], "each once");
        let all = stored(&store);
        assert_eq!(all.spans.len(), 4);
        let numbers: std::collections::BTreeSet<u64> = all.facts.iter().map(|fact| fact.number).collect();
        assert_eq!(numbers.len(), all.facts.len());
    }
}

/// An engine that records observations and the events derived of them.
struct Live {
    model: Observatory,
    tap: Tap,
    recorder: Recorder,
}

impl Live {
    fn new(recorder: Recorder, at: TimeMs) -> Self {
        Self { model: model(at), tap: Tap::default(), recorder }
    }

    fn take(&mut self, now: TimeMs, observation: &Observation) {
        if self.recorder.wants_checkpoint() {
            self.recorder.checkpoint(now, self.model.checkpoint().unwrap());
        }
        let mut events = Vec::new();
        apply(&mut self.tap, &mut self.model, now, observation.clone(), &mut events);
        self.recorder.record(vec![(now, observation.clone())], events);
    }
}

#[test]
fn whoever_goes_on_behind_a_clock_that_was_set_back_writes_rows_at_once() {
    let (directory, store) = empty();
    let began = recorded(&store, 1, 0, &[]);
    drop(store);
    let fault = Arc::new(Fault::default());
    let open = open_in(directory.path(), &fault);
    let (historian, recorder) = Historian::start(open, || RETENTION, Clock::manual(began.0 - HOUR_MS)).unwrap();
    let handle = recorder.handle();
    let mut live = Live::new(recorder, began - HOUR_MS);
    until("the store", || handle.store().is_some());
    let told = three_of_whom_two_leave(5_000);
    while live.recorder.wants_checkpoint() || handle.status().state != HistoryState::Recording {
        live.take(told[0].0 - HOUR_MS, &Observation::Tick);
        std::thread::yield_now();
    }
    told.iter().for_each(|(at, one)| live.take(*at - HOUR_MS, one));
    let store = handle.store().unwrap();
    let spans = || store.spans(&SpanQuery::default()).unwrap();
    until("lives of both", || spans().len() == 4);
    drop(live);
    historian.join();
    let minutes = stored(&*store).minutes;
    let of = |is_before: bool| {
        minutes.iter().filter(|row| (row.at < began - HOUR_MS / 2) == is_before).map(|row| row.arrivals).sum::<u32>()
    };
    assert_eq!(of(true), of(false), "{minutes:#?}");
}

#[test]
fn what_was_generated_before_is_not_derived_again() {
    let (_directory, store) = empty();
    recorded(&store, 1, 0, &[]);
    let began = recorded_again(&store, 2_000, GapReason::Generated);
    let rows = { resume(&store).unwrap().deriver }.finish();
    assert_eq!(rows.spans.len(), 2, "{:#?}", rows.spans);
    assert!(rows.spans.iter().all(|span| span.left_at > began && span.how == SpanEnd::Released));
    assert_eq!(arrivals(&rows), 0, "the minute has what was generated, too");
}

/// A recording with checkpoints before some observations, and the process that made it.
fn with_checkpoints(store: &SqliteStore, told: &Told, before: &[usize], lost: std::ops::Range<usize>) -> Process {
    let (mut process, mut encoder, mut chunks) = (Process::new(told[0].0), Encoder::new(1), Vec::new());
    let (mut gaps, mut lost_from) = (Vec::new(), None);
    for (at, (now, one)) in told.iter().enumerate() {
        if at == lost.start && !lost.is_empty() {
            chunks.extend(encoder.close());
            lost_from = Some((encoder.last_seq(), *now));
        }
        if at == lost.end
            && let Some((after_seq, from)) = lost_from
        {
            gaps.push(Gap { after_seq, from, to: *now, why: GapReason::StoreFailed });
        }
        if before.contains(&at) {
            let checkpoint = process.model.checkpoint().unwrap();
            chunks.extend(encoder.checkpoint(*now, checkpoint.observations()).unwrap());
        }
        if !lost.contains(&at) {
            encoder.push(*now, one, &mut chunks).unwrap();
        }
        process.take(&(*now, one.clone()));
    }
    chunks.extend(encoder.close());
    store.append(&chunks, &gaps).unwrap();
    process
}

#[test]
fn what_a_process_saw_while_its_store_failed_stays_as_it_wrote_it() {
    let told = observed(&[
        COME,
        COME,
        COME,
        Step::Pass(200),
        Step::Leave(0),
        COME,
        Step::Pass(3_000),
        Step::Leave(0),
        Step::Pass(2_000),
    ]);
    let left = told.iter().rposition(|(_, one)| matches!(one, Observation::NodeCreated { .. })).unwrap();
    let (_directory, store) = empty();
    // The first left and another one came while nothing could be stored.
    let mut process = with_checkpoints(&store, &told, &[0, left + 2], left - 1..left + 2);
    store.write_rows(&process.rows(true)).unwrap();
    let before = stored(&store);
    let rows = { resume(&store).unwrap().deriver }.finish();
    store.write_rows(&rows).unwrap();
    let after = stored(&store);
    assert_eq!(after.spans, before.spans, "none twice, and none said to be unknown");
    let arrivals = |of: &[lockscope_history::store::rows::Minute]| of.iter().map(|row| row.arrivals).sum::<u32>();
    assert_eq!(arrivals(&after.minutes), arrivals(&before.minutes));
}

#[test]
fn what_is_damaged_before_the_newest_checkpoint_costs_no_model() {
    let told = three_of_whom_two_leave(200);
    let (directory, store) = empty();
    let process = with_checkpoints(&store, &told, &[0, 5], 0..0);
    damage_first_events(&directory);
    assert!(resume(&store).unwrap().observatory == process.model);
}

#[test]
fn rows_of_the_process_before_are_written_before_anything_is_recorded() {
    for is_start in [true, false] {
        let (directory, store) = empty();
        let began = recorded(&store, 1, 0, &[]);
        let resumed = is_start.then(|| resume(&store).unwrap().deriver);
        drop(store);
        let fault = Arc::new(Fault::default());
        let open = open_in(directory.path(), &fault);
        let clock = Clock::manual(began.0 + 5_000);
        // The store can't be opened at first, and much happens meanwhile.
        fault.stands.store(true, Ordering::SeqCst);
        let (historian, recorder) = Historian::go_on(open, || RETENTION, clock, resumed).unwrap();
        let mut live = Live::new(recorder, began + 5_000);
        (0..50).for_each(|at| live.take(began + 5_000 + at, &Observation::Tick));
        fault.stands.store(false, Ordering::SeqCst);
        let mut at = 50;
        until("it is written", || !fault.written.lock().unwrap().is_empty());
        while !fault.written.lock().unwrap().contains(&Wrote::Chunks) {
            at += 1;
            live.take(began + 5_000 + at, &Observation::Tick);
            std::thread::yield_now();
        }
        drop(live);
        historian.join();
        assert_eq!(fault.written.lock().unwrap()[0], Wrote::Rows { spans: 2 }, "{is_start}");
    }
}

#[test]
fn a_store_that_can_not_be_read_loses_no_rows_for_a_moment_and_keeps_nobody_from_recording_for_long() {
    for (fails, spans) in [(2, 2), (usize::MAX, 0)] {
        let (directory, store) = empty();
        let began = recorded(&store, 1, 0, &[]);
        drop(store);
        let fault = Arc::new(Fault::default());
        fault.reads_fail.store(fails, Ordering::SeqCst);
        let open = open_in(directory.path(), &fault);
        let (historian, recorder) = Historian::start(open, || RETENTION, Clock::manual(began.0 + 5_000)).unwrap();
        let (handle, mut live) = (recorder.handle(), Live::new(recorder, began + 5_000));
        let mut at = began + 5_000;
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while handle.status().state != HistoryState::Recording {
            assert!(std::time::Instant::now() < deadline, "{:?}", handle.status());
            at = at + 1;
            live.take(at, &Observation::Tick);
            std::thread::yield_now();
        }
        drop(live);
        historian.join();
        fault.reads_fail.store(0, Ordering::SeqCst);
        assert_eq!(stored(&*handle.store().unwrap()).spans.len(), spans, "{fails}");
    }
}
