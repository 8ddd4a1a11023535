//! `GET /api/v1/history/export`: the lives of contenders in a range as a file, for spreadsheets and for Perfetto, or all of
//! it as a history of its own.

use axum::extract::State;
use axum::response::Response;
use lockscope_history::query::{HoldsQuery, hold_of, spans};

use super::ask::{Asked, ExportFormat};
use super::bundle;
use super::file_rooms::while_it_is_sent;
use super::going_on::still;
use super::trace::trace;
use crate::Http;
use crate::csv::{self, Column, Table, known_as, text};
use crate::params::Params;
use crate::problem::ErrorResponse;
use crate::shared_answers::{Answer, AnswerRequest};
use lockscope_view::Scope;
use lockscope_view::past::Hold;

const SPANS_MAX: usize = 50_000;
const BYTES_MAX: usize = 32 << 20;

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let of = Asked::read(&pairs, 1)?;
    if of.format == ExportFormat::Sqlite {
        return bundle::show(&http, asked, of).await;
    }
    let place = http.files.text(&asked.caller)?;
    let (own, scope) = (http.clone(), asked.scope.clone());
    let answer = http.past_shared.answer(asked, move || file(&own, &scope, &of));
    // The route has no bound of its own, for the sake of bundles.
    Ok(while_it_is_sent(http.in_time(answer).await?, place))
}

fn file(http: &Http, scope: &Scope, asked: &Asked) -> Answer {
    let lives = lives(http, scope, asked);
    match asked.format {
        ExportFormat::Csv | ExportFormat::Sqlite => Answer::table(lives.map(|lives| table(&lives))),
        ExportFormat::Perfetto => match lives {
            Ok(lives) => {
                Answer::file("application/json", "lockscope-history.json".to_owned(), trace(&lives, http.hub.now_ms()))
            }
            Err(refused) => Answer::Refused(refused),
        },
    }
}

/// All of the range, the newest first.
fn lives(http: &Http, scope: &Scope, asked: &Asked) -> Result<Vec<Hold>, ErrorResponse> {
    let now_ms = http.hub.now_ms();
    let range = asked.range(now_ms)?;
    let of = HoldsQuery { limit: SPANS_MAX, bytes_max: BYTES_MAX, ..asked.holds() };
    let (ended, oldest, ensemble) = http.ask_past(scope, &asked.ensemble, range.clone(), |question| {
        let (spans, more) = spans(question, of)?;
        let oldest = spans.last().filter(|_| more.is_some()).map(|span| span.left_at);
        let ended: Vec<Hold> = spans.into_iter().map(|span| hold_of(span, question)).collect();
        Ok((ended, oldest, question.ensemble.to_owned()))
    })?;
    if let Some(oldest) = oldest {
        return Err(ErrorResponse::bad_request(format!(
            "more than {SPANS_MAX} contenders left in that range, or their names take more than {} MiB; a shorter one would do, such as from={}&to={}",
            BYTES_MAX >> 20,
            oldest.0 + 1,
            range.end.0
        )));
    }
    let mut lives = still(http, scope, &ensemble, asked, now_ms)?;
    lives.extend(ended);
    Ok(lives)
}

fn table(lives: &[Hold]) -> Table {
    let columns: [Column<'_, Hold>; _] = [
        ("czxid", &|life| life.czxid.clone()),
        ("lock", &|life| text(&life.lock)),
        ("node", &|life| text(&life.node)),
        ("session_id", &|life| known_as(life.session_id.as_deref())),
        ("label", &|life| text(life.label.as_deref().unwrap_or_default())),
        ("client", &|life| text(life.client.as_deref().unwrap_or_default())),
        ("joined_at_ms", &|life| life.joined_at_ms.to_string()),
        ("held_at_ms", &|life| known_as(life.held_at_ms)),
        ("left_at_ms", &|life| known_as(life.left_at_ms)),
        ("how", &|life| life.how.to_string()),
        ("wait_ms", &|life| life.wait_ms.to_string()),
        ("hold_ms", &|life| known_as(life.hold_ms)),
        ("is_lower_bound", &|life| life.is_lower_bound.to_string()),
    ];
    Table { file_name: "lockscope-history.csv".to_owned(), text: csv::lines(lives, columns) }
}
