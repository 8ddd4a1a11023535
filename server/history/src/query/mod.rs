//! Questions about a range of the past: one function and one answer each. An answer is what the API writes, the page
//! draws and the command line prints. Blocking, and bounded in time.

mod alike;
mod blame;
mod diff;
mod differs;
mod findings;
mod holds;
mod incident_words;
mod incidents;
mod marks;
mod missing;
mod over_time;

use std::ops::Range;
use std::time::Instant;

use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;
use lockscope_view::Scope;
use lockscope_view::past::{Coverage, Gap, Missing};

use crate::derive::verdict_name;
use crate::store::{self, Store, StoreError};

pub use alike::{alike, signature};
pub use blame::{BlameQuery, blame, sum_of_ensembles};
pub use diff::diff;
pub use differs::{DiffersParts, differs};
pub use findings::readable;
pub use holds::{HoldsQuery, hold_of, holds, parse_cursor, spans};
pub use incident_words::markdown;
pub use incidents::{IncidentSearch, WhichIncident};
pub use marks::{buckets, mark, marks, releases};
pub use missing::{missing, missing_of_any};
pub use over_time::{Point, grain, over_time, points};

#[derive(Clone)]
pub struct Question<'a> {
    pub store: &'a dyn Store,
    pub ensemble: &'a str,
    pub scope: &'a Scope,
    pub range: Range<TimeMs>,
    /// After this instant the answer is [`StoreError::TooLong`].
    pub give_up_at: Instant,
}

impl Question<'_> {
    /// The same of another range.
    #[must_use]
    pub fn within(&self, range: Range<TimeMs>) -> Self {
        Self { range, ..self.clone() }
    }

    /// Whether the session at the end of a chain of waits may be shown: it may hold a lock outside the scope.
    fn sees_roots(&self) -> bool {
        self.scope.covers(self.ensemble, "/")
    }

    /// What is missing in the range, in order: what was not recorded, and rows that can't be read. Asked for after the rows.
    fn gaps(&self) -> Result<Vec<store::Gap>, StoreError> {
        let mut gaps = self.store.gaps(self.range.clone())?;
        gaps.extend(self.store.unread_rows(&self.range));
        gaps.sort_by_key(|gap| gap.from);
        Ok(gaps)
    }

    pub fn coverage(&self) -> Result<Coverage, StoreError> {
        let Range { start, end } = self.range;
        let (coverage, gaps) = (self.store.coverage()?, self.gaps()?);
        let known = coverage.from.unwrap_or(end).max(start)..coverage.to.unwrap_or(start).min(end);
        // Gaps may overlap: each instant is counted once.
        let (mut in_gaps, mut counted) = (0, known.start);
        for gap in &gaps {
            let (from, to) = (gap.from.max(counted), gap.to.min(known.end));
            in_gaps += to.since(from).max(0);
            counted = counted.max(to);
        }
        let known_ms = (known.end.since(known.start) - in_gaps).max(0);
        Ok(Coverage {
            from_at_ms: start.0,
            to_at_ms: end.0,
            part: known_ms as f64 / end.since(start).max(1) as f64,
            gaps: gaps.into_iter().map(Gap::from).collect(),
        })
    }
}

impl From<store::Gap> for Gap {
    fn from(gap: store::Gap) -> Self {
        Self { from_at_ms: gap.from.0, to_at_ms: gap.to.0, why: gap.why.name().into() }
    }
}

impl From<store::Gap> for Missing {
    fn from(gap: store::Gap) -> Self {
        Self { from_ms: gap.from.0, to_ms: gap.to.0, why: gap.why.to_string() }
    }
}

pub fn view_verdict(verdict: Verdict) -> lockscope_view::Verdict {
    lockscope_view::Verdict::named(verdict_name(verdict)).unwrap_or_default()
}

/// A text that chooses; None where it is empty and all is meant.
fn chosen(text: &str) -> Option<Box<str>> {
    (!text.is_empty()).then(|| text.into())
}
