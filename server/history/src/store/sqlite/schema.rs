//! The tables of a day, and how a file of an earlier version becomes one of this.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rusqlite::Connection;

use super::error::failed;
use crate::store::StoreError;

/// Steps from nothing to the present version of the recording; each is run once, in one transaction, and stays as it is
/// for ever.
const CHUNK_STEPS: [&str; 1] = ["
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE chunk (
    seq INTEGER PRIMARY KEY, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, zxid INTEGER NOT NULL,
    kind INTEGER NOT NULL, part INTEGER NOT NULL, crc INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX chunk_first_at ON chunk (first_at, seq);
CREATE INDEX chunk_zxid ON chunk (zxid, seq);
CREATE INDEX chunk_checkpoint ON chunk (seq) WHERE kind = 1 AND part = 0;
CREATE TABLE gap (
    after_seq INTEGER NOT NULL, from_at INTEGER NOT NULL, to_at INTEGER NOT NULL, why TEXT NOT NULL,
    PRIMARY KEY (after_seq, from_at)) WITHOUT ROWID;
"];

/// The same of what is derived of it. A file that has lives by [`PLAIN_ROWS`] keeps them so: to write them anew would hold up
/// the recording for as long as it takes.
const ROW_STEPS: [&str; 3] = [ROWS, CHARGES, LIVES];
/// Up to this version a life is one plain row. Bundles are: they are made to be opened by other programs.
const PLAIN_ROWS: i64 = 2;

const ROWS: &str = "
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE lock (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, recipe TEXT NOT NULL);
CREATE TABLE client (id INTEGER PRIMARY KEY, label TEXT NOT NULL, host TEXT NOT NULL, UNIQUE (label, host));
CREATE TABLE span (
    czxid INTEGER NOT NULL, lock INTEGER NOT NULL, node TEXT NOT NULL, session INTEGER, client INTEGER,
    joined_at INTEGER NOT NULL, held_at INTEGER, left_at INTEGER NOT NULL, how INTEGER NOT NULL,
    charged_to INTEGER, root INTEGER, wait_ms INTEGER NOT NULL, is_lower_bound INTEGER NOT NULL,
    PRIMARY KEY (lock, left_at, czxid)) WITHOUT ROWID;
CREATE INDEX span_left_at ON span (left_at);
CREATE TABLE minute (
    lock INTEGER NOT NULL, at INTEGER NOT NULL, arrivals INTEGER NOT NULL, acquired INTEGER NOT NULL,
    gave_up INTEGER NOT NULL, waits BLOB NOT NULL, holds BLOB NOT NULL, depth_max INTEGER NOT NULL,
    waiting_ms INTEGER NOT NULL, worst TEXT NOT NULL, top BLOB NOT NULL,
    PRIMARY KEY (lock, at)) WITHOUT ROWID;
CREATE INDEX minute_at ON minute (at);
CREATE TABLE fact (
    number INTEGER PRIMARY KEY, at INTEGER NOT NULL, lock INTEGER, kind INTEGER NOT NULL, code TEXT NOT NULL,
    severity INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX fact_at ON fact (at);
";

/// What waits were spent on; absent in lives that were written before. `charges` and `roots` are JSON, `[[session, ms], …]`,
/// those charged most first; `roots` is absent where it is the same.
const CHARGES: &str = "
ALTER TABLE span ADD COLUMN charges TEXT;
ALTER TABLE span ADD COLUMN roots TEXT;
ALTER TABLE span ADD COLUMN others_ms INTEGER;
ALTER TABLE span ADD COLUMN root_others_ms INTEGER;
ALTER TABLE span ADD COLUMN hand_off_ms INTEGER;
ALTER TABLE span ADD COLUMN unknown_ms INTEGER;
";

/// Lives in less room: those of a day in the order of their ends, so that pages are full, and by lock in an index; sessions
/// and names of znodes as numbers, instants as the time up to the end. A name is its form with what is its own: `name` has the uuid
/// of one, or all of a name that has no form. `wait_ms` is absent where it is the time from joining to holding or leaving. `charges`
/// and `roots` name sessions by their numbers here. The view has them as they were before, and the lists as they are here.
///
/// Facts likewise: most say one of a few sentences, and their numbers follow their instants.
const LIVES: &str = "
DROP TABLE span;
CREATE TABLE session (id INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE);
CREATE TABLE form (
    id INTEGER PRIMARY KEY, prefix TEXT NOT NULL, uuid INTEGER NOT NULL, middle TEXT NOT NULL,
    is_numbered INTEGER NOT NULL, UNIQUE (prefix, uuid, middle, is_numbered));
CREATE TABLE life (
    left_at INTEGER NOT NULL, czxid INTEGER NOT NULL, lock INTEGER NOT NULL, form INTEGER, name, number INTEGER,
    session INTEGER, client INTEGER, lived_ms INTEGER NOT NULL, held_ms INTEGER, how INTEGER NOT NULL,
    wait_ms INTEGER, is_lower_bound INTEGER NOT NULL, charges TEXT, roots TEXT, others_ms INTEGER,
    root_others_ms INTEGER, hand_off_ms INTEGER, unknown_ms INTEGER,
    PRIMARY KEY (left_at, czxid, lock)) WITHOUT ROWID;
CREATE INDEX life_lock ON life (lock, left_at);
CREATE VIEW span AS SELECT
    czxid, lock,
    CASE WHEN form IS NULL THEN name ELSE (
        SELECT prefix || CASE uuid WHEN 0 THEN '' WHEN 1 THEN lower(hex(name)) ELSE
                lower(hex(substr(name, 1, 4)) || '-' || hex(substr(name, 5, 2)) || '-' || hex(substr(name, 7, 2))
                    || '-' || hex(substr(name, 9, 2)) || '-' || hex(substr(name, 11))) END
            || middle || CASE WHEN is_numbered THEN printf('%010d', life.number) ELSE '' END
        FROM form WHERE form.id = life.form) END AS node,
    (SELECT session.number FROM session WHERE session.id = life.session) AS session, client,
    left_at - lived_ms AS joined_at, left_at - held_ms AS held_at, left_at, how,
    (SELECT session.number FROM session WHERE session.id = charges ->> '$[0][0]') AS charged_to,
    (SELECT session.number FROM session WHERE session.id = coalesce(roots, charges) ->> '$[0][0]') AS root,
    coalesce(wait_ms, lived_ms - coalesce(held_ms, 0)) AS wait_ms, is_lower_bound,
    CASE WHEN charges IS NOT NULL THEN (SELECT json_group_array(json_array(session.number, value ->> 1))
        FROM json_each(charges) JOIN session ON session.id = value ->> 0) END AS charges,
    CASE WHEN roots IS NOT NULL THEN (SELECT json_group_array(json_array(session.number, value ->> 1))
        FROM json_each(roots) JOIN session ON session.id = value ->> 0) END AS roots,
    others_ms, root_others_ms, hand_off_ms, unknown_ms, charges AS charge_ids, roots AS root_ids
FROM life;
DROP TABLE fact;
CREATE TABLE sentence (
    id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, code TEXT NOT NULL, severity INTEGER NOT NULL, text TEXT NOT NULL,
    UNIQUE (text, code, kind, severity));
CREATE TABLE happening (
    at INTEGER NOT NULL, extra INTEGER NOT NULL, lock INTEGER, sentence INTEGER NOT NULL, text TEXT,
    PRIMARY KEY (at, extra)) WITHOUT ROWID;
CREATE VIEW fact AS SELECT
    at * 1024 + extra AS number, at, lock, kind, code, severity, coalesce(happening.text, sentence.text) AS text
FROM happening CROSS JOIN sentence ON sentence.id = happening.sentence;
";
/// Facts that have a number in a millisecond: `extra` is what a number has beyond them.
pub(super) const FACTS_A_MS: i64 = 1_024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lives {
    /// A plain row each, without charges.
    Uncharged,
    Plain,
    /// As [`LIVES`] says.
    Packed,
}

impl Lives {
    /// Those of a file that has tables.
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        Ok(match if id == BUNDLE_ID { version / ROWS_PLACE } else { version } {
            ..PLAIN_ROWS => Self::Uncharged,
            PLAIN_ROWS => Self::Plain,
            _ => Self::Packed,
        })
    }
}

/// What a file holds. They are two a day, since they are kept for different times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Chunks,
    /// What is derived of it.
    Rows,
}

impl Content {
    fn steps(self) -> &'static [&'static str] {
        match self {
            Self::Chunks => &CHUNK_STEPS,
            Self::Rows => &ROW_STEPS,
        }
    }
}

/// Marks a bundle: both kinds of tables in one file.
const BUNDLE_ID: i64 = 0x4c6b_5362;
/// Of a bundle's version number, the place of that of the rows.
const ROWS_PLACE: i64 = 1_000;

/// In a bundle both kinds have it.
const ABOUT: &str = "CREATE TABLE about";
const ABOUT_OF_BOTH: &str = "CREATE TABLE IF NOT EXISTS about";

pub(super) fn make_bundle(connection: &Connection, ensemble: &str) -> Result<(), StoreError> {
    for step in CHUNK_STEPS.iter().chain(ROW_STEPS.iter().take(PLAIN_ROWS as usize)) {
        connection.execute_batch(&step.replace(ABOUT, ABOUT_OF_BOTH)).map_err(failed)?;
    }
    connection.pragma_update(None, "application_id", BUNDLE_ID).map_err(failed)?;
    let version = CHUNK_STEPS.len() as i64 + PLAIN_ROWS * ROWS_PLACE;
    connection.pragma_update(None, "user_version", version).map_err(failed)?;
    connection.execute("INSERT OR REPLACE INTO about VALUES ('ensemble', ?1)", [ensemble]).map(drop).map_err(failed)
}

/// The ensemble of a bundle; None where a file is none.
pub(super) fn bundle_ensemble(connection: &Connection) -> Result<Option<String>, StoreError> {
    if !is_bundle(connection)? {
        return Ok(None);
    }
    let sql = "SELECT value FROM about WHERE key = 'ensemble'";
    connection.query_row(sql, [], |row| row.get(0)).map(Some).map_err(failed)
}

fn is_bundle(connection: &Connection) -> Result<bool, StoreError> {
    let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
    Ok(id == BUNDLE_ID)
}

fn version(connection: &Connection, content: Content) -> Result<i64, StoreError> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    Ok(match (is_bundle(connection)?, content) {
        (false, _) => version,
        (true, Content::Chunks) => version % ROWS_PLACE,
        (true, Content::Rows) => version / ROWS_PLACE,
    })
}

fn set_version(connection: &Connection, content: Content, number: i64) -> Result<(), StoreError> {
    let packed = match (is_bundle(connection)?, content) {
        (false, _) => number,
        (true, Content::Chunks) => version(connection, Content::Rows)? * ROWS_PLACE + number,
        (true, Content::Rows) => version(connection, Content::Chunks)? + number * ROWS_PLACE,
    };
    connection.pragma_update(None, "user_version", packed).map_err(failed)
}

pub(super) fn migrate(connection: &mut Connection, content: Content, ensemble: &str) -> Result<(), StoreError> {
    let version = check(connection, content)?;
    let is_kept = content == Content::Rows && (1..=PLAIN_ROWS).contains(&version);
    let last = if is_kept { PLAIN_ROWS } else { content.steps().len() as i64 };
    for (number, step) in (1..=last).zip(content.steps()).skip(usize::try_from(version).unwrap_or(0)) {
        let transaction = connection.transaction().map_err(failed)?;
        transaction.execute_batch(step).map_err(failed)?;
        set_version(&transaction, content, number)?;
        transaction.execute("INSERT OR REPLACE INTO about VALUES ('ensemble', ?1)", [ensemble]).map_err(failed)?;
        transaction.commit().map_err(failed)?;
    }
    Ok(())
}

/// The version of a file, if it is none that only a later program knows, and if the file has its tables and nothing else: a
/// view or trigger in their place is a program of somebody else. 0 for a new one.
pub(super) fn check(connection: &Connection, content: Content) -> Result<i64, StoreError> {
    // All of one moment: another connection may be making its tables.
    let _moment = connection.unchecked_transaction().map_err(failed)?;
    let version = version(connection, content)?;
    let versions = match (is_bundle(connection)?, content) {
        (true, _) => (self::version(connection, Content::Chunks)?, self::version(connection, Content::Rows)?),
        (false, Content::Chunks) => (version, 0),
        (false, Content::Rows) => (0, version),
    };
    let Some(known) = KNOWN.get(&versions) else {
        let known = content.steps().len();
        return Err(StoreError::Newer(format!("its tables are of version {version}, and this program knows {known}")));
    };
    if tables(connection).map_err(failed)? != *known {
        return Err(StoreError::Damaged("its tables are not those of a recording".to_owned()));
    }
    Ok(version)
}

/// The tables of files by their versions, of chunks and of rows; a bundle has both.
static KNOWN: LazyLock<BTreeMap<(i64, i64), Vec<String>>> = LazyLock::new(|| {
    let number = |content: Content| 0..=content.steps().len();
    let versions = number(Content::Chunks).flat_map(|chunks| number(Content::Rows).map(move |rows| (chunks, rows)));
    let made = versions.filter_map(|(chunks, rows)| {
        let connection = Connection::open_in_memory().ok()?;
        for step in CHUNK_STEPS.iter().take(chunks).chain(ROW_STEPS.iter().take(rows)) {
            connection.execute_batch(&step.replace(ABOUT, ABOUT_OF_BOTH)).ok()?;
        }
        Some(((chunks as i64, rows as i64), tables(&connection).ok()?))
    });
    made.collect()
});

/// What a file has, each as it was made, without the spaces; what `ANALYZE` keeps is nobody's harm.
fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT substr(type || ' ' || name || ' ' || coalesce(sql, ''), 1, 9999) FROM sqlite_schema
        WHERE coalesce(sql, '') NOT IN
            ('CREATE TABLE sqlite_stat1(tbl,idx,stat)', 'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)')
        ORDER BY 1 LIMIT 99";
    let mut statement = connection.prepare(sql)?;
    let tables = statement.query_map([], |row| row.get::<_, String>(0))?;
    tables.map(|table| Ok(table?.split_whitespace().collect())).collect()
}
