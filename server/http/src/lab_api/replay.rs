//! A recorded lock replayed in the lab: ordered over HTTP or by the form on an incident's page. What was recorded is read
//! here, as far as whoever asks may see it; whether they may run it is the lab's own to say.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::{IntoResponse as _, Response};
use lab::replay::{RecordedLife, Replay};
use lab::script::{SCRIPT_LOCKS_MAX, SCRIPT_MS_MAX, SCRIPT_TURNS_MAX};
use lab::{LabDenied, LabRefusal};
use lockscope_page::run_url;
use lockscope_wire::{LabRangeCut, LabRecordedLock, LabReplay, LabReplayOrder, LabReplaySource, Strategy};

use super::started;
use crate::Http;
use crate::api::{Pairs, takes_none};
use crate::caller::Caller;
use crate::forms::{Typed, typed_in, value};
use crate::history::recorded_lives::{RecordedLock, recorded_lock};
use crate::problem::{ErrorResponse, echo};
use crate::redirect::see_other;
use crate::release_api::{JsonBody, read};
use feed::VisibilityScope;
use identity::Actor;

const ORDER: &str = "{\"path\": LOCK, \"from_ms\": MS, \"to_ms\": MS, \"speed\": 10, \"strategies\": [\"predecessor\", \"herd_exists\"]}";

/// `POST /api/v1/lab/replays`.
pub(crate) async fn start(
    State(http): State<Http>,
    Caller { actor, scope, .. }: Caller,
    order: JsonBody<LabReplayOrder>,
) -> Result<Response, ErrorResponse> {
    let order = read(order, ORDER)?;
    Ok(started(&begin(&http, &actor, scope, order).await?))
}

/// `GET /api/v1/lab/runs/ID/replay`.
pub(crate) async fn show(
    State(http): State<Http>,
    caller: Caller,
    Path(id): Path<String>,
    uri: Uri,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    takes_none(pairs, "/api/v1/lab/runs/ID/replay")?;
    if let Some(answer) = http.lab_answer_elsewhere(&caller, &id, &uri).await? {
        return Ok(answer);
    }
    Ok(Json(LabReplay::clone(&*http.lab.replay(&caller.scope, &id)?)).into_response())
}

/// `POST /lab/replay`: the same, by the form on an incident's page.
pub(crate) async fn start_typed(
    State(http): State<Http>,
    Caller { actor, scope, .. }: Caller,
    typed: Typed,
) -> Result<Response, ErrorResponse> {
    let order = typed_order(&typed_in(typed)?).map_err(LabRefusal::Bad)?;
    Ok(see_other(&run_url(&begin(&http, &actor, scope, order).await?)))
}

/// What was typed, as an order. Pure.
fn typed_order(pairs: &[(String, String)]) -> Result<LabReplayOrder, String> {
    let text = |name: &str| value(pairs, name).unwrap_or_default();
    let number = |name: &str| {
        let typed = text(name);
        typed.parse::<i64>().map_err(|_| format!("`{name}` is `{}`, which is no whole number", echo(typed)))
    };
    let is_ticked =
        |strategy: &Strategy| pairs.iter().any(|(name, value)| name == "strategies" && value == strategy.name());
    Ok(LabReplayOrder {
        ensemble: text("ensemble").to_owned(),
        path: text("path").to_owned(),
        further_locks: pairs.iter().filter(|(name, _)| name == "further_locks").map(|(_, path)| path.clone()).collect(),
        from_ms: number("from_ms")?,
        to_ms: number("to_ms")?,
        speed: u32::try_from(number("speed")?).unwrap_or(0),
        strategies: Strategy::ALL.into_iter().filter(is_ticked).collect(),
        in_turn: true,
        lab: Some(text("lab").to_owned()).filter(|lab| !lab.is_empty()),
    })
}

/// Reads what was recorded, and begins the run; gives its id.
pub(crate) async fn begin(
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
    let mut further: Vec<&String> = of.further_locks.iter().filter(|path| **path != of.path).collect();
    further.sort();
    further.dedup();
    if further.len() >= SCRIPT_LOCKS_MAX {
        return Err(bad(format!(
            "`further_locks` names {}; at most {} are played",
            further.len(),
            SCRIPT_LOCKS_MAX - 1
        )));
    }
    let of_lock = |path: &str| recorded_lock(http, scope, (&of.ensemble, path), (of.from_ms, of.to_ms));
    let RecordedLock { ensemble, recipe, mut lives, to_ms, part } = of_lock(&of.path)?;
    let mut further_locks = Vec::with_capacity(further.len());
    for (path, lock) in further.into_iter().zip(1..) {
        let there = of_lock(path)?;
        lives.extend(there.lives.into_iter().map(|life| RecordedLife { lock, ..life }));
        further_locks.push(LabRecordedLock { path: path.clone(), recipe: there.recipe });
        if lives.len() > SCRIPT_TURNS_MAX {
            // It is refused; nothing more has to be read for that.
            break;
        }
    }
    let source = LabReplaySource {
        ensemble,
        path: of.path.clone(),
        recipe,
        further_locks,
        from_ms: of.from_ms,
        to_ms,
        recorded_part: part,
        cut: LabRangeCut::default(),
    };
    Ok(Replay::new(&lives, source, of.speed, clients_max)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_an_order() {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let typed = [
            ("path", "/l"),
            ("from_ms", "5"),
            ("to_ms", "9"),
            ("speed", "10"),
            ("lab", ""),
            ("strategies", "herd_exists"),
            ("further_locks", "/m"),
            ("further_locks", "/n"),
        ];
        let order = typed_order(&pairs(&typed)).unwrap();
        assert_eq!(
            (order.path.as_str(), order.from_ms, order.to_ms, order.speed, order.in_turn),
            ("/l", 5, 9, 10, true)
        );
        assert_eq!(order.further_locks, ["/m", "/n"]);
        assert_eq!((order.strategies, order.lab, order.ensemble.as_str()), (vec![Strategy::HerdExists], None, ""));
        let wrong = typed_order(&pairs(&[("from_ms", "<b>")])).unwrap_err();
        assert_eq!(wrong, "`from_ms` is `<b>`, which is no whole number");
    }
}
