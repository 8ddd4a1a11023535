//! What was found on a model becomes an alert that is kept.

use lockscope_core::diagnosis::Severity as CoreSeverity;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_view::{Alert, AlertRule, AlertState, Severity};

use super::{Book, KeptAlert};
use crate::duty::hash_of;
use crate::evaluator::{ActiveAlert, AlertEnd, AlertNews};
use crate::rule::{Condition, Rule};

/// Bytes of a key's hash: enough that no two alerts have the same.
const KEY_BYTES: usize = 12;

/// The page that says what can be seen, and the condition whose alerts lead there.
const STATUS: &str = "/status";
const UNSEEN: &str = "unseen";

pub(crate) fn severity(severity: CoreSeverity) -> Severity {
    match severity {
        CoreSeverity::Info => Severity::Info,
        CoreSeverity::Warning => Severity::Warning,
        CoreSeverity::Critical => Severity::Critical,
    }
}

pub fn rule_shown(rule: &Rule) -> AlertRule {
    AlertRule {
        name: rule.name.to_string(),
        when: rule.when.iter().map(|condition: &Condition| condition.text()).collect(),
        path: rule.path.clone(),
        ensemble: rule.ensemble.clone(),
        for_ms: rule.for_ms,
        severity: severity(rule.severity),
        routes: rule.routes.clone(),
        is_built_in: rule.is_built_in,
    }
}

impl Book {
    /// Takes in what was found in an ensemble, and notes who is to be told: what is over before anybody looked is told all
    /// the same. `link`: the address of a lock at an instant.
    pub fn take(&mut self, ensemble: &str, news: Vec<AlertNews>, now_ms: i64, link: impl Fn(&str, i64) -> String) {
        for AlertNews { alert, end } in news {
            let key = key_of(ensemble, &alert);
            if end == Some(AlertEnd::NeverFired) {
                self.alerts.remove(&key);
            } else {
                let kept = self.kept(&key, ensemble, &alert, end, &link);
                self.alerts.insert(key.clone(), kept);
                self.note_routes(&key, now_ms);
            }
            self.unsaved_alerts.insert(key);
        }
    }

    /// What was active in an ensemble, for who goes on with it.
    pub fn active_in(&self, ensemble: &str) -> Vec<ActiveAlert> {
        let of_it = self.alerts.values().filter(|kept| kept.alert.ensemble == ensemble);
        let active = of_it.filter(|kept| kept.alert.state != AlertState::Resolved);
        active
            .map(|KeptAlert { alert, found_at_ms, over_since_ms, hold, .. }| ActiveAlert {
                rule: alert.rule.as_str().into(),
                lock: alert.lock.as_str().into(),
                found_at: TimeMs(*found_at_ms),
                since: TimeMs(alert.since_at_ms),
                fired_at: alert.fired_at_ms.map(TimeMs),
                unknown_since: alert.unknown_since_ms.map(TimeMs),
                over_since: over_since_ms.map(TimeMs),
                hold: hold.map(Zxid),
                sentence: alert.sentence.as_str().into(),
            })
            .collect()
    }

    fn kept(
        &self,
        key: &str,
        ensemble: &str,
        alert: &ActiveAlert,
        end: Option<AlertEnd>,
        link: &impl Fn(&str, i64) -> String,
    ) -> KeptAlert {
        let before = self.alerts.get(key);
        let rule = self.rules.iter().find(|rule| rule.name == *alert.rule);
        let resolved_at = match end {
            Some(AlertEnd::Resolved(at)) => Some(at),
            Some(AlertEnd::NeverFired) | None => None,
        };
        let state = match (resolved_at, alert.fired_at) {
            (Some(_), _) => AlertState::Resolved,
            (None, Some(_)) => AlertState::Firing,
            (None, None) => AlertState::Pending,
        };
        // What can't be seen has no page of its own.
        let is_unseen = rule.is_some_and(|rule| rule.when.iter().all(|condition| condition.starts_with(UNSEEN)));
        let link =
            if is_unseen { STATUS.to_owned() } else { link(&alert.lock, alert.fired_at.unwrap_or(alert.since).0) };
        let before_severity = before.map_or(Severity::Warning, |kept| kept.alert.severity);
        // Somebody may have acknowledged it at another server, which found it first.
        let named = (&*alert.rule, ensemble, &*alert.lock);
        let told = self.shared.as_ref().and_then(|shared| {
            shared.acknowledgement(named, alert.since.0.min(alert.found_at.0)).filter(|_| resolved_at.is_none())
        });
        let acked_by = before.and_then(|kept| kept.alert.acked_by.clone()).or_else(|| told.cloned());
        KeptAlert {
            alert: Alert {
                key: key.to_owned(),
                rule: alert.rule.to_string(),
                ensemble: ensemble.to_owned(),
                lock: alert.lock.to_string(),
                severity: rule.map_or(before_severity, |rule| rule.severity),
                state,
                since_at_ms: alert.since.0,
                fired_at_ms: alert.fired_at.map(|at| at.0),
                resolved_at_ms: resolved_at.map(|at| at.0),
                unknown_since_ms: alert.unknown_since.map(|at| at.0).filter(|_| resolved_at.is_none()),
                sentence: alert.sentence.to_string(),
                link,
                silenced_by: None,
                acked_by,
            },
            found_at_ms: alert.found_at.0,
            over_since_ms: alert.over_since.map(|at| at.0),
            hold: alert.hold.map(|czxid| czxid.0),
            tellings: before.map(|kept| kept.tellings.clone()).unwrap_or_default(),
        }
    }
}

/// The same for the same alert of any process: letters, digits and nothing that anybody chose.
fn key_of(ensemble: &str, alert: &ActiveAlert) -> String {
    hash_of([&alert.rule, ensemble, &alert.lock], &alert.found_at.0.to_le_bytes(), KEY_BYTES)
}
