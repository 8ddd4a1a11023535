//! What is not known of the ensembles that blame is laid over, each instant once.

use std::ops::Range;
use std::time::Instant;

use lockscope_core::time::TimeMs;
use lockscope_history::store::StoreError;
use lockscope_page::Missing;
use lockscope_view::Scope;

use super::ask::{Asked, refused};
use super::over_time_gaps::missing;
use crate::Http;
use crate::problem::ErrorResponse;

/// Why something is not known, where that is so of more than one ensemble.
const OF_SEVERAL: &str = "more than one ensemble was not recorded";

impl Http {
    /// What is known of an ensemble in a range.
    pub(super) fn sight(
        &self,
        scope: &Scope,
        ensemble: &str,
        asked: &Asked,
        range: &Range<TimeMs>,
        (first_at, give_up_at): (Option<TimeMs>, Instant),
    ) -> Result<Sight, ErrorResponse> {
        let (ensemble, store) = self.recorded(scope, ensemble)?;
        let path = if scope.covers(&ensemble, &asked.path) { asked.path.as_str() } else { "" };
        let refused = |error: StoreError| refused(error, range);
        let missing = missing(&*store, path, range, first_at, give_up_at).map_err(refused)?;
        let kept_from_ms = store.coverage().map_err(refused)?.from.map(|at| at.0);
        Ok(Sight { ensemble, missing, kept_from_ms })
    }
}

/// What is known of an ensemble.
pub(super) struct Sight {
    pub(super) ensemble: String,
    missing: Vec<Missing>,
    /// The oldest moment that can be shown.
    pub(super) kept_from_ms: Option<i64>,
}

/// When something was not known of any of several ensembles, each instant once.
pub(super) fn missing_of_any(sights: &mut [Sight]) -> Vec<Missing> {
    if let [one] = sights {
        return std::mem::take(&mut one.missing);
    }
    let mut all: Vec<Missing> = Vec::new();
    for Sight { ensemble, missing, .. } in sights {
        all.extend(missing.drain(..).map(|gap| Missing { why: format!("{ensemble}: {}", gap.why), ..gap }));
    }
    all.sort_by_key(|gap| (gap.from_ms, gap.to_ms));
    let mut apart: Vec<Missing> = Vec::new();
    for gap in all {
        match apart.last_mut() {
            Some(last) if gap.from_ms < last.to_ms => {
                last.to_ms = last.to_ms.max(gap.to_ms);
                last.why = OF_SEVERAL.to_owned();
            }
            Some(_) | None => apart.push(gap),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(ensemble: &str, gaps: &[(i64, i64)]) -> Sight {
        let gap = |(from_ms, to_ms): &(i64, i64)| Missing { from_ms: *from_ms, to_ms: *to_ms, why: "x".to_owned() };
        Sight { ensemble: ensemble.to_owned(), missing: gaps.iter().map(gap).collect(), kept_from_ms: None }
    }

    #[test]
    fn what_is_missing_of_any_ensemble_is_counted_once() {
        let found = missing_of_any(&mut [sight("a", &[(0, 10), (50, 60)]), sight("b", &[(5, 20), (12, 15), (70, 80)])]);
        let told: Vec<_> = found.iter().map(|gap| (gap.from_ms, gap.to_ms, gap.why.as_str())).collect();
        assert_eq!(told, [(0, 20, OF_SEVERAL), (50, 60, "a: x"), (70, 80, "b: x")]);
        let one = missing_of_any(&mut [sight("a", &[(0, 10)])]);
        assert_eq!((one.len(), one[0].why.as_str()), (1, "x"));
    }
}
