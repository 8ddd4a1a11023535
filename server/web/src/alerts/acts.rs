//! What operators do about alerts: who may, and what is recorded of it before it takes effect.

use lockscope_view::{Alert, AlertMatchers, AuditKind, Silence};

use crate::Http;
use crate::caller::Caller;
use crate::problem::{ErrorResponse, echo};
use axum::http::StatusCode;
use lockscope_alerts::book::{BookError, SILENCE_MS_MAX};
use lockscope_audit::{Actor, Entry, Right};

const REASON_CHARS_MAX: usize = 500;
/// Longest name or pattern in a matcher, in bytes.
const MATCHER_MAX: usize = 512;

impl Http {
    pub(crate) async fn acknowledge(&self, caller: &Caller, key: &str, reason: &str) -> Result<Alert, ErrorResponse> {
        let Caller { actor, scope, .. } = caller;
        let desk = self.alert_desk()?;
        let reason = reason_of(reason)?;
        let found = desk.alerts.alert(key).filter(|alert| scope.covers(&alert.ensemble, &alert.lock));
        let alert = found.ok_or_else(|| refused(BookError::NoAlert(echo(key))))?;
        if !actor.may_at(Right::Release, &alert.ensemble, &alert.lock) {
            return Err(may_not(&format!("acknowledge an alert of {}", alert.lock)));
        }
        let detail = format!("looks at the alert {key} of the rule {}", alert.rule);
        let entry = Entry::of_server(AuditKind::AlertAcknowledged, detail);
        self.note(
            actor,
            Entry { ensemble: Some(alert.ensemble), lock: Some(alert.lock), reason: Some(reason.clone()), ..entry },
        )
        .await?;
        desk.alerts.acknowledge(key, actor.name.clone(), reason).await.map_err(refused)?;
        desk.alerts.alert(key).ok_or_else(|| refused(BookError::NoAlert(echo(key))))
    }

    pub(crate) async fn silence(
        &self,
        caller: &Caller,
        matchers: AlertMatchers,
        until_at_ms: i64,
        reason: &str,
    ) -> Result<Silence, ErrorResponse> {
        let actor = &caller.actor;
        let desk = self.alert_desk()?;
        let reason = reason_of(reason)?;
        let now_ms = desk.alerts.now_ms();
        if until_at_ms <= now_ms || until_at_ms.saturating_sub(now_ms) > SILENCE_MS_MAX {
            return Err(unprocessable(
                "a silence ends later than now and within 30 days; give `for_ms` or `until_at_ms`",
            ));
        }
        check_matchers(&matchers)?;
        if !may_silence(actor, &matchers) {
            return Err(may_not(
                "silence alerts beyond the locks that are yours; name their `ensemble`, and a `path` without stars",
            ));
        }
        let detail = format!("silences alerts of {} until {until_at_ms}", described(&matchers));
        let entry = Entry::of_server(AuditKind::AlertsSilenced, detail);
        let (ensemble, lock) = (matchers.ensemble.clone(), matchers.path.clone());
        self.note(actor, Entry { ensemble, lock, reason: Some(reason.clone()), ..entry }).await?;
        let silence = Silence { id: 0, matchers, by: actor.name.clone(), at_ms: now_ms, until_at_ms, reason };
        desk.alerts.silence(silence).await.map_err(refused)
    }

    pub(crate) async fn end_silence(&self, caller: &Caller, id: u64) -> Result<Silence, ErrorResponse> {
        let actor = &caller.actor;
        let desk = self.alert_desk()?;
        let silence = desk.alerts.silence_by_id(id).ok_or_else(|| refused(BookError::NoSilence(id)))?;
        if !may_silence(actor, &silence.matchers) {
            return Err(may_not("end a silence beyond the locks that are yours"));
        }
        let detail = format!("ends the silence {id} of {}", described(&silence.matchers));
        let entry = Entry::of_server(AuditKind::SilenceEnded, detail);
        let (ensemble, lock) = (silence.matchers.ensemble.clone(), silence.matchers.path.clone());
        self.note(actor, Entry { ensemble, lock, ..entry }).await?;
        desk.alerts.end_silence(id).await.map_err(refused)?;
        Ok(silence)
    }

    pub(crate) async fn note(&self, actor: &Actor, entry: Entry) -> Result<(), ErrorResponse> {
        let desk = self.alert_desk()?;
        let noted = desk.journal.append(Entry { actor: Some(actor.clone()), ..entry }).await;
        noted.map(drop).map_err(|error| {
            ErrorResponse::unavailable(format!("it can't be recorded in the audit log, so nothing was done: {error}"))
        })
    }
}

/// Whoever may act everywhere may silence anything; others the locks that they name one by one.
fn may_silence(actor: &Actor, matchers: &AlertMatchers) -> bool {
    if actor.scope.is_everywhere() {
        return actor.may(Right::Release);
    }
    match (&matchers.ensemble, &matchers.path) {
        (Some(ensemble), Some(path)) if !path.contains('*') => actor.may_at(Right::Release, ensemble, path),
        _ => false,
    }
}

fn check_matchers(matchers: &AlertMatchers) -> Result<(), ErrorResponse> {
    let AlertMatchers { rule, ensemble, path } = matchers;
    let all = [rule, ensemble, path];
    if all.iter().all(|one| one.is_none()) {
        return Err(unprocessable("`matchers` names nothing; give `rule`, `ensemble` or `path`"));
    }
    if all.iter().filter_map(|one| one.as_ref()).any(|text| text.is_empty() || text.len() > MATCHER_MAX) {
        return Err(unprocessable("a matcher is empty or longer than 512 bytes; leave it out or write less"));
    }
    if path.as_ref().is_some_and(|path| path.matches('*').count() > 8) {
        return Err(unprocessable("`path` has more than 8 stars; write fewer"));
    }
    Ok(())
}

fn described(matchers: &AlertMatchers) -> String {
    let part = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("{name} {value}"));
    let parts = [part("rule", &matchers.rule), part("ensemble", &matchers.ensemble), part("path", &matchers.path)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

pub(crate) fn reason_of(reason: &str) -> Result<String, ErrorResponse> {
    let reason = reason.trim();
    if reason.is_empty() || reason.chars().count() > REASON_CHARS_MAX {
        return Err(unprocessable("`reason` is to say why, in 1 to 500 characters"));
    }
    Ok(reason.to_owned())
}

pub(crate) fn unprocessable(sentence: &str) -> ErrorResponse {
    ErrorResponse::new(StatusCode::UNPROCESSABLE_ENTITY, sentence)
}

pub(crate) fn may_not(what: &str) -> ErrorResponse {
    ErrorResponse::new(StatusCode::FORBIDDEN, format!("your role may not {what}"))
}

fn refused(error: BookError) -> ErrorResponse {
    match error {
        BookError::NoAlert(_) | BookError::NoSilence(_) => ErrorResponse::not_found(error.to_string()),
        BookError::TooMany | BookError::TooManyOfPerson => ErrorResponse::new(StatusCode::CONFLICT, error.to_string()),
    }
}
