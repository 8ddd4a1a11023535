//! `GET /api/v1/history/differs`: how some waits of a range differ from the rest.

use std::ops::Range;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_core::time::TimeMs;
use lockscope_history::differs::{Counts, DiffersFound, DiffersQuery, Dimension, Selection, search};
use lockscope_history::store::StoreError;
use lockscope_history::store::rows::Span;
use schemars::JsonSchema;
use serde::Serialize;

use super::ask::{Asked, AskedPart, CoverageJson, give_up_at, refused};
use crate::Http;
use crate::api::{ListFormat, Pairs, read, share_past, with_format};
use crate::csv::{Table, known_as, text};
use crate::problem::ErrorResponse;
use crate::shared_answers::{Answer, AnswerRequest};
use lockscope_live::VisibilityScope;

const TAKES: [&str; 9] =
    ["ensemble", "path", "from", "to", "sel_from", "sel_to", "min_wait_ms", "max_wait_ms", "format"];
const COLUMNS: [&str; 9] = [
    "dimension",
    "difference",
    "is_lower_bound",
    "value",
    "values",
    "selection",
    "rest",
    "selection_part",
    "rest_part",
];

/// How some waits of a range differ from the rest.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DiffersJson {
    /// The ensemble.
    ensemble: String,
    /// The waits that are held against the rest.
    selection: SelectionJson,
    /// How many waits are selected.
    selected: u64,
    /// How many are the rest: all others of the range.
    others: u64,
    /// Lives of the range of which no wait is known, which are in neither.
    without_wait: u64,
    /// Those first that differ most.
    dimensions: Vec<DimensionJson>,
    /// True when so many lives ended in one minute of the range that short ones may have been left out; null where only a part
    /// of all lives was looked at, which can't tell.
    is_sampled: Option<bool>,
    /// Whoever joined in the range and left at this moment or later is not counted, ms since the epoch; null where everybody
    /// is who left.
    left_before_ms: Option<i64>,
    /// How much of the range is known.
    coverage: CoverageJson,
}

/// Which waits are selected.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SelectionJson {
    /// They joined no earlier, ms since the epoch.
    from_at_ms: i64,
    /// They joined earlier.
    to_at_ms: i64,
    /// They waited at least so long.
    min_wait_ms: i64,
    /// They waited for less than this; null for any.
    max_wait_ms: Option<i64>,
}

/// How they differ in one way.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DimensionJson {
    /// In which: `host`, `client`, `application`, `recipe`, `lock`, `hour` or `end`.
    name: &'static str,
    /// Half the sum of the absolute differences of all shares (the total variation distance), from 0 to 1; null where nothing
    /// is selected or nothing is left.
    difference: Option<f64>,
    /// There are more values than are told apart: the difference is at least this.
    is_lower_bound: bool,
    /// Those first whose shares differ most.
    values: Vec<ValueJson>,
    /// All further values together; null where there are none.
    others: Option<OtherValuesJson>,
}

/// A value, and how many have it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ValueJson {
    /// The value; null where it is not known.
    value: Option<String>,
    #[serde(flatten)]
    counts: CountsJson,
}

/// Further values together.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OtherValuesJson {
    /// How many values; at least so many where `is_lower_bound`.
    values: usize,
    #[serde(flatten)]
    counts: CountsJson,
}

/// How many, and which share.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CountsJson {
    /// Of the selected waits.
    selection: u64,
    /// Of the rest.
    rest: u64,
    /// Its share of the selected waits, from 0 to 1; null where nothing is selected.
    selection_part: Option<f64>,
    /// Its share of the rest; null where nothing is left.
    rest_part: Option<f64>,
}

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let (pairs, format) = with_format(read(pairs)?)?;
    let of = Asked::of_pairs(&pairs, &TAKES, 0)?;
    Ok(match format {
        ListFormat::Json => share_past(&http, asked, move |http, scope| found(http, &scope, &of).map(Json)).await,
        ListFormat::Csv => {
            let (own, scope) = (http.clone(), asked.scope.clone());
            http.past_shared.answer(asked, move || Answer::table(found(&own, &scope, &of).map(table))).await
        }
    })
}

/// What there is to say to somebody.
fn found(http: &Http, scope: &VisibilityScope, asked: &Asked) -> Result<DiffersJson, ErrorResponse> {
    let Found { ensemble, selection, found, coverage } = find(http, scope, asked, &mut |_| {})?;
    let DiffersFound { differs, is_sampled, left_before } = found;
    let all = differs.counts;
    Ok(DiffersJson {
        ensemble,
        selection: SelectionJson::of(&selection),
        selected: all.selection,
        others: all.rest,
        without_wait: differs.without_wait,
        dimensions: differs.dimensions.into_iter().map(|dimension| DimensionJson::new(dimension, all)).collect(),
        is_sampled,
        left_before_ms: left_before.map(|at| at.0),
        coverage,
    })
}

/// What was found.
pub(super) struct Found {
    ensemble: String,
    selection: Selection,
    pub(super) found: DiffersFound,
    pub(super) coverage: CoverageJson,
}

/// Looks for it; `note` gets each life that who asks may see.
pub(super) fn find(
    http: &Http,
    scope: &VisibilityScope,
    asked: &Asked,
    note: &mut dyn FnMut(&Span),
) -> Result<Found, ErrorResponse> {
    let (ensemble, store) = http.recorded(scope, &asked.ensemble)?;
    let range = asked.range(http.hub.now_ms())?;
    let selection = selection(&range, asked.part)?;
    let rule = http.moments.as_ref().map(|moments| moments.applications().rule()).unwrap_or_default();
    let application_of = |label: &str| rule.application_of(label).to_owned();
    let sees = |lock: &str| scope.covers(&ensemble, lock);
    let query = DiffersQuery {
        range: range.clone(),
        lock: Some(asked.path.as_str()).filter(|path| !path.is_empty()),
        selection: selection.clone(),
        sees: if scope.covers(&ensemble, "/") { None } else { Some(&sees) },
        application_of: if scope.payloads() { Some(&application_of) } else { None },
        give_up_at: give_up_at(),
    };
    let refused = |error: StoreError| refused(error, &range);
    let found = search(&*store, &query, note).map_err(refused)?;
    let coverage = CoverageJson::new(&*store, &range).map_err(refused)?;
    Ok(Found { selection, found, coverage, ensemble })
}

/// The part of a range that is meant, all of it where nothing else is said.
pub(super) fn selection(range: &Range<TimeMs>, part: AskedPart) -> Result<Selection, ErrorResponse> {
    let AskedPart { from_ms, to_ms, min_wait_ms, max_wait_ms } = part;
    let joined = from_ms.map_or(range.start, TimeMs)..to_ms.map_or(range.end, TimeMs);
    let wait_ms = min_wait_ms.unwrap_or(0)..max_wait_ms.unwrap_or(i64::MAX);
    if joined.start >= joined.end {
        return Err(ErrorResponse::bad_request("`sel_from` has to be before `sel_to`"));
    }
    if joined.start < range.start || joined.end > range.end {
        return Err(ErrorResponse::bad_request("`sel_from` and `sel_to` have to be within `from` and `to`"));
    }
    if wait_ms.is_empty() {
        return Err(ErrorResponse::bad_request("`min_wait_ms` has to be less than `max_wait_ms`"));
    }
    Ok(Selection { joined, wait_ms })
}

impl SelectionJson {
    fn of(selection: &Selection) -> Self {
        let Selection { joined, wait_ms } = selection;
        Self {
            from_at_ms: joined.start.0,
            to_at_ms: joined.end.0,
            min_wait_ms: wait_ms.start,
            max_wait_ms: Some(wait_ms.end).filter(|ms| *ms < i64::MAX),
        }
    }
}

impl DimensionJson {
    fn new(dimension: Dimension, all: Counts) -> Self {
        let Dimension { kind, difference, is_lower_bound, values, others } = dimension;
        let value = |row: lockscope_history::differs::DimensionValue| ValueJson {
            value: row.value.map(Into::into),
            counts: CountsJson::new(row.counts, all),
        };
        Self {
            name: kind.name(),
            difference,
            is_lower_bound,
            values: values.into_iter().map(value).collect(),
            others: (others.values > 0)
                .then(|| OtherValuesJson { values: others.values, counts: CountsJson::new(others.counts, all) }),
        }
    }
}

impl CountsJson {
    fn new(counts: Counts, all: Counts) -> Self {
        Self {
            selection: counts.selection,
            rest: counts.rest,
            selection_part: counts.selection_part(all),
            rest_part: counts.rest_part(all),
        }
    }
}

/// A line for each value of each dimension, and one for all further values of it, which has no value and says how many. So
/// does one of a value that is not known, which is one.
fn table(differs: DiffersJson) -> Table {
    let lines = differs.dimensions.iter().flat_map(DimensionJson::lines).collect::<Vec<_>>();
    let total = lines.len();
    Table::of_first("differs", COLUMNS, lines, total, Clone::clone)
}

impl DimensionJson {
    fn lines(&self) -> Vec<[String; COLUMNS.len()]> {
        let line = |value: Option<&str>, values: usize, counts: &CountsJson| {
            [
                self.name.to_owned(),
                known_as(self.difference),
                self.is_lower_bound.to_string(),
                text(value.unwrap_or_default()),
                values.to_string(),
                counts.selection.to_string(),
                counts.rest.to_string(),
                known_as(counts.selection_part),
                known_as(counts.rest_part),
            ]
        };
        let named = self.values.iter().map(|row| line(row.value.as_deref(), 1, &row.counts));
        let further = self.others.iter().map(|others| line(None, others.values, &others.counts));
        named.chain(further).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_is_all_of_the_range_but_for_what_is_said() {
        let range = TimeMs(100)..TimeMs(200);
        let all = Selection { joined: range.clone(), wait_ms: 0..i64::MAX };
        assert_eq!(selection(&range, AskedPart::default()).ok(), Some(all));
        let part = |from_ms, to_ms, min_wait_ms, max_wait_ms| {
            let part = AskedPart { from_ms, to_ms, min_wait_ms, max_wait_ms };
            selection(&range, part).map_err(|error| error.sentence().to_owned())
        };
        let some = Selection { joined: TimeMs(150)..TimeMs(200), wait_ms: 7..9 };
        assert_eq!(part(Some(150), None, Some(7), Some(9)), Ok(some));
        for (asked, said) in [
            (part(Some(99), None, None, None), "within `from` and `to`"),
            (part(None, Some(201), None, None), "within `from` and `to`"),
            (part(Some(150), Some(150), None, None), "`sel_from` has to be before"),
            (part(None, None, Some(7), Some(7)), "less than `max_wait_ms`"),
        ] {
            assert!(asked.unwrap_err().contains(said), "{said}");
        }
    }
}
