//! Order, grouping and pins of the board as the browser keeps them: taste, not part of what somebody else is shown.

use lockscope_view::BoardQuery;

use crate::address::{borrowed, pairs};
use crate::browser::{store, stored};

const KEY: &str = "lockscope.board";

/// `is_by_server`: pins are kept there.
pub(super) fn remember(query: &BoardQuery, is_by_server: bool) {
    let pins = if is_by_server { Vec::new() } else { query.pins.clone() };
    let taste = BoardQuery { sort: query.sort, group: query.group, pins, ..BoardQuery::default() }.to_url_query();
    store(KEY, Some(&taste));
}

pub(super) fn remembered_pins() -> Vec<String> {
    remembered().map(|query| query.pins).unwrap_or_default()
}

pub(super) fn remember_pins(pins: &[String]) {
    let query = remembered().unwrap_or_default();
    if query.pins != pins {
        remember(&BoardQuery { pins: pins.to_vec(), ..query }, false);
    }
}

pub(super) fn remembered() -> Option<BoardQuery> {
    let query = BoardQuery::from_pairs(borrowed(&pairs(&stored(KEY)?))).ok()?;
    Some(query).filter(|query| *query != BoardQuery::default())
}
