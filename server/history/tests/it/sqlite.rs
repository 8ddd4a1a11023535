//! The embedded store over real files: what any store promises, and what becomes of files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use lockscope_core::time::TimeMs;
use lockscope_history::codec::Chunk;
use lockscope_history::store::rows::{Rows, SpanQuery};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{GapReason, Store, StoreError};
use tempfile::TempDir;

use crate::conformance::{CHECKPOINT, DAY, EVENTS, chunk, span, suite};

fn open(directory: &Path) -> SqliteStore {
    SqliteStore::open(directory, "prod").unwrap()
}

/// Three days of five chunks.
fn filled() -> (TempDir, Vec<Chunk>) {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let of_day = |day: u64| (0..5).map(move |at| (5 * day + at + 1, (20_000 + day as i64) * DAY + 1_000 * at as i64));
    let kind = |seq: u64| if seq % 5 == 1 { CHECKPOINT } else { EVENTS };
    let chunks: Vec<Chunk> = (0..3).flat_map(of_day).map(|(seq, at)| chunk(seq, at, kind(seq))).collect();
    store.append(&chunks, &[]).unwrap();
    (directory, chunks)
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory.join("prod")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn day_file(directory: &Path, day: usize) -> PathBuf {
    let days = ["2024-10-04.db", "2024-10-05.db", "2024-10-06.db"];
    directory.join("prod").join(days[day])
}

#[test]
fn it_does_what_every_store_does() {
    let directory = tempfile::tempdir().unwrap();
    suite(&|| Box::new(open(directory.path())));
}

#[test]
fn a_day_is_a_file_that_only_we_may_read() {
    let (directory, _) = filled();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory.path().join("prod")), 0o700);
    let store = open(directory.path());
    store.append(&[chunk(16, 20_002 * DAY + 9_000, EVENTS)], &[]).unwrap();
    let files = files(directory.path());
    assert!((0..3).all(|day| files.contains(&day_file(directory.path(), day))), "{files:?}");
    assert!(files.iter().any(|file| file.to_string_lossy().ends_with("-wal")));
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
}

#[test]
fn there_is_one_writer() {
    let (directory, _) = filled();
    let first = open(directory.path());
    assert!(matches!(SqliteStore::open(directory.path(), "prod"), Err(StoreError::InUse(_))));
    SqliteStore::open(directory.path(), "other").unwrap();
    drop(first);
    open(directory.path());
}

#[test]
fn chunks_stay_with_the_checkpoint_that_they_need() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let midnight = 20_001 * DAY;
    store.append(&[chunk(1, midnight - 5_000, CHECKPOINT), chunk(2, midnight + 1_000, EVENTS)], &[]).unwrap();
    assert!(!day_file(directory.path(), 1).exists());
    store.append(&[chunk(3, midnight + 2_000, CHECKPOINT)], &[]).unwrap();
    assert!(day_file(directory.path(), 1).exists());
}

/// Damages a file, and tells which chunks are left and which gap there is.
fn check_damage(damage: impl Fn(&Path), day: usize) {
    let (directory, chunks) = filled();
    damage(&day_file(directory.path(), day));
    let store = open(directory.path());
    let found = store.chunks(0, 64).unwrap();
    let expected: Vec<Chunk> = chunks.iter().filter(|chunk| (chunk.seq as usize - 1) / 5 != day).cloned().collect();
    assert_eq!(found, expected);
    let gaps = store.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap();
    let [gap] = gaps[..] else { panic!("{gaps:?}") };
    assert_eq!(gap.why, GapReason::Damaged);
    assert_eq!(gap.after_seq, 5 * day as u64);
    let lost = &chunks[5 * day..5 * day + 5];
    assert!(gap.from <= lost[0].first_at && (gap.to >= lost[4].last_at), "{gap:?}");
    assert!(files(directory.path()).iter().any(|file| file.to_string_lossy().ends_with("damaged-0")));
    // It goes on, and the gap is kept.
    store.append(&[chunk(16, 20_002 * DAY + 9_000, CHECKPOINT)], &[]).unwrap();
    drop(store);
    assert_eq!(open(directory.path()).gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap(), [gap]);
}

#[test]
fn a_damaged_file_costs_its_day() {
    for day in 0..3 {
        check_damage(|path| fs::write(path, vec![7; 10_000]).unwrap(), day);
        check_damage(|path| fs::OpenOptions::new().write(true).open(path).unwrap().set_len(5_000).unwrap(), day);
    }
}

#[test]
fn damage_that_is_found_later_costs_its_day_and_nothing_else() {
    let (directory, chunks) = filled();
    let store = open(directory.path());
    let path = day_file(directory.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    bytes.iter_mut().skip(4_096).for_each(|byte| *byte = 0xaa);
    fs::write(&path, bytes).unwrap();
    let found: Vec<u64> = store.chunks(0, 64).unwrap().iter().map(|chunk| chunk.seq).collect();
    assert_eq!(found, [1, 2, 3, 4, 5, 11, 12, 13, 14, 15]);
    assert_eq!(store.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap().len(), 1);
    assert_eq!(store.head_at(chunks[7].first_at).unwrap().unwrap().seq, 5);
}

#[test]
fn a_log_that_was_cut_costs_what_was_in_its_end() {
    let (directory, chunks) = filled();
    let store = open(directory.path());
    let more: Vec<Chunk> = (16..26).map(|seq| chunk(seq, 20_002 * DAY + 1_000 * seq as i64, EVENTS)).collect();
    more.iter().for_each(|chunk| store.append(std::slice::from_ref(chunk), &[]).unwrap());
    for cut in [1, 5_000, 20_000, 1 << 30] {
        // As a killed process leaves it, and a disk that lost the end.
        let copy = tempfile::tempdir().unwrap();
        fs::create_dir(copy.path().join("prod")).unwrap();
        for file in files(directory.path()) {
            let to = copy.path().join("prod").join(file.file_name().unwrap());
            fs::copy(&file, &to).unwrap();
            if to.to_string_lossy().ends_with("-wal") {
                let bytes = fs::metadata(&to).unwrap().len().saturating_sub(cut);
                fs::OpenOptions::new().write(true).open(&to).unwrap().set_len(bytes).unwrap();
            }
        }
        let found = open(copy.path()).chunks(0, 64).unwrap();
        let all: Vec<Chunk> = chunks.iter().chain(&more).cloned().collect();
        assert_eq!(found, all[..found.len()], "{cut}");
        assert!(found.len() >= chunks.len() && found.len() < all.len(), "{cut}: {} chunks", found.len());
    }
}

#[test]
fn an_empty_file_and_foreign_files_are_no_harm() {
    let (directory, chunks) = filled();
    fs::write(day_file(directory.path(), 1).with_file_name("2024-10-09.db"), b"").unwrap();
    fs::write(day_file(directory.path(), 1).with_file_name("notes.txt"), b"mine").unwrap();
    let store = open(directory.path());
    assert_eq!(store.chunks(0, 64).unwrap(), chunks);
    assert_eq!(store.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap(), []);
}

/// What was put in the place of a day, wherever it is now.
fn aside(directory: &Path, name: &str) -> PathBuf {
    directory.join("prod").join(name.replace(".db", ".damaged-0"))
}

/// Puts something in the place of a day, of chunks and of rows; recording goes on, and nothing is thrown away.
fn check_aside(put: impl Fn(&Path)) {
    for (name, day) in [("2024-10-04.db", 0), ("2024-10-06.db", 2)] {
        let (directory, chunks) = filled();
        put(&directory.path().join("prod").join(name));
        let rows = "2024-10-06.rows.db";
        put(&directory.path().join("prod").join(rows));
        let store = open(directory.path());
        let rest: Vec<Chunk> = chunks.iter().filter(|chunk| (chunk.seq as usize - 1) / 5 != day).cloned().collect();
        assert_eq!(store.chunks(0, 64).unwrap(), rest);
        let gaps = store.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap();
        assert_eq!(gaps.iter().map(|gap| gap.why).collect::<Vec<_>>(), [GapReason::Damaged]);
        let at = 20_002 * DAY + 9_000;
        store.append(&[chunk(16, at, CHECKPOINT)], &[]).unwrap();
        let kept = span(1, at);
        store.spans(&SpanQuery::default()).unwrap();
        store.write_rows(&Rows { spans: vec![kept.clone()], ..Rows::default() }).unwrap();
        assert_eq!(store.spans(&SpanQuery::default()).unwrap(), [kept]);
        assert_eq!(store.chunks(16, 64).unwrap().len(), 1);
        for name in [name, rows] {
            assert!(fs::symlink_metadata(aside(directory.path(), name)).is_ok(), "{name}");
        }
    }
}

fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

#[test]
fn what_is_no_file_is_set_aside() {
    check_aside(|path| {
        remove(path);
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    });
    check_aside(|path| {
        remove(path);
        fs::create_dir(path).unwrap();
        fs::write(path.join("x"), b"mine").unwrap();
    });
    check_aside(|path| {
        remove(path);
        std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    });
    check_aside(|path| {
        remove(path);
        drop(std::os::unix::net::UnixListener::bind(path).unwrap());
    });
    // What SQLite would open beside it.
    check_aside(|path| {
        let mut wal = path.as_os_str().to_owned();
        wal.push("-wal");
        remove(Path::new(&wal));
        fs::File::create(path).unwrap();
        fs::create_dir(wal).unwrap();
    });
}

#[test]
fn a_links_target_stays_as_it_is() {
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("mine");
    check_aside(|path| {
        remove(path);
        fs::write(&target, b"mine").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&target, path).unwrap();
    });
    assert_eq!(fs::read(&target).unwrap(), b"mine");
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o644);
    // A name of its own, as a copy for a backup has it: read, and its rights stay.
    let (directory, chunks) = filled();
    let copy = elsewhere.path().join("backup");
    fs::hard_link(day_file(directory.path(), 1), &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(open(directory.path()).chunks(0, 64).unwrap(), chunks);
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o644);
}

fn sql(path: &Path, sql: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn a_file_of_a_later_version_is_set_aside_whole() {
    check_aside(|path| sql(path, "PRAGMA user_version = 99"));
    let (directory, _) = filled();
    let path = day_file(directory.path(), 1);
    sql(&path, "PRAGMA user_version = 99");
    let bytes = fs::read(&path).unwrap();
    drop(open(directory.path()));
    assert!(fs::read(aside(directory.path(), "2024-10-05.db")).unwrap() == bytes);
}

/// A view that has no end, as any column of a table.
const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";

#[test]
fn foreign_tables_are_set_aside_unread() {
    let columns =
        "i AS seq, i AS first_at, i AS last_at, i AS zxid, 1 AS kind, 0 AS part, 0 AS crc, zeroblob(1 << 30) AS body";
    check_aside(|path| {
        remove(path);
        sql(
            path,
            &format!(
                "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
                 CREATE VIEW chunk AS {ENDLESS} SELECT {columns} FROM n;
                 CREATE VIEW span AS {ENDLESS} SELECT * FROM n; CREATE VIEW fact AS SELECT * FROM span;
                 CREATE TABLE gap (after_seq, from_at, to_at, why); PRAGMA user_version = 1"
            ),
        );
    });
    // Of a new file nothing is there.
    check_aside(|path| {
        remove(path);
        sql(path, "CREATE VIEW about AS SELECT 1 AS key, 2 AS value");
    });
    // A program of somebody else beside our tables.
    check_aside(|path| {
        let is_rows = path.to_string_lossy().ends_with(".rows.db");
        let table = if is_rows { "minute" } else { "chunk" };
        if !path.exists() {
            let (directory, store) = (path.ancestors().nth(2).unwrap(), "other");
            let made = SqliteStore::open(directory, store).unwrap();
            made.write_rows(&Rows { spans: vec![span(1, 20_002 * DAY)], ..Rows::default() }).unwrap();
            drop(made);
            fs::rename(directory.join(store).join(path.file_name().unwrap()), path).unwrap();
        }
        let body = format!("{ENDLESS} INSERT INTO gap SELECT i, i, i, i FROM n");
        let body = if is_rows {
            "DELETE FROM minute".to_owned()
        } else {
            body.replace(ENDLESS, "").replace(" FROM n", " FROM (SELECT 1 AS i)")
        };
        sql(path, &format!("CREATE TRIGGER x AFTER INSERT ON {table} BEGIN {body}; END"));
    });
}

#[test]
fn what_others_keep_of_a_file_does_no_harm() {
    let (directory, chunks) = filled();
    sql(&day_file(directory.path(), 1), "ANALYZE; VACUUM; PRAGMA journal_mode = DELETE");
    assert_eq!(open(directory.path()).chunks(0, 64).unwrap(), chunks);
}

#[test]
fn a_removed_file_is_made_again() {
    let (directory, _) = filled();
    let store = open(directory.path());
    let at = 20_002 * DAY + 9_000;
    store.append(&[chunk(16, at, EVENTS)], &[]).unwrap();
    for file in files(directory.path()).iter().filter(|file| file.to_string_lossy().contains("2024-10-06")) {
        fs::remove_file(file).unwrap();
    }
    store.append(&[chunk(17, at + 1_000, CHECKPOINT)], &[]).unwrap();
    drop(store);
    let last = open(directory.path()).chunks(16, 9).unwrap();
    assert_eq!(last.iter().map(|chunk| chunk.seq).collect::<Vec<_>>(), [17]);
}

#[test]
fn a_directory_that_may_not_be_written_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, b"").unwrap();
    assert!(SqliteStore::open(&path, "prod").is_err());
}
