//! What a start costs over a recording of some size: opening the store, and going on where it ended. What lies long before
//! the end is only there; the end is a recording of a minute.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

use std::path::Path;
use std::time::{Duration, Instant};

use lockscope_core::observation::{Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};
use lockscope_history::codec::{Chunk, ChunkKind, Encoder};
use lockscope_history::resume::resume;
use lockscope_history::store::rows::{Charge, Charged, Charges, Minute, Rows, Span, SpanEnd};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{Gap, GapReason, Store};

/// A day begins.
const DAY: i64 = 1_789_948_800_000;
const ROUNDS: usize = 9;
const CHUNK_BYTES: usize = 4_096;
const AT_ONCE: u64 = 1_000;
const BUSY_A_S: i64 = 5_000;
/// Contenders that are there all the time, in 20 locks.
const THERE: i64 = 10_000;

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
    for gaps in [0, 6, 24] {
        let directory = tempfile::tempdir().expect("a directory");
        busy_end(&SqliteStore::open(directory.path(), "default").expect("a store"), gaps);
        let mut all: Vec<(Duration, Duration)> = (0..3).map(|_| start(directory.path())).collect();
        all.sort_unstable_by_key(|(_, resumed)| *resumed);
        println!(
            "start, behind a minute of {BUSY_A_S} changes a second in {} stretches, no rows of it written: at its end after {:.1?}",
            gaps + 1,
            all[1].1
        );
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

/// A minute in which somebody comes and somebody goes all the time, with gaps of half a second in it: processes that were
/// killed before they wrote anything. Checkpoints as the historian makes them: behind a gap, and of 75,000 observations.
fn busy_end(store: &dyn Store, gaps: i64) {
    let root = RootId(0);
    let mut now = TimeMs(DAY + 81_000_000);
    let mut model = Observatory::new(Settings { roots: vec!["/locks".into()], ..Settings::default() }, now);
    let mut encoder = Encoder::new(1);
    let (mut chunks, mut losses) = (Vec::new(), Vec::new());
    let (mut since, stretch) = (0, 60 * BUSY_A_S / (gaps + 1));
    let begun = [Observation::SyncBegan { root, why: "first sync".into() }, Observation::SyncEnded { root }];
    begun.into_iter().for_each(|one| drop(model.apply(now, one)));
    for at in 0..THERE {
        came(root, at, now).into_iter().for_each(|one| drop(model.apply(now, one)));
    }
    for at in 0..60 * BUSY_A_S {
        if at % stretch == 0 || since >= 75_000 {
            chunks.extend(encoder.close());
            if at > 0 && at % stretch == 0 {
                let (after_seq, from) = (encoder.last_seq(), now);
                now = now + 500;
                losses.push(Gap { after_seq, from, to: now, why: GapReason::NotRunning });
            }
            let checkpoint = model.checkpoint().expect("no backlog");
            chunks.extend(encoder.checkpoint(now, checkpoint.observations()).expect("a checkpoint"));
            since = 0;
        }
        let number = THERE + at / 2;
        let some = if at % 2 == 0 { came(root, number, now) } else { vec![gone(root, number - THERE)] };
        for one in some {
            encoder.push(now, &one, &mut chunks).expect("an observation");
            model.apply(now, one);
            since += 1;
        }
        now = now + i64::from(at % (BUSY_A_S / 1_000) == 0);
    }
    chunks.extend(encoder.close());
    store.append(&chunks, &losses).expect("written");
}

fn busy_path(number: i64) -> Box<str> {
    format!("/locks/{}/lock-{number:010}", number % 20).into()
}

fn came(root: RootId, number: i64, now: TimeMs) -> Vec<Observation> {
    let zxid = Zxid(number + 1);
    let facts = Facts {
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        ctime_ms: now.0,
        version: 0,
        cversion: 0,
        children: 0,
        owner: Some(SessionId(number % 1_000 + 1)),
        payload: None,
        payload_bytes: 0,
    };
    let read = Observation::NodeRead { root, path: busy_path(number), facts: Box::new(facts), unreadable: false };
    vec![Observation::NodeCreated { root, path: busy_path(number) }, read]
}

fn gone(root: RootId, number: i64) -> Observation {
    Observation::NodeDeleted { root, path: busy_path(number) }
}
