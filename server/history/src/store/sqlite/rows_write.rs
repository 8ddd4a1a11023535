//! Spans, minutes and facts as they are written, in transactions.

use std::collections::BTreeMap;

use lockscope_core::keyed_hash::KeyedMap;
use lockscope_core::time::TimeMs;
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension as _, Row, Statement, params};

use super::error::failed;
use super::facts::FactWriter;
use super::files::{self, Day};
use super::lives::LifeWriter;
use super::schema::Content;
use super::{SqliteStore, connection, is_unusable};
use crate::store::rows::{Fact, Minute, Rows, Span};
use crate::store::{StoreError, TRANSACTION_ROWS_MAX};

/// What stands for a label or a host that is not known.
pub(super) const ABSENT: &str = "\0";

pub(super) enum Entry<'a> {
    Span(&'a Span),
    Minute(&'a Minute),
    Fact(&'a Fact),
}

/// Writes rows, by days and in transactions of [`TRANSACTION_ROWS_MAX`].
pub(super) fn write(store: &SqliteStore, rows: &Rows) -> Result<(), StoreError> {
    store.directory()?;
    let Rows { spans, minutes, facts } = rows;
    let mut days: BTreeMap<Day, Vec<Entry<'_>>> = BTreeMap::new();
    let mut add = |at: TimeMs, entry| days.entry(Day::of(at.0)).or_default().push(entry);
    spans.iter().for_each(|span| add(span.left_at, Entry::Span(span)));
    minutes.iter().for_each(|minute| add(minute.at, Entry::Minute(minute)));
    facts.iter().for_each(|fact| add(fact.at, Entry::Fact(fact)));
    let mut writer = store.row_writer.0.lock();
    for (day, entries) in days {
        let path = store.path(day, Content::Rows);
        // Somebody may have removed the file: what would be written to it then is lost.
        let open = writer.take().filter(|(open, _)| *open == day && path.exists());
        let mut connection = match open {
            Some((_, connection)) => connection,
            None => match connection::write(&path, Content::Rows, &store.ensemble) {
                // What comes next has a file of its own.
                Err(why) if is_unusable(&why) && files::set_aside(&path, &why)? => {
                    connection::write(&path, Content::Rows, &store.ensemble)?
                }
                connection => connection?,
            },
        };
        for some in entries.chunks(TRANSACTION_ROWS_MAX) {
            connection::give_up_at(&mut connection, None)?;
            write_some(&mut connection, some).map_err(failed)?;
        }
        *writer = Some((day, connection));
    }
    Ok(())
}

pub(super) fn write_some(connection: &mut Connection, entries: &[Entry<'_>]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    let mut statements = Statements::new(&transaction)?;
    entries.iter().try_for_each(|entry| statements.write(entry))?;
    drop(statements);
    transaction.commit()
}

/// The connection by which rows were written last; after an error there is none. The last connection of a file brings it in
/// order when it is closed, which takes longer than to write some rows.
#[derive(Debug, Default)]
pub(super) struct RowWriter(Mutex<Option<(Day, Connection)>>);

struct Statements<'a> {
    find_lock: Statement<'a>,
    add_lock: Statement<'a>,
    name_recipe: Statement<'a>,
    find_client: Statement<'a>,
    add_client: Statement<'a>,
    lives: LifeWriter<'a>,
    add_minute: Statement<'a>,
    facts: FactWriter<'a>,
    /// Numbers and recipes of locks, and numbers of clients, that were found in this transaction.
    known_locks: KeyedMap<Box<str>, (i64, Box<str>)>,
    known_clients: KeyedMap<[Box<str>; 2], i64>,
}

impl<'a> Statements<'a> {
    fn new(connection: &'a Connection) -> rusqlite::Result<Self> {
        let prepare = |sql| connection.prepare(sql);
        Ok(Self {
            find_lock: prepare("SELECT id, recipe FROM lock WHERE path = ?1")?,
            add_lock: prepare("INSERT INTO lock (path, recipe) VALUES (?1, ?2)")?,
            name_recipe: prepare("UPDATE lock SET recipe = ?2 WHERE id = ?1")?,
            find_client: prepare("SELECT id FROM client WHERE label = ?1 AND host = ?2")?,
            add_client: prepare("INSERT INTO client (label, host) VALUES (?1, ?2)")?,
            lives: LifeWriter::of(connection)?,
            add_minute: prepare("INSERT OR REPLACE INTO minute VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?,
            facts: FactWriter::of(connection)?,
            known_locks: KeyedMap::default(),
            known_clients: KeyedMap::default(),
        })
    }

    fn write(&mut self, entry: &Entry<'_>) -> rusqlite::Result<()> {
        match entry {
            Entry::Span(span) => self.write_span(span),
            Entry::Minute(minute) => self.write_minute(minute),
            Entry::Fact(fact) => self.write_fact(fact),
        }
    }

    fn write_span(&mut self, span: &Span) -> rusqlite::Result<()> {
        let Span { lock, recipe, label, host, .. } = span;
        let lock = self.lock(lock, recipe)?;
        let client = match (label, host) {
            (None, None) => None,
            (label, host) => Some(self.client(label.as_deref(), host.as_deref())?),
        };
        self.lives.write(span, lock, client)
    }

    fn write_minute(&mut self, minute: &Minute) -> rusqlite::Result<()> {
        let Minute { lock, at, arrivals, acquired, gave_up, waits, holds, depth_max, waiting_ms, worst, top } = minute;
        let lock = self.lock(lock, "")?;
        self.add_minute
            .execute(params![
                lock,
                at.0,
                arrivals,
                acquired,
                gave_up,
                &waits[..],
                &holds[..],
                depth_max,
                waiting_ms,
                worst,
                &top[..]
            ])
            .map(drop)
    }

    fn write_fact(&mut self, fact: &Fact) -> rusqlite::Result<()> {
        let lock = fact.lock.as_ref().map(|lock| self.lock(lock, "")).transpose()?;
        self.facts.write(fact, lock)
    }

    /// The number of a lock; a recipe that is known replaces one that was not.
    fn lock(&mut self, path: &str, recipe: &str) -> rusqlite::Result<i64> {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let known = match self.known_locks.get(path) {
            Some((id, known)) => Some((*id, known.clone())),
            None => self.find_lock.query_row([path], read).optional()?,
        };
        let (id, known): (i64, Box<str>) = match known {
            Some(known) => known,
            None => (self.add_lock.insert([path, recipe])?, recipe.into()),
        };
        let is_news = *known != *recipe && !recipe.is_empty();
        if is_news {
            self.name_recipe.execute(params![id, recipe])?;
        }
        if is_news || !self.known_locks.contains_key(path) {
            self.known_locks.insert(path.into(), (id, if is_news { recipe.into() } else { known }));
        }
        Ok(id)
    }

    /// The number of a client. What is not known of it is a text that no name is: one zero byte.
    fn client(&mut self, label: Option<&str>, host: Option<&str>) -> rusqlite::Result<i64> {
        let pair = [label.unwrap_or(ABSENT), host.unwrap_or(ABSENT)];
        let key = pair.map(Box::from);
        if let Some(id) = self.known_clients.get(&key) {
            return Ok(*id);
        }
        let id = match self.find_client.query_row(pair, |row| row.get(0)).optional()? {
            Some(id) => id,
            None => self.add_client.insert(pair)?,
        };
        self.known_clients.insert(key, id);
        Ok(id)
    }
}
