//! `POST /api/v1/alerts/test`: when a rule would have fired, over what was recorded.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use lockscope_alerts::backtest::{BacktestError, backtest};
use lockscope_alerts::draft::RuleDraft;
use lockscope_alerts::rule::Rule;
use lockscope_core::time::TimeMs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Http;
use crate::caller::Caller;
use crate::problem::ErrorResponse;
use crate::release_api::{JsonBody, read};
use lockscope_runtime::clock;
use lockscope_view::Scope;
use lockscope_view::api::{Backtest, Firing};
use lockscope_view::past::Gap;

const TEST: &str =
    "{\"rule\": {\"when\": [\"waiting > 30s\"], \"for\": \"10s\"}, \"from\": 1764041547412, \"to\": 1764045147412}";
const BACKTEST_MAX: Duration = Duration::from_secs(8);
const RANGE_MAX_MS: i64 = 7 * 86_400_000;
/// The range where none is named.
const USUAL_RANGE_MS: i64 = 86_400_000;

/// Body of `POST /api/v1/alerts/test`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestOrder {
    /// The ensemble; may be left out where there is one.
    #[serde(default)]
    pub(crate) ensemble: String,
    /// The name of a configured rule, or a rule with the keys of an `[[alert]]` table; this or `toml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<serde_json::Value>,
    /// The text of `[[alert]]` tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) toml: Option<String>,
    /// From when on, ms since the epoch; a day before `to` where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<i64>,
    /// Until when; now where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<i64>,
}

pub(crate) async fn test(
    State(http): State<Http>,
    caller: Caller,
    order: JsonBody<TestOrder>,
) -> Result<Response, ErrorResponse> {
    let order = read(order, TEST)?;
    Ok(Json(http.try_rule(&caller, order).await?).into_response())
}

impl Http {
    pub(super) async fn try_rule(&self, caller: &Caller, order: TestOrder) -> Result<Backtest, ErrorResponse> {
        let (scope, own) = (caller.scope.clone(), self.clone());
        self.past_work.ask(&caller.principal.owner, move || found(&own, &scope, order)).await?
    }
}

fn found(http: &Http, scope: &Scope, order: TestOrder) -> Result<Backtest, ErrorResponse> {
    let rules = rules(http, &order)?;
    let named = rules.iter().find_map(|rule| rule.ensemble.as_deref()).unwrap_or_default();
    let named = if order.ensemble.is_empty() { named } else { &order.ensemble };
    let (ensemble, store) = http.recorded(scope, named)?;
    let to = order.to.unwrap_or_else(|| http.hub.now_ms());
    let from = order.from.unwrap_or_else(|| to.saturating_sub(USUAL_RANGE_MS));
    if from < 0 || to <= from || to - from > RANGE_MAX_MS {
        return Err(unprocessable("`from` lies before `to`, and at most 7 days before it".to_owned()));
    }
    let range = TimeMs(from)..TimeMs(to);
    let tested = backtest(&*store, &ensemble, &rules, &range, clock::instant() + BACKTEST_MAX);
    let tested = tested.map_err(|error| match error {
        BacktestError::TooLong(at) => ErrorResponse::unavailable(format!(
            "it takes longer than 8 s; `to` = {} would do, or a shorter range",
            at.0.max(from + 1)
        )),
        BacktestError::Replay(error) => ErrorResponse::unavailable(format!("the past can't be replayed: {error}")),
    })?;
    let is_plain = scope.is_bounded() || !scope.payloads();
    let seen = tested.firings.into_iter().filter(|firing| scope.covers(&ensemble, &firing.lock));
    let firings = seen.map(|firing| Firing {
        sentence: if is_plain {
            format!("What the rule {} looks for was so.", firing.rule)
        } else {
            firing.sentence.into()
        },
        rule: firing.rule.to_string(),
        lock: firing.lock.to_string(),
        from_at_ms: firing.from.0,
        to_at_ms: firing.to.map(|to| to.0),
    });
    let firings: Vec<Firing> = firings.collect();
    let gaps = tested.gaps.into_iter().map(Gap::from).collect();
    Ok(Backtest { ensemble, firings, left_out: tested.left_out, gaps, unknown_ms: tested.unknown_ms })
}

fn rules(http: &Http, order: &TestOrder) -> Result<Vec<Rule>, ErrorResponse> {
    let drafts = match (&order.rule, &order.toml) {
        (Some(serde_json::Value::String(name)), None) => {
            let known = http.alert_desk()?.alerts.rule(name);
            return known
                .map(|rule| vec![rule])
                .ok_or_else(|| ErrorResponse::not_found("there is no rule of that name; /api/v1/alerts lists them"));
        }
        (Some(rule), None) => {
            let draft: RuleDraft = serde_json::from_value(rule.clone())
                .map_err(|error| unprocessable(format!("`rule` can't be read: {error}")))?;
            vec![draft]
        }
        (None, Some(text)) => RuleDraft::from_toml(text).map_err(|error| unprocessable(error.to_string()))?,
        (Some(_), Some(_)) | (None, None) => {
            return Err(unprocessable("give either `rule` or `toml`".to_owned()));
        }
    };
    let rules = drafts.into_iter().map(RuleDraft::rule).collect::<Result<Vec<_>, _>>();
    let rules = rules.map_err(|error| unprocessable(error.to_string()))?;
    if rules.len() > lockscope_alerts::rule::RULES_MAX {
        return Err(unprocessable("there are more than 64 rules; try fewer at once".to_owned()));
    }
    Ok(rules)
}

fn unprocessable(sentence: String) -> ErrorResponse {
    ErrorResponse::new(StatusCode::UNPROCESSABLE_ENTITY, sentence)
}
