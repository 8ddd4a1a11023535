//! Small logs, from files to what is said of them.

use std::path::Path;

use lockscope_autopsy::{Autopsy, AutopsyError, Options, bundle, perform};
use lockscope_core::time::TimeMs;
use lockscope_history::derive::verdict_name;
use lockscope_history::incident::{IncidentEnd, IncidentQuery, Life, Present, all};
use lockscope_history::replay::{Moment, Rewound};
use lockscope_history::store::rows::{FactQuery, MinuteQuery, SpanQuery};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{GapReason, Store as _};

use crate::encode::{Record, close, create, delete, log, snapshot};

/// What ends it, by its number and instant.
type End = fn(i64, i64) -> Record;

const BEGIN: i64 = 1_790_000_000_000;

fn options(directories: &[&Path], store: &Path) -> Options {
    Options {
        directories: directories.iter().map(|path| path.to_path_buf()).collect(),
        roots: vec!["/".to_owned()],
        from_ms: None,
        to_ms: None,
        audit_log: None,
        store: store.to_owned(),
        ensemble: "default".to_owned(),
    }
}

fn of(records: &[Record]) -> (Autopsy, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    log(place.path(), records);
    (perform(&options(&[place.path()], &place.path().join("out"))).unwrap(), place)
}

/// Ten quick holds by which the usual one is known, then a long one with somebody who waits.
fn trouble(end: End) -> Vec<Record> {
    let mut records = vec![create(1, 1, BEGIN, "/l", false)];
    let mut zxid = 1;
    let mut next = || {
        zxid += 1;
        zxid
    };
    for at in 0..10 {
        let path = format!("/l/lock-{at:010}");
        records.push(create(2, next(), BEGIN + at * 100, &path, true));
        records.push(delete(2, next(), BEGIN + at * 100 + 50, &path));
    }
    records.push(create(3, next(), BEGIN + 2_000, "/l/lock-0000000010", true));
    records.push(create(4, next(), BEGIN + 2_500, "/l/lock-0000000011", true));
    records.push(end(next(), BEGIN + 62_000));
    records.push(create(1, next(), BEGIN + 63_000, "/other", false));
    records
}

#[test]
fn a_run_of_trouble_has_its_root_its_victims_and_its_end() {
    let ends: [(End, IncidentEnd); 3] = [
        (|zxid, at| delete(3, zxid, at, "/l/lock-0000000010"), IncidentEnd::Released),
        (|zxid, at| close(3, zxid, at), IncidentEnd::SessionEnded),
        (|zxid, at| delete(4, zxid, at, "/l/lock-0000000011"), IncidentEnd::GaveUp),
    ];
    for (end, by) in ends {
        let (Autopsy { report, history, model, .. }, _place) = of(&trouble(end));
        let now = TimeMs(report.coverage.to_at_ms);
        let there = |path: &str| {
            let lock = model.lock(path).unwrap();
            let life = |one: lockscope_core::lock::ContenderRef<'_>| {
                let read = one.child.read.as_ref()?;
                Some(Life {
                    czxid: read.czxid,
                    lock: path.into(),
                    recipe: "sequential_mutex".into(),
                    is_waited_for: true,
                    session: read.owner(),
                    label: None,
                    host: None,
                    joined_at: one.child.arrived_at,
                    held_at: lock.hold_of(&one).map(|hold| hold.since),
                    left_at: None,
                    how: None,
                    roots: Vec::new(),
                })
            };
            let lives = lock.contenders(model.mirror_of(lock).unwrap()).filter_map(life).collect();
            Present { is_in_trouble: false, is_live: true, lives }
        };
        let give_up_at = std::time::Instant::now() + std::time::Duration::from_secs(20);
        let range = TimeMs(report.coverage.from_at_ms)..now + 1;
        let query = IncidentQuery { range, now, sees: &|_| true, present: &there, give_up_at };
        let found = all(&*history.store().unwrap(), &query).unwrap();
        let [incident] = &found.incidents[..] else { panic!("{found:#?}") };
        assert_eq!((incident.root_lock(), verdict_name(incident.worst), incident.ended_by), ("/l", "stuck", by));
        let root = incident.root.as_ref().unwrap();
        assert_eq!((root.session.unwrap().0, incident.victims, found.left_out), (3, 1, 0));
        assert_eq!(incident.to, Some(TimeMs(BEGIN + 62_000)));
        // Slow after a second, to the quarter of a second; one waits from half a second on.
        let from_ms = incident.from.0 - BEGIN;
        assert!((3_000..3_300).contains(&from_ms), "{from_ms}");
        assert_eq!(incident.waiting_ms, 62_000 - from_ms);
        let lock = report.locks.iter().find(|lock| lock.path == "/l").unwrap();
        let held = if by == IncidentEnd::GaveUp { 11 } else { 12 };
        assert_eq!((lock.holds, lock.worst, report.holds), (held, "stuck", held));
    }
}

#[test]
fn one_file_has_all_that_was_rebuilt() {
    const DAY_MS: i64 = 86_400_000;
    let mut records = trouble(|zxid, at| close(3, zxid, at));
    let last = records.last().unwrap().1;
    records.push(create(5, last + 1, BEGIN + DAY_MS, "/l/lock-0000000012", true));
    records.push(delete(5, last + 2, BEGIN + DAY_MS + 100, "/l/lock-0000000012"));
    let (Autopsy { report, history, .. }, place) = of(&records);
    let (file, store) = (place.path().join("out.db"), history.store().unwrap());
    let mut bundled = bundle(&history, &report.coverage).unwrap();
    std::io::copy(&mut bundled, &mut std::fs::File::create(&file).unwrap()).unwrap();
    let opened = SqliteStore::open_bundle(&file).unwrap();
    let spans = opened.spans(&SpanQuery::default()).unwrap();
    assert_eq!(spans.len(), 12, "{spans:?}");
    assert_eq!(spans, store.spans(&SpanQuery::default()).unwrap());
    assert_eq!(opened.minutes(&MinuteQuery::default()).unwrap(), store.minutes(&MinuteQuery::default()).unwrap());
    assert_eq!(opened.facts(&FactQuery::default()).unwrap(), store.facts(&FactQuery::default()).unwrap());
    let (from, to) = (report.coverage.from_at_ms, report.coverage.to_at_ms);
    for at in [from, from + 2_600, from + 61_999, from + DAY_MS / 2, to - 50, to] {
        let at = Moment::At(TimeMs(at));
        let (one, other) = (Rewound::new(&opened, at).unwrap(), Rewound::new(&*store, at).unwrap());
        assert!(one.observatory() == other.observatory(), "{at:?}");
    }
}

#[test]
fn an_audit_log_says_who_it_was() {
    let place = tempfile::tempdir().unwrap();
    log(place.path(), &trouble(|zxid, at| close(3, zxid, at)));
    let audit = place.path().join("audit.log");
    std::fs::write(&audit, "session=0x3\tuser=ada\tip=10.0.0.7\toperation=create\tznode=/l\tresult=success\n").unwrap();
    let options = Options { audit_log: Some(audit), ..options(&[place.path()], &place.path().join("out")) };
    let Autopsy { writers, history, .. } = perform(&options).unwrap();
    let writer = writers.writer(3).unwrap();
    assert_eq!((&*writer.address, &*writer.user), ("10.0.0.7", "ada"));
    let spans = history.store().unwrap().spans(&Default::default()).unwrap();
    let hosts: Vec<_> = spans.iter().map(|span| (span.session.unwrap().0, span.host.as_deref())).collect();
    assert!(hosts.contains(&(3, Some("10.0.0.7"))) && hosts.contains(&(2, None)), "{hosts:?}");
}

#[test]
fn what_is_missing_is_a_gap_and_holds_behind_it_are_at_least_as_long() {
    let place = tempfile::tempdir().unwrap();
    log(place.path(), &[create(1, 1, BEGIN, "/l", false), create(2, 2, BEGIN, "/l/lock-0000000000", true)]);
    log(place.path(), &[create(1, 9, BEGIN + 60_000, "/other", false), create(1, 10, BEGIN + 61_000, "/more", false)]);
    let done = perform(&options(&[place.path()], &place.path().join("out"))).unwrap();
    let coverage = &done.report.coverage;
    assert!(!done.report.is_whole() && coverage.damaged.is_empty());
    assert_eq!((coverage.missing[0].after_zxid.as_str(), coverage.missing[0].before_zxid.as_str()), ("0x2", "0x9"));
    let store = done.history.store().unwrap();
    let gaps = store.gaps(TimeMs(0)..TimeMs(i64::MAX)).unwrap();
    assert_eq!((gaps.len(), gaps[0].why, gaps[0].to), (1, GapReason::Damaged, TimeMs(BEGIN + 60_000)));
    assert!(Rewound::new(&*store, Moment::At(TimeMs(BEGIN + 30_000))).is_err(), "nothing is known then");
    let after = Rewound::new(&*store, Moment::At(TimeMs(BEGIN + 60_500))).unwrap();
    assert!(after.observatory().lock("/l").unwrap().holders[0].owner.is_some());
}

#[test]
fn a_snapshot_begins_it_and_what_may_be_half_in_it_is_played_first() {
    let place = tempfile::tempdir().unwrap();
    // Written while 6 and 7 happened: 7 is in it, 6 is not.
    snapshot(place.path(), 5, &[("/l", 1, 0), ("/l/lock-0000000000", 2, 2), ("/l/lock-0000000002", 7, 4)]);
    let records = [
        create(3, 6, BEGIN, "/l/lock-0000000001", true),
        create(4, 7, BEGIN + 10, "/l/lock-0000000002", true),
        delete(2, 8, BEGIN + 1_000, "/l/lock-0000000000"),
    ];
    log(place.path(), &records);
    let done = perform(&options(&[place.path()], &place.path().join("out"))).unwrap();
    assert!(done.report.is_whole(), "{:#?}", done.report.coverage);
    assert!(done.report.coverage.snapshot.as_ref().is_some_and(|name| name.ends_with("snapshot.5")));
    assert_eq!(done.report.coverage.from_at_ms, BEGIN + 10, "all is known once the last of it is played");
    let lock = done.model.lock("/l").unwrap();
    assert_eq!((lock.holders[0].owner.unwrap().0, lock.standing.waiting.count), (3, 1));
}

#[test]
fn a_member_that_kept_what_went_is_named() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let records = [
        create(1, 1, BEGIN, "/l", false),
        create(2, 2, BEGIN, "/l/lock-0000000000", true),
        close(2, 3, BEGIN + 10),
        create(3, 4, BEGIN + 20, "/l/lock-0000000001", true),
        create(1, 5, BEGIN + 30, "/other", false),
    ];
    for place in [&one, &other] {
        log(place.path(), &records);
    }
    snapshot(one.path(), 4, &[("/l", 1, 0), ("/l/lock-0000000001", 4, 3)]);
    let both = [one.path(), other.path()];
    let done = perform(&options(&both, &one.path().join("well"))).unwrap();
    assert_eq!(done.report.coverage.differences, [], "they agree");
    snapshot(other.path(), 4, &[("/l", 1, 0), ("/l/lock-0000000000", 2, 2), ("/l/lock-0000000001", 4, 3)]);
    let done = perform(&options(&both, &one.path().join("stale"))).unwrap();
    let [difference] = &done.report.coverage.differences[..] else { panic!("{:#?}", done.report.coverage) };
    assert_eq!(difference.directory, other.path());
    assert!(difference.why.contains("/l/lock-0000000000 of session 0x2"), "{difference:?}");
}

#[test]
fn what_a_later_leader_never_knew_is_left_out() {
    let (old, new) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let epoch = |epoch: i64, counter: i64| (epoch << 32) | counter;
    let begin = |zxid| create(1, zxid, BEGIN, "/l", false);
    let lost = create(2, epoch(1, 2), BEGIN + 10, "/l/lock-0000000000", true);
    log(old.path(), &[begin(epoch(1, 1)), lost]);
    log(new.path(), &[begin(epoch(1, 1)), create(3, epoch(2, 1), BEGIN + 20, "/l/lock-0000000000", true)]);
    let done = perform(&options(&[old.path(), new.path()], &old.path().join("out"))).unwrap();
    let [difference] = &done.report.coverage.differences[..] else { panic!("{:#?}", done.report.coverage) };
    assert!(difference.why.contains("never committed") && difference.directory == old.path(), "{difference:?}");
    assert_eq!(done.model.lock("/l").unwrap().holders[0].owner.unwrap().0, 3);
}

/// A leader that was deposed is sent a snapshot and goes on, with what it wrote alone in its log.
#[test]
fn what_only_a_deposed_leader_wrote_is_left_out() {
    let places = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let epoch = |epoch: i64, counter: i64| (epoch << 32) | counter;
    let begin = create(1, epoch(1, 1), BEGIN, "/l", false);
    let alone = create(2, epoch(1, 2), BEGIN + 10, "/l/lock-0000000000", true);
    let elected = create(3, epoch(2, 1), BEGIN + 20, "/l/lock-0000000000", true);
    let last = create(3, epoch(2, 2), BEGIN + 30, "/other", false);
    log(places[0].path(), &[begin.clone(), alone, last.clone()]);
    for place in &places[1..] {
        log(place.path(), &[begin.clone(), elected.clone(), last.clone()]);
    }
    let directories: Vec<&Path> = places.iter().map(|place| place.path()).collect();
    let done = perform(&options(&directories, &places[0].path().join("out"))).unwrap();
    let differs = &done.report.coverage.differences;
    assert!(
        differs.iter().any(|one| one.why.contains("never committed") && one.directory == places[0].path()),
        "{differs:?}"
    );
    assert_eq!(done.model.lock("/l").unwrap().holders[0].owner.unwrap().0, 3);
}

#[test]
fn a_directory_with_a_history_is_left_alone() {
    let (first, place) = of(&[create(1, 1, BEGIN, "/l", false)]);
    drop(first);
    let again = perform(&options(&[place.path()], &place.path().join("out")));
    assert!(matches!(&again, Err(AutopsyError::Store(why)) if why.contains("new or empty")), "{again:?}");
}
