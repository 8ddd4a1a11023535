//! What is written is read: any observations, over chunks, checkpoints and gaps.

use lockscope_core::observation::{Observation, RootId};
use lockscope_core::time::TimeMs;
use lockscope_history::codec::{CHUNK_BYTES_MAX, CHUNK_MS_MAX, Chunk, ChunkKind, CodecError, Decoder, Encoder};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use crate::strategies::{KINDS, kind, observation, told};

pub(crate) type Told = Vec<(TimeMs, Observation)>;

pub(crate) fn encode(first_seq: u64, told: &[(TimeMs, Observation)]) -> Vec<Chunk> {
    let (mut encoder, mut chunks) = (Encoder::new(first_seq), Vec::new());
    for (now, observation) in told {
        encoder.push(*now, observation, &mut chunks).unwrap();
    }
    chunks.extend(encoder.close());
    chunks
}

pub(crate) fn decode(decoder: &mut Decoder, chunks: &[Chunk]) -> Result<Told, CodecError> {
    let mut told = Vec::new();
    for chunk in chunks {
        for one in decoder.read(chunk)? {
            told.push(one?);
        }
    }
    Ok(told)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_told_is_read_again(told in told()) {
        let chunks = encode(7, &told);
        prop_assert_eq!(&decode(&mut Decoder::new(), &chunks).unwrap(), &told);
        for (seq, chunk) in (7..).zip(&chunks) {
            prop_assert_eq!(chunk.seq, seq);
            prop_assert!(chunk.first_at <= chunk.last_at);
            prop_assert_eq!(chunk.first_at.0.div_euclid(86_400_000), chunk.last_at.0.div_euclid(86_400_000));
        }
    }

    #[test]
    fn a_chunk_grows_and_says_the_same(told in told()) {
        let (mut encoder, mut done) = (Encoder::new(1), Vec::new());
        let mut before = Decoder::new();
        for (at, (now, observation)) in told.iter().enumerate() {
            encoder.push(*now, observation, &mut done).unwrap();
            let mut decoder = before.clone();
            let chunks: Vec<Chunk> = done.iter().cloned().chain(encoder.so_far()).collect();
            let seen = decode(&mut decoder, &chunks).unwrap();
            prop_assert_eq!(&seen[..], &told[at + 1 - seen.len()..=at]);
            decode(&mut before, &done).unwrap();
            done.clear();
        }
    }

    #[test]
    fn a_checkpoint_is_read_alone_and_rounds_begin_anew((before, checkpoint, after) in (told(), told(), told())) {
        let (mut encoder, mut chunks) = (Encoder::new(1), Vec::new());
        before.iter().for_each(|(now, observation)| encoder.push(*now, observation, &mut chunks).unwrap());
        chunks.extend(encoder.close());
        let from = chunks.len();
        let (now, observations) = (TimeMs(5), checkpoint.into_iter().map(|one| one.1).collect::<Vec<_>>());
        chunks.extend(encoder.checkpoint(now, observations.iter().cloned()).unwrap());
        let end = chunks.len();
        after.iter().for_each(|(now, observation)| encoder.push(*now, observation, &mut chunks).unwrap());
        chunks.extend(encoder.close());
        let all: Told = observations.into_iter().map(|observation| (now, observation)).chain(after).collect();
        prop_assert_eq!(decode(&mut Decoder::new(), &chunks[from..]).unwrap(), all);
        for (part, chunk) in (0..).zip(&chunks[from..end]) {
            prop_assert_eq!(chunk.kind, ChunkKind::Checkpoint { part });
        }
        let mut decoder = Decoder::new();
        let mut records = decoder.read(&chunks[end - 1]).unwrap();
        while records.next().is_some() {}
        prop_assert!(records.is_checkpoint_end());
    }

    #[test]
    fn a_chunk_that_is_left_out_is_noticed_and_nothing_is_guessed(told in told()) {
        let chunks = encode(1, &told);
        for skip in 0..chunks.len() {
            let mut decoder = Decoder::new();
            decode(&mut decoder, &chunks[..skip]).unwrap();
            let rest = decode(&mut decoder, &chunks[skip + 1..]);
            let seen = chunks[..=skip].iter().map(|chunk| decode(&mut Decoder::new(), std::slice::from_ref(chunk)));
            let had_rounds = seen.flatten().flatten().any(|(_, one)| matches!(one, Observation::Evidence(_)));
            match rest {
                Ok(rest) => prop_assert_eq!(&rest[..], &told[told.len() - rest.len()..]),
                Err(error) => prop_assert!(error == CodecError::NotContinuous && (had_rounds || skip > 0)),
            }
        }
    }
}

#[test]
fn the_strategies_make_every_kind() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = [false; KINDS];
    for _ in 0..2_000 {
        let one = observation().new_tree(&mut runner).unwrap().current();
        seen[kind(&one)] = true;
    }
    assert_eq!(seen, [true; KINDS]);
}

#[test]
fn a_checkpoint_makes_an_equal_observatory() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..200 {
        let life = crate::strategies::life().new_tree(&mut runner).unwrap().current();
        let parts = crate::recalled::of(&life);
        let chunks = Encoder::new(1).checkpoint(TimeMs(9), parts.iter().cloned()).unwrap();
        let told = decode(&mut Decoder::new(), &chunks).unwrap();
        assert!(told.into_iter().map(|one| one.1).eq(parts));
    }
}

#[test]
fn what_is_rare_is_read_again() {
    let told: Told = crate::recalled::rare().into_iter().map(|one| (TimeMs(1_790_000_000_000), one)).collect();
    assert_eq!(decode(&mut Decoder::new(), &encode(1, &told)).unwrap(), told);
}

#[test]
fn a_chunk_ends_by_size_by_time_and_at_midnight() {
    let deleted =
        |at: u32| Observation::NodeDeleted { root: RootId(0), path: format!("/l/{at}-{}", "x".repeat(300)).into() };
    let many: Told = (0..1_000).map(|at| (TimeMs(1), deleted(at))).collect();
    let chunks = encode(1, &many);
    assert!(chunks.len() > 3 && chunks.iter().all(|chunk| chunk.body.len() < CHUNK_BYTES_MAX + 400));
    let seqs = |told: &[i64]| {
        let told: Told = told.iter().map(|at| (TimeMs(*at), Observation::Tick)).collect();
        encode(1, &told).len()
    };
    assert_eq!(seqs(&[0, CHUNK_MS_MAX]), 1);
    assert_eq!(seqs(&[0, CHUNK_MS_MAX + 1]), 2);
    assert_eq!(seqs(&[86_399_999, 86_400_000]), 2);
    assert_eq!(seqs(&[3_600_000, 0, 0, 3_600_000]), 3, "the clock stepped back");
}
