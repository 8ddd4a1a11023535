//! Other rules and receivers while everything goes on.

use std::collections::BTreeSet;

use lockscope_view::{AlertRule, AlertState};

use super::{Book, Told};

impl Book {
    /// Goes by other rules from now on. What fires has the severity of its rule as it is now, and those are told that the
    /// rule names now; whoever was told of it before is still told when it is over.
    pub fn take_rules(&mut self, rules: Vec<AlertRule>) {
        self.rules = rules;
        for (key, kept) in &mut self.alerts {
            let rule = self.rules.iter().find(|rule| rule.name == kept.alert.rule);
            let severity = rule.filter(|_| kept.alert.state != AlertState::Resolved).map(|rule| rule.severity);
            if let Some(severity) = severity.filter(|severity| *severity != kept.alert.severity) {
                kept.alert.severity = severity;
                self.unsaved_alerts.insert(key.clone());
            }
        }
    }

    /// A receiver's name means another place now, which was told nothing.
    pub fn begin_anew(&mut self, route: &str) {
        for (key, kept) in &mut self.alerts {
            if kept.tellings.remove(route).is_some() {
                self.unsaved_alerts.insert(key.clone());
            }
        }
    }

    /// How many alerts go on of which receivers were told that are none any more: nobody will tell those that it is over.
    pub fn left_untold(&self, routes: &BTreeSet<&str>) -> usize {
        let is_left = |(route, told): (&String, Told)| told == Told::Firing && !routes.contains(route.as_str());
        let kept = self.alerts.values();
        kept.filter(|kept| kept.tellings.iter().any(|(route, telling)| is_left((route, telling.told)))).count()
    }
}
