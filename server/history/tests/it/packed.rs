//! Lives and facts in little room: what is read is what was written, SQL sees plain rows, and days of earlier versions stay as they are.

use std::path::{Path, PathBuf};

use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;
use lockscope_history::store::Store;
use lockscope_history::store::rows::{Charge, Charged, Charges, Fact, FactKind, FactQuery, Rows, Span, SpanQuery};
use lockscope_history::store::sqlite::SqliteStore;
use rusqlite::{Connection, Row};

use crate::conformance::{DAY, span};

fn open(directory: &Path) -> SqliteStore {
    SqliteStore::open(directory, "prod").unwrap()
}

fn write(store: &SqliteStore, spans: &[Span]) {
    store.write_rows(&Rows { spans: spans.to_vec(), ..Rows::default() }).unwrap();
}

/// All lives, the oldest first.
fn all(store: &SqliteStore) -> Vec<Span> {
    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let range = TimeMs(0)..TimeMs(i64::MAX);
        let some = store.spans(&SpanQuery { range, before, limit: 999, ..SpanQuery::default() }).unwrap();
        let Some(last) = some.last() else { break };
        before = Some((last.left_at, last.czxid));
        found.extend(some);
    }
    found.reverse();
    found
}

fn file(directory: &Path, day: usize) -> PathBuf {
    directory.join("prod").join(["2024-10-04.rows.db", "2024-10-05.rows.db"][day])
}

fn at(day: i64, number: i64) -> i64 {
    (20_000 + day) * DAY + number
}

/// Names that are taken apart, and such as must not be.
const NAMES: [&str; 14] = [
    "lock-0000000042",
    "_c_0b5cbea8-0a4f-4b5c-8e43-0f0e8e1d7b6a-lock-0000000007",
    "0b5cbea80a4f4b5c8e430f0e8e1d7b6a__lock__0000000007",
    "0B5CBEA8-0A4F-4B5C-8E43-0F0E8E1D7B6A-0000000007",
    "0b5cbea8-0a4f-4b5c-8e43-0f0e8e1d7b6a",
    "lock--2147483648",
    "lock-2147483647",
    "lock-9999999999",
    "0000000000",
    "00000000-0000-0000-0000-000000000000",
    "leader",
    "'; DROP TABLE life; --0000000001",
    "\u{202e}größe-0000000003",
    "x",
];

fn odd() -> Vec<Span> {
    let named =
        NAMES.iter().zip(1..).map(|(name, number)| Span { node: (*name).into(), ..span(number, at(0, number)) });
    let mut spans: Vec<Span> = named.collect();
    let last = spans.len() as i64;
    let more = |number: i64| span(last + number, at(0, last + number));
    let to = vec![Charge { session: SessionId(i64::MAX), ms: i64::MAX }];
    let charged = Charged { to, others_ms: i64::MIN };
    spans.extend([
        // A clock of the leader that is ahead, a wait that is another than the time between, and nothing in the lists.
        Span { joined_at: TimeMs(at(0, 900)), held_at: Some(TimeMs(at(0, 950))), wait_ms: 0, ..more(1) },
        Span { held_at: Some(TimeMs(at(0, last))), wait_ms: i64::MAX, ..more(2) },
        Span { charges: Some(Charges::default()), ..more(3) },
        Span { charges: Some(Charges { root: charged, ..Charges::default() }), session: Some(SessionId(0)), ..more(4) },
    ]);
    spans
}

#[test]
fn whatever_is_written_is_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let spans = odd();
    write(&store, &spans);
    assert_eq!(all(&store), spans);
    // Once more changes nothing, also by another process.
    drop(store);
    let store = open(directory.path());
    write(&store, &spans);
    assert_eq!(all(&store), spans);
}

#[test]
fn an_instant_that_no_clock_shows_spoils_no_day() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let [ends, usual] = [span(1, at(0, 1)), span(2, at(0, 2))];
    let [first, last] = [i64::MIN, i64::MAX].map(|joined| Span { joined_at: TimeMs(joined), ..ends.clone() });
    for odd in [first, last] {
        write(&store, &[odd, usual.clone()]);
        let read = all(&store);
        assert_eq!((read.len(), &read[1], read[0].czxid, read[0].wait_ms), (2, &usual, ends.czxid, ends.wait_ms));
    }
}

#[test]
fn names_of_which_each_has_a_form_of_its_own_fill_no_table() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let named = |number: i64| Span { node: format!("host{number}-0000000001").into(), ..span(number, at(0, number)) };
    let spans: Vec<Span> = (1..6_000).map(named).collect();
    write(&store, &spans);
    assert_eq!(all(&store), spans);
    let file = Connection::open(file(directory.path(), 0)).unwrap();
    let forms: i64 = file.query_row("SELECT count(*) FROM form", [], |row| row.get(0)).unwrap();
    assert_eq!(forms, 4_096);
}

/// What somebody's SQL is told of a life.
type Told = (String, Option<i64>, i64, Option<i64>, i64, Option<i64>, Option<i64>, i64, Option<String>, Option<String>);

fn told(row: &Row<'_>) -> rusqlite::Result<Told> {
    let (node, session, joined_at, held_at) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
    let (left_at, charged_to, root) = (row.get(4)?, row.get(5)?, row.get(6)?);
    Ok((node, session, joined_at, held_at, left_at, charged_to, root, row.get(7)?, row.get(8)?, row.get(9)?))
}

fn json(charged: &Charged) -> String {
    let pairs: Vec<String> = charged.to.iter().map(|charge| format!("[{},{}]", charge.session.0, charge.ms)).collect();
    format!("[{}]", pairs.join(","))
}

#[test]
fn sql_sees_plain_rows() {
    let directory = tempfile::tempdir().unwrap();
    let spans = odd();
    write(&open(directory.path()), &spans);
    let file = Connection::open(file(directory.path(), 0)).unwrap();
    let sql = "SELECT node, session, joined_at, held_at, left_at, charged_to, root, wait_ms, charges, roots FROM span
        ORDER BY left_at";
    let mut statement = file.prepare(sql).unwrap();
    let found: Vec<Told> = statement.query_map([], told).unwrap().map(Result::unwrap).collect();
    let first = |charged: &Charged| charged.to.first().map(|charge| charge.session.0);
    let plain = |span: &Span| -> Told {
        let charges = span.charges.as_ref();
        (
            span.node.to_string(),
            span.session.map(|session| session.0),
            span.joined_at.0,
            span.held_at.map(|at| at.0),
            span.left_at.0,
            charges.and_then(|charges| first(&charges.direct)),
            charges.and_then(|charges| first(&charges.root)),
            span.wait_ms,
            charges.map(|charges| json(&charges.direct)),
            charges.filter(|charges| charges.direct.to != charges.root.to).map(|charges| json(&charges.root)),
        )
    };
    assert_eq!(found, spans.iter().map(plain).collect::<Vec<_>>());
}

/// The first rows of the plan of a query are what it looks into.
fn plan(file: &Connection, sql: &str) -> String {
    let mut statement = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let steps = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
    steps.map(Result::unwrap).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_range_is_looked_for_in_the_order_of_ends_and_of_a_lock_in_its_index() {
    let directory = tempfile::tempdir().unwrap();
    write(&open(directory.path()), &odd());
    let file = Connection::open(file(directory.path(), 0)).unwrap();
    let sql = |condition: &str| {
        format!(
            "SELECT czxid, node, charge_ids FROM span JOIN lock ON lock.id = span.lock
             LEFT JOIN client ON client.id = span.client WHERE left_at >= 1 AND left_at < 9 {condition}
             ORDER BY left_at DESC, czxid DESC LIMIT 10"
        )
    };
    let all = plan(&file, &sql(""));
    assert!(all.contains("SEARCH life USING PRIMARY KEY (left_at>? AND left_at<?)") && !all.contains("TEMP"), "{all}");
    let of_lock = plan(&file, &sql("AND path = '/a'"));
    assert!(
        of_lock.contains("life_lock (lock=? AND left_at>? AND left_at<?)") && !of_lock.contains("SCAN"),
        "{of_lock}"
    );
}

/// Makes of a day what an earlier version wrote: plain rows, and without charges at first.
fn earlier(path: &Path, version: i64) {
    let file = Connection::open(path).unwrap();
    file.execute_batch(
        "CREATE TABLE copy AS SELECT czxid, lock, node, session, client, joined_at, held_at, left_at, how, charged_to, root,
            wait_ms, is_lower_bound, charges, roots, others_ms, root_others_ms, hand_off_ms, unknown_ms FROM span;
         CREATE TABLE facts AS SELECT * FROM fact;
         DROP VIEW span; DROP TABLE life; DROP TABLE session; DROP TABLE form;
         DROP VIEW fact; DROP TABLE happening; DROP TABLE sentence;
         CREATE TABLE fact (
            number INTEGER PRIMARY KEY, at INTEGER NOT NULL, lock INTEGER, kind INTEGER NOT NULL, code TEXT NOT NULL,
            severity INTEGER NOT NULL, text TEXT NOT NULL);
         CREATE INDEX fact_at ON fact (at);
         INSERT INTO fact SELECT * FROM facts; DROP TABLE facts;
         CREATE TABLE span (
            czxid INTEGER NOT NULL, lock INTEGER NOT NULL, node TEXT NOT NULL, session INTEGER, client INTEGER,
            joined_at INTEGER NOT NULL, held_at INTEGER, left_at INTEGER NOT NULL, how INTEGER NOT NULL,
            charged_to INTEGER, root INTEGER, wait_ms INTEGER NOT NULL, is_lower_bound INTEGER NOT NULL,
            charges TEXT, roots TEXT, others_ms INTEGER, root_others_ms INTEGER, hand_off_ms INTEGER, unknown_ms INTEGER,
            PRIMARY KEY (lock, left_at, czxid)) WITHOUT ROWID;
         CREATE INDEX span_left_at ON span (left_at);
         INSERT INTO span SELECT * FROM copy; DROP TABLE copy;",
    )
    .unwrap();
    if version == 1 {
        for column in ["charges", "roots", "others_ms", "root_others_ms", "hand_off_ms", "unknown_ms"] {
            file.execute(&format!("ALTER TABLE span DROP COLUMN {column}"), []).unwrap();
        }
    }
    file.pragma_update(None, "user_version", version).unwrap();
}

#[test]
fn days_of_earlier_versions_are_read_and_written_on() {
    for version in [1, 2] {
        let directory = tempfile::tempdir().unwrap();
        let of_day = |day: i64| (1..9).map(move |number| span(number, at(day, number)));
        let spans: Vec<Span> = (0..2).flat_map(of_day).collect();
        let facts: Vec<Fact> = (0..3).map(|number| fact(number, at(1, 1))).collect();
        let store = open(directory.path());
        write(&store, &spans);
        store.write_rows(&Rows { facts: facts[..2].to_vec(), ..Rows::default() }).unwrap();
        drop(store);
        [0, 1].iter().for_each(|day| earlier(&file(directory.path(), *day), version));
        let store = open(directory.path());
        let without = |span: Span| if version == 1 { Span { charges: None, ..span } } else { span };
        let read: Vec<Span> = spans.into_iter().map(without).collect();
        assert_eq!(all(&store), read);
        // The day that is written goes on with charges and in plain rows; the other one stays as it is.
        let charged = Span { charges: Some(Charges { hand_off_ms: 5, ..Charges::default() }), ..span(9, at(1, 9)) };
        write(&store, std::slice::from_ref(&charged));
        assert_eq!(all(&store), [read, vec![charged]].concat());
        store.write_rows(&Rows { facts: facts[2..].to_vec(), ..Rows::default() }).unwrap();
        assert_eq!(all_facts(&store), facts);
        let versions = [0, 1].map(|day| {
            let file = Connection::open(file(directory.path(), day)).unwrap();
            file.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).unwrap()
        });
        assert_eq!(versions, [version, 2]);
    }
}

fn fact(number: u64, at: i64) -> Fact {
    Fact {
        number: at as u64 * 1_024 + number,
        at: TimeMs(at),
        lock: (!number.is_multiple_of(3)).then(|| format!("/locks/{}", number % 5).into()),
        kind: FactKind::ALL[number as usize % FactKind::ALL.len()],
        code: "stuck".into(),
        severity: (number % 3) as u8,
        text: if number.is_multiple_of(4) {
            format!("{number} {}", "x".repeat(200)).into()
        } else {
            "It is stuck.".into()
        },
    }
}

/// All facts, the oldest first.
fn all_facts(store: &SqliteStore) -> Vec<Fact> {
    let mut found = store.facts(&FactQuery::default()).unwrap();
    found.reverse();
    found
}

#[test]
fn facts_come_back_whatever_their_sentences_and_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let mut facts: Vec<Fact> = (0..50).map(|number| fact(number, at(0, 7 + number as i64 / 9))).collect();
    // More of one instant than have a number in it, a clock that was set back, no text, and a text for each.
    facts.push(Fact { number: facts[49].number + 90_000, ..fact(50, at(0, 60)) });
    facts.push(Fact { text: "".into(), ..fact(51, at(0, 61)) });
    facts.extend((52..3_000).map(|number| Fact { text: format!("It is {number}.").into(), ..fact(number, at(0, 99)) }));
    for _ in 0..2 {
        store.write_rows(&Rows { facts: facts.clone(), ..Rows::default() }).unwrap();
        assert_eq!(all_facts(&store), facts);
    }
    let of = |query: FactQuery| store.facts(&query).unwrap().len();
    let kind = Some(FactKind::ALL[1]);
    let expected = facts.iter().filter(|fact| Some(fact.kind) == kind).count();
    assert_eq!(of(FactQuery { kind, ..FactQuery::default() }), expected);
    assert_eq!(of(FactQuery { range: TimeMs(at(0, 60))..TimeMs(at(0, 62)), ..FactQuery::default() }), 2);
    let file = Connection::open(file(directory.path(), 0)).unwrap();
    let sentences: i64 = file.query_row("SELECT count(*) FROM sentence", [], |row| row.get(0)).unwrap();
    assert!(sentences < 1_100, "{sentences}");
    let plan = plan(
        &file,
        "SELECT number, at, path, kind, code, severity, fact.text FROM fact LEFT JOIN lock ON lock.id = fact.lock
         WHERE at >= 1 AND at < 9 AND kind = 1 ORDER BY at DESC, number DESC LIMIT 10",
    );
    assert!(plan.contains("SEARCH happening USING PRIMARY KEY (at>? AND at<?)"), "{plan}");
}

#[test]
fn a_life_takes_little_room() {
    let directory = tempfile::tempdir().unwrap();
    let life = |number: i64| {
        let charge = |of: i64| Charge { session: SessionId(0x1000_02f0_01a0_0000 + of % 7), ms: 20 + of % 50 };
        let direct = Charged { to: vec![charge(number), charge(number + 1)], others_ms: 0 };
        let charges = Some(Charges { root: direct.clone(), direct, hand_off_ms: number % 4, unknown_ms: 0 });
        let left_at = at(0, 7 * number);
        let lock = format!("/locks/{}", number % 40).into();
        let node = format!("_c_{:08x}-0a4f-4b5c-8e43-0f0e8e1d7b6a-lock-{number:010}", number * 7_919).into();
        let (joined_at, held_at) = (TimeMs(left_at - 80), Some(TimeMs(left_at - 20)));
        let session = Some(charge(number + 3).session);
        Span { lock, node, session, joined_at, held_at, wait_ms: 60, charges, ..span(number, left_at) }
    };
    let spans: Vec<Span> = (1..20_000).map(life).collect();
    write(&open(directory.path()), &spans);
    let path = file(directory.path(), 0);
    let bytes = || std::fs::metadata(&path).unwrap().len() / spans.len() as u64;
    let packed = bytes();
    earlier(&path, 2);
    Connection::open(&path).unwrap().execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);").unwrap();
    let plain = bytes();
    assert!(packed * 5 < plain * 3 && packed <= 110, "{packed} bytes a life, {plain} in plain rows");
}
