//! A warning of lock orders is silenced, or that ends: who may, and what is recorded before it takes effect.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use lockscope_view::{AuditKind, OrderSnooze, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Http;
use crate::alerts::acts::{may_not, reason_of, unprocessable};
use crate::caller::Caller;
use crate::forms::{Typed, typed_in, value};
use crate::params::{Params, short};
use crate::problem::{ErrorResponse, echo};
use crate::redirect::see_other;
use crate::release_api::{JsonBody, read};
use lockscope_alerts::service::SnoozeError;
use lockscope_audit::{Actor, Entry, Right};
use lockscope_live::FILTER_CHARS_MAX;

const FORM: &str =
    "{\"classes\": [\"/a\", \"/b\"], \"for_ms\": 86400000, \"reason\": \"mended with the next release\"}";
/// The longest snooze that ends by itself: 400 days. Beyond that somebody says that it is for good.
const SNOOZE_MS_MAX: i64 = 400 * 86_400_000;
/// How long whoever snoozes waits for the models to know of it.
const EFFECT_WITHIN: Duration = Duration::from_secs(2);
/// Where people come back to.
const SECTION: &str = "/waits#orders-title";

/// Body of `POST /api/v1/orders/snooze`. One of `for_ms`, `until_at_ms` and `for_good` says how long.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SnoozeOrder {
    /// The ensemble; needed where the same classes are warned of in several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ensemble: Option<String>,
    /// The classes of the warning: its `a`, `b` and `through`.
    pub(crate) classes: Vec<String>,
    /// For how long, in milliseconds, at most 400 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) for_ms: Option<i64>,
    /// Until when, ms since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until_at_ms: Option<i64>,
    /// Until somebody ends it.
    #[serde(default)]
    pub(crate) for_good: bool,
    /// Why, in at most 500 characters.
    pub(crate) reason: String,
}

/// `POST /api/v1/orders/snooze`.
pub(crate) async fn snooze(
    State(http): State<Http>,
    caller: Caller,
    order: JsonBody<SnoozeOrder>,
) -> Result<Response, ErrorResponse> {
    let made = http.snooze_order(&caller, read(order, FORM)?).await?;
    let at = [(LOCATION, HeaderValue::from_static("/api/v1/orders"))];
    Ok((StatusCode::CREATED, at, Json(made)).into_response())
}

/// `DELETE /api/v1/orders/snooze/ID`.
pub(crate) async fn end(
    State(http): State<Http>,
    caller: Caller,
    Path(id): Path<String>,
    Params(pairs): Params,
) -> Result<Json<OrderSnooze>, ErrorResponse> {
    let number = id.parse().map_err(|_| {
        ErrorResponse::not_found(format!("there is no snooze {:?}; /api/v1/orders lists them", echo(&id)))
    })?;
    let mut ensemble = None;
    for (name, value) in pairs {
        ensemble = Some(short(&name, &value, FILTER_CHARS_MAX)?);
    }
    Ok(Json(http.end_order_snooze(&caller, number, ensemble.as_deref()).await?))
}

/// `POST /waits/orders/snooze`: the same, typed into a form.
pub(crate) async fn snooze_typed(
    State(http): State<Http>,
    caller: Caller,
    typed: Typed,
) -> Result<Response, ErrorResponse> {
    let pairs = typed_in(typed)?;
    let for_text = value(&pairs, "for_ms").unwrap_or_default();
    let order = SnoozeOrder {
        ensemble: value(&pairs, "ensemble").filter(|name| !name.is_empty()).map(str::to_owned),
        classes: pairs.iter().filter(|(name, _)| name == "class").map(|(_, class)| class.clone()).collect(),
        for_ms: for_text.parse().ok(),
        until_at_ms: None,
        for_good: for_text == "for_good",
        reason: value(&pairs, "reason").unwrap_or_default().to_owned(),
    };
    http.snooze_order(&caller, order).await?;
    Ok(see_other(SECTION))
}

/// `POST /waits/orders/snooze/end`.
pub(crate) async fn end_typed(
    State(http): State<Http>,
    caller: Caller,
    typed: Typed,
) -> Result<Response, ErrorResponse> {
    let pairs = typed_in(typed)?;
    let id = value(&pairs, "id").and_then(|text| text.parse().ok()).unwrap_or(0);
    let ensemble = value(&pairs, "ensemble").filter(|name| !name.is_empty());
    http.end_order_snooze(&caller, id, ensemble).await?;
    Ok(see_other(SECTION))
}

impl Http {
    async fn snooze_order(&self, caller: &Caller, order: SnoozeOrder) -> Result<OrderSnooze, ErrorResponse> {
        let Caller { actor, scope, .. } = caller;
        let desk = self.alert_desk()?;
        let reason = reason_of(&order.reason)?;
        let now_ms = self.hub.now_ms();
        let until_at_ms = until(&order, now_ms)?;
        let (ensemble, classes) = self.warning_meant(scope, &order)?;
        if !classes.iter().all(|class| actor.may_at(Right::Release, &ensemble, class)) {
            return Err(may_not("silence a warning of locks that are not all yours"));
        }
        desk.alerts.check_order_snooze(&actor.name, &ensemble, &classes).map_err(refused)?;
        let how_long = until_at_ms.map_or_else(|| "for good".to_owned(), |until| format!("until {until}"));
        let detail = format!("silences the lock order {} {how_long}", classes.join(", "));
        self.note_snooze(actor, AuditKind::OrderSnoozed, (&ensemble, &classes[..]), detail, Some(reason.clone()))
            .await?;
        let (id, by) = (0, actor.name.clone());
        let of = (ensemble.clone(), classes.clone());
        let snooze = OrderSnooze { id, ensemble, classes, by, at_ms: now_ms, until_at_ms, reason };
        let made = match desk.alerts.snooze_order(snooze).await {
            Ok(made) => made,
            Err(error) => {
                if error != SnoozeError::NoAnswer {
                    // The log says that it is silenced.
                    let detail = format!("did not silence the lock order {}: {error}", of.1.join(", "));
                    let of = (&of.0, &of.1[..]);
                    let _ = self.note_snooze(actor, AuditKind::OrderSnoozeEnded, of, detail, None).await;
                }
                return Err(refused(error));
            }
        };
        self.until_shown(&made, true).await;
        Ok(made)
    }

    /// Ends one; `ensemble`: of which it is, where that was said.
    async fn end_order_snooze(
        &self,
        caller: &Caller,
        id: u64,
        ensemble: Option<&str>,
    ) -> Result<OrderSnooze, ErrorResponse> {
        let Caller { actor, scope, .. } = caller;
        let desk = self.alert_desk()?;
        let is_meant = |one: &OrderSnooze| ensemble.is_none_or(|name| one.ensemble == name);
        let known = desk.alerts.order_snooze(id).filter(is_meant);
        let seen = known.filter(|one| one.classes.iter().all(|class| scope.covers(&one.ensemble, class)));
        let snooze = seen.ok_or_else(|| refused(SnoozeError::Unknown(id)))?;
        if !snooze.classes.iter().all(|class| actor.may_at(Right::Release, &snooze.ensemble, class)) {
            return Err(may_not("end the silence of a warning of locks that are not all yours"));
        }
        let detail = format!("ends the silence {id} of the lock order {}", snooze.classes.join(", "));
        let of = (&snooze.ensemble, &snooze.classes[..]);
        self.note_snooze(actor, AuditKind::OrderSnoozeEnded, of, detail, None).await?;
        let ended = desk.alerts.end_order_snooze(id).await.map_err(refused)?;
        self.until_shown(&ended, false).await;
        Ok(ended)
    }

    /// The one warning that has these classes, of those that may be seen.
    fn warning_meant(&self, scope: &Scope, order: &SnoozeOrder) -> Result<(String, Vec<String>), ErrorResponse> {
        let all = super::orders(&self.hub, scope, order.ensemble.as_deref().unwrap_or_default())?;
        let mut meant = order.classes.clone();
        meant.dedup();
        let first = (0..meant.len()).min_by_key(|at| meant.get(*at)).unwrap_or(0);
        meant.rotate_left(first);
        let mut found = all.warnings.into_iter().filter(|warning| warning.classes() == meant);
        let one = found.next().ok_or_else(|| {
            ErrorResponse::not_found(
                "there is no warning of these `classes`; /api/v1/orders lists them, as a, b and through",
            )
        })?;
        if found.any(|other| other.ensemble != one.ensemble) {
            return Err(unprocessable("several ensembles have a warning of these classes; name the `ensemble`"));
        }
        Ok((one.ensemble, meant))
    }

    /// Of several classes no single lock is meant: whoever may not see all of them reads nothing of it.
    async fn note_snooze(
        &self,
        actor: &Actor,
        kind: AuditKind,
        (ensemble, classes): (&String, &[String]),
        detail: String,
        reason: Option<String>,
    ) -> Result<(), ErrorResponse> {
        let lock = classes.first().filter(|_| classes.len() == 1).cloned();
        self.note(actor, Entry { ensemble: Some(ensemble.clone()), lock, reason, ..Entry::of_server(kind, detail) })
            .await
    }

    /// Waits until a snooze is seen, or is not any more: it is stored, and takes effect however long that takes.
    async fn until_shown(&self, snooze: &OrderSnooze, is_there: bool) {
        let mut revisions = self.hub.projection().revisions();
        let shown = async {
            loop {
                let orders = super::orders(&self.hub, &Scope::ALL, &snooze.ensemble);
                if orders.map_or(true, |orders| orders.snoozes.iter().any(|one| one.id == snooze.id) == is_there)
                    || revisions.changed().await.is_err()
                {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(EFFECT_WITHIN, shown).await;
    }
}

/// Until when; None: for good.
fn until(order: &SnoozeOrder, now_ms: i64) -> Result<Option<i64>, ErrorResponse> {
    let until = match (order.for_ms, order.until_at_ms, order.for_good) {
        (Some(for_ms), None, false) => now_ms.saturating_add(for_ms),
        (None, Some(until), false) => until,
        (None, None, true) => return Ok(None),
        _ => return Err(unprocessable("give one of `for_ms`, `until_at_ms` and `for_good`")),
    };
    if until <= now_ms || until.saturating_sub(now_ms) > SNOOZE_MS_MAX {
        return Err(unprocessable("a snooze ends later than now and within 400 days, or is `for_good`"));
    }
    Ok(Some(until))
}

fn refused(error: SnoozeError) -> ErrorResponse {
    match error {
        SnoozeError::Unknown(_) => ErrorResponse::not_found(error.to_string()),
        SnoozeError::TooMany | SnoozeError::TooManyOfPerson | SnoozeError::Already(_) => {
            ErrorResponse::new(StatusCode::CONFLICT, error.to_string())
        }
        SnoozeError::Disk(_) | SnoozeError::NoAnswer => ErrorResponse::unavailable(error.to_string()),
    }
}
