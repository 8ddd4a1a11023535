//! Whose fault the waits of a range were.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::ControlFlow;

use lockscope_core::time::TimeMs;
use lockscope_view::past::{Blame, BlameBy, BlameRow, HoldTimes};

use super::holds::each;
use super::{Question, chosen, missing};
use crate::blame::{Blame as Sums, BlameRow as RowSums, Ledger};
use crate::store::StoreError;
use crate::store::rows::SpanQuery;

const WEEK_MS: i64 = 7 * 86_400_000;

#[derive(Clone, Copy, Debug)]
pub struct BlameQuery<'a> {
    pub by: BlameBy,
    /// Only this lock; empty for all.
    pub path: &'a str,
    pub limit: usize,
}

/// What those were charged a week before who are charged now.
struct WeekBefore {
    charged: HashMap<String, i64>,
    part: f64,
}

/// Adds up the waits of contenders that left in the range.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn blame(question: &Question<'_>, of: BlameQuery<'_>) -> Result<Blame, StoreError> {
    let has_roots = question.sees_roots();
    let (sums, first_at) = sums(question, of)?;
    let Sums { mut rows, waits_ms, hand_off_ms, unknown_ms, others_ms: (direct, root), is_lower_bound } = sums;
    if !has_roots {
        rows.sort_by_key(|row| Reverse(row.direct_ms));
    }
    let total = rows.len();
    let left_out = rows.split_off(total.min(of.limit));
    let left = |of: fn(&RowSums) -> i64| left_out.iter().map(of).sum::<i64>();
    let before = match week_before(question, of) {
        Ok(before) => Some(before),
        Err(StoreError::TooLong) => None,
        Err(error) => return Err(error),
    };
    Ok(Blame {
        ensemble: question.ensemble.to_owned(),
        by: of.by.name(),
        charged_others_ms: direct + left(|row| row.direct_ms),
        charged_root_others_ms: has_roots.then(|| root + left(|row| row.root_ms)),
        rows: rows.into_iter().map(|sums| row(sums, waits_ms, has_roots, before.as_ref())).collect(),
        total,
        first_at_ms: first_at.map(|at| at.0),
        waits_ms,
        hand_off_ms,
        unknown_ms,
        is_lower_bound,
        week_before_part: before.as_ref().map(|before| before.part),
        coverage: question.coverage()?,
        unanswered: Vec::new(),
    })
}

/// Adds up a range, and says when the first of those left who are counted.
fn sums(question: &Question<'_>, of: BlameQuery<'_>) -> Result<(Sums, Option<TimeMs>), StoreError> {
    let (range, give_up_at) = (question.range.clone(), Some(question.give_up_at));
    let query = SpanQuery { range, lock: chosen(of.path), give_up_at, ..SpanQuery::default() };
    let ledger = Ledger::new(of.by).of(question.ensemble);
    let mut ledger = if question.sees_roots() { ledger } else { ledger.without_roots() };
    let mut first_at: Option<TimeMs> = None;
    each(question.store, query, |span| {
        if question.scope.covers(question.ensemble, &span.lock) {
            first_at = Some(first_at.map_or(span.left_at, |first| first.min(span.left_at)));
            ledger.take(&span);
        }
        ControlFlow::Continue(())
    })?;
    Ok((ledger.finish(), first_at))
}

fn week_before(question: &Question<'_>, of: BlameQuery<'_>) -> Result<WeekBefore, StoreError> {
    let has_roots = question.sees_roots();
    let before = question.within(question.range.start - WEEK_MS..question.range.end - WEEK_MS);
    let (sums, first_at) = sums(&before, of)?;
    // Spans are kept for longer than changes: from the first of them on it was recorded as well.
    let missing_ms: i64 = missing(&before, "", first_at)?.iter().map(|gap| gap.to_ms - gap.from_ms).sum();
    let length_ms = before.range.end.since(before.range.start).max(1);
    let charged = |row: RowSums| (row.key, if has_roots { row.root_ms } else { row.direct_ms });
    Ok(WeekBefore {
        charged: sums.rows.into_iter().map(charged).collect(),
        part: (length_ms - missing_ms).clamp(0, length_ms) as f64 / length_ms as f64,
    })
}

impl WeekBefore {
    /// Of one of them; None where nothing is recorded.
    fn of(&self, key: &str) -> Option<i64> {
        (self.part > 0.0).then(|| self.charged.get(key).copied().unwrap_or(0))
    }
}

fn row(sums: RowSums, waits_ms: i64, has_roots: bool, before: Option<&WeekBefore>) -> BlameRow {
    let times = (sums.hold_times.percentile(50), sums.hold_times.percentile(99));
    let charged = if has_roots { sums.root_ms } else { sums.direct_ms };
    BlameRow {
        charged_week_before_ms: before.and_then(|before| before.of(&sums.key)),
        key: sums.key,
        holds: sums.holds,
        hold_ms: times.0.zip(times.1).map(|(p50, p99)| HoldTimes { p50, p99 }),
        charged_ms: sums.direct_ms,
        charged_root_ms: has_roots.then_some(sums.root_ms),
        victims: sums.victims,
        worst_at_ms: sums.worst.at.0,
        worst_lock: sums.worst.lock.into(),
        share: charged as f64 / waits_ms.max(1) as f64,
    }
}

/// The answers of several ensembles as one; None without any. A wait is within one ensemble, so sums are sums of theirs.
/// Ensembles are few: the rows of all are kept.
pub fn sum_of_ensembles(answers: impl IntoIterator<Item = Blame>) -> Option<Blame> {
    let mut sum = answers.into_iter().reduce(|mut sum, one| {
        sum.ensemble.clear();
        sum.rows.extend(one.rows);
        sum.total += one.total;
        sum.first_at_ms = sum.first_at_ms.into_iter().chain(one.first_at_ms).min();
        sum.waits_ms += one.waits_ms;
        sum.hand_off_ms += one.hand_off_ms;
        sum.unknown_ms += one.unknown_ms;
        sum.charged_others_ms += one.charged_others_ms;
        let both = sum.charged_root_others_ms.zip(one.charged_root_others_ms);
        sum.charged_root_others_ms = both.map(|(sum, one)| sum + one);
        sum.is_lower_bound |= one.is_lower_bound;
        sum.week_before_part = sum.week_before_part.zip(one.week_before_part).map(|(sum, one)| sum.min(one));
        // The one of which least is known.
        if one.coverage.part < sum.coverage.part {
            sum.coverage = one.coverage;
        }
        sum
    })?;
    sum.rows.sort_by_key(|row| Reverse((row.charged_root_ms.unwrap_or(row.charged_ms), row.charged_ms)));
    for row in &mut sum.rows {
        row.share = row.charged_root_ms.unwrap_or(row.charged_ms) as f64 / sum.waits_ms.max(1) as f64;
    }
    Some(sum)
}
