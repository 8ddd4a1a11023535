//! Files of any size are read in the same memory: what is allocated while one goes by is counted.

use std::alloc::System;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use lockscope_txn_log::{Damage, LogDecoder, LogEntry, RECORD_BYTES_MAX, SnapshotDecoder, TolerantLogDecoder};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Data of a znode: the most that servers take unless they are configured otherwise.
const DATA_BYTES: usize = 1 << 20;
const COUNT: i64 = 100;
const PIECE_BYTES: usize = 256 << 10;
/// What a decoder may hold while it reads them: one znode in its buffer, which grows by doubling, and as a value.
const HELD_BYTES_MAX: usize = 8 << 20;

fn held(region: &Region<'_, System>) -> usize {
    let change = region.change();
    change.bytes_allocated.saturating_sub(change.bytes_deallocated)
}

/// Data behind its length.
fn data(at: i64) -> Vec<u8> {
    [&(DATA_BYTES as i32).to_be_bytes()[..], &vec![at as u8; DATA_BYTES]].concat()
}

/// One record: `setData` of `/a`.
fn record(zxid: i64) -> Vec<u8> {
    let head = [&7i64.to_be_bytes()[..], &[0; 4], &zxid.to_be_bytes(), &[0; 8], &5i32.to_be_bytes()].concat();
    let payload = [&head[..], &2i32.to_be_bytes(), b"/a", &data(zxid), &[0; 4]].concat();
    let sum = i64::from(adler2::adler32_slice(&payload));
    [&sum.to_be_bytes()[..], &(payload.len() as i32).to_be_bytes(), &payload, b"B"].concat()
}

fn node(at: i64) -> Vec<u8> {
    let path = format!("/{at}");
    [&(path.len() as i32).to_be_bytes()[..], path.as_bytes(), &data(at), &(-1i64).to_be_bytes(), &[0; 60]].concat()
}

const LOG_HEADER: &[u8] = b"ZKLG\0\0\0\x02\0\0\0\0\0\0\0\0";
const SNAPSHOT_HEADER: &[u8] = b"ZKSN\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// Makes a file piece by piece, and says after each how much more is held than before the first.
fn watch(decode: &mut dyn FnMut(&[u8]), header: &[u8], part: fn(i64) -> Vec<u8>, end: &[u8]) {
    let region = Region::new(ALLOCATOR);
    decode(header);
    for at in 1..=COUNT {
        let part = part(at);
        for piece in part.chunks(PIECE_BYTES) {
            decode(piece);
            let held = held(&region) - part.capacity().min(held(&region));
            assert!(held < HELD_BYTES_MAX, "{held} bytes at {at}");
        }
    }
    decode(end);
}

/// What damage may make a decoder hold: the longest record that a wrong length, or what looks like the beginning of a record
/// behind it, may stand for, in a buffer that grows by doubling.
const WAITING_BYTES_MAX: usize = 2 * RECORD_BYTES_MAX + (1 << 20);

/// Records around one whose length is damaged: more behind it than it may stand for.
const AROUND: i64 = 20;
const DAMAGED: i64 = 2;

/// A log of which the length of one record is another. How much more is held at most than before, and what is found.
fn with_length(length: usize) -> (usize, Vec<Damage>, i64) {
    let mut decoder = TolerantLogDecoder::new();
    decoder.push(LOG_HEADER);
    let region = Region::new(ALLOCATOR);
    let (mut most, mut damages, mut found) = (0, Vec::new(), 0);
    for at in 1..=AROUND {
        let mut part = record(at);
        if at == DAMAGED {
            part[8..12].copy_from_slice(&(length as u32).to_be_bytes());
        }
        for piece in part.chunks(PIECE_BYTES) {
            decoder.push(piece);
            while let Some(entry) = decoder.next_entry() {
                match entry {
                    LogEntry::Transaction(_) => found += 1,
                    LogEntry::Damage(damage) => damages.push(damage),
                }
            }
            most = most.max(held(&region) - part.capacity().min(held(&region)));
        }
    }
    (most, damages, found)
}

/// Of a length alone nobody sees that it is wrong: up to a bound it is waited for.
fn damaged_lengths_are_read_over() {
    let begins = LOG_HEADER.len() + record(1).len();
    for length in [RECORD_BYTES_MAX, RECORD_BYTES_MAX + 1, i32::MAX as usize] {
        let (held, damages, found) = with_length(length);
        assert!(held < WAITING_BYTES_MAX, "{held} bytes for a length of {length}");
        let places: Vec<_> = damages.iter().map(|damage| (damage.offset, damage.resumed_at)).collect();
        let resumed_at = Some((begins + record(1).len()) as u64);
        assert_eq!((places, found), (vec![(begins as u64, resumed_at)], AROUND - 1), "{length}");
    }
}

/// The allocator counts for all threads, so there is one test.
#[test]
fn large_files_are_read_in_little_memory() {
    damaged_lengths_are_read_over();

    let mut strict = LogDecoder::new();
    let mut found = 0;
    let mut decode = |piece: &[u8]| {
        strict.push(piece);
        while strict.next_transaction().unwrap().is_some() {
            found += 1;
        }
    };
    watch(&mut decode, LOG_HEADER, record, &[0; 100]);
    assert_eq!(found, COUNT);

    // Each second one is damaged.
    let mut tolerant = TolerantLogDecoder::new();
    let mut found = 0;
    let mut decode = |piece: &[u8]| {
        tolerant.push(piece);
        while tolerant.next_entry().is_some() {
            found += 1;
        }
    };
    let damaged = |zxid: i64| {
        let mut record = record(zxid);
        record[100] ^= zxid as u8 & 1;
        record
    };
    watch(&mut decode, LOG_HEADER, damaged, &[0; 100]);
    assert_eq!(found, COUNT);

    let mut decoder = SnapshotDecoder::new();
    let mut found = 0;
    let mut decode = |piece: &[u8]| {
        decoder.push(piece);
        while decoder.next_node().unwrap().is_some() {
            found += 1;
        }
    };
    watch(&mut decode, SNAPSHOT_HEADER, node, &[]);
    assert_eq!(found, COUNT);

    // Little that stands for much: 100 MiB in a piece of 100 KiB.
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(SNAPSHOT_HEADER).unwrap();
    (1..=COUNT).for_each(|at| packed.write_all(&node(at)).unwrap());
    let packed = packed.finish().unwrap();
    let region = Region::new(ALLOCATOR);
    let mut decoder = SnapshotDecoder::new();
    decoder.push(&packed);
    let mut found = 0;
    while decoder.next_node().unwrap().is_some() {
        found += 1;
        let held = held(&region);
        assert!(held < HELD_BYTES_MAX + packed.len(), "{held} bytes at {found}");
    }
    assert_eq!(found, COUNT);
}
