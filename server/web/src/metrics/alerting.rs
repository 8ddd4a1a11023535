//! The numbers of alerts as samples. Pure.

use lockscope_view::{AlertState, Alerts};

use super::catalogue::Family;
use super::text::Exposition;

pub(super) fn tell(alerts: &Alerts, out: &mut Exposition) {
    for rule in &alerts.rules {
        let of_rule = || alerts.alerts.iter().filter(|alert| alert.rule == rule.name);
        for state in [AlertState::Pending, AlertState::Firing] {
            let count = of_rule().filter(|alert| alert.state == state).count();
            out.count(Family::Alerts, &[&rule.name, state.name()], count as u64);
        }
    }
    for route in &alerts.routes {
        out.count(Family::AlertsWaiting, &[&route.name], route.waiting);
        out.count(Family::AlertRouteFailing, &[&route.name], (!route.trouble.is_empty()).into());
    }
    out.count(Family::AlertsNotKept, &[], (!alerts.trouble.is_empty()).into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::{AlertRoute, AlertRule, Severity};

    #[test]
    fn rules_that_do_not_fire_are_told_as_well() {
        let rule = AlertRule {
            name: "blocked".to_owned(),
            when: Vec::new(),
            path: "**".to_owned(),
            ensemble: None,
            for_ms: 0,
            severity: Severity::Critical,
            routes: Vec::new(),
            is_built_in: true,
        };
        let route = AlertRoute {
            name: "on-call".to_owned(),
            kind: "slack".to_owned(),
            url: String::new(),
            waiting: 3,
            sent_at_ms: None,
            trouble: "it answered 503".to_owned(),
        };
        let mut out = Exposition::default();
        tell(&Alerts { rules: vec![rule], routes: vec![route], ..Alerts::default() }, &mut out);
        let text = out.finish();
        for line in [
            "lockscope_alerts{rule=\"blocked\",state=\"firing\"} 0\n",
            "lockscope_alert_messages_waiting{route=\"on-call\"} 3\n",
            "lockscope_alert_route_failing{route=\"on-call\"} 1\n",
            "lockscope_alerts_not_kept 0\n",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
    }
}
