//! Other rules while everything goes on: what a rule of the same name still means goes on as the same alert.

use std::collections::BTreeMap;

use lockscope_core::time::TimeMs;

use super::{Active, AlertEnd, AlertNews, Backlog, Evaluator, RuleAt};
use crate::rule::Rule;

impl Evaluator {
    /// Follows an ensemble by other rules from now on. An alert whose rule is gone, or is about other locks now, is over;
    /// any other goes on, and ends where its rule's new conditions are not true. Nothing fires as of before now.
    pub fn take_rules(&mut self, ensemble: &str, rules: &[Rule], now: TimeMs) {
        let rules: Vec<Rule> = Self::of_ensemble(ensemble, rules);
        let before = std::mem::replace(&mut self.rules, rules);
        let (rules, news) = (&self.rules, &mut self.news);
        let at_now = |(at, lock): &RuleAt| -> Option<RuleAt> {
            let name = &before.get(*at)?.name;
            let is_meant = |rule: &Rule| rule.name == *name && rule.watches(lock);
            Some((rules.iter().position(is_meant)?, lock.clone()))
        };
        let mut active = BTreeMap::new();
        for (key, Active { alert, over_since, again_since, not_before }) in std::mem::take(&mut self.active) {
            if let Some(key) = at_now(&key) {
                let not_before = if alert.fired_at.is_some() { not_before } else { not_before.max(now) };
                active.insert(key, Active { alert, over_since, again_since, not_before });
                continue;
            }
            let end = match alert.fired_at {
                Some(_) => AlertEnd::Resolved(over_since.unwrap_or(now)),
                None => AlertEnd::NeverFired,
            };
            news.push(AlertNews { alert, end: Some(end) });
        }
        for since in [&mut self.before.unheld, &mut self.before.unseen] {
            let kept = std::mem::take(since).into_iter();
            *since = kept.filter_map(|(key, at)| Some((at_now(&key)?, at))).collect();
        }
        let held = std::mem::take(&mut self.before.held).into_iter();
        self.before.held = held.filter_map(|(key, hold)| Some((at_now(&key)?, hold))).collect();
        self.active = active;
        self.follows_queue = Self::follows_queue(&self.rules);
        self.looks.clear();
        self.due.clear();
        self.backlog = Backlog::default();
        // Everything is looked at anew with the next change, and a tick is one.
        self.has_begun = false;
    }
}
