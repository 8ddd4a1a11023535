//! A recorded lock replayed in the lab: ordered over HTTP or by the form on an incident's page. What was recorded is read
//! here, as far as whoever asks may see it; whether they may run it is the lab's own to say.

use std::ops::ControlFlow;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use history::incident::Life;
use history::store::rows::{Span, SpanEnd, SpanQuery};
use lab::replay::{RecordedLife, Replay};
use lab::script::{SCRIPT_MS_MAX, SCRIPT_TURNS_MAX};
use lab::{LabDenied, LabRefusal};
use lockscope_core::time::TimeMs;
use lockscope_wire::{LabRangeCut, LabReplay, LabReplayOrder, LabReplaySource};

use super::Http;
use super::api::{Pairs, takes_none};
use super::caller::Caller;
use super::history::recorded_lives::{covered, lives_there, of_lock};
use super::lab_api::started;
use super::problem::ErrorResponse;
use super::release_api::{JsonBody, read};
use feed::VisibilityScope;
use identity::Actor;

const ORDER: &str = "{\"path\": LOCK, \"from_ms\": MS, \"to_ms\": MS, \"speed\": 10, \"strategies\": [\"predecessor\", \"herd_exists\"]}";

/// `POST /api/v1/lab/replays`.
pub(super) async fn start(
    State(http): State<Http>,
    Caller { actor, scope, .. }: Caller,
    order: JsonBody<LabReplayOrder>,
) -> Result<Response, ErrorResponse> {
    let order = read(order, ORDER)?;
    Ok(started(&begin(&http, &actor, scope, order).await?))
}

/// `GET /api/v1/lab/runs/ID/replay`.
pub(super) async fn show(
    State(http): State<Http>,
    Caller { scope, .. }: Caller,
    Path(id): Path<String>,
    pairs: Pairs,
) -> Result<Json<LabReplay>, ErrorResponse> {
    takes_none(pairs, "/api/v1/lab/runs/ID/replay")?;
    Ok(Json(LabReplay::clone(&*http.lab.replay(&scope, &id)?)))
}

/// Reads what was recorded, and begins the run; gives its id.
pub(super) async fn begin(
    http: &Http,
    actor: &Actor,
    scope: VisibilityScope,
    order: LabReplayOrder,
) -> Result<String, ErrorResponse> {
    if !http.lab.is_on() {
        return Err(LabRefusal::Off.into());
    }
    let (own, of) = (http.clone(), order.clone());
    let clients_max = http.lab.runs(&VisibilityScope::ALL).clients_max;
    let replay = http.past_work.ask(&actor.quota_owner(), move || recorded(&own, &scope, &of, clients_max)).await??;
    let LabReplayOrder { lab, strategies, in_turn, .. } = order;
    let order = replay.order(lab, strategies, in_turn);
    http.lab.start_run(actor, order, Some(replay)).await.map_err(|denied: LabDenied| denied.into())
}

/// What was recorded of the lock in the range.
fn recorded(
    http: &Http,
    scope: &VisibilityScope,
    of: &LabReplayOrder,
    clients_max: u32,
) -> Result<Replay, ErrorResponse> {
    let bad = |why: String| ErrorResponse::from(LabRefusal::Bad(why));
    let longest_ms = SCRIPT_MS_MAX.saturating_mul(i64::from(of.speed.max(1)));
    if of.from_ms < 0 || of.from_ms >= of.to_ms {
        return Err(bad("`from_ms` has to be an instant before `to_ms`".to_owned()));
    }
    if of.to_ms.saturating_sub(of.from_ms) > longest_ms {
        return Err(bad(format!(
            "the range is longer than {longest_ms} ms, the most at that speed; choose a shorter one or a higher speed"
        )));
    }
    let (ensemble, store) = http.recorded(scope, &of.ensemble)?;
    let now = TimeMs(http.hub.now_ms());
    let range = TimeMs(of.from_ms)..TimeMs(of.to_ms.min(now.0.saturating_add(1)));
    if range.start >= range.end {
        return Err(bad("the range has not begun; choose one of the past".to_owned()));
    }
    let (mut lives, mut recipe) = (Vec::new(), None);
    if scope.covers(&ensemble, &of.path) {
        let query = SpanQuery {
            range: range.start..now + 1,
            lock: Some(of.path.as_str().into()),
            joined_before: Some(range.end),
            ..SpanQuery::default()
        };
        of_lock(&*store, query, &range, |span| {
            recipe.get_or_insert_with(|| span.recipe.to_string());
            lives.push(ended(&span));
            if lives.len() > SCRIPT_TURNS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let (recipe_now, there) = lives_there(http, scope, &ensemble, &of.path).map_err(&bad)?;
        recipe = recipe.or(recipe_now);
        // Whoever left while this was read is among those that ended.
        let is_new = |life: &Life| lives.iter().all(|known: &RecordedLife| known.rank != life.czxid.0);
        let there: Vec<RecordedLife> = there.iter().filter(|life| is_new(life)).map(going_on).collect();
        lives.extend(there);
    }
    let source = LabReplaySource {
        recorded_part: covered(&*store, &range)?,
        ensemble,
        path: of.path.clone(),
        recipe: recipe.unwrap_or_default(),
        from_ms: range.start.0,
        to_ms: range.end.0,
        cut: LabRangeCut::default(),
    };
    Ok(Replay::new(&lives, source, of.speed, clients_max)?)
}

fn ended(span: &Span) -> RecordedLife {
    RecordedLife {
        rank: span.czxid.0,
        session: span.session.map(|session| session.0),
        joined_ms: span.joined_at.0,
        held_ms: span.held_at.map(|at| at.0),
        left_ms: Some(span.left_at.0),
        has_died: span.how == SpanEnd::SessionEnded,
        is_unsure: span.is_lower_bound || span.how == SpanEnd::Unknown,
    }
}

fn going_on(life: &Life) -> RecordedLife {
    RecordedLife {
        rank: life.czxid.0,
        session: life.session.map(|session| session.0),
        joined_ms: life.joined_at.0,
        held_ms: life.held_at.map(|at| at.0),
        left_ms: None,
        has_died: false,
        is_unsure: false,
    }
}
