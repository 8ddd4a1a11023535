//! The file that alerts and silences are kept in.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use lockscope_alerts::book::{Book, KeptAlert, Told, rule_shown};
use lockscope_alerts::store::{Store, StoreError};
use lockscope_view::{Acknowledgement, AlertMatchers, Silence};
use rusqlite::Connection;

use crate::book::{due, due_of, fired, over, pending, rules, take};

/// The book of the next process.
fn reopened(dir: &Path) -> (Store, Book) {
    let (store, (alerts, silences, _)) = Store::open(dir).unwrap();
    (store, Book::new(rules().iter().map(rule_shown).collect(), alerts, silences))
}

fn alerts(dir: &Path) -> Vec<KeptAlert> {
    Store::open(dir).unwrap().1.0
}

fn silence() -> Silence {
    let matchers = AlertMatchers { path: Some("/\u{202e}\"*".into()), ..AlertMatchers::default() };
    Silence { id: 0, matchers, by: "anna\0".into(), at_ms: 0, until_at_ms: 1_000, reason: "'; DROP TABLE alert".into() }
}

#[test]
fn what_is_stored_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, mut book) = reopened(dir.path());
    for (lock, at_ms) in [("/a", 1), ("/\0\"'\u{fffd}", 2), ("", i64::MIN), (&*"/x".repeat(10_000), i64::MAX)] {
        take(&mut book, 100, fired(lock, at_ms), None);
    }
    take(&mut book, 100, pending("/pending", 3), None);
    take(&mut book, 100, fired("/over", 4), over(50));
    let key = book.alerts(100)[0].key.clone();
    book.acknowledge(&key, Acknowledgement { by: "anna".into(), at_ms: 5, reason: "on it".into() }).unwrap();
    book.told("team", &due(&book, 100)[..1], 100);
    let made = [silence(), silence()].map(|one| book.silence(one).unwrap());
    store.save(&book.take_unsaved()).unwrap();
    let (mut again, next) = reopened(dir.path());
    assert_eq!(next.alerts(100), book.alerts(100));
    assert_eq!(next.silences(100), made);
    assert_eq!(due(&next, 100), due(&book, 100));
    assert_eq!(next.active_in("prod"), book.active_in("prod"));
    // What is gone leaves the file, and nothing is no transaction.
    let mut book = next;
    book.end_silence(made[0].id).unwrap();
    book.advance(i64::MAX);
    again.save(&book.take_unsaved()).unwrap();
    again.save(&book.take_unsaved()).unwrap();
    let (_, last) = reopened(dir.path());
    assert_eq!((last.silences(100).len(), last.alerts(0).len()), (0, 5), "what was over is gone by now");
}

#[test]
fn a_row_that_can_not_be_read_is_left_out_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, mut book) = reopened(dir.path());
    take(&mut book, 100, fired("/a", 1), None);
    book.silence(silence()).unwrap();
    store.save(&book.take_unsaved()).unwrap();
    drop(store);
    let file = Connection::open(dir.path().join("alerts.db")).unwrap();
    for (key, body) in [("0", "'{'"), ("1", "'{}'"), ("2", "x'ff00'"), ("zz", "CAST(x'ff' AS TEXT)"), ("z", "7")] {
        file.execute(&format!("INSERT INTO alert (key, body) VALUES ('{key}', {body})"), []).unwrap();
    }
    file.execute("INSERT INTO silence (id, body) VALUES (7, x'00'), (8, '[]')", []).unwrap();
    drop(file);
    let (_store, next) = reopened(dir.path());
    assert_eq!((next.alerts(100), next.silences(100)), (book.alerts(100), book.silences(100)));
}

#[test]
fn a_later_version_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, mut book) = reopened(dir.path());
    take(&mut book, 100, fired("/a", 1), None);
    store.save(&book.take_unsaved()).unwrap();
    drop(store);
    let set = |version: i64| {
        let file = Connection::open(dir.path().join("alerts.db")).unwrap();
        file.execute("UPDATE meta SET version = ?1", [version]).unwrap();
    };
    set(2);
    let Err(error) = Store::open(dir.path()) else { panic!() };
    assert!(matches!(error, StoreError::Later(2)));
    assert!(error.to_string().contains("start the later one"), "{error}");
    set(1);
    assert_eq!(alerts(dir.path()).len(), 1);
}

#[test]
fn what_is_no_database_is_an_error_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("alerts.db");
    let text = "this is no database, and it is long enough to be taken for one".repeat(100);
    std::fs::write(&path, &text).unwrap();
    assert!(matches!(Store::open(dir.path()), Err(StoreError::File(_))));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let below = path.join("below");
    assert!(matches!(Store::open(&below), Err(StoreError::Directory(_))));
}

#[test]
fn nobody_else_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("made/here");
    let (mut store, mut book) = reopened(&inside);
    take(&mut book, 100, fired("/a", 1), None);
    store.save(&book.take_unsaved()).unwrap();
    let mut files: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(&inside).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.path());
        files.push(entry.file_name().into_string().unwrap());
    }
    files.sort();
    assert_eq!(files, ["alerts.db", "alerts.db-shm", "alerts.db-wal"]);
}

#[test]
fn a_process_that_is_killed_before_it_noted_that_it_told_tells_it_again() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, mut book) = reopened(dir.path());
    take(&mut book, 100, fired("/a", 100), None);
    store.save(&book.take_unsaved()).unwrap();
    // It is told, and the process is killed: neither that it was told nor the end is stored.
    book.told("team", &due(&book, 150), 150);
    take(&mut book, 200, fired("/a", 100), over(180));
    std::mem::forget(store);
    let (mut store, mut book) = reopened(dir.path());
    assert_eq!(due_of(&book, 300), [("/a".to_owned(), false)]);
    book.told("team", &due(&book, 300), 300);
    store.save(&book.take_unsaved()).unwrap();
    std::mem::forget(store);
    let (_store, mut book) = reopened(dir.path());
    assert_eq!(due_of(&book, 400), [], "it is told once more at most");
    take(&mut book, 500, fired("/a", 100), over(450));
    assert_eq!(due_of(&book, 500), [("/a".to_owned(), true)]);
    let kept = book.take_unsaved().alerts.remove(0).1.unwrap();
    assert_eq!(kept.tellings["team"].told, Told::Firing);
}

#[test]
fn what_is_killed_while_it_is_stored_is_stored_whole_or_not() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, mut book) = reopened(dir.path());
    take(&mut book, 100, fired("/a", 100), None);
    store.save(&book.take_unsaved()).unwrap();
    take(&mut book, 200, fired("/b", 100), None);
    take(&mut book, 200, fired("/c", 100), None);
    store.save(&book.take_unsaved()).unwrap();
    // The last pages of the log never reached the disk.
    let wal = std::fs::read(dir.path().join("alerts.db-wal")).unwrap();
    let copy = tempfile::tempdir().unwrap();
    let counts: Vec<usize> = (0..=32)
        .map(|part| {
            std::fs::copy(dir.path().join("alerts.db"), copy.path().join("alerts.db")).unwrap();
            let _ = std::fs::remove_file(copy.path().join("alerts.db-shm"));
            std::fs::write(copy.path().join("alerts.db-wal"), &wal[..wal.len() * part / 32]).unwrap();
            alerts(copy.path()).len()
        })
        .collect();
    assert!(counts.is_sorted() && counts.iter().all(|count| [0, 1, 3].contains(count)), "{counts:?}");
    assert_eq!(*counts.last().unwrap(), 3);
}
