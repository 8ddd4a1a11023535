//! The table of routes, for those who check it from outside.

use super::route::{Need, Verb};
use super::routes::ROUTES;

/// One row, for those who check the table from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// How it is asked for.
    pub verb: Verb,
    /// Where, with `{…}` for what varies.
    pub path: &'static str,
    /// What it needs.
    pub need: Need,
    /// A page, not data: who may not see it is led to sign in.
    pub is_page: bool,
}

/// Every route there is.
pub fn declared() -> Vec<Declared> {
    ROUTES
        .iter()
        .map(|row| Declared { verb: row.verb, path: row.path, need: row.need, is_page: row.is_for_people() })
        .collect()
}
