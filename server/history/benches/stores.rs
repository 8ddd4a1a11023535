//! The two stores beside each other with the same load: what a write and a look cost. PostgreSQL runs on this machine, with
//! nothing synced to disk, as SQLite's log is not either.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark takes what it made itself for granted and prints"
)]

use std::time::{Duration, Instant};

use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_history::codec::{Chunk, ChunkKind};
use lockscope_history::store::Store;
use lockscope_history::store::postgres::{PostgresHistory, PostgresStore, Target};
use lockscope_history::store::rows::{Charge, Charged, Charges, Minute, MinuteQuery, Rows, Span, SpanEnd, SpanQuery};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_private_postgres::PrivatePostgres;

const START: i64 = 20_000 * 86_400_000;
const LOCKS: i64 = 200;
const SPANS: i64 = 250_000;

fn main() {
    let place = tempfile::tempdir().unwrap();
    measure(&SqliteStore::open(place.path(), "bench").unwrap());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(PrivatePostgres::start()).unwrap();
    let history = PostgresHistory::new(Target::parse(&server.url()).unwrap()).unwrap();
    measure(&PostgresStore::open(&history, "bench").unwrap());
    let sizes = "SELECT pg_table_size(inhrelid), pg_indexes_size(inhrelid) FROM pg_inherits
        WHERE inhparent = 'lockscope.span'::regclass";
    let sizes = runtime.block_on(server.sql(sizes)).unwrap();
    let (mut rows, mut indexes) = (0, 0);
    for line in sizes.lines() {
        let (of_rows, of_indexes) = line.split_once('|').unwrap();
        rows += of_rows.parse::<i64>().unwrap();
        indexes += of_indexes.parse::<i64>().unwrap();
    }
    println!("postgres: {} bytes a span and {} of its indexes", rows / SPANS, indexes / SPANS);
}

fn chunk(seq: u64, kind: ChunkKind) -> Chunk {
    let at = TimeMs(START + 250 * seq.cast_signed());
    let body: Box<[u8]> = (0..2_000_u64).map(|byte| (byte.wrapping_mul(seq).wrapping_mul(0x9e37) >> 7) as u8).collect();
    Chunk { seq, first_at: at, last_at: at + 249, zxid: Zxid(seq.cast_signed()), kind, crc: 0, body: body.into() }
}

fn span(number: i64) -> Span {
    let left_at = TimeMs(START + number * 300);
    let charges = Charged { to: vec![Charge { session: SessionId(number % 500), ms: 120 }], others_ms: 0 };
    Span {
        czxid: Zxid(number),
        lock: format!("/locks/orders/shard-{:03}", number * 7 % LOCKS).into(),
        recipe: "sequential_mutex".into(),
        node: format!("_c_6a5ba1f2-0000-4a1e-9c39-{number:012}-lock-{number:010}").into(),
        session: Some(SessionId(number % 500)),
        label: Some(format!("worker-{}", number % 500).into()),
        host: Some(format!("10.1.0.{}", number % 250).into()),
        joined_at: left_at - 400,
        held_at: Some(left_at - 280),
        left_at,
        how: SpanEnd::Released,
        charges: Some(Charges { direct: charges.clone(), root: charges, hand_off_ms: 0, unknown_ms: 0 }),
        wait_ms: 120,
        is_lower_bound: false,
    }
}

fn minute(number: i64) -> Minute {
    Minute {
        lock: format!("/locks/orders/shard-{:03}", number % LOCKS).into(),
        at: TimeMs(START + number / LOCKS * 60_000),
        arrivals: 10,
        acquired: 10,
        gave_up: 0,
        waits: [7; 24].into(),
        holds: [9; 24].into(),
        depth_max: 4,
        waiting_ms: 1_200,
        worst: "healthy".into(),
        top: [3; 40].into(),
    }
}

fn measure(store: &dyn Store) {
    let kind = store.kind();
    let mut seq = 0;
    let took = each(2_000, || {
        seq += 1;
        let of = if seq % 200 == 1 { ChunkKind::Checkpoint { part: 0 } } else { ChunkKind::Events };
        store.append(&[chunk(seq, of)], &[]).unwrap();
    });
    println!("{kind}: a chunk of 2 KB is stored in {}", told(took));
    let mut number = 0;
    let began = Instant::now();
    while number < SPANS {
        let spans = (number..number + 1_000).map(span).collect();
        store.write_rows(&Rows { spans, ..Rows::default() }).unwrap();
        number += 1_000;
    }
    let a_second = SPANS as f64 / began.elapsed().as_secs_f64();
    println!("{kind}: {a_second:.0} spans a second, 1,000 at once");
    let mut number = 0;
    let took = each(300, || {
        let minutes = (number..number + LOCKS).map(minute).collect();
        store.write_rows(&Rows { minutes, ..Rows::default() }).unwrap();
        number += LOCKS;
    });
    println!("{kind}: 200 minutes are written in {}", told(took));
    let mut at = 0;
    let took = each(200, || {
        at += 1;
        let lock = Some(format!("/locks/orders/shard-{:03}", at % LOCKS).into());
        assert!(store.spans(&SpanQuery { lock, limit: 1_000, ..SpanQuery::default() }).unwrap().len() == 1_000);
    });
    println!("{kind}: the newest 1,000 spans of a lock are read in {}", told(took));
    let took = each(200, || {
        at += 1;
        let range = TimeMs(START + at * 100_000)..TimeMs(START + at * 100_000 + 60_000);
        assert!(!store.spans(&SpanQuery { range, ..SpanQuery::default() }).unwrap().is_empty());
    });
    println!("{kind}: the spans of a minute are read in {}", told(took));
    let took = each(100, || {
        at += 1;
        let lock = Some(format!("/locks/orders/shard-{:03}", at % LOCKS).into());
        assert!(!store.minutes(&MinuteQuery { lock, ..MinuteQuery::default() }).unwrap().is_empty());
    });
    println!("{kind}: the minutes of a lock are read in {}", told(took));
    let took = each(200, || {
        at += 1;
        let head = store.head_at(TimeMs(START + at * 500)).unwrap().unwrap();
        let checkpoint = store.checkpoint_before(head.seq).unwrap().unwrap();
        assert!(!store.chunks(checkpoint.seq, 64).unwrap().is_empty());
    });
    println!("{kind}: a moment is found and 64 chunks read in {}", told(took));
}

/// Each of so many, sorted.
fn each(count: usize, mut one: impl FnMut()) -> Vec<Duration> {
    let mut took: Vec<Duration> = (0..count)
        .map(|_| {
            let began = Instant::now();
            one();
            began.elapsed()
        })
        .collect();
    took.sort_unstable();
    took
}

fn told(took: Vec<Duration>) -> String {
    let at = |part: usize| took[(took.len() - 1) * part / 100].as_secs_f64() * 1_000.0;
    format!("{:.2} ms (p50), {:.2} ms (p99)", at(50), at(99))
}
