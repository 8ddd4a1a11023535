//! Several processes are killed one after the other, each with a gap behind it and rows that it did not write: in the end
//! what is stored is what a twin has that lived through the same gaps and wrote everything.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_history::codec::Encoder;
use lockscope_history::derive::{Deriver, Event, Tap, apply, histogram_of};
use lockscope_history::historian::{MINUTES_FLUSH_MS, ROWS_FLUSH_MS};
use lockscope_history::resume::resume;
use lockscope_history::store::rows::{Fact, FactKind, Minute, MinuteQuery, Rows};
use lockscope_history::store::{Gap, GapReason, Store};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::codec::Told;
use crate::derive::{observed, steps};
use crate::replay::model;
use crate::resume::{bare, empty, stored, with_ticks};

/// One process: what it missed before it recorded, what it recorded until it was killed, and when it wrote rows.
#[derive(Clone, Debug)]
struct Killed {
    missed: usize,
    recorded: usize,
    checkpoint_every: usize,
    phase_ms: i64,
    dropped_numbers: u64,
    why: GapReason,
}

fn killed() -> impl Strategy<Value = Killed> {
    let why = proptest::sample::select(vec![
        GapReason::NotRunning,
        GapReason::TooBusy,
        GapReason::StoreFailed,
        GapReason::TooLarge,
    ]);
    (prop_oneof![0..25_usize, 0..120_usize], 0..40_usize, 5..60_usize, 0..10_000_i64, 0..3_u64, why).prop_map(
        |(missed, recorded, checkpoint_every, phase_ms, dropped_numbers, why)| Killed {
            missed,
            recorded,
            checkpoint_every,
            phase_ms,
            dropped_numbers,
            why,
        },
    )
}

/// All observations, and the events derived of them: each process follows them, whether it records or not.
struct World {
    told: Told,
    /// Before each observation, and in the end.
    models: Vec<Observatory>,
    events: Vec<Vec<(TimeMs, Event)>>,
}

impl World {
    fn of(told: Told) -> Self {
        let (mut model, mut tap) = (model(told[0].0), Tap::default());
        let (mut models, mut all) = (Vec::new(), Vec::new());
        for (now, observation) in &told {
            models.push(model.clone());
            let mut events = Vec::new();
            apply(&mut tap, &mut model, *now, observation.clone(), &mut events);
            all.push(events);
        }
        models.push(model);
        Self { told, models, events: all }
    }

    fn begin(&self, at: usize, deriver: &mut Deriver) {
        let mut events = Vec::new();
        let now = self.now(at);
        Tap::default().all(&self.models[at], now, &mut events);
        deriver.begin(now, events);
    }

    fn take(&self, at: usize, deriver: &mut Deriver) {
        self.events[at].iter().for_each(|(now, event)| deriver.take(*now, event.clone()));
        deriver.advance(self.told[at].0);
    }

    /// The model's time before an observation is taken in.
    fn now(&self, at: usize) -> TimeMs {
        self.told[at.saturating_sub(1)].0
    }
}

/// What each one records of the world, from and to.
fn recorded(world: &World, all: &[Killed]) -> Vec<(usize, usize)> {
    let (mut at, last) = (0, world.told.len());
    let ranges = all.iter().map(|one| {
        let from = at + one.missed;
        at = (from + one.recorded).min(last);
        (from, at)
    });
    ranges.take_while(|(from, _)| *from < last).collect()
}

fn counts(minute: &Minute) -> [u64; 6] {
    let Minute { arrivals, acquired, gave_up, waits, holds, waiting_ms, .. } = minute;
    let of = |histogram: &[u8]| histogram_of(histogram).count();
    let waiting_ms = u64::try_from(*waiting_ms).unwrap();
    [(*arrivals).into(), (*acquired).into(), (*gave_up).into(), of(waits), of(holds), waiting_ms]
}

/// Writes rows, and sees that none of a minute says less than the one that it replaces.
fn write(store: &dyn Store, rows: &Rows) {
    let before: BTreeMap<_, _> = store
        .minutes(&MinuteQuery::default())
        .unwrap()
        .into_iter()
        .map(|row| ((row.lock.clone(), row.at), row))
        .collect();
    for row in &rows.minutes {
        if let Some(before) = before.get(&(row.lock.clone(), row.at)) {
            let is_no_less = counts(row).iter().zip(counts(before)).all(|(now, before)| *now >= before);
            assert!(is_no_less, "{before:?} became {row:?}");
        }
    }
    store.write_rows(rows).unwrap();
}

/// One process records its part, behind those before it, and is killed.
fn run(store: &dyn Store, world: &World, (from, until): (usize, usize), of: &Killed) {
    let coverage = store.coverage().unwrap();
    let mut deriver = resume(store).map_or_else(|_| Deriver::default(), |resumed| resumed.deriver);
    deriver.settle(world.now(from));
    write(store, &deriver.complete());
    let mut encoder = Encoder::new(coverage.last_seq + 1 + if coverage.last_seq > 0 { of.dropped_numbers } else { 0 });
    let gap = coverage.to.map(|ended| Gap {
        after_seq: coverage.last_seq,
        from: ended,
        to: world.now(from).max(ended),
        why: of.why,
    });
    let (mut chunks, mut gaps) = (Vec::new(), Vec::from_iter(gap));
    let (mut rows_at, mut minutes_at) = (world.now(from) + of.phase_ms % 1_000, world.now(from) + of.phase_ms);
    world.begin(from, &mut deriver);
    let checkpoint = |at: usize, encoder: &mut Encoder| {
        encoder.checkpoint(world.now(at), world.models[at].checkpoint().unwrap().observations()).unwrap()
    };
    chunks.extend(checkpoint(from, &mut encoder));
    for at in from..until {
        let (now, observation) = &world.told[at];
        if at > from && (at - from) % of.checkpoint_every == 0 {
            chunks.extend(checkpoint(at, &mut encoder));
        }
        if *now >= rows_at {
            let with_minutes = *now >= minutes_at;
            let mut rows = deriver.complete();
            if with_minutes {
                rows.minutes.extend(deriver.under_way());
            }
            chunks.extend(encoder.close());
            store.append(&std::mem::take(&mut chunks), &std::mem::take(&mut gaps)).unwrap();
            write(store, &rows);
            rows_at = *now + ROWS_FLUSH_MS as i64;
            minutes_at = if with_minutes { *now + MINUTES_FLUSH_MS as i64 } else { minutes_at };
        }
        encoder.push(*now, observation, &mut chunks).unwrap();
        world.take(at, &mut deriver);
    }
    chunks.extend(encoder.close());
    store.append(&chunks, &gaps).unwrap();
}

/// What one has that lived through all of it.
fn twin(world: &World, ranges: &[(usize, usize)]) -> Rows {
    let mut deriver = Deriver::default();
    for (from, until) in ranges {
        world.begin(*from, &mut deriver);
        (*from..*until).for_each(|at| world.take(at, &mut deriver));
    }
    deriver.finish()
}

fn is_as_with_the_twin(store: &dyn Store, world: &World, all: &[Killed]) -> Result<(), TestCaseError> {
    let ranges = recorded(world, all);
    for (range, one) in ranges.iter().zip(all) {
        run(store, world, *range, one);
    }
    if let Ok(resumed) = resume(store) {
        let (_, until) = ranges[ranges.len() - 1];
        prop_assert!(resumed.observatory == world.models[until], "it goes on with the same model");
        write(store, &{ resumed.deriver }.finish());
    }
    let (_directory, theirs) = empty();
    theirs.write_rows(&twin(world, &ranges)).unwrap();
    let (ours, theirs) = (stored(store), stored(&theirs));
    let once: BTreeSet<_> = ours.spans.iter().map(|span| span.czxid).collect();
    prop_assert_eq!(once.len(), ours.spans.len(), "each life once");
    let numbers: BTreeSet<_> = ours.facts.iter().map(|fact| fact.number).collect();
    prop_assert_eq!(numbers.len(), ours.facts.len(), "each number once");
    prop_assert_eq!(bare(&ours.spans), bare(&theirs.spans));
    // How long those waited who were there before anybody looked, and when they are read is known better, is not the same.
    let by_key = |minutes: &[Minute]| -> BTreeMap<_, _> {
        let counted = |minute: &Minute| counts(minute).into_iter().take(5).collect::<Vec<_>>();
        let all = minutes.iter().map(|minute| ((minute.lock.clone(), minute.at), counted(minute)));
        all.filter(|(_, counted)| counted.iter().any(|count| *count > 0)).collect()
    };
    prop_assert_eq!(by_key(&ours.minutes), by_key(&theirs.minutes));
    // The last fact of a root is not recorded: a replay may repeat it, and facts behind it have later numbers.
    let of_locks = |facts: Vec<Fact>| -> Vec<_> {
        let of_lock = facts.into_iter().filter(|fact| fact.kind != FactKind::Root);
        of_lock.map(|fact| Fact { number: 0, ..fact }).collect()
    };
    prop_assert_eq!(of_locks(ours.facts), of_locks(theirs.facts));
    Ok(())
}

/// Histories that are tried; more by the environment.
fn cases() -> u32 {
    std::env::var("RESUME_GAPS").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_several_killed_processes_did_not_write_is_derived_again(
        steps in steps(),
        all in vec(killed(), 1..7),
    ) {
        let world = World::of(with_ticks(observed(&steps)));
        let (_directory, store) = empty();
        is_as_with_the_twin(&store, &world, &all)?;
    }
}

#[cfg(feature = "postgres")]
#[test]
fn the_same_holds_in_postgresql() {
    use proptest::strategy::ValueTree as _;

    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..cases() / 6 {
        let (steps, all) = (steps(), vec(killed(), 1..7)).new_tree(&mut runner).unwrap().current();
        let world = World::of(with_ticks(observed(&steps)));
        let store = crate::postgres::open(&crate::postgres::database());
        is_as_with_the_twin(&store, &world, &all).unwrap();
    }
}
