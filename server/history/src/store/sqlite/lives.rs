//! Lives of contenders as they are written: a plain row each where a file has such, else in less room.

use lockscope_core::keyed_hash::KeyedMap;
use lockscope_core::znode::SessionId;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Statement, params};

use super::schema::Lives;
use crate::codec::names::{Form, Own, Uuid, take_apart};
use crate::store::charges::ChargeColumns;
use crate::store::rows::Span;

/// Forms of names in a file. Of further ones each name is kept as it is.
const FORMS_MAX: i64 = 4_096;
/// The longest time that is kept as a difference, so that none leaves the numbers of SQLite.
const DIFFERENCE_MAX_MS: i64 = 1 << 60;

pub(super) enum LifeWriter<'a> {
    Plain(Statement<'a>),
    /// Sessions and names as numbers.
    Packed(Box<Packed<'a>>),
}

/// What is run for each packed life of a transaction, and the numbers that are known in it.
pub(super) struct Packed<'a> {
    add: Statement<'a>,
    find_session: Statement<'a>,
    add_session: Statement<'a>,
    find_form: Statement<'a>,
    add_form: Statement<'a>,
    forms: i64,
    known_sessions: KeyedMap<SessionId, i64>,
    known_forms: KeyedMap<Form, Option<i64>>,
}

impl<'a> LifeWriter<'a> {
    pub(super) fn of(connection: &'a Connection) -> rusqlite::Result<Self> {
        let prepare = |sql| connection.prepare(sql);
        if Lives::of(connection)? != Lives::Packed {
            let add = prepare(
                "INSERT OR REPLACE INTO span VALUES
                (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
            )?;
            return Ok(Self::Plain(add));
        }
        Ok(Self::Packed(Box::new(Packed {
            add: prepare(
                "INSERT OR REPLACE INTO life VALUES
                (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
            )?,
            find_session: prepare("SELECT id FROM session WHERE number = ?1")?,
            add_session: prepare("INSERT INTO session (number) VALUES (?1)")?,
            find_form: prepare(
                "SELECT id FROM form WHERE prefix = ?1 AND uuid = ?2 AND middle = ?3 AND is_numbered = ?4",
            )?,
            add_form: prepare("INSERT INTO form (prefix, uuid, middle, is_numbered) VALUES (?1, ?2, ?3, ?4)")?,
            forms: connection.query_row("SELECT count(*) FROM form", [], |row| row.get(0))?,
            known_sessions: KeyedMap::default(),
            known_forms: KeyedMap::default(),
        })))
    }

    /// Writes one; lock and client by their numbers.
    pub(super) fn write(&mut self, span: &Span, lock: i64, client: Option<i64>) -> rusqlite::Result<()> {
        match self {
            Self::Plain(add) => write_plain(add, span, lock, client),
            Self::Packed(packed) => packed.write(span, lock, client),
        }
    }
}

fn write_plain(add: &mut Statement<'_>, span: &Span, lock: i64, client: Option<i64>) -> rusqlite::Result<()> {
    let Span { czxid, node, session, joined_at, held_at, left_at, how, wait_ms, is_lower_bound, charges, .. } = span;
    let (session, held_at, how) = (session.map(|session| session.0), held_at.map(|at| at.0), *how as i64);
    let charges = ChargeColumns::of(charges.as_ref());
    add.execute(params![
        czxid.0,
        lock,
        node,
        session,
        client,
        joined_at.0,
        held_at,
        left_at.0,
        how,
        charges.charged_to,
        charges.root,
        wait_ms,
        is_lower_bound,
        charges.direct,
        charges.roots,
        charges.others_ms,
        charges.root_others_ms,
        charges.hand_off_ms,
        charges.unknown_ms
    ])
    .map(drop)
}

impl Packed<'_> {
    fn write(&mut self, span: &Span, lock: i64, client: Option<i64>) -> rusqlite::Result<()> {
        let Span { czxid, node, session, joined_at, held_at, left_at, how, wait_ms, is_lower_bound, charges, .. } =
            span;
        let since = |at: i64| left_at.0.saturating_sub(at).clamp(-DIFFERENCE_MAX_MS, DIFFERENCE_MAX_MS);
        let (lived_ms, held_ms) = (since(joined_at.0), held_at.map(|at| since(at.0)));
        let usual = lived_ms - held_ms.unwrap_or(0);
        let (form, name, number) = self.name(node)?;
        let session = session.map(|session| self.session(session)).transpose()?;
        let charges = ChargeColumns::named(charges.as_ref(), |session| self.session(session))?;
        self.add
            .execute(params![
                left_at.0,
                czxid.0,
                lock,
                form,
                name,
                number,
                session,
                client,
                lived_ms,
                held_ms,
                *how as i64,
                (*wait_ms != usual).then_some(*wait_ms),
                is_lower_bound,
                charges.direct,
                charges.roots,
                charges.others_ms,
                charges.root_others_ms,
                charges.hand_off_ms,
                charges.unknown_ms
            ])
            .map(drop)
    }

    /// The number of a session.
    fn session(&mut self, session: SessionId) -> rusqlite::Result<i64> {
        if let Some(id) = self.known_sessions.get(&session) {
            return Ok(*id);
        }
        let id = match self.find_session.query_row([session.0], |row| row.get(0)).optional()? {
            Some(id) => id,
            None => self.add_session.insert([session.0])?,
        };
        self.known_sessions.insert(session, id);
        Ok(id)
    }

    /// A name as its form and what is its own: all of it where it has none.
    fn name(&mut self, node: &str) -> rusqlite::Result<(Option<i64>, Value, Option<i64>)> {
        if let Some((form, Own { uuid, number })) = take_apart(node) {
            let (has_uuid, is_numbered) = (form.uuid != Uuid::Absent, form.is_numbered);
            if let Some(id) = self.form(form)? {
                let uuid = if has_uuid { Value::Blob(uuid.to_vec()) } else { Value::Null };
                return Ok((Some(id), uuid, is_numbered.then_some(number)));
            }
        }
        Ok((None, Value::Text(node.to_owned()), None))
    }

    /// The number of a form; None where there are too many.
    fn form(&mut self, form: Form) -> rusqlite::Result<Option<i64>> {
        if let Some(id) = self.known_forms.get(&form) {
            return Ok(*id);
        }
        let written = match form.uuid {
            Uuid::Absent => 0,
            Uuid::Plain => 1,
            Uuid::Dashed => 2,
        };
        let columns = params![form.prefix, written, form.middle, form.is_numbered];
        let id = match self.find_form.query_row(columns, |row| row.get(0)).optional()? {
            None if self.forms < FORMS_MAX => {
                self.forms += 1;
                Some(self.add_form.insert(columns)?)
            }
            known => known,
        };
        self.known_forms.insert(form, id);
        Ok(id)
    }
}
