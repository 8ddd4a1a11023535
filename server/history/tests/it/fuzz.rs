//! Bytes that nobody wrote: damaged chunks, chunks put together of others, noise. The checksum is made right, as an
//! attacker would.

use std::hint::black_box;
use std::sync::Arc;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_history::codec::{Chunk, ChunkKind, Decoder, VERSION};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::codec::encode;
use crate::strategies::told;

/// Mutated chunks that are read; more by the environment.
fn mutants() -> usize {
    std::env::var("HISTORY_FUZZ_MUTANTS").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000)
}

/// A small generator of our own: the same bytes in each run.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) as usize
    }
}

fn mutate(noise: &mut Noise, body: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..=noise.next() % 4 {
        let at = noise.next() % body.len().max(1);
        match noise.next() % 6 {
            0 => body.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (noise.next() % 8)),
            1 => body.iter_mut().skip(at).take(1).for_each(|byte| *byte = noise.next() as u8),
            2 => body.truncate(at.max(5)),
            3 => drop(body.splice(at.min(body.len())..at.min(body.len()), [0xff; 9])),
            4 => drop(body.drain(at.min(body.len())..(at + noise.next() % 9).min(body.len()))),
            _ => {
                let from = noise.next() % other.len().max(1);
                let some = &other[from..(from + noise.next() % 64).min(other.len())];
                drop(body.splice(at.min(body.len())..at.min(body.len()), some.iter().copied()));
            }
        }
    }
}

fn read(decoder: &mut Decoder, mut chunk: Chunk) -> bool {
    chunk.crc = chunk.checksum();
    let Ok(records) = decoder.read(&chunk) else { return false };
    let mut is_whole = true;
    for record in records.take(100_000) {
        is_whole &= black_box(record).is_ok();
    }
    is_whole
}

#[test]
fn no_bytes_make_the_decoder_panic() {
    let (mut runner, mut noise) = (TestRunner::deterministic(), Noise(0x9e37_79b9_7f4a_7c15));
    let (mut refused, mut taken) = (0, 0);
    let mut chunks = encode(1, &told().new_tree(&mut runner).unwrap().current());
    let mut other = chunks.clone();
    for at in 0..mutants() / 3 {
        if at % 200 == 0 {
            other = std::mem::replace(&mut chunks, encode(1, &told().new_tree(&mut runner).unwrap().current()));
        }
        let mut decoder = Decoder::new();
        for chunk in chunks.iter().take(3) {
            let mut body = chunk.body.to_vec();
            let from = noise.next() % other.len();
            mutate(&mut noise, &mut body, &other[from].body);
            let is_whole = read(&mut decoder, Chunk { body: body.into(), ..chunk.clone() });
            *(if is_whole { &mut taken } else { &mut refused }) += 1;
        }
    }
    assert!(
        refused > 1_000 && taken > 1_000,
        "{refused} refused, {taken} taken: the mutations are too few or too many"
    );
}

proptest! {
    #[test]
    fn noise_is_refused_or_read(body in proptest::collection::vec(any::<u8>(), 0..200), seq in any::<u64>()) {
        let body: Arc<[u8]> = [VERSION, 0, 0].into_iter().chain(body).collect();
        let at = TimeMs(0);
        let chunk = Chunk { seq, first_at: at, last_at: at, zxid: Zxid(0), kind: ChunkKind::Events, crc: 0, body };
        read(&mut Decoder::new(), chunk);
    }

    #[test]
    fn a_flipped_bit_is_noticed(told in told(), byte in any::<usize>(), bit in 0..8_u32) {
        let mut chunk = encode(1, &told).remove(0);
        let mut body = chunk.body.to_vec();
        let at = byte % body.len();
        body[at] ^= 1_u8 << bit;
        chunk.body = body.into();
        prop_assert!(Decoder::new().read(&chunk).is_err());
    }
}
