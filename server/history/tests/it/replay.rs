//! What was recorded becomes the model that it was, at every moment.

use std::ops::ControlFlow;

use lockscope_core::observation::Observation;
use lockscope_core::observatory::Observatory;
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_history::codec::{Chunk, Encoder};
use lockscope_history::replay::{Moment, ReplayError, Rewound, walk};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{Gap, GapReason, Store};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::codec::Told;
use crate::strategies::life;

pub(crate) fn model(at: TimeMs) -> Observatory {
    Observatory::new(Settings { roots: vec!["/locks".into()], ..Settings::default() }, at)
}

/// Everything that a model believes and has learned.
pub(crate) fn all_of(model: &Observatory) -> Vec<Observation> {
    model.checkpoint().unwrap().observations().collect()
}

/// The models after each observation, and the chunks of their recording: a checkpoint before every so many.
fn recorded(first_seq: u64, told: &Told, checkpoint_every: usize) -> (Vec<(TimeMs, Observatory)>, Vec<Chunk>) {
    let mut model = model(told[0].0);
    let (mut models, mut chunks, mut encoder) = (Vec::new(), Vec::new(), Encoder::new(first_seq));
    for (at, (now, observation)) in told.iter().enumerate() {
        if at % checkpoint_every == 0 {
            chunks.extend(encoder.checkpoint(*now, model.checkpoint().unwrap().observations()).unwrap());
        }
        encoder.push(*now, observation, &mut chunks).unwrap();
        model.apply(*now, observation.clone());
        models.push((*now, model.clone()));
    }
    chunks.extend(encoder.close());
    (models, chunks)
}

/// The last model of those that are no later than an instant.
fn at(models: &[(TimeMs, Observatory)], at: TimeMs) -> &Observatory {
    &models.iter().rev().find(|(now, _)| *now <= at).unwrap().1
}

fn empty() -> (tempfile::TempDir, SqliteStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), "prod").unwrap();
    (directory, store)
}

/// Lives that are replayed; more by the environment.
fn lives() -> u32 {
    std::env::var("HISTORY_LIVES").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

#[test]
fn every_moment_is_as_it_was() {
    let mut runner = TestRunner::deterministic();
    for number in 0..lives() {
        let told: Told = life().new_tree(&mut runner).unwrap().current();
        let (models, chunks) = recorded(1, &told, 1 + number as usize % 23);
        let (_directory, store) = empty();
        store.append(&chunks, &[]).unwrap();
        let moments: Vec<TimeMs> = models.iter().map(|(now, _)| *now).collect();
        let mut stepped = Rewound::new(&store, Moment::At(moments[0])).unwrap();
        for moment in moments.iter().step_by(3).chain([&moments[0], moments.last().unwrap()]) {
            let expected = all_of(at(&models, *moment));
            stepped.step_to(&store, Moment::At(*moment)).unwrap();
            assert!(all_of(stepped.observatory()) == expected, "life {number}, stepped to {moment}");
            let anew = Rewound::new(&store, Moment::At(*moment)).unwrap();
            assert!(all_of(anew.observatory()) == expected, "life {number}, anew at {moment}");
            assert!(anew.known_at() <= *moment);
        }
    }
}

#[test]
fn a_transaction_is_a_moment() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..20 {
        let told: Told = life().new_tree(&mut runner).unwrap().current();
        let (models, chunks) = recorded(1, &told, 17);
        let (_directory, store) = empty();
        store.append(&chunks, &[]).unwrap();
        let newest = models.last().unwrap().1.zxid();
        for (_, model) in models.iter().filter(|(_, model)| model.zxid().0 > 0) {
            let rewound = Rewound::new(&store, Moment::Zxid(model.zxid())).unwrap();
            let first = models.iter().find(|(_, one)| one.zxid() >= model.zxid()).unwrap();
            assert_eq!(rewound.observatory().zxid(), first.1.zxid());
        }
        let after = Rewound::new(&store, Moment::Zxid(lockscope_core::znode::Zxid(newest.0 + 1)));
        assert!(matches!(after, Err(ReplayError::NothingKept { before: Some(_), after: None })));
    }
}

#[test]
fn a_transaction_that_was_not_observed_is_no_moment() {
    let mut runner = TestRunner::deterministic();
    let mut looked_at = 0;
    for _ in 0..120 {
        let told: Told = life().new_tree(&mut runner).unwrap().current();
        let models = recorded(1, &told, 1_000).0;
        // The second half is recorded alone, and once more behind a quarter and a gap.
        let (quarter, half) = (models.len() / 4, models.len() / 2);
        let part = |first_seq, range: std::ops::Range<usize>| {
            let (mut encoder, mut chunks) = (Encoder::new(first_seq), Vec::new());
            let (begin, model) = &models[range.start];
            chunks.extend(encoder.checkpoint(*begin, model.checkpoint().unwrap().observations()).unwrap());
            told[range].iter().skip(1).for_each(|(now, one)| encoder.push(*now, one, &mut chunks).unwrap());
            chunks.extend(encoder.close());
            chunks
        };
        let (_one, late) = empty();
        late.append(&part(1, half..models.len()), &[]).unwrap();
        let first = part(1, 0..quarter);
        let after_seq = first.len() as u64;
        let gap = Gap { after_seq, from: models[quarter - 1].0, to: models[half].0, why: GapReason::TooBusy };
        let (_other, torn) = empty();
        torn.append(&first, &[]).unwrap();
        // Some chunks in between were dropped, and their numbers with them.
        torn.append(&part(after_seq + 1 + looked_at % 3, half..models.len()), &[gap]).unwrap();
        let missed = models[quarter..half].iter().map(|(_, model)| model.zxid());
        for zxid in missed.filter(|zxid| models[quarter - 1].1.zxid() < *zxid && *zxid < models[half].1.zxid()) {
            let missing = Err(ReplayError::NothingKept { before: None, after: Some(models[half].0) });
            assert_eq!(Rewound::new(&late, Moment::Zxid(zxid)).map(|rewound| rewound.known_at()), missing);
            assert_eq!(
                Rewound::new(&torn, Moment::Zxid(zxid)).map(|rewound| rewound.known_at()),
                Err(ReplayError::InGap(gap))
            );
            looked_at += 1;
        }
        if models[half].1.is_ready() {
            assert!(Rewound::new(&late, Moment::Zxid(models[half].1.zxid())).is_ok());
        }
    }
    assert!(looked_at > 10, "{looked_at}");
}

#[test]
fn a_clock_that_steps_back_is_followed() {
    let mut runner = TestRunner::deterministic();
    let told: Told = life().new_tree(&mut runner).unwrap().current();
    let (_, mut chunks) = recorded(1, &told, 1_000);
    // Another run, an hour earlier by its clock.
    let earlier: Told = told.iter().map(|(now, one)| (*now - 3_600_000, one.clone())).collect();
    let (models, more) = recorded(chunks.len() as u64 + 1, &earlier, 9);
    chunks.extend(more);
    let (_directory, store) = empty();
    chunks.iter().for_each(|chunk| store.append(std::slice::from_ref(chunk), &[]).unwrap());
    for (moment, _) in models.iter().step_by(5) {
        let rewound = Rewound::new(&store, Moment::At(*moment)).unwrap();
        assert!(all_of(rewound.observatory()) == all_of(at(&models, *moment)));
    }
    let (first, last) = (told[0].0, told.last().unwrap().0);
    assert_eq!(
        Rewound::new(&store, Moment::At(first)).unwrap().known_at(),
        models.last().unwrap().0,
        "the later of two"
    );
    assert_eq!(Rewound::new(&store, Moment::At(last + 5)).unwrap().known_at(), models.last().unwrap().0);
}

fn ticks(range: std::ops::Range<i64>) -> Told {
    range.map(|at| (TimeMs(1_000 * at), Observation::Tick)).collect()
}

#[test]
fn what_is_not_kept_is_said_with_the_nearest_moments() {
    let (_directory, store) = empty();
    let nothing = |before, after| ReplayError::NothingKept { before, after };
    assert_eq!(Rewound::new(&store, Moment::At(TimeMs(5))).unwrap_err(), nothing(None, None));
    let (_, first) = recorded(1, &ticks(100..200), 1_000);
    let after_seq = first.len() as u64;
    let (_, second) = recorded(after_seq + 1, &ticks(300..400), 1_000);
    let gap = Gap { after_seq, from: TimeMs(199_000), to: TimeMs(300_000), why: GapReason::TooBusy };
    store.append(&first, &[]).unwrap();
    store.append(&second, &[gap]).unwrap();
    let known_at = |at: i64| Rewound::new(&store, Moment::At(TimeMs(at))).map(|rewound| rewound.known_at().0);
    assert_eq!(known_at(99_999), Err(nothing(None, Some(TimeMs(100_000)))));
    assert_eq!(
        [100_000, 150_500, 199_000, 300_000, 399_999].map(known_at),
        [Ok(100_000), Ok(150_000), Ok(199_000), Ok(300_000), Ok(399_000)]
    );
    assert_eq!([199_001, 250_000, 299_999].map(known_at), [1; 3].map(|_| Err(ReplayError::InGap(gap))));
    // Steps go over the gap by the checkpoint behind it, and back.
    let mut rewound = Rewound::new(&store, Moment::At(TimeMs(150_000))).unwrap();
    for to in [399_000, 120_000, 121_000, 300_000] {
        rewound.step_to(&store, Moment::At(TimeMs(to))).unwrap();
        assert_eq!(rewound.known_at().0, to);
    }
    assert!(rewound.step_to(&store, Moment::At(TimeMs(250_000))).is_err());
}

#[test]
fn a_gap_begins_at_the_last_proof() {
    let (_directory, store) = empty();
    let (_, first) = recorded(1, &ticks(100..200), 1_000);
    let after_seq = first.len() as u64;
    let (_, second) = recorded(after_seq + 1, &ticks(300..400), 1_000);
    // The last thing recorded is of 199,000.
    let gap = Gap { after_seq, from: TimeMs(198_200), to: TimeMs(300_000), why: GapReason::NotRunning };
    store.append(&first, &[]).unwrap();
    store.append(&second, &[gap]).unwrap();
    let known_at = |at: i64| Rewound::new(&store, Moment::At(TimeMs(at))).map(|rewound| rewound.known_at().0);
    assert_eq!([198_000, 198_200, 300_000].map(known_at), [Ok(198_000), Ok(198_000), Ok(300_000)]);
    assert_eq!([198_201, 199_000, 199_001].map(known_at), [1; 3].map(|_| Err(ReplayError::InGap(gap))));
}

#[test]
fn a_damaged_chunk_is_a_gap_up_to_the_next_checkpoint() {
    let (_directory, store) = empty();
    let (_, mut chunks) = recorded(1, &ticks(0..100), 50);
    let at = 3;
    assert_eq!(chunks[at].kind, lockscope_history::codec::ChunkKind::Events);
    let mut body = chunks[at].body.to_vec();
    body[9] ^= 1;
    chunks[at].body = body.into();
    store.append(&chunks, &[]).unwrap();
    let known_at = |at: i64| Rewound::new(&store, Moment::At(TimeMs(at))).map(|rewound| rewound.known_at());
    let before = chunks[at - 1].last_at;
    assert_eq!(known_at(before.0), Ok(before));
    let gap = Gap { after_seq: chunks[at].seq - 1, from: before, to: TimeMs(50_000), why: GapReason::Damaged };
    for moment in [chunks[at].first_at.0, 49_000] {
        assert_eq!(known_at(moment), Err(ReplayError::InGap(gap)));
    }
    assert_eq!(known_at(50_000), Ok(TimeMs(50_000)));
    assert_eq!(store.gaps(TimeMs(0)..TimeMs(99_000)).unwrap(), [gap], "noted once");
    assert_eq!(known_at(99_000), Ok(TimeMs(99_000)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn all_of_a_recording_can_be_walked(told in crate::strategies::told(), from in 0_usize..9) {
        let chunks = crate::codec::encode(1, &told);
        let (_directory, store) = empty();
        store.append(&chunks, &[]).unwrap();
        let (mut walked, mut seqs) = (Told::new(), Vec::new());
        walk(&store, 1, |head, now, observation| {
            walked.push((now, observation));
            seqs.push(head.seq);
            ControlFlow::Continue(())
        }).unwrap();
        prop_assert_eq!(&walked, &told);
        prop_assert!(seqs.is_sorted());
        let mut some = 0;
        let stop = |stop: bool| if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        walk(&store, 1, |_, _, _| { some += 1; stop(some > from) }).unwrap();
        prop_assert_eq!(some, told.len().min(from + 1));
    }
}
