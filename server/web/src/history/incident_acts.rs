//! What was done about an incident and who was called: releases through Lockscope, and alerts.

use std::collections::BTreeSet;

use lockscope_history::incident::{Incident, Life};
use lockscope_history::store::rows::SpanEnd;
use lockscope_view::past::{IncidentAlert, IncidentRelease};
use lockscope_view::{Scope, Zxid};

use crate::Http;
pub(super) use lockscope_view::Alert;

/// An alert, and a release, belong to an incident that is so near.
pub(super) const AROUND_MS: i64 = 60_000;
/// Alerts and releases that are listed of one incident. Overflow policy: the oldest are.
const ACTS_MAX: usize = 100;

/// Somebody released a lock through Lockscope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Release {
    pub(super) at_ms: i64,
    pub(super) lock: String,
    /// Who, where that is known and may be shown.
    pub(super) by: Option<String>,
    /// Where that is on record.
    pub(super) record: Option<u64>,
}

/// A release, as it is answered.
pub(super) fn release_of(Release { at_ms, lock, by, record }: Release) -> IncidentRelease {
    IncidentRelease { at_ms, lock, by, record }
}

/// An alert, as it is answered.
pub(super) fn alert_of(of: Alert) -> IncidentAlert {
    IncidentAlert {
        key: of.key,
        rule: of.rule,
        lock: of.lock,
        severity: of.severity.name(),
        fired_at_ms: of.fired_at_ms.unwrap_or(of.since_at_ms),
        resolved_at_ms: of.resolved_at_ms,
        acked_by: of.acked_by.map(|acked| acked.by),
        sentence: of.sentence,
    }
}

/// Who released a contender through Lockscope, and where that is on record, as far as it is known and may be shown.
pub(super) fn forced_by(http: &Http, scope: &Scope, ensemble: &str, czxid: i64) -> (Option<String>, Option<u64>) {
    let kept = http.moments.as_ref().filter(|_| scope.records());
    let release = kept.and_then(|moments| moments.forced().of(ensemble, Zxid(czxid)));
    release.map_or((None, None), |release| (Some(release.by), release.record))
}

/// The releases by which somebody of an incident was gone.
pub(super) fn releases_of(http: &Http, scope: &Scope, ensemble: &str, lives: &[Life]) -> Vec<Release> {
    let forced = lives.iter().filter(|life| life.how == Some(SpanEnd::Forced));
    let release = |life: &Life| {
        let (by, record) = forced_by(http, scope, ensemble, life.czxid.0);
        Some(Release { at_ms: life.left_at?.0, lock: life.lock.to_string(), by, record })
    };
    let mut found: Vec<Release> = forced.filter_map(release).collect();
    found.sort_by(|one, other| (one.at_ms, &one.lock).cmp(&(other.at_ms, &other.lock)));
    found.truncate(ACTS_MAX);
    found
}

/// The alerts at the locks of an incident that fired while it lasted, or near. `until_ms`: when it ended, or how far it is.
pub(super) fn alerts_of(http: &Http, scope: &Scope, ensemble: &str, incident: &Incident, until_ms: i64) -> Vec<Alert> {
    let locks: BTreeSet<&str> = incident.locks().into_iter().collect();
    let (from_ms, to_ms) = (incident.from.0 - AROUND_MS, until_ms + AROUND_MS);
    let mut found = http.alerts_in(scope, ensemble);
    found.retain(|alert| {
        let fired = alert.fired_at_ms.is_some_and(|fired| fired <= to_ms);
        fired && locks.contains(&*alert.lock) && alert.resolved_at_ms.is_none_or(|resolved| resolved >= from_ms)
    });
    found.sort_by(|one, other| (one.fired_at_ms, &one.key).cmp(&(other.fired_at_ms, &other.key)));
    found.truncate(ACTS_MAX);
    found
}
