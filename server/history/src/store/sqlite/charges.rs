//! What a wait was spent on, read back from the columns of its row.

use rusqlite::types::Type;
use rusqlite::{Connection, Error, Row};

use crate::store::charges::list;
use crate::store::rows::{Charge, Charged, Charges};

/// The columns of a day's file; a file of an earlier version has none.
pub(super) fn columns(connection: &Connection) -> rusqlite::Result<&'static str> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(match version {
        ..2 => "NULL, NULL, NULL, NULL, NULL, NULL",
        2.. => "charges, roots, others_ms, root_others_ms, hand_off_ms, unknown_ms",
    })
}

/// Reads them back, the first at a place.
pub(super) fn read(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Charges>> {
    let list = |at: usize| -> rusqlite::Result<Option<Vec<Charge>>> {
        let Some(text) = row.get::<_, Option<String>>(at)? else { return Ok(None) };
        let damaged = |error| Error::FromSqlConversionFailure(at, Type::Text, Box::new(error));
        list(&text).map(Some).map_err(damaged)
    };
    let Some(direct) = list(at)? else { return Ok(None) };
    let roots = list(at + 1)?.unwrap_or_else(|| direct.clone());
    Ok(Some(Charges {
        direct: Charged { to: direct, others_ms: row.get(at + 2)? },
        root: Charged { to: roots, others_ms: row.get(at + 3)? },
        hand_off_ms: row.get(at + 4)?,
        unknown_ms: row.get(at + 5)?,
    }))
}
