//! Which alerts somebody may see, and how much of each.

use lockscope_view::{Alert, AlertState, Alerts, Scope};

use crate::Http;
use crate::problem::ErrorResponse;
use lockscope_alerts::book::is_meant;
use lockscope_audit::{Actor, Right};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StateFilter {
    #[default]
    All,
    Of(AlertState),
    Silenced,
}

impl StateFilter {
    /// The names that an address may have.
    pub(crate) const NAMES: [&'static str; 5] = ["firing", "pending", "resolved", "silenced", "all"];

    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "" | "all" => Some(Self::All),
            "silenced" => Some(Self::Silenced),
            _ => AlertState::ALL.into_iter().find(|state| state.name() == name).map(Self::Of),
        }
    }

    fn takes(self, alert: &Alert) -> bool {
        match self {
            Self::All => true,
            Self::Of(state) => alert.state == state,
            Self::Silenced => alert.silenced_by.is_some(),
        }
    }
}

/// Alerts of one answer; of the rest the newest and worst are there.
pub(crate) const ALERTS_MAX: usize = 1_000;

impl Http {
    pub(crate) fn alerts_for(
        &self,
        actor: &Actor,
        scope: &Scope,
        filter: StateFilter,
    ) -> Result<Alerts, ErrorResponse> {
        let desk = self.alert_desk()?;
        let mut all = desk.alerts.view();
        all.alerts = seen(all.alerts, scope);
        if scope.is_bounded() {
            // What is said of other locks is not theirs to read.
            let seen = &all.alerts;
            all.silences.retain(|silence| seen.iter().any(|alert| is_meant(&silence.matchers, alert)));
            all.rules.retain(|rule| rule.is_built_in || seen.iter().any(|alert| alert.rule == rule.name));
        }
        if !actor.may(Right::Release) {
            all.routes.clear();
        }
        all.alerts.retain(|alert| filter.takes(alert));
        all.alerts.truncate(ALERTS_MAX);
        Ok(all)
    }

    /// Those that fire and that nobody silenced, worst first; None where there are no alerts at all.
    pub(crate) fn loud_alerts(&self, scope: &Scope) -> Option<Vec<Alert>> {
        let loud = self.alerts.as_ref()?.alerts.loud(|alert| scope.covers(&alert.ensemble, &alert.lock));
        let mut loud = seen(loud, scope);
        loud.truncate(ALERTS_MAX);
        Some(loud)
    }

    /// The alerts of an ensemble that somebody may see; none where there is nothing live.
    pub(crate) fn alerts_in(&self, scope: &Scope, ensemble: &str) -> Vec<Alert> {
        let Some(desk) = &self.alerts else { return Vec::new() };
        let mut all = desk.alerts.view().alerts;
        all.retain(|alert| alert.ensemble == ensemble);
        seen(all, scope)
    }

    pub(crate) fn alert_desk(&self) -> Result<&super::AlertDesk, ErrorResponse> {
        self.alerts.as_ref().ok_or_else(|| ErrorResponse::not_found("there are no alerts here: nothing is live"))
    }
}

/// Those that somebody may see, each as far as they may.
fn seen(mut alerts: Vec<Alert>, scope: &Scope) -> Vec<Alert> {
    alerts.retain(|alert| scope.covers(&alert.ensemble, &alert.lock));
    if scope.is_bounded() || !scope.payloads() {
        for alert in &mut alerts {
            alert.sentence = plain_sentence(alert);
        }
    }
    alerts
}

/// The sentence for whoever may not read what znodes carry, or may see some locks alone: it may name others.
fn plain_sentence(alert: &Alert) -> String {
    match alert.state {
        AlertState::Resolved => format!("What the rule {} looks for was so at this lock.", alert.rule),
        AlertState::Firing | AlertState::Pending => {
            format!("What the rule {} looks for is so at this lock.", alert.rule)
        }
    }
}
