//! How fast logs and snapshots are read, next to a plain walk over the same bytes, and in which memory. Made-up load
//! like kazoo's: contenders that come and go, each with a data of its own.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

use std::hint::black_box;
use std::io::Write as _;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use lockscope_txn_log::{LogDecoder, LogEntry, LogReader, SnapshotDecoder, TolerantLogDecoder};

const TRANSACTIONS: i64 = 1_000_000;
const NODES: i64 = 500_000;
const PIECE_BYTES: usize = 64 << 10;
const ROUNDS: usize = 5;

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        logs();
        snapshots();
    }
}

fn int(out: &mut Vec<u8>, value: i32) {
    out.extend(value.to_be_bytes());
}

fn long(out: &mut Vec<u8>, value: i64) {
    out.extend(value.to_be_bytes());
}

fn buffer(out: &mut Vec<u8>, bytes: &[u8]) {
    int(out, i32::try_from(bytes.len()).unwrap());
    out.extend(bytes);
}

fn path(at: i64) -> String {
    format!("/locks/order-{:04}/6f1e2d3c9b0a4a4a8b8b0123456789ab__lock__{at:010}", at % 500)
}

fn log() -> Vec<u8> {
    let mut log = b"ZKLG\0\0\0\x02\0\0\0\0\0\0\0\0".to_vec();
    for at in 0..TRANSACTIONS {
        let mut payload = Vec::new();
        long(&mut payload, 0x0100_0014_7fb5_0000 + at % 100);
        int(&mut payload, at as i32);
        long(&mut payload, 0x1_0000_0001 + at);
        long(&mut payload, 1_790_000_000_000 + at);
        if at % 2 == 0 {
            int(&mut payload, 1);
            buffer(&mut payload, path(at).as_bytes());
            buffer(&mut payload, b"worker-17.example.org:4711");
            int(&mut payload, 1);
            int(&mut payload, 31);
            buffer(&mut payload, b"world");
            buffer(&mut payload, b"anyone");
            payload.push(1);
            int(&mut payload, at as i32);
        } else {
            int(&mut payload, 2);
            buffer(&mut payload, path(at - 1).as_bytes());
        }
        int(&mut payload, 2);
        long(&mut payload, at * 7_919);
        long(&mut log, i64::from(adler2::adler32_slice(&payload)));
        buffer(&mut log, &payload);
        log.push(b'B');
    }
    log
}

fn snapshot() -> Vec<u8> {
    let mut out = b"ZKSN\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    for at in 0..NODES {
        buffer(&mut out, path(at).as_bytes());
        buffer(&mut out, b"worker-17.example.org:4711");
        long(&mut out, -1);
        out.extend([7; 60]);
    }
    buffer(&mut out, b"/");
    let sum = i64::from(adler2::adler32_slice(&out));
    long(&mut out, sum);
    buffer(&mut out, b"/");
    out
}

/// The best of some rounds.
fn best(mut round: impl FnMut() -> u64) -> (Duration, u64) {
    let mut best = (Duration::MAX, 0);
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let count = black_box(round());
        best = best.min((began.elapsed(), count));
    }
    best
}

fn told(what: &str, bytes: usize, (elapsed, count): (Duration, u64)) {
    let seconds = elapsed.as_secs_f64();
    let (each, mb) = (count as f64 / seconds, bytes as f64 / 1e6 / seconds);
    println!("{what}: {each:.0}/s, {mb:.0} MB/s ({count} in {elapsed:.0?}); peak of the program {}", peak());
}

/// The most that this program has had in memory, as Linux counts it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |size| size.trim().to_owned())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn logs() {
    let log = log();
    println!("a log of {TRANSACTIONS} transactions, {} MB; memory so far {}", log.len() / 1_000_000, peak());
    told("bytes added up", log.len(), best(|| log.iter().map(|byte| u64::from(*byte)).sum::<u64>() & 1));
    told("LogReader", log.len(), best(|| LogReader::new(&log).map(Result::unwrap).count() as u64));
    let strict = |bytes: &[u8]| {
        let (mut decoder, mut count) = (LogDecoder::new(), 0);
        for piece in bytes.chunks(PIECE_BYTES) {
            decoder.push(piece);
            while let Some(transaction) = decoder.next_transaction().unwrap() {
                black_box(transaction);
                count += 1;
            }
        }
        count
    };
    told("LogDecoder", log.len(), best(|| strict(&log)));
    let tolerant = |bytes: &[u8]| {
        let (mut decoder, mut count) = (TolerantLogDecoder::new(), 0);
        for piece in bytes.chunks(PIECE_BYTES) {
            decoder.push(piece);
            while let Some(LogEntry::Transaction(transaction)) = decoder.next_entry() {
                black_box(transaction);
                count += 1;
            }
        }
        count
    };
    told("TolerantLogDecoder", log.len(), best(|| tolerant(&log)));
    let packed = gzip(&log);
    told("LogDecoder, gzip", log.len(), best(|| strict(&packed)));
    // Noise where records were: a search over all of it.
    let mut noise = 1_u64;
    let mut holed = log.clone();
    let (begin, end) = (log.len() / 4, log.len() / 4 * 3);
    for byte in holed.get_mut(begin..end).unwrap() {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        *byte = noise as u8;
    }
    let lost = |bytes: &[u8]| {
        let (mut decoder, mut count) = (TolerantLogDecoder::new(), 0);
        for piece in bytes.chunks(PIECE_BYTES) {
            decoder.push(piece);
            while decoder.next_entry().is_some() {
                count += 1;
            }
        }
        count
    };
    told("TolerantLogDecoder, half of it noise", log.len(), best(|| lost(&holed)));
}

fn snapshots() {
    let snapshot = snapshot();
    println!("a snapshot of {NODES} znodes, {} MB", snapshot.len() / 1_000_000);
    let decode = |bytes: &[u8]| {
        let (mut decoder, mut count) = (SnapshotDecoder::new(), 0);
        for piece in bytes.chunks(PIECE_BYTES) {
            decoder.push(piece);
            while let Some(node) = decoder.next_node().unwrap() {
                black_box(node);
                count += 1;
            }
        }
        decoder.finish();
        assert!(decoder.next_node().unwrap().is_none() && decoder.is_whole());
        count
    };
    told("bytes added up", snapshot.len(), best(|| snapshot.iter().map(|byte| u64::from(*byte)).sum::<u64>() & 1));
    told("SnapshotDecoder", snapshot.len(), best(|| decode(&snapshot)));
    let packed = gzip(&snapshot);
    told("SnapshotDecoder, gzip", snapshot.len(), best(|| decode(&packed)));
}
