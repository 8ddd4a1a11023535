//! `GET /api/v1/history/export`: the lives of contenders in a range as a file, for spreadsheets and for Perfetto, or all of
//! it as a history of its own.

use axum::extract::State;
use axum::response::Response;

use super::ask::{Asked, ExportFormat, refused};
use super::bundle;
use super::file_rooms::while_it_is_sent;
use super::going_on::still;
use super::holds::{HoldJson, Shown, SpanLimit, spans};
use super::trace::trace;
use crate::Http;
use crate::api::Pairs;
use crate::csv::{self, Table, known_as, text};
use crate::problem::ErrorResponse;
use crate::shared_answers::{Answer, AnswerRequest};
use lockscope_live::VisibilityScope;

const TAKES: [&str; 7] = ["ensemble", "path", "session", "client", "from", "to", "format"];
/// Lives in one file, and bytes of their names.
const FILE_MAX: SpanLimit = SpanLimit { spans: 50_000, bytes: 32 << 20 };
const COLUMNS: [&str; 13] = [
    "czxid",
    "lock",
    "node",
    "session_id",
    "label",
    "client",
    "joined_at_ms",
    "held_at_ms",
    "left_at_ms",
    "how",
    "wait_ms",
    "hold_ms",
    "is_lower_bound",
];

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let of = Asked::read(pairs, &TAKES, 1)?;
    if of.format == ExportFormat::Sqlite {
        return bundle::show(&http, asked, of).await;
    }
    let place = http.files.text(&asked.caller)?;
    let (own, scope) = (http.clone(), asked.scope.clone());
    let answer = http.past_shared.answer(asked, move || file(&own, &scope, &of));
    // The route has no bound of its own, for the sake of bundles.
    Ok(while_it_is_sent(http.in_time(answer).await?, place))
}

fn file(http: &Http, scope: &VisibilityScope, asked: &Asked) -> Answer {
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
fn lives(http: &Http, scope: &VisibilityScope, asked: &Asked) -> Result<Vec<HoldJson>, ErrorResponse> {
    let (ensemble, store) = http.recorded(scope, &asked.ensemble)?;
    let now_ms = http.hub.now_ms();
    let range = asked.range(now_ms)?;
    let (ended, more) =
        spans(&*store, scope, &ensemble, asked, &range, FILE_MAX).map_err(|error| refused(error, &range))?;
    if let Some(oldest) = ended.last().filter(|_| more.is_some()) {
        return Err(ErrorResponse::bad_request(format!(
            "more than {} contenders left in that range, or their names take more than {} MiB; a shorter one would do, such as from={}&to={}",
            FILE_MAX.spans,
            FILE_MAX.bytes >> 20,
            oldest.left_at.0 + 1,
            range.end.0
        )));
    }
    let mut lives = still(http, scope, &ensemble, asked, now_ms)?;
    let shown = Shown::new(scope, &ensemble);
    lives.extend(ended.into_iter().map(|span| HoldJson::ended(span, shown)));
    Ok(lives)
}

fn table(lives: &[HoldJson]) -> Table {
    let lines = csv::lines(COLUMNS, lives, |life| {
        [
            life.czxid.clone(),
            text(&life.lock),
            text(&life.node),
            known_as(life.session_id.as_deref()),
            text(life.label.as_deref().unwrap_or_default()),
            text(life.client.as_deref().unwrap_or_default()),
            life.joined_at_ms.to_string(),
            known_as(life.held_at_ms),
            known_as(life.left_at_ms),
            life.how.to_owned(),
            life.wait_ms.to_string(),
            known_as(life.hold_ms),
            life.is_lower_bound.to_string(),
        ]
    });
    Table { file_name: "lockscope-history.csv".to_owned(), text: lines }
}
