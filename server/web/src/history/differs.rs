//! `GET /api/v1/history/differs`: how some waits of a range differ from the rest.

use std::ops::Range;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_core::time::TimeMs;
use lockscope_history::differs::Selection;
use lockscope_history::query::{DiffersParts, differs};
use lockscope_history::store::rows::Span;
use lockscope_view::Scope;
use lockscope_view::past::{Differs, Dimension, WaitCounts};

use super::ask::{Asked, AskedPart};
use crate::Http;
use crate::api::{ListFormat, share_past, with_format};
use crate::csv::{Column, Table, known_as, text};
use crate::params::Params;
use crate::problem::ErrorResponse;
use crate::shared_answers::{Answer, AnswerRequest};

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (pairs, format) = with_format(pairs)?;
    let of = Asked::read(&pairs, 0)?;
    Ok(match format {
        ListFormat::Json => {
            share_past(&http, asked, move |http, scope| found(http, &scope, &of, &mut |_| {}).map(Json)).await
        }
        ListFormat::Csv => {
            let (own, scope) = (http.clone(), asked.scope.clone());
            http.past_shared
                .answer(asked, move || Answer::table(found(&own, &scope, &of, &mut |_| {}).map(table)))
                .await
        }
    })
}

/// How they differ; `note` gets each wait that may be seen.
pub(super) fn found(
    http: &Http,
    scope: &Scope,
    asked: &Asked,
    note: &mut dyn FnMut(&Span),
) -> Result<Differs, ErrorResponse> {
    let range = asked.range(http.hub.now_ms())?;
    let selection = &selection(&range, asked.part)?;
    let rule = http.moments.as_ref().map(|moments| moments.applications().now()).unwrap_or_default();
    let application_of = &|label: &str| rule.application_of(label).to_owned();
    let of = DiffersParts { path: &asked.path, selection, application_of };
    http.ask_past(scope, &asked.ensemble, range, |question| differs(question, of, note))
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

/// A line for each value of each dimension, and one for all further values of it, which has no value and says how many. So
/// does one of a value that is not known, which is one.
fn table(differs: Differs) -> Table {
    type Line<'a> = (&'a Dimension, Option<&'a str>, usize, &'a WaitCounts);
    let lines = differs.dimensions.iter().flat_map(|of| {
        let named = of.values.iter().map(move |row| (of, row.value.as_deref(), 1, &row.counts));
        named.chain(of.others.iter().map(move |others| (of, None, others.values, &others.counts)))
    });
    let lines: Vec<Line<'_>> = lines.collect();
    let total = lines.len();
    let columns: [Column<'_, Line<'_>>; _] = [
        ("dimension", &|(of, ..)| of.name.to_owned()),
        ("difference", &|(of, ..)| known_as(of.difference)),
        ("is_lower_bound", &|(of, ..)| of.is_lower_bound.to_string()),
        ("value", &|(_, value, ..)| text(value.unwrap_or_default())),
        ("values", &|(_, _, values, _)| values.to_string()),
        ("selection", &|(.., counts)| counts.selection.to_string()),
        ("rest", &|(.., counts)| counts.rest.to_string()),
        ("selection_part", &|(.., counts)| known_as(counts.selection_part)),
        ("rest_part", &|(.., counts)| known_as(counts.rest_part)),
    ];
    Table::of_first("differs", lines, total, columns)
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
