//! `/differs`: how some waits differ from the rest, for people: drawn by the server, without a script of its own.

use std::ops::Range;

use axum::extract::State;
use axum::response::Response;
use lockscope_core::time::TimeMs;
use lockscope_history::differs::{ROWS_FROM_MS, Selection, WaitsMap, row_ms};
use lockscope_page::ports::PastAnswer;
use lockscope_page::{
    ChosenWaits, DiffersFigures, DiffersView, Length, RangeWay, WaitsCell, WaitsFilter, WaitsRow, differs_page,
};

use super::ask::{Asked, LENGTHS};
use super::differs::{found, selection};
use crate::caller::Caller;
use crate::params::{NamedValues, Params};
use crate::problem::ErrorResponse;
use crate::{Http, server_pages};
use lockscope_live::absolute_or_none;
use lockscope_view::Scope;

const PAGE: &str = "/differs";

/// What an address asks for, with both ends of its range.
struct PageAsked {
    of: Asked,
    /// None where the range is named by its ends.
    length: Option<Length>,
    range: Range<TimeMs>,
    chosen: Selection,
    is_part: bool,
}

impl PageAsked {
    fn read(mut pairs: NamedValues, now_ms: i64) -> Result<Self, ErrorResponse> {
        // What forms send for fields that are left empty.
        pairs.retain(|(_, value)| !value.is_empty());
        let mut of = Asked::read(&pairs, 0)?;
        absolute_or_none(&of.path)?;
        let length = of.length(&pairs)?;
        let to_ms = of.to_ms.unwrap_or(now_ms.saturating_add(1));
        of.to_ms = Some(to_ms);
        if let Some(length) = length {
            of.from_ms = Some(to_ms.saturating_sub(length.ms()));
        }
        let range = of.range(now_ms)?;
        of.from_ms = Some(range.start.0);
        let chosen = selection(&range, of.part)?;
        let is_part = chosen != selection(&range, Default::default())?;
        Ok(Self { of, length, range, chosen, is_part })
    }

    /// A range by its length, with no selection.
    fn way(&self, length: Length, ensemble: &str) -> RangeWay {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let texts = [("ensemble", ensemble), ("path", self.of.path.as_str()), ("range", length.name())];
        query.extend_pairs(texts.into_iter().filter(|(_, value)| !value.is_empty()));
        RangeWay { length, url: format!("{PAGE}?{}", query.finish()), is_chosen: self.length == Some(length) }
    }

    /// What goes into an address for a selection.
    fn chosen(&self) -> [(&'static str, Option<i64>); 4] {
        let Selection { joined, wait_ms } = &self.chosen;
        let part = |value: i64| Some(value).filter(|_| self.is_part);
        [
            ("sel_from", part(joined.start.0)),
            ("sel_to", part(joined.end.0)),
            ("min_wait_ms", part(wait_ms.start)),
            ("max_wait_ms", part(wait_ms.end).filter(|ms| *ms < i64::MAX)),
        ]
    }
}

/// `GET /differs`.
pub(crate) async fn show(
    State(http): State<Http>,
    person: Caller,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let asked = PageAsked::read(pairs, http.hub.now_ms())?;
    let Caller { scope, principal, .. } = person.clone();
    let own = http.clone();
    let view = http.past_work.ask(&principal.owner, move || own.differs_view(&scope, asked)).await??;
    server_pages::page(&http, &person, |of| differs_page(of, &view))
}

impl Http {
    fn differs_view(&self, scope: &Scope, mut asked: PageAsked) -> Result<DiffersView, ErrorResponse> {
        let names = || self.moments.iter().flat_map(|moments| moments.recordings(scope).map(|(name, _)| name));
        let ensembles: Vec<String> = if names().count() > 1 { names().collect() } else { Vec::new() };
        // The first of several, until one is chosen.
        if asked.of.ensemble.is_empty() {
            asked.of.ensemble = ensembles.first().cloned().unwrap_or_default();
        }
        let named = if ensembles.is_empty() { String::new() } else { asked.of.ensemble.clone() };
        let is_off = self.recording(scope, &asked.of.ensemble)?.1.is_none();
        let found = if is_off { PastAnswer::Off } else { self.differing(scope, &asked, &named)? };
        let Selection { joined, wait_ms } = asked.chosen.clone();
        let json = asked.of.address("/api/v1/history/differs", &named, &asked.chosen());
        Ok(DiffersView {
            chosen: ChosenWaits {
                joined_ms: (joined.start.0, joined.end.0),
                min_wait_ms: wait_ms.start,
                max_wait_ms: Some(wait_ms.end).filter(|ms| *ms < i64::MAX),
                is_part: asked.is_part,
            },
            whole: asked.of.address(PAGE, &named, &[]),
            filter: WaitsFilter {
                path: asked.of.path.clone(),
                ways: LENGTHS.map(|length| asked.way(length, &named)).into(),
                range_ms: (asked.range.start.0, asked.range.end.0),
                csv: format!("{json}&format=csv"),
                json,
                ensemble: named,
                ensembles,
            },
            found,
        })
    }

    fn differing(
        &self,
        scope: &Scope,
        asked: &PageAsked,
        named: &str,
    ) -> Result<PastAnswer<DiffersFigures>, ErrorResponse> {
        let mut map = WaitsMap::new(asked.range.clone());
        match found(self, scope, &asked.of, &mut |span| map.note(span)) {
            Ok(differs) => {
                // The longest on top.
                let rows = (0..ROWS_FROM_MS.len()).rev().filter_map(|row| waits_row(&map, row, asked, named));
                Ok(PastAnswer::Found(Box::new(DiffersFigures { differs, rows: rows.collect() })))
            }
            Err(error) if error.status().is_server_error() => Ok(PastAnswer::Refused(error.sentence().to_owned())),
            Err(error) => Err(error),
        }
    }
}

fn waits_row(map: &WaitsMap, row: usize, asked: &PageAsked, named: &str) -> Option<WaitsRow> {
    let (min_wait_ms, max_wait_ms) = row_ms(row)?;
    let Selection { joined, wait_ms } = &asked.chosen;
    let is_row_chosen = wait_ms.start <= min_wait_ms && max_wait_ms.unwrap_or(i64::MAX) <= wait_ms.end;
    let cells = map.columns().map(|(column, counts)| {
        let count = counts.get(row).copied().unwrap_or(0);
        let chosen = [
            ("sel_from", Some(column.start.0)),
            ("sel_to", Some(column.end.0)),
            ("min_wait_ms", Some(min_wait_ms)),
            ("max_wait_ms", max_wait_ms),
        ];
        let is_column_chosen = joined.start <= column.start && column.end <= joined.end;
        WaitsCell {
            count,
            joined_ms: (column.start.0, column.end.0),
            is_chosen: asked.is_part && is_row_chosen && is_column_chosen,
            url: if count > 0 { asked.of.address(PAGE, named, &chosen) } else { String::new() },
        }
    });
    Some(WaitsRow { min_wait_ms, max_wait_ms, cells: cells.collect() })
}
