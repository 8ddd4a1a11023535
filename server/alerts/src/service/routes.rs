//! Which rules and receivers are in force, and how each receiver is.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::watch;

use super::Alerts;
use crate::book::rule_shown;
use crate::rule::Rule;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RouteHealth {
    pub(super) sent_at_ms: Option<i64>,
    pub(super) trouble: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteShown {
    pub name: String,
    pub kind: &'static str,
    /// Where, without what may be secret.
    pub url: String,
}

impl Alerts {
    pub fn rules(&self) -> watch::Receiver<Arc<[Rule]>> {
        self.0.rules.subscribe()
    }

    /// Goes by other rules and receivers from now on. Evaluators see it with the next change of their models.
    pub fn take_rules(&self, rules: &[Rule], routes: Vec<RouteShown>) {
        let names: BTreeSet<&str> = routes.iter().map(|route| route.name.as_str()).collect();
        let mut book = self.0.book.lock();
        book.take_rules(rules.iter().map(rule_shown).collect());
        let left = book.left_untold(&names);
        drop(book);
        if left > 0 {
            tracing::warn!(
                "{left} alerts go on of which a route was told that is gone: nobody tells it that they are over"
            );
        }
        let mut shown = self.0.routes.lock();
        let before = std::mem::take(&mut *shown);
        // One that is as it was goes on as it was.
        let health = |route: &RouteShown| {
            let known = before.iter().find(|(shown, _)| shown == route);
            known.map(|(_, health)| health.clone()).unwrap_or_default()
        };
        *shown = routes.into_iter().map(|route| (route.clone(), health(&route))).collect();
        drop(shown);
        self.0.rules.send_replace(rules.into());
        self.0.came.notify_one();
        self.0.revision.send_modify(|revision| *revision += 1);
    }

    /// A receiver's name means another place now, which was told nothing.
    pub fn begin_anew(&self, route: &str) {
        self.0.book.lock().begin_anew(route);
        self.0.came.notify_one();
    }

    pub fn cannot_tell(&self, route: &str, why: String) {
        if let Some((_, health)) = self.0.routes.lock().iter_mut().find(|(shown, _)| shown.name == route) {
            health.trouble = why;
        }
    }
}
