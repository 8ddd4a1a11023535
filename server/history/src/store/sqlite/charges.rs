//! What a wait was spent on, read back from the columns of its row.

use std::cell::RefCell;
use std::collections::HashMap;

use lockscope_core::znode::SessionId;
use rusqlite::types::Type;
use rusqlite::{Connection, Error, Row, Statement};

use super::schema::Lives;
use crate::store::charges::list;
use crate::store::rows::{Charge, Charged, Charges};

pub(super) struct ChargeReader<'a> {
    lives: Lives,
    /// Where sessions have numbers of their own: how one is found, and those that were.
    sessions: Option<RefCell<(Statement<'a>, HashMap<i64, i64>)>>,
}

impl<'a> ChargeReader<'a> {
    pub(super) fn of(connection: &'a Connection) -> rusqlite::Result<Self> {
        let lives = Lives::of(connection)?;
        let find = || connection.prepare("SELECT number FROM session WHERE id = ?1");
        let sessions = (lives == Lives::Packed).then(find).transpose()?;
        Ok(Self { lives, sessions: sessions.map(|find| RefCell::new((find, HashMap::new()))) })
    }

    pub(super) fn columns(&self) -> &'static str {
        match self.lives {
            Lives::Uncharged => "NULL, NULL, NULL, NULL, NULL, NULL",
            Lives::Plain => "charges, roots, others_ms, root_others_ms, hand_off_ms, unknown_ms",
            Lives::Packed => "charge_ids, root_ids, others_ms, root_others_ms, hand_off_ms, unknown_ms",
        }
    }

    /// Reads them back, the first at a place.
    pub(super) fn read(&self, row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Charges>> {
        let Some(direct) = self.list(row, at)? else { return Ok(None) };
        let roots = self.list(row, at + 1)?.unwrap_or_else(|| direct.clone());
        Ok(Some(Charges {
            direct: Charged { to: direct, others_ms: row.get(at + 2)? },
            root: Charged { to: roots, others_ms: row.get(at + 3)? },
            hand_off_ms: row.get(at + 4)?,
            unknown_ms: row.get(at + 5)?,
        }))
    }

    fn list(&self, row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Vec<Charge>>> {
        let text = row
            .get_ref(at)?
            .as_str_or_null()
            .map_err(|error| Error::InvalidColumnType(at, error.to_string(), Type::Text))?;
        let Some(text) = text else { return Ok(None) };
        let damaged = |error| Error::FromSqlConversionFailure(at, Type::Text, Box::new(error));
        let mut charges = list(text).map_err(damaged)?;
        if let Some(sessions) = &self.sessions {
            let (find, known) = &mut *sessions.borrow_mut();
            for charge in &mut charges {
                charge.session = SessionId(number_of(find, known, charge.session.0)?);
            }
        }
        Ok(Some(charges))
    }
}

fn number_of(find: &mut Statement<'_>, known: &mut HashMap<i64, i64>, id: i64) -> rusqlite::Result<i64> {
    if let Some(number) = known.get(&id) {
        return Ok(*number);
    }
    let number = find.query_row([id], |row| row.get(0)).map_err(|error| match error {
        // Written with the life that names it.
        Error::QueryReturnedNoRows => Error::IntegralValueOutOfRange(0, id),
        error => error,
    })?;
    known.insert(id, number);
    Ok(number)
}
