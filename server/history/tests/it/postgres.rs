//! The shared store over a real PostgreSQL: what any store promises, who writes, and what becomes of those who lose it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use lockscope_core::time::TimeMs;
use lockscope_history::historian::{Historian, HistoryState};
use lockscope_history::store::bundle::{BundleError, BundleQuery};
use lockscope_history::store::postgres::{PostgresHistory, PostgresStore};
use lockscope_history::store::rows::{
    Fact, FactKind, FactQuery, Minute, MinuteQuery, ROWS_READ_MAX, Rows, Span, SpanQuery,
};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{GapReason, Retention, Store, StoreError};
use lockscope_private_postgres::PrivatePostgres;
use tokio::runtime::Runtime;

use crate::conformance::{CHECKPOINT, DAY, EVENTS, chunk, gap, span, suite};
use crate::historian::{Engine, START, until};

const KEEP_ALL: Retention =
    Retention { chunks_ms: i64::MAX / 4, chunk_bytes_max: u64::MAX, spans_ms: i64::MAX / 4, minutes_ms: i64::MAX / 4 };

fn wait<T>(job: impl Future<Output = T>) -> T {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().unwrap()).block_on(job)
}

/// One server for all tests that do it no harm; its guard ends it with this process.
fn shared() -> &'static PrivatePostgres {
    static SERVER: OnceLock<PrivatePostgres> = OnceLock::new();
    SERVER.get_or_init(|| wait(PrivatePostgres::start()).unwrap())
}

/// A database of its own, by its URL.
pub(crate) fn database() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    wait(shared().run("createdb", &[&name])).unwrap();
    format!("{}/{name}", shared().url().rsplit_once('/').unwrap().0)
}

fn history(url: &str) -> PostgresHistory {
    PostgresHistory::new(lockscope_postgres::Target::parse(url).unwrap()).unwrap()
}

pub(crate) fn open(url: &str) -> PostgresStore {
    PostgresStore::open(&history(url), "prod").unwrap()
}

fn sql(url: &str, sql: &str) -> String {
    let name = url.rsplit_once('/').unwrap().1;
    wait(shared().run("psql", &["--no-psqlrc", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", name, "-c", sql])).unwrap()
}

fn seqs(store: &dyn Store) -> Vec<u64> {
    store.chunks(0, 64).unwrap().iter().map(|chunk| chunk.seq).collect()
}

#[test]
fn it_does_what_every_store_does() {
    let url = database();
    suite(&|| Box::new(open(&url)));
    let one = history(&url);
    // The same over connections that stay.
    let url = database();
    drop(one);
    let one = history(&url);
    suite(&|| Box::new(PostgresStore::open(&one, "prod").unwrap()));
}

#[test]
fn ensembles_share_tables_and_nothing_else() {
    let url = database();
    let one = history(&url);
    let names = ["prod", "", "ein ⛔ name", "x\0y", &"long".repeat(500)];
    let stores: Vec<PostgresStore> = names.iter().map(|name| PostgresStore::open(&one, name).unwrap()).collect();
    for (number, store) in stores.iter().enumerate() {
        let at = 20_000 * DAY + number as i64;
        store.append(&[chunk(1, at, CHECKPOINT), chunk(2, at + 1, EVENTS)], &[gap(0, at - 9, at)]).unwrap();
        store.write_rows(&Rows { spans: vec![span(number as i64 + 1, at)], ..Rows::default() }).unwrap();
    }
    for (number, store) in stores.iter().enumerate() {
        assert_eq!(store.coverage().unwrap().from, Some(TimeMs(20_000 * DAY + number as i64)));
        assert_eq!(store.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap().len(), 1);
        assert_eq!(
            store.spans(&SpanQuery::default()).unwrap(),
            [span(number as i64 + 1, 20_000 * DAY + number as i64)]
        );
    }
}

#[test]
fn there_is_one_writer_and_whoever_comes_after_it_goes_on() {
    let url = database();
    let one = history(&url);
    let first = PostgresStore::open(&one, "prod").unwrap();
    first.append(&[chunk(1, 20_000 * DAY, CHECKPOINT)], &[]).unwrap();
    for other in [history(&url), one.clone()] {
        assert!(matches!(PostgresStore::open(&other, "prod"), Err(StoreError::InUse(_))));
        PostgresStore::open(&other, "other").unwrap();
        // Others may look, and not write.
        let reader = PostgresStore::open_to_read(&other, "prod").unwrap();
        assert_eq!(seqs(&reader), [1]);
        assert!(matches!(reader.append(&[chunk(2, 20_000 * DAY, EVENTS)], &[]), Err(StoreError::InUse(_))));
        assert!(matches!(reader.write_rows(&Rows::default()), Err(StoreError::InUse(_))));
    }
    // Its connections end, as behind a cable that was cut; then another one takes the lock.
    let ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database()
        AND pid <> pg_backend_pid()";
    sql(&url, ended);
    let second = loop {
        match PostgresStore::open(&history(&url), "prod") {
            Ok(store) => break store,
            Err(error) => assert!(matches!(error, StoreError::InUse(_)), "{error}"),
        }
    };
    second.append(&[chunk(2, 20_000 * DAY + 5_000, CHECKPOINT)], &[]).unwrap();
    until("the first learns it", || {
        matches!(first.append(&[chunk(2, 20_000 * DAY + 1, EVENTS)], &[]), Err(StoreError::InUse(_)))
    });
    drop(second);
    // It is free now, and still nobody's who knows an earlier epoch.
    assert!(matches!(first.append(&[chunk(2, 20_000 * DAY + 1, EVENTS)], &[]), Err(StoreError::InUse(_))));
    drop(first);
    let third = PostgresStore::open(&one, "prod").unwrap();
    assert_eq!(
        third.chunks(0, 9).unwrap(),
        [chunk(1, 20_000 * DAY, CHECKPOINT), chunk(2, 20_000 * DAY + 5_000, CHECKPOINT)]
    );
}

#[test]
fn whoever_wrote_alone_goes_on_after_its_connections_were_cut() {
    let url = database();
    let store = open(&url);
    store.append(&[chunk(1, 20_000 * DAY, CHECKPOINT), chunk(2, 20_000 * DAY + 1, EVENTS)], &[]).unwrap();
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database()
        AND pid <> pg_backend_pid()";
    sql(&url, cut);
    // The same once more, as after an answer that was lost, and more.
    let again =
        [chunk(1, 20_000 * DAY, CHECKPOINT), chunk(2, 20_000 * DAY + 1, EVENTS), chunk(3, 20_000 * DAY + 2, EVENTS)];
    until("it is written", || store.append(&again[1..], &[]).is_ok());
    until("it is read", || store.chunks(0, 9).is_ok_and(|found| found == again));
    let coverage = store.coverage().unwrap();
    assert_eq!((coverage.chunks, coverage.checkpoints, coverage.last_seq), (3, 1, 3));
}

#[test]
fn writing_twice_changes_nothing_and_odd_texts_are_kept() {
    let url = database();
    let store = open(&url);
    let at = 20_000 * DAY + 1_000;
    let path: Box<str> = format!("/{}", "ü".repeat(50_000)).into();
    let mut odd = span(1, at);
    (odd.lock, odd.node, odd.label) = (path.clone(), "n'; DROP TABLE x --".into(), Some("a\0b".into()));
    let minute = |arrivals| Minute {
        lock: path.clone(),
        at: TimeMs(at),
        arrivals,
        acquired: 0,
        gave_up: 0,
        waits: [0, 255].into(),
        holds: [].into(),
        depth_max: 0,
        waiting_ms: -1,
        worst: "free".into(),
        top: [].into(),
    };
    let fact = |number, text: &str| Fact {
        number,
        at: TimeMs(at),
        lock: None,
        kind: FactKind::Alert,
        code: "x".into(),
        severity: 0,
        text: text.into(),
    };
    // The same minute and the same fact twice, as they wait while a store fails.
    let rows = Rows {
        spans: vec![odd.clone(), odd.clone()],
        minutes: vec![minute(1), minute(2)],
        facts: vec![fact(1, "old"), fact(1, "new"), fact(2, "other")],
    };
    store.write_rows(&rows).unwrap();
    store.write_rows(&rows).unwrap();
    odd.label = Some("a\u{fffd}b".into());
    assert_eq!(store.spans(&SpanQuery { lock: Some(path.clone()), ..SpanQuery::default() }).unwrap(), [odd]);
    assert_eq!(store.minutes(&MinuteQuery::default()).unwrap(), [minute(2)]);
    assert_eq!(store.facts(&FactQuery::default()).unwrap(), [fact(2, "other"), fact(1, "new")]);
}

#[test]
fn tables_of_a_later_version_are_left_alone() {
    let url = database();
    drop(open(&url));
    sql(&url, "UPDATE lockscope.version SET version = 99 WHERE part = 'history'");
    let error = PostgresStore::open(&history(&url), "prod").unwrap_err();
    assert!(matches!(&error, StoreError::Newer(why) if why.contains("99")), "{error}");
}

#[test]
fn a_day_is_dropped_when_nobody_keeps_it_any_more() {
    let url = database();
    let one = history(&url);
    let [mine, others] = ["mine", "others"].map(|name| PostgresStore::open(&one, name).unwrap());
    for store in [&mine, &others] {
        for day in 0..3 {
            let seq = 2 * day as u64 + 1;
            let at = (20_000 + day) * DAY;
            store
                .append(&[chunk(seq, at, CHECKPOINT), chunk(seq + 1, at + 1, EVENTS)], &[gap(seq, at, at + 1)])
                .unwrap();
            store.write_rows(&Rows { spans: vec![span(1, at)], ..Rows::default() }).unwrap();
        }
    }
    let partitions = |table: &str| {
        sql(&url, &format!("SELECT count(*) FROM pg_inherits WHERE inhparent = 'lockscope.{table}'::regclass"))
    };
    let now = TimeMs(20_003 * DAY);
    let short = Retention { chunks_ms: DAY, chunk_bytes_max: u64::MAX, spans_ms: DAY, minutes_ms: DAY };
    let long = Retention { chunks_ms: 90 * DAY, spans_ms: 90 * DAY, ..short };
    assert_eq!(others.retain(now, long).unwrap().days, 0);
    assert_eq!(mine.retain(now, short).unwrap().days, 2);
    assert_eq!((seqs(&mine), seqs(&others)), (vec![5, 6], (1..=6).collect()));
    assert_eq!(mine.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap().len(), 1);
    assert_eq!(
        (mine.spans(&SpanQuery::default()).unwrap().len(), others.spans(&SpanQuery::default()).unwrap().len()),
        (2, 3)
    );
    assert_eq!((partitions("chunk").trim(), partitions("span").trim()), ("3", "3"));
    // After an hour nothing is left of mine, though the partition stays.
    assert_eq!(mine.retain(now + 2 * 3_600_000, short).unwrap().days, 0);
    let left = "SELECT count(*) FROM lockscope.chunk JOIN lockscope.ensemble ON id = ensemble AND name = 'mine'";
    assert_eq!(sql(&url, left).trim(), "2");
    assert_eq!(others.retain(now, short).unwrap().days, 2);
    assert_eq!((partitions("chunk").trim(), partitions("span").trim()), ("1", "2"));
    // Someone who reads for long keeps nobody waiting.
    let seq = mine.coverage().unwrap().last_seq + 1;
    mine.append(&[chunk(seq, 20_009 * DAY, CHECKPOINT)], &[]).unwrap();
    others.append(&[chunk(seq, 20_009 * DAY, CHECKPOINT)], &[]).unwrap();
    let name = url.rsplit_once('/').unwrap().1.to_owned();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let slow = "BEGIN; SELECT count(*) FROM lockscope.chunk; SELECT pg_sleep(6); COMMIT";
            wait(shared().run("psql", &["-qAt", "-d", &name, "-c", slow])).unwrap();
        });
        let reads =
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(6)%' AND pid <> pg_backend_pid()";
        until("somebody reads", || sql(&url, reads).trim() != "0");
        let far = TimeMs(20_010 * DAY);
        assert_eq!(mine.retain(far, short).unwrap().days + others.retain(far, short).unwrap().days, 2);
        assert_eq!(seqs(&mine), [seq]);
    });
    mine.retain(TimeMs(20_010 * DAY), short).unwrap();
    assert_eq!(partitions("chunk").trim(), "1");
}

#[test]
fn rows_that_nobody_of_us_wrote_fill_no_memory() {
    let url = database();
    let store = open(&url);
    let at = 20_000 * DAY;
    store.append(&[chunk(1, at, CHECKPOINT)], &[gap(0, at - 9, at)]).unwrap();
    let ours = span(1, at);
    let long = Span { lock: "/x".repeat(500_000).into(), ..span(2, at + 1) };
    store.write_rows(&Rows { spans: vec![ours.clone(), long.clone()], ..Rows::default() }).unwrap();
    sql(
        &url,
        "INSERT INTO lockscope.span (day, ensemble, czxid, lock, path, recipe, node, joined_at, left_at, how, wait_ms, is_lower_bound)
         SELECT day, ensemble, 100 + i, lock, path, recipe, repeat('x', 50000000), joined_at, left_at + 9, how, wait_ms, is_lower_bound
         FROM lockscope.span, generate_series(1, 2) AS i WHERE czxid = 1;
         INSERT INTO lockscope.gap SELECT ensemble, 7, from_at, to_at, repeat('x', 50000000) FROM lockscope.gap",
    );
    assert_eq!(store.spans(&SpanQuery::default()).unwrap(), [long, ours]);
    assert_eq!(store.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap().len(), 1);
    // Many of a length that one may have.
    sql(
        &url,
        "INSERT INTO lockscope.span (day, ensemble, czxid, lock, path, recipe, node, joined_at, left_at, how, wait_ms, is_lower_bound)
         SELECT day, ensemble, 200 + i, lock, path, recipe, repeat('x', 4000000), joined_at, left_at, how, wait_ms, is_lower_bound
         FROM lockscope.span, generate_series(1, 50) AS i WHERE czxid = 1",
    );
    assert!(matches!(store.spans(&SpanQuery::default()), Err(StoreError::Failed(why)) if why.contains("too long")));
    assert_eq!(store.spans(&SpanQuery { limit: 9, ..SpanQuery::default() }).unwrap().len(), 9);
}

#[test]
fn who_has_the_lock_of_a_recording_is_named() {
    let url = database();
    let writer = open(&url);
    let reader = PostgresStore::open_to_read(&history(&url), "prod").unwrap();
    let who = reader.held_by().unwrap();
    assert!(who.starts_with("the session ") && who.contains(" of user ") && who.contains("(lockscope, from "), "{who}");
    drop(writer);
    until("it is given back", || reader.held_by().is_none());
}

#[test]
fn a_window_of_it_is_a_file_that_sqlite_opens() {
    let url = database();
    let store = open(&url);
    let at = 20_000 * DAY;
    let chunks: Vec<_> = (1..=200)
        .map(|seq| chunk(seq, at + 1_000 * seq as i64, if seq % 50 == 1 { CHECKPOINT } else { EVENTS }))
        .collect();
    store.append(&chunks, &[gap(60, at + 60_999, at + 61_000)]).unwrap();
    let spans: Vec<_> = (0..12_000).map(|number| span(number, at + 100_000 + number / 4)).collect();
    store.write_rows(&Rows { spans: spans.clone(), ..Rows::default() }).unwrap();
    let query = |bytes_max| BundleQuery {
        range: TimeMs(at + 70_000)..TimeMs(at + 150_000),
        with_chunks: true,
        sees: &|path| path != "/locks/1",
        with_labels: false,
        bytes_max,
        give_up_at: std::time::Instant::now() + std::time::Duration::from_secs(60),
    };
    let mut file = store.bundle(&query(64 << 20)).unwrap();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("bundle.db");
    std::io::copy(&mut file, &mut std::fs::File::create(&path).unwrap()).unwrap();
    let opened = SqliteStore::open_bundle(&path).unwrap();
    assert_eq!((seqs(&opened)[0], opened.coverage().unwrap().last_seq), (51, 149));
    assert_eq!(opened.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap().len(), 1);
    let seen = |span: &&Span| &*span.lock != "/locks/1";
    let mut expected: Vec<Span> = spans.iter().filter(seen).map(|span| Span { label: None, ..span.clone() }).collect();
    expected.sort_by_key(|span| std::cmp::Reverse((span.left_at, span.czxid)));
    let mut found = opened.spans(&SpanQuery::default()).unwrap();
    assert_eq!(found.len(), expected.len().min(ROWS_READ_MAX));
    assert!(found.drain(..).eq(expected.into_iter().take(ROWS_READ_MAX)));
    assert!(matches!(store.bundle(&query(64 << 10)), Err(BundleError::TooLarge { .. })));
}

#[test]
fn a_database_that_is_killed_or_hangs_is_a_gap_and_recording_goes_on_by_itself() {
    let mut server = wait(PrivatePostgres::start()).unwrap();
    let one = history(&server.url());
    let recorded = one.clone();
    let open = move || Ok(Arc::new(PostgresStore::open(&recorded, "prod")?) as Arc<dyn Store>);
    let clock = lockscope_runtime::clock::Clock::manual(START);
    let (historian, recorder) = Historian::start(Box::new(open), || KEEP_ALL, clock.clone()).unwrap();
    let handle = recorder.handle();
    let mut engine = Engine::new(recorder, START);
    let is = |state| move |handle: &lockscope_history::historian::HistoryHandle| handle.status().state == state;
    let go_on =
        |engine: &mut Engine, what: &str, is_so: &dyn Fn(&lockscope_history::historian::HistoryHandle) -> bool| {
            let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
            while !is_so(&handle) {
                engine.step();
                clock.set_ms(engine.now.0);
                assert!(std::time::Instant::now() < deadline, "waited for: {what}: {:?}", handle.status());
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
        };
    go_on(&mut engine, "recording", &is(HistoryState::Recording));
    for (what, is_killed) in [("kill -9", true), ("SIGSTOP", false)] {
        let written = handle.status().written;
        go_on(&mut engine, "some is written", &|handle| handle.status().written > written);
        if is_killed {
            wait(server.kill_minus_9()).unwrap();
        } else {
            server.pause().unwrap();
        }
        go_on(&mut engine, what, &|handle| handle.status().trouble.is_some());
        // Nobody who looks waits for long.
        let store = handle.store().unwrap();
        let began = std::time::Instant::now();
        assert!(store.coverage().is_err());
        assert!(began.elapsed() < std::time::Duration::from_secs(6));
        if is_killed {
            wait(server.restart()).unwrap();
        } else {
            server.resume().unwrap();
        }
        go_on(&mut engine, "it records again", &|handle| {
            handle.status().trouble.is_none() && handle.status().state == HistoryState::Recording
        });
    }
    drop(engine);
    historian.join();
    let store = PostgresStore::open_to_read(&one, "prod").unwrap();
    // What was written is in one piece: each number once, or a gap.
    let mut from = 0;
    let mut found = Vec::new();
    while let Ok(some) = store.chunks(from, 64)
        && let Some(last) = some.last()
    {
        from = last.seq + 1;
        found.extend(some.iter().map(|chunk| chunk.seq));
    }
    let gaps = store.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap();
    assert!(gaps.iter().all(|gap| gap.why == GapReason::StoreFailed), "{gaps:?}");
    for pair in found.windows(2) {
        let is_told = gaps.iter().any(|gap| gap.after_seq == pair[0]);
        assert!(pair[1] == pair[0] + 1 || is_told, "{pair:?} {gaps:?}");
    }
}
