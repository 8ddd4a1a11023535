//! Waits of several ensembles, one row each. A wait is within one ensemble, so sums are sums of theirs.

use std::cmp::Reverse;

use super::{BlameJson, Question};
use crate::Http;
use crate::history::ask::{Asked, give_up_at, refused};
use crate::problem::ErrorResponse;
use lockscope_live::VisibilityScope;

/// What there is to say to somebody of every ensemble that is recorded, or of the one that is named.
pub(super) fn found(http: &Http, scope: &VisibilityScope, asked: &Asked) -> Result<BlameJson, ErrorResponse> {
    let range = asked.range(http.hub.now_ms())?;
    let give_up_at = give_up_at();
    let mut sum: Option<BlameJson> = None;
    for ensemble in http.recorded_ensembles(scope, &asked.ensemble) {
        let (_, store) = http.recorded(scope, &ensemble)?;
        let question = Question { store: &*store, scope, ensemble: &ensemble, asked, give_up_at };
        let one = question.answer(&range).map_err(|error| refused(error, &range))?;
        sum = Some(match sum {
            Some(sum) => added(sum, one),
            None => one,
        });
    }
    // Where none is recorded, what is said of one.
    let Some(mut sum) = sum else { return Err(http.recorded(scope, &asked.ensemble).err().unwrap_or_else(none)) };
    sum.rows.sort_by_key(|row| Reverse((row.charged_root_ms.unwrap_or(row.charged_ms), row.charged_ms)));
    for row in &mut sum.rows {
        row.share = row.charged_root_ms.unwrap_or(row.charged_ms) as f64 / sum.waits_ms.max(1) as f64;
    }
    Ok(sum)
}

/// Ensembles are few: rows of both are kept, however many are asked for.
fn added(mut sum: BlameJson, one: BlameJson) -> BlameJson {
    sum.ensemble.clear();
    sum.rows.extend(one.rows);
    sum.total += one.total;
    sum.first_at = sum.first_at.into_iter().chain(one.first_at).min();
    sum.waits_ms += one.waits_ms;
    sum.hand_off_ms += one.hand_off_ms;
    sum.unknown_ms += one.unknown_ms;
    sum.charged_others_ms += one.charged_others_ms;
    let both = sum.charged_root_others_ms.zip(one.charged_root_others_ms);
    sum.charged_root_others_ms = both.map(|(sum, one)| sum + one);
    sum.is_lower_bound |= one.is_lower_bound;
    sum.week_before_part = sum.week_before_part.zip(one.week_before_part).map(|(sum, one)| sum.min(one));
    // The one of which least is known.
    if one.coverage.part() < sum.coverage.part() {
        sum.coverage = one.coverage;
    }
    sum
}

fn none() -> ErrorResponse {
    ErrorResponse::not_found("no ensemble that you may see is recorded")
}
