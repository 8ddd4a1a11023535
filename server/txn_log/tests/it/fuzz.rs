//! Bytes that nobody wrote: real files and made-up ones, mutated. Checksums are made right in half of them, as an
//! attacker would.

use std::hint::black_box;

use lockscope_txn_log::{LogDecoder, LogReader, SnapshotDecoder, SnapshotReader, TolerantLogDecoder};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use crate::encode::{log, transactions};
use crate::packed::{gzip, snappy};
use crate::real;
use crate::snapshot::snapshot;

/// Mutated files that are read, of logs and snapshots together; more by the environment.
fn mutants() -> usize {
    std::env::var("TXN_LOG_FUZZ_MUTANTS").ok().and_then(|text| text.parse().ok()).unwrap_or(4_000)
}

/// A small generator of our own: the same bytes in each run.
struct Noise(u64);

impl Noise {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) as usize % end.max(1)
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(8) {
                0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << self.below(8)),
                1 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = self.below(256) as u8),
                2 => bytes.truncate(at),
                3 => drop(bytes.splice(at..at, [0xff; 4])),
                4 => drop(bytes.drain(at..(at + self.below(9)).min(bytes.len()))),
                // A length or a count that promises much.
                5 => bytes.iter_mut().skip(at).take(4).for_each(|byte| *byte = [0, 0x7f, 0xff][self.below(3)]),
                6 => bytes.iter_mut().skip(at).take(64).for_each(|byte| *byte = 0),
                _ => {
                    let from = self.below(other.len());
                    let some = &other[from..(from + self.below(64)).min(other.len())];
                    drop(bytes.splice(at..at, some.iter().copied()));
                }
            }
        }
    }
}

/// Makes the checksums of records right, as far as they are framed.
fn sealed_log(bytes: &mut [u8]) {
    let mut at = 16;
    while let Some(length) = bytes.get(at + 8..at + 12) {
        let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
        let Some(payload) = bytes.get(at + 12..at + 12 + length) else { return };
        let sum = u64::from(adler2::adler32_slice(payload));
        bytes[at..at + 8].copy_from_slice(&sum.to_be_bytes());
        at += 12 + length + 1;
    }
}

fn read_log(bytes: &[u8], piece: usize) -> usize {
    let plain = LogReader::new(bytes).filter(|read| black_box(read).is_ok()).count();
    let (mut strict, mut tolerant, mut found) = (LogDecoder::new(), TolerantLogDecoder::new(), 0);
    for piece in bytes.chunks(piece) {
        strict.push(piece);
        while let Ok(Some(_)) = strict.next_transaction() {
            found += 1;
        }
        tolerant.push(piece);
        while black_box(tolerant.next_entry()).is_some() {}
    }
    tolerant.finish();
    while black_box(tolerant.next_entry()).is_some() {}
    assert!(found == plain || matches!(bytes.first(), Some(0x1f | 0x82)));
    assert!(tolerant.damaged() <= bytes.len() as u64);
    found
}

fn read_snapshot(bytes: &[u8], piece: usize) -> usize {
    let plain = SnapshotReader::new(bytes).map_or(0, |reader| reader.filter(|node| black_box(node).is_ok()).count());
    let (mut decoder, mut found) = (SnapshotDecoder::new(), 0);
    for piece in bytes.chunks(piece) {
        decoder.push(piece);
        while let Ok(Some(_)) = decoder.next_node() {
            found += 1;
        }
    }
    decoder.finish();
    while let Ok(Some(_)) = decoder.next_node() {
        found += 1;
    }
    assert!(found == plain || matches!(bytes.first(), Some(0x1f | 0x82)));
    found
}

fn fuzz(files: &[Vec<u8>], seal: impl Fn(&mut [u8]), read: impl Fn(&[u8], usize) -> usize) {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let (mut some, mut none) = (0, 0);
    for _ in 0..mutants() / 2 {
        let mut bytes = files[noise.below(files.len())].clone();
        let other = noise.below(files.len());
        noise.mutate(&mut bytes, &files[other]);
        if noise.below(2) == 0 {
            seal(&mut bytes);
        }
        let piece = [1_usize, 13, 100, 1000][noise.below(4)].max(bytes.len() / 64);
        *(if read(&bytes, piece) == 0 { &mut none } else { &mut some }) += 1;
    }
    assert!(
        some > mutants() / 40 && none > mutants() / 400,
        "{some} with something in it, {none} without: too few or too many mutations"
    );
}

#[test]
fn no_bytes_make_the_log_readers_panic() {
    let mut runner = TestRunner::deterministic();
    let mut files: Vec<Vec<u8>> = real::LOGS.iter().map(|file| file.bytes.to_vec()).collect();
    for has_digest in [true, false] {
        for _ in 0..20 {
            let mut bytes = log(&transactions(12).new_tree(&mut runner).unwrap().current(), has_digest).0;
            files.push(gzip(&bytes));
            bytes.extend([0; 100]);
            files.push(bytes);
        }
    }
    fuzz(&files, sealed_log, read_log);
}

#[test]
fn no_bytes_make_the_snapshot_readers_panic() {
    let mut files: Vec<Vec<u8>> = real::SNAPSHOTS.iter().map(|file| file.bytes.to_vec()).collect();
    files.extend([snapshot(), gzip(&snapshot()), snappy(&snapshot(), 100)]);
    // The checksum stands behind everything and stops nothing before.
    fuzz(&files, |_| {}, read_snapshot);
}
