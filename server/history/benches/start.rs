//! What a start costs over a recording of some size: opening the store, and going on where it ended. What lies long before
//! the end is only there; the end is a recording of a minute.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

use std::path::Path;
use std::time::{Duration, Instant};

use history::codec::{Chunk, ChunkKind, Encoder};
use history::resume::resume;
use history::store::rows::{Charge, Charged, Charges, Minute, Rows, Span, SpanEnd};
use history::store::sqlite::SqliteStore;
use history::store::{Gap, GapReason, Store};
use lockscope_core::observation::{Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};

/// A day begins.
const DAY: i64 = 1_789_948_800_000;
const ROUNDS: usize = 9;
const CHUNK_BYTES: usize = 4_096;
const AT_ONCE: u64 = 1_000;

/// A recording before its end.
struct Size {
    name: &'static str,
    chunks: u64,
    lives: u64,
    minutes: u64,
}

const SIZES: [Size; 3] = [
    Size { name: "nothing before", chunks: 0, lives: 0, minutes: 0 },
    Size { name: "10,000 chunks, 100,000 lives, 10,000 minutes", chunks: 10_000, lives: 100_000, minutes: 10_000 },
    Size {
        name: "80,000 chunks, 1,000,000 lives, 200,000 minutes",
        chunks: 80_000,
        lives: 1_000_000,
        minutes: 200_000,
    },
];

fn main() {
    // `cargo test` only wants to know that it builds.
    if !std::env::args().skip(1).any(|arg| arg == "--bench") {
        return;
    }
    for size in SIZES {
        let directory = tempfile::tempdir().expect("a directory");
        fill(directory.path(), &size);
        let mut all: Vec<(Duration, Duration)> = (0..ROUNDS).map(|_| start(directory.path())).collect();
        all.sort_unstable_by_key(|(opened, resumed)| *opened + *resumed);
        let (opened, resumed) = all[ROUNDS / 2];
        println!("start, {}: opened after {opened:.1?}, at its end after {resumed:.1?} more", size.name);
    }
}

fn start(directory: &Path) -> (Duration, Duration) {
    let began = Instant::now();
    let store = SqliteStore::open(directory, "default").expect("a store");
    let opened = began.elapsed();
    let resumed = resume(&store).expect("what was recorded");
    assert!(resumed.observatory.roots().len() == 1);
    (opened, began.elapsed() - opened)
}

fn fill(directory: &Path, size: &Size) {
    let store = SqliteStore::open(directory, "default").expect("a store");
    // Within the day, as much of it as there is.
    let step = |count: u64| (80_000_000 / count.max(1)) as i64;
    for first in (1..=size.chunks).step_by(AT_ONCE as usize) {
        let some: Vec<Chunk> = (first..(first + AT_ONCE).min(size.chunks + 1))
            .map(|seq| filler(seq, DAY + seq as i64 * step(size.chunks)))
            .collect();
        store.append(&some, &[]).expect("written");
    }
    for first in (0..size.lives).step_by(AT_ONCE as usize) {
        let spans =
            (first..first + AT_ONCE).map(|number| life(number, DAY + number as i64 * step(size.lives))).collect();
        store.write_rows(&Rows { spans, ..Rows::default() }).expect("written");
    }
    for first in (0..size.minutes).step_by(AT_ONCE as usize) {
        let minutes = (first..first + AT_ONCE).map(minute).collect();
        store.write_rows(&Rows { minutes, ..Rows::default() }).expect("written");
    }
    end(&store, size.chunks);
}

fn filler(seq: u64, at: i64) -> Chunk {
    let kind = if seq % 100 == 1 { ChunkKind::Checkpoint { part: 0 } } else { ChunkKind::Events };
    let (first_at, last_at) = (TimeMs(at), TimeMs(at + 100));
    let mut chunk =
        Chunk { seq, first_at, last_at, zxid: Zxid(seq as i64), kind, crc: 0, body: vec![7; CHUNK_BYTES].into() };
    chunk.crc = chunk.checksum();
    chunk
}

fn lock(number: u64) -> Box<str> {
    format!("/locks/{}", number % 200).into()
}

fn life(number: u64, left_at: i64) -> Span {
    let session = SessionId(0x1000_02f0_01a0_0000 + number as i64 % 500);
    let direct = Charged { to: vec![Charge { session, ms: 60 }], others_ms: 0 };
    Span {
        czxid: Zxid(number as i64),
        lock: lock(number),
        recipe: "sequential_mutex".into(),
        node: format!("lock-{number:010}").into(),
        session: Some(session),
        label: None,
        host: Some("10.0.0.1".into()),
        joined_at: TimeMs(left_at - 80),
        held_at: Some(TimeMs(left_at - 20)),
        left_at: TimeMs(left_at),
        how: SpanEnd::Released,
        charges: Some(Charges { root: direct.clone(), direct, hand_off_ms: 0, unknown_ms: 0 }),
        wait_ms: 60,
        is_lower_bound: false,
    }
}

fn minute(number: u64) -> Minute {
    Minute {
        lock: lock(number),
        at: TimeMs(DAY + (number / 200) as i64 * 60_000),
        arrivals: 30,
        acquired: 30,
        gave_up: 0,
        waits: [3; 20].into(),
        holds: [3; 20].into(),
        depth_max: 4,
        waiting_ms: 1_000,
        worst: "healthy".into(),
        top: [1; 30].into(),
    }
}

/// The end of the recording: a process that recorded for a minute and was killed.
fn end(store: &dyn Store, before: u64) {
    let root = RootId(0);
    let begins = DAY + 81_000_000;
    let mut model = Observatory::new(Settings { roots: vec!["/locks".into()], ..Settings::default() }, TimeMs(begins));
    model.apply(TimeMs(begins), Observation::SyncBegan { root, why: "first sync".into() });
    model.apply(TimeMs(begins), Observation::SyncEnded { root });
    let mut encoder = Encoder::new(before + 1);
    let checkpoint = model.checkpoint().expect("no backlog");
    let mut chunks = encoder.checkpoint(TimeMs(begins), checkpoint.observations()).expect("a checkpoint");
    for at in (0..60_000).step_by(2) {
        let now = TimeMs(begins + 1 + at);
        let path = format!("/locks/{}/lock-{:010}", at / 4 % 10, at / 4).into();
        let observation =
            if at % 4 == 0 { Observation::NodeCreated { root, path } } else { Observation::NodeDeleted { root, path } };
        encoder.push(now, &observation, &mut chunks).expect("an observation");
    }
    chunks.extend(encoder.close());
    let gap = Gap { after_seq: before, from: TimeMs(begins - 500), to: TimeMs(begins), why: GapReason::NotRunning };
    store.append(&chunks, if before > 0 { std::slice::from_ref(&gap) } else { &[] }).expect("written");
}
