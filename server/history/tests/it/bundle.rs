//! A window of a recording as one file: it is a store, it has just what it should have, and nothing is left behind.

use std::fs::{self, File};
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lockscope_core::observation::{Link, Observation};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_history::codec::{Chunk, Encoder};
use lockscope_history::replay::{Moment, Rewound};
use lockscope_history::store::bundle::{BundleError, BundleQuery};
use lockscope_history::store::rows::{Fact, FactKind, FactQuery, Minute, MinuteQuery, Rows, Span, SpanEnd, SpanQuery};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{Gap, Store, StoreError};
use tempfile::TempDir;

use crate::conformance::{CHECKPOINT, DAY, EVENTS, chunk, gap};
use crate::replay::{all_of, model};

const MIDNIGHT: i64 = 20_001 * DAY;

fn query(range: Range<i64>, sees: &dyn Fn(&str) -> bool) -> BundleQuery<'_> {
    BundleQuery {
        range: TimeMs(range.start)..TimeMs(range.end),
        with_chunks: true,
        sees,
        with_labels: true,
        bytes_max: 64 << 20,
        give_up_at: Instant::now() + Duration::from_secs(60),
    }
}

fn store() -> (TempDir, SqliteStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), "prod").unwrap();
    (directory, store)
}

/// The bundle under a name, as whoever got it has it.
fn kept(directory: &TempDir, mut bundle: File) -> PathBuf {
    let path = directory.path().join("bundle.db");
    let mut bytes = Vec::new();
    bundle.read_to_end(&mut bytes).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory.join("prod")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    // Those of whoever reads come and go.
    names.retain(|name| !name.ends_with("-wal") && !name.ends_with("-shm"));
    names.sort();
    names
}

fn seqs(store: &dyn Store) -> Vec<u64> {
    store.chunks(0, usize::MAX).unwrap().iter().map(|chunk| chunk.seq).collect()
}

/// A recording over midnight: a checkpoint every five minutes, a change each second.
fn recorded() -> (TempDir, SqliteStore, Vec<(TimeMs, Vec<Observation>)>) {
    let (directory, store) = store();
    let begin = MIDNIGHT - 1_200_000;
    let mut model = model(TimeMs(begin));
    let (mut encoder, mut chunks, mut models): (_, Vec<Chunk>, _) = (Encoder::new(1), Vec::new(), Vec::new());
    for second in 0..2_400_i64 {
        let now = TimeMs(begin + second * 1_000);
        if second % 300 == 0 {
            chunks.extend(encoder.checkpoint(now, model.checkpoint().unwrap().observations()).unwrap());
        }
        let link = if second % 2 == 0 { Link::Live } else { Link::Stale };
        let observation = Observation::Link { link, session: None, why: "".into() };
        encoder.push(now, &observation, &mut chunks).unwrap();
        model.apply(now, observation);
        if second % 100 == 50 {
            models.push((now, all_of(&model)));
        }
    }
    chunks.extend(encoder.close());
    store.append(&chunks, &[]).unwrap();
    (directory, store, models)
}

#[test]
fn every_moment_of_the_window_is_the_same() {
    let (directory, store, models) = recorded();
    let window = MIDNIGHT - 500_000..MIDNIGHT + 500_000;
    let before = files(directory.path());
    let bundle = store.bundle(&query(window.clone(), &|_| true)).unwrap();
    assert_eq!(files(directory.path()), before, "it has no name");
    let path = kept(&directory, bundle);
    let opened = SqliteStore::open_bundle(&path).unwrap();
    let inside: Vec<_> = models.iter().filter(|(at, _)| window.contains(&at.0)).collect();
    assert_eq!(inside.len(), 10);
    for (at, model) in &inside {
        assert!(all_of(Rewound::new(&opened, Moment::At(*at)).unwrap().observatory()) == *model, "{at}");
    }
    // The window begins with a checkpoint at least as early, and nothing earlier is in it.
    let from = opened.coverage().unwrap().from.unwrap().0;
    assert!((window.start - 300_000..=window.start).contains(&from), "{from}");
    assert!(Rewound::new(&opened, Moment::At(models[0].0)).is_err());
    assert!(opened.coverage().unwrap().chunks < store.coverage().unwrap().chunks);

    // Put where a day is, it is the past of another server.
    let elsewhere = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(elsewhere.path(), "prod").unwrap());
    for name in ["2024-10-04.db", "2024-10-04.rows.db"] {
        fs::copy(&path, elsewhere.path().join("prod").join(name)).unwrap();
    }
    let served = SqliteStore::open(elsewhere.path(), "prod").unwrap();
    for (at, model) in &inside {
        assert!(all_of(Rewound::new(&served, Moment::At(*at)).unwrap().observatory()) == *model, "{at}");
    }
    let last = served.coverage().unwrap().last_seq;
    served.append(&[chunk(last + 1, MIDNIGHT + 600_000, CHECKPOINT)], &[]).unwrap();
    assert_eq!(served.coverage().unwrap().last_seq, last + 1, "and it goes on there");
}

#[test]
fn a_bundle_is_never_written() {
    let (directory, store, _) = recorded();
    let path = kept(&directory, store.bundle(&query(MIDNIGHT..MIDNIGHT + 1_000, &|_| true)).unwrap());
    let bytes = fs::read(&path).unwrap();
    let opened = SqliteStore::open_bundle(&path).unwrap();
    assert!(matches!(opened.append(&[chunk(9_999, MIDNIGHT, EVENTS)], &[]), Err(StoreError::Denied(_))));
    assert!(matches!(opened.write_rows(&rows()), Err(StoreError::Denied(_))));
    assert!(opened.spans(&SpanQuery::default()).unwrap().is_empty());
    drop(opened);
    assert!(bytes == fs::read(&path).unwrap());
    let day = directory.path().join("prod/2024-10-04.db");
    assert!(matches!(SqliteStore::open_bundle(&day), Err(StoreError::Damaged(_))), "a day is no bundle");
}

fn span(lock: &str, at: i64, label: Option<&str>) -> Span {
    Span {
        czxid: Zxid(at),
        lock: lock.into(),
        recipe: "sequential_mutex".into(),
        node: "lock-0000000001".into(),
        session: Some(SessionId(7)),
        label: label.map(Into::into),
        host: Some("10.0.0.7".into()),
        joined_at: TimeMs(at - 500),
        held_at: Some(TimeMs(at - 100)),
        left_at: TimeMs(at),
        how: SpanEnd::Released,
        charges: None,
        wait_ms: 400,
        is_lower_bound: false,
    }
}

fn minute(lock: &str, at: i64) -> Minute {
    Minute {
        lock: lock.into(),
        at: TimeMs(at),
        arrivals: 3,
        acquired: 2,
        gave_up: 1,
        waits: [0, 1, 2, 2].into(),
        holds: [].into(),
        depth_max: 4,
        waiting_ms: 900,
        worst: "stuck".into(),
        top: [].into(),
    }
}

fn fact(lock: Option<&str>, at: i64, kind: FactKind) -> Fact {
    let number = at.unsigned_abs() << 10;
    let (code, text) = ("stuck".into(), "It is stuck.".into());
    Fact { number, at: TimeMs(at), lock: lock.map(Into::into), kind, code, severity: 2, text }
}

/// Rows of two locks on two days.
fn rows() -> Rows {
    let mut rows = Rows::default();
    for day in [MIDNIGHT - 60_000, MIDNIGHT + 60_000] {
        for (place, lock) in ["/a", "/b"].into_iter().enumerate() {
            let at = day + 1_000 * place as i64;
            rows.spans.push(span(lock, at, Some("worker-1")));
            rows.minutes.push(minute(lock, day));
            rows.facts.push(fact(Some(lock), at, FactKind::Verdict));
        }
        rows.facts.push(fact(None, day + 5_000, FactKind::Link));
    }
    rows.spans.push(Span { label: None, host: None, ..span("/a", MIDNIGHT + 70_000, None) });
    rows
}

fn all_rows(store: &dyn Store) -> Rows {
    let mut rows = Rows {
        spans: store.spans(&SpanQuery::default()).unwrap(),
        minutes: store.minutes(&MinuteQuery::default()).unwrap(),
        facts: store.facts(&FactQuery::default()).unwrap(),
    };
    rows.spans.sort_by_key(|span| (span.left_at, span.lock.clone()));
    rows.minutes.sort_by_key(|minute| (minute.at, minute.lock.clone()));
    rows.facts.sort_by_key(|fact| fact.number);
    rows
}

#[test]
fn rows_are_those_of_the_window_that_may_be_seen() {
    let (directory, store) = store();
    store.write_rows(&rows()).unwrap();
    let bundled = |query: &BundleQuery<'_>| {
        let path = kept(&directory, store.bundle(query).unwrap());
        all_rows(&SqliteStore::open_bundle(&path).unwrap())
    };
    let all = MIDNIGHT - DAY..MIDNIGHT + DAY;
    assert_eq!(bundled(&query(all.clone(), &|_| true)), all_rows(&store));

    let of_a = bundled(&BundleQuery { with_labels: false, ..query(all, &|path| path == "/a") });
    let expected = all_rows(&store);
    let spans = expected.spans.iter().filter(|span| &*span.lock == "/a");
    let spans: Vec<Span> = spans.map(|span| Span { label: None, ..span.clone() }).collect();
    assert_eq!(of_a.spans, spans);
    assert_eq!(of_a.minutes.len(), 2);
    let facts: Vec<Option<&str>> = of_a.facts.iter().map(|fact| fact.lock.as_deref()).collect();
    assert_eq!(facts, [Some("/a"), None, Some("/a"), None]);
    let bytes = fs::read(directory.path().join("bundle.db")).unwrap();
    let has = |text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
    assert!(!has(b"worker-1") && !has(b"/b"), "what may not be seen is in no page of the file");

    let late = bundled(&query(MIDNIGHT + 60_500..MIDNIGHT + 120_000, &|_| true));
    assert_eq!((late.spans.len(), late.minutes.len(), late.facts.len()), (2, 2, 2));
}

#[test]
fn without_changes_there_are_rows_alone() {
    let (directory, store, _) = recorded();
    store.write_rows(&rows()).unwrap();
    let query = BundleQuery { with_chunks: false, ..query(MIDNIGHT - DAY..MIDNIGHT + DAY, &|_| true) };
    let opened = SqliteStore::open_bundle(&kept(&directory, store.bundle(&query).unwrap())).unwrap();
    assert_eq!((seqs(&opened).len(), all_rows(&opened) == all_rows(&store)), (0, true));
    assert!(Rewound::new(&opened, Moment::At(TimeMs(MIDNIGHT))).is_err());
}

#[test]
fn gaps_of_the_window_are_in_it() {
    let (directory, store) = store();
    let chunks: Vec<Chunk> = (1..=40)
        .map(|seq| chunk(seq, MIDNIGHT + 10_000 * seq as i64, if seq % 5 == 1 { CHECKPOINT } else { EVENTS }))
        .collect();
    let gaps: Vec<Gap> = [(5, 51_000, 59_000), (20, 201_000, 209_000), (35, 351_000, 359_000)]
        .map(|(seq, from, to)| gap(seq, MIDNIGHT + from, MIDNIGHT + to))
        .into();
    store.append(&chunks, &gaps).unwrap();
    let opened = store.bundle(&query(MIDNIGHT + 180_000..MIDNIGHT + 250_000, &|_| true)).unwrap();
    let opened = SqliteStore::open_bundle(&kept(&directory, opened)).unwrap();
    assert_eq!(seqs(&opened), (16..=24).collect::<Vec<u64>>());
    assert_eq!(opened.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap(), [gaps[1]]);
}

#[test]
fn what_is_too_large_names_a_range_that_fits() {
    let (_directory, store) = store();
    let big = |seq: u64| {
        let at = MIDNIGHT + 10_000 * seq as i64;
        let mut chunk = chunk(seq, at, if seq % 10 == 1 { CHECKPOINT } else { EVENTS });
        chunk.body = vec![7; 50_000].into();
        chunk.crc = chunk.checksum();
        chunk
    };
    store.append(&(1..=60).map(big).collect::<Vec<_>>(), &[]).unwrap();
    let window = MIDNIGHT..MIDNIGHT + 700_000;
    let small = |range| BundleQuery { bytes_max: 2 << 20, ..query(range, &|_| true) };
    let Err(BundleError::TooLarge { fits_from: Some(from) }) = store.bundle(&small(window.clone())) else {
        panic!("it fits")
    };
    assert_eq!(from, TimeMs(MIDNIGHT + 310_000));
    store.bundle(&small(from.0..window.end)).unwrap();
    // Where not even the last checkpoint fits, and where it is rows that are too many.
    let tiny = BundleQuery { bytes_max: 64 << 10, ..query(window.clone(), &|_| true) };
    assert!(matches!(store.bundle(&tiny), Err(BundleError::TooLarge { fits_from: None })));
    let facts = (0..20_000).map(|at| fact(Some("/a"), MIDNIGHT + at, FactKind::Verdict)).collect();
    store.write_rows(&Rows { facts, ..Rows::default() }).unwrap();
    let rows = BundleQuery { with_chunks: false, bytes_max: 512 << 10, ..query(window.clone(), &|_| true) };
    let refused = store.bundle(&rows).unwrap_err();
    assert_eq!(refused, BundleError::TooLarge { fits_from: None });
    let late = BundleQuery { give_up_at: Instant::now(), ..query(window, &|_| true) };
    assert!(matches!(store.bundle(&late), Err(BundleError::Store(StoreError::TooLong))));
}

#[test]
fn what_a_killed_process_left_is_removed_by_the_next() {
    let (directory, store, _) = recorded();
    drop(store);
    let left = directory.path().join("prod/bundle-1-0.unnamed");
    fs::write(&left, "half").unwrap();
    SqliteStore::open(directory.path(), "prod").unwrap();
    assert!(!left.exists());
}
