//! How some waits of a range differ from the rest.

use lockscope_view::past::{Differs, DiffersSelection, Dimension, DimensionValue, OtherValues, WaitCounts};

use super::Question;
use crate::differs::{self, ApplicationOf, Counts, DiffersFound, DiffersQuery, Selection, search};
use crate::store::StoreError;
use crate::store::rows::Span;

#[derive(Clone, Copy)]
pub struct DiffersParts<'a> {
    /// Only this lock; empty for all.
    pub path: &'a str,
    pub selection: &'a Selection,
    pub application_of: ApplicationOf<'a>,
}

/// Holds some waits of contenders that joined in the range, and left, against the rest; `note` gets each that may be seen.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn differs(
    question: &Question<'_>,
    of: DiffersParts<'_>,
    note: &mut dyn FnMut(&Span),
) -> Result<Differs, StoreError> {
    let sees = |lock: &str| question.scope.covers(question.ensemble, lock);
    let query = DiffersQuery {
        range: question.range.clone(),
        lock: Some(of.path).filter(|path| !path.is_empty()),
        selection: of.selection.clone(),
        sees: if question.sees_roots() { None } else { Some(&sees) },
        application_of: question.scope.payloads().then_some(of.application_of),
        give_up_at: question.give_up_at,
    };
    let DiffersFound { differs, is_sampled, left_before } = search(question.store, &query, note)?;
    let all = differs.counts;
    Ok(Differs {
        ensemble: question.ensemble.to_owned(),
        selection: DiffersSelection {
            from_at_ms: of.selection.joined.start.0,
            to_at_ms: of.selection.joined.end.0,
            min_wait_ms: of.selection.wait_ms.start,
            max_wait_ms: Some(of.selection.wait_ms.end).filter(|ms| *ms < i64::MAX),
        },
        selected: all.selection,
        others: all.rest,
        without_wait: differs.without_wait,
        dimensions: differs.dimensions.into_iter().map(|one| dimension(one, all)).collect(),
        is_sampled,
        left_before_ms: left_before.map(|at| at.0),
        coverage: question.coverage()?,
    })
}

fn dimension(of: differs::Dimension, all: Counts) -> Dimension {
    let differs::Dimension { kind, difference, is_lower_bound, values, others } = of;
    let counts = |of: Counts| WaitCounts {
        selection: of.selection,
        rest: of.rest,
        selection_part: of.selection_part(all),
        rest_part: of.rest_part(all),
    };
    let value =
        |row: differs::DimensionValue| DimensionValue { value: row.value.map(Into::into), counts: counts(row.counts) };
    Dimension {
        name: kind.name(),
        difference,
        is_lower_bound,
        values: values.into_iter().map(value).collect(),
        others: (others.values > 0).then(|| OtherValues { values: others.values, counts: counts(others.counts) }),
    }
}
