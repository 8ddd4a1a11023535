//! How many waits there are by when they joined and how long they took: what somebody chooses a selection from. Pure.

use std::ops::Range;

use lockscope_core::time::TimeMs;

use super::is_wait_known;
use crate::store::rows::Span;

/// Pieces of a range at most.
pub const COLUMNS_MAX: i64 = 40;
/// Where a row of waits begins; each ends where the next one begins, and the last one has no end.
pub const ROWS_FROM_MS: [i64; 11] = [0, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 120_000, 600_000];

/// Waits by when they joined and how long they took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitsMap {
    range: Range<TimeMs>,
    column_ms: i64,
    /// For each piece of the range how many there are in each row.
    columns: Vec<[u64; ROWS_FROM_MS.len()]>,
}

impl WaitsMap {
    pub fn new(range: Range<TimeMs>) -> Self {
        let length_ms = range.end.since(range.start).max(1);
        let column_ms = length_ms.div_euclid(COLUMNS_MAX) + i64::from(length_ms.rem_euclid(COLUMNS_MAX) > 0);
        let count = length_ms.div_euclid(column_ms) + i64::from(length_ms.rem_euclid(column_ms) > 0);
        let columns = vec![[0; ROWS_FROM_MS.len()]; usize::try_from(count).unwrap_or(0)];
        Self { range, column_ms, columns }
    }

    /// One more; nothing where its wait is not known.
    pub fn note(&mut self, span: &Span) {
        let column = span.joined_at.since(self.range.start).div_euclid(self.column_ms);
        let row = ROWS_FROM_MS.iter().rposition(|from_ms| *from_ms <= span.wait_ms).unwrap_or(0);
        let cell = usize::try_from(column).ok().and_then(|column| self.columns.get_mut(column)?.get_mut(row));
        if let Some(cell) = cell.filter(|_| is_wait_known(span)) {
            *cell += 1;
        }
    }

    /// When each column begins and ends, with how many there are in each row.
    pub fn columns(&self) -> impl Iterator<Item = (Range<TimeMs>, &[u64; ROWS_FROM_MS.len()])> {
        let starts = (0_i64..).map(|at| self.range.start + at.saturating_mul(self.column_ms));
        starts.zip(&self.columns).map(|(start, counts)| (start..(start + self.column_ms).min(self.range.end), counts))
    }
}

/// The waits of a row; the last one has no end.
pub fn row_ms(row: usize) -> Option<(i64, Option<i64>)> {
    Some((*ROWS_FROM_MS.get(row)?, ROWS_FROM_MS.get(row + 1).copied()))
}
