//! A window on a long list, and the difference between two windows. One reducer for server and browser:
//! `window.apply(&window.diff(&next)) == next`, always.

use serde::{Deserialize, Serialize};

/// A row with a key.
pub trait WindowRow: Clone + PartialEq {
    /// What makes the row the same row as before, whatever else changed in it.
    fn key(&self) -> &str;
}

/// `rows` are the rows `offset..` of a list that has `total` in all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "{R}Window"))]
pub struct Window<R> {
    /// Rows in the whole list.
    pub total: u32,
    /// Index of the first row here.
    pub offset: u32,
    /// The rows, in list order.
    pub rows: Vec<R>,
}

impl<R> Default for Window<R> {
    fn default() -> Self {
        Self { total: 0, offset: 0, rows: Vec::new() }
    }
}

/// What turns one window into the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "{R}WindowDelta"))]
pub struct WindowDelta<R> {
    /// The new total.
    pub total: u32,
    /// The new offset.
    pub offset: u32,
    /// None: the same rows in the same places. Else one entry a new row: its index in the old rows, or
    /// null for a row that was not there (it is in `changed`).
    pub order: Option<Vec<Option<u32>>>,
    /// Rows that are new or differ, with their index in the new rows.
    pub changed: Vec<(u32, R)>,
}

impl<R: WindowRow> Window<R> {
    /// The difference that turns `self` into `next`; None when they are equal.
    pub fn diff(&self, next: &Self) -> Option<WindowDelta<R>> {
        if self == next {
            return None;
        }
        let same_places = self.rows.len() == next.rows.len()
            && self.rows.iter().zip(&next.rows).all(|(old, new)| old.key() == new.key());
        let mut changed = Vec::new();
        let order = if same_places {
            collect_changed(self.rows.iter().map(Some).zip(&next.rows), &mut changed);
            None
        } else {
            let places: std::collections::BTreeMap<&str, u32> =
                self.rows.iter().zip(0..).map(|(row, at)| (row.key(), at)).collect();
            let order: Vec<Option<u32>> = next.rows.iter().map(|row| places.get(row.key()).copied()).collect();
            let olds = order.iter().map(|at| at.and_then(|at| self.rows.get(at as usize)));
            collect_changed(olds.zip(&next.rows), &mut changed);
            Some(order)
        };
        Some(WindowDelta { total: next.total, offset: next.offset, order, changed })
    }

    /// Applies a difference made by [`Window::diff`]. A difference that does not fit leaves holes out rather
    /// than panics; the caller's sequence check keeps that from happening.
    pub fn apply(&mut self, delta: &WindowDelta<R>) {
        self.total = delta.total;
        self.offset = delta.offset;
        let Some(order) = &delta.order else {
            for (at, row) in &delta.changed {
                if let Some(slot) = self.rows.get_mut(*at as usize) {
                    *slot = row.clone();
                }
            }
            return;
        };
        let mut changed = delta.changed.iter().peekable();
        let mut rows = Vec::with_capacity(order.len());
        for (at, from) in (0_u32..).zip(order) {
            let fresh = changed.next_if(|(index, _)| *index == at).map(|(_, row)| row);
            let kept = from.and_then(|from| self.rows.get(from as usize));
            rows.extend(fresh.or(kept).cloned());
        }
        self.rows = rows;
    }
}

fn collect_changed<'a, R: WindowRow + 'a>(
    pairs: impl Iterator<Item = (Option<&'a R>, &'a R)>,
    changed: &mut Vec<(u32, R)>,
) {
    changed
        .extend((0..).zip(pairs).filter(|(_, (old, new))| *old != Some(*new)).map(|(at, (_, new))| (at, new.clone())));
}
