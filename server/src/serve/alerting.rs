//! Alerts while the server runs: each ensemble's model is looked at as it changes, and receivers are told.

use std::sync::Arc;

use form_urlencoded::Serializer;
use lockscope_alerts::duty::Duty;
use lockscope_alerts::evaluator::Evaluator;
use lockscope_alerts::rule::Rule;
use lockscope_alerts::service::{Alerts, Links};
use lockscope_core::change::Change;
use lockscope_core::observation::Observation;
use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;

use super::alert_receivers::{AlertReceivers, shown};
use super::replicas::Replicas;
use crate::config::{Alerting, Config};
use lockscope_live::engine::ObservationLog;
use lockscope_live::project::{Acknowledged, AcknowledgedLock, AcknowledgedLocks};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_runtime::tasks::{TaskTracker, restarted, supervised};
use tokio::sync::watch;

#[derive(Clone, Debug)]
pub(super) struct AlertParts {
    pub(super) alerts: Alerts,
    /// Which locks somebody looks at, for the boards.
    pub(super) acknowledged: AcknowledgedLocks,
    alerting: Arc<Alerting>,
}

impl AlertParts {
    /// Goes on with the alerts that were kept.
    pub(super) async fn open(config: &Config, clock: &Clock) -> Self {
        let (dir, clock) = (config.data_dir.clone(), clock.clone());
        let alerting = Arc::new(config.alerting.clone());
        let links = Links { lock: lock_address, origin: config.web.origins.first().map(ToString::to_string) };
        let own = Arc::clone(&alerting);
        let opened = tokio::task::spawn_blocking(move || {
            Alerts::open(dir, &own.rules, own.routes.iter().map(shown).collect(), links.clone(), clock.clone())
        });
        match opened.await {
            Ok(alerts) => {
                alerts.end_elsewhere(|name| config.ensembles.iter().any(|ensemble| ensemble.name == name));
                Self { alerts, acknowledged: AcknowledgedLocks::default(), alerting }
            }
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    /// Looks at an ensemble's model beside whoever else does.
    pub(super) fn follow(
        &self,
        ensemble: &str,
        log: Option<Box<dyn ObservationLog<Observatory>>>,
        now: TimeMs,
    ) -> Box<dyn ObservationLog<Observatory>> {
        let mut rules = self.alerts.rules();
        self.alerts.begin_in(ensemble);
        let known = self.alerts.active_in(ensemble);
        let evaluator = Evaluator::new(ensemble, &rules.borrow_and_update(), known, now);
        Box::new(AlertLog { log, evaluator, rules, alerts: self.alerts.clone(), ensemble: ensemble.into() })
    }

    /// Keeps the alerts, and tells receivers, until `stop`.
    pub(super) fn start(
        &self,
        tasks: &TaskTracker,
        stop: &CancellationToken,
        replicas: Option<Arc<Replicas>>,
    ) -> AlertReceivers {
        let duty = replicas.map(|replicas| replicas as Arc<dyn Duty>);
        let (alerts, own_stop) = (self.alerts.clone(), stop.clone());
        tasks.spawn(restarted("alerts", stop.clone(), move || alerts.clone().run(own_stop.clone())));
        let told = tell_acknowledged(self.alerts.clone(), self.acknowledged.clone());
        let told = stop.clone().run_until_cancelled_owned(told);
        tasks.spawn(supervised("acknowledged locks", async { _ = told.await }));
        AlertReceivers::start(self.alerts.clone(), &self.alerting, duty, tasks, stop)
    }
}

/// Tells boards, whenever alerts change, at which locks somebody looks.
async fn tell_acknowledged(alerts: Alerts, locks: AcknowledgedLocks) {
    let mut revisions = alerts.revisions();
    loop {
        revisions.borrow_and_update();
        locks.set(Acknowledged::of(alerts.acknowledged(|alert, by| AcknowledgedLock {
            ensemble: alert.ensemble.clone(),
            path: alert.lock.clone(),
            by: by.by.clone(),
            since_ms: by.at_ms,
        })));
        if revisions.changed().await.is_err() {
            return;
        }
    }
}

/// The address of a lock's incident at an instant, or of the lock then where there is none.
fn lock_address(ensemble: &str, path: &str, at_ms: i64) -> String {
    let mut query = Serializer::new(String::new());
    query.append_pair("ensemble", ensemble).append_pair("path", path).append_pair("around", &at_ms.to_string());
    format!("/incident?{}", query.finish())
}

/// Looks at a model for alerts, and hands everything on to the recording, where there is one.
struct AlertLog {
    log: Option<Box<dyn ObservationLog<Observatory>>>,
    evaluator: Evaluator,
    rules: watch::Receiver<Arc<[Rule]>>,
    alerts: Alerts,
    ensemble: Arc<str>,
}

impl ObservationLog<Observatory> for AlertLog {
    fn record(&mut self, batch: Vec<(TimeMs, Observation)>) {
        if let Some(log) = &mut self.log {
            log.record(batch);
        }
    }

    fn changed(&mut self, now: TimeMs, model: &Observatory, cause: Option<&Observation>, changes: &[Change]) {
        if let Some(log) = &mut self.log {
            log.changed(now, model, cause, changes);
        }
        if self.rules.has_changed().unwrap_or(false) {
            let rules = Arc::clone(&self.rules.borrow_and_update());
            self.evaluator.take_rules(&self.ensemble, &rules, now);
        }
        self.evaluator.begin_look(model, changes);
    }

    fn go_on(&mut self, now: TimeMs, model: &Observatory) -> bool {
        let is_behind = self.evaluator.go_on(model, now);
        let news = self.evaluator.take_news();
        if !news.is_empty() {
            self.alerts.found(&self.ensemble, news);
        }
        is_behind
    }

    fn wants_checkpoint(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.wants_checkpoint())
    }

    fn checkpoint(&mut self, now: TimeMs, model: &Observatory) {
        if let Some(log) = &mut self.log {
            log.checkpoint(now, model);
        }
    }
}
