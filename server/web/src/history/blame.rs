//! `GET /api/v1/history/blame`: whose fault the waits of a range were.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_history::query::{BlameQuery, Question, blame, sum_of_ensembles};
use lockscope_view::Scope;
use lockscope_view::past::{Blame, BlameBy, BlameRow};

use super::ask::{Asked, give_up_at};
use crate::Http;
use crate::api::{ListFormat, share_past, with_format};
use crate::csv::{Column, Table, known_as, text};
use crate::params::Params;
use crate::problem::ErrorResponse;
use crate::shared_answers::{Answer, AnswerRequest};

pub(crate) const BLAME_MAX: usize = 1_000;
const BLAME_USUAL: usize = 100;

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (pairs, format) = with_format(pairs)?;
    let of = Asked::read(&pairs, BLAME_MAX)?;
    Ok(match format {
        ListFormat::Json => share_past(&http, asked, move |http, scope| found(http, &scope, &of).map(Json)).await,
        ListFormat::Csv => {
            let (own, scope) = (http.clone(), asked.scope.clone());
            http.past_shared.answer(asked, move || Answer::table(found(&own, &scope, &of).map(table))).await
        }
    })
}

pub(super) fn found(http: &Http, scope: &Scope, asked: &Asked) -> Result<Blame, ErrorResponse> {
    if asked.by == BlameBy::Client && !scope.payloads() {
        return Err(ErrorResponse::bad_request(
            "who a client says it is may not be shown to you; ask with by=host, by=session or by=lock",
        ));
    }
    let range = asked.range(http.hub.now_ms())?;
    let of = BlameQuery { by: asked.by, path: &asked.path, limit: asked.limit.unwrap_or(BLAME_USUAL) };
    if asked.by == BlameBy::Ensemble {
        let ask = |question: &Question<'_>| blame(question, of);
        let (answers, unanswered) = http.ask_each(scope, &asked.ensemble, &range, give_up_at(), ask)?;
        if let Some(sum) = sum_of_ensembles(answers) {
            return Ok(Blame { unanswered, ..sum });
        }
        // None is recorded: what is said of one.
    }
    http.ask_past(scope, &asked.ensemble, range, |question| blame(question, of))
}

/// The rows alone: a table has no place for what nobody in particular is charged.
fn table(blame: Blame) -> Table {
    let unanswered = blame.unanswered;
    let columns: [Column<'_, BlameRow>; _] = [
        ("key", &|row| text(&row.key)),
        ("holds", &|row| row.holds.to_string()),
        ("hold_p50_ms", &|row| known_as(row.hold_ms.as_ref().map(|times| times.p50))),
        ("hold_p99_ms", &|row| known_as(row.hold_ms.as_ref().map(|times| times.p99))),
        ("charged_ms", &|row| row.charged_ms.to_string()),
        ("charged_root_ms", &|row| known_as(row.charged_root_ms)),
        ("charged_week_before_ms", &|row| known_as(row.charged_week_before_ms)),
        ("victims", &|row| row.victims.to_string()),
        ("worst_at_ms", &|row| row.worst_at_ms.to_string()),
        ("worst_lock", &|row| text(&row.worst_lock)),
        ("share", &|row| row.share.to_string()),
    ];
    Table::of_first("blame", blame.rows, blame.total, columns).without(&unanswered)
}
