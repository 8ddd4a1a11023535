//! What a wait was spent on, in the columns of its row.

use lockscope_core::znode::SessionId;
use rusqlite::types::Type;
use rusqlite::{Connection, Error, Row};

use crate::store::rows::{Charge, Charged, Charges};

/// The values of the columns; all absent where nothing is known.
#[derive(Default)]
pub(super) struct ChargeColumns {
    pub(super) charged_to: Option<i64>,
    pub(super) root: Option<i64>,
    /// `[[session, ms], …]`.
    pub(super) direct: Option<String>,
    /// The same, where it is another one.
    pub(super) roots: Option<String>,
    pub(super) others_ms: Option<i64>,
    pub(super) root_others_ms: Option<i64>,
    pub(super) hand_off_ms: Option<i64>,
    pub(super) unknown_ms: Option<i64>,
}

impl ChargeColumns {
    pub(super) fn of(charges: Option<&Charges>) -> Self {
        let Some(Charges { direct, root, hand_off_ms, unknown_ms }) = charges else { return Self::default() };
        let first = |charged: &Charged| charged.to.first().map(|charge| charge.session.0);
        Self {
            charged_to: first(direct),
            root: first(root),
            direct: Some(json(&direct.to)),
            roots: (direct.to != root.to).then(|| json(&root.to)),
            others_ms: Some(direct.others_ms),
            root_others_ms: Some(root.others_ms),
            hand_off_ms: Some(*hand_off_ms),
            unknown_ms: Some(*unknown_ms),
        }
    }
}

fn json(charges: &[Charge]) -> String {
    let pairs: Vec<String> = charges.iter().map(|charge| format!("[{},{}]", charge.session.0, charge.ms)).collect();
    format!("[{}]", pairs.join(","))
}

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
        let pairs: Vec<(i64, i64)> = serde_json::from_str(&text).map_err(damaged)?;
        Ok(Some(pairs.into_iter().map(|(session, ms)| Charge { session: SessionId(session), ms }).collect()))
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
