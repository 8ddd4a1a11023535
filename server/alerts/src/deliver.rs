//! Tells one receiver what it is to be told, until it was told. At least once: a process that is killed between the two
//! tells it again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use lockscope_runtime::backoff::Backoff;
use lockscope_runtime::shutdown::CancellationToken;
use tokio::time::Instant;

use crate::duty::{Duty, Ledger, shared_key};
use crate::notification::Notification;
use crate::route::{Route, RouteKind, SendError, SendErrorKind, Sender};
use crate::service::Alerts;

/// Time between two looks where nothing changes.
const STEP: Duration = Duration::from_millis(500);
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Waits after a failure, the first and the longest.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// What a receiver will never take is tried again after so long.
const REFUSED_WAIT: Duration = Duration::from_secs(300);

/// Tells a receiver, until `stop`.
#[derive(Clone, Debug)]
pub struct Delivery {
    alerts: Alerts,
    route: Route,
    repeat_ms: Option<i64>,
    sender: Sender,
    backoff: Backoff,
    /// Alerts that it did not take, and when it is asked again.
    refused: BTreeMap<String, Instant>,
    trouble: String,
    /// Other servers that tell the same; None where there are none.
    duty: Option<Arc<dyn Duty>>,
    /// Why what was told could not be noted for them.
    note_trouble: String,
}

impl Delivery {
    /// Tells a receiver; `repeat_ms`: after so long again of what still fires.
    pub fn new(alerts: Alerts, route: Route, repeat_ms: Option<i64>) -> Result<Self, String> {
        // Plain http needs no authorities, and a machine may have none.
        let sender = Sender::new(ANSWER_WITHIN, route.url.scheme() == "http").map_err(|error| error.to_string())?;
        let backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT).map_err(|error| error.to_string())?;
        let (trouble, note_trouble) = (String::new(), String::new());
        Ok(Self {
            alerts,
            route,
            repeat_ms,
            sender,
            backoff,
            refused: BTreeMap::new(),
            trouble,
            duty: None,
            note_trouble,
        })
    }

    #[must_use]
    pub fn with_duty(self, duty: Option<Arc<dyn Duty>>) -> Self {
        Self { duty, ..self }
    }

    /// Tells it until `stop` is cancelled.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut revisions = self.alerts.revisions();
        loop {
            let wait = self.step().await.unwrap_or(STEP);
            let waited = async {
                // After a failure nothing but time helps.
                if wait == STEP {
                    let _ = tokio::time::timeout(wait, revisions.changed()).await;
                } else {
                    tokio::time::sleep(wait).await;
                }
            };
            if stop.clone().run_until_cancelled_owned(waited).await.is_none() {
                return;
            }
        }
    }

    /// Tells what there is. How long to wait after a failure.
    async fn step(&mut self) -> Option<Duration> {
        let now = Instant::now();
        self.refused.retain(|_, at| *at > now);
        // What is refused takes no place of what may be taken.
        let is_wanted = |key: &str| !self.refused.contains_key(key);
        let due = self.alerts.to_tell(&self.route.name, self.repeat_ms, is_wanted);
        let due = self.still_to_tell(due).await;
        if due.is_empty() {
            return None;
        }
        match self.send(&due).await {
            Ok(()) => None,
            // One of them may be what it does not take.
            Err(error) if error.kind == SendErrorKind::Permanent && due.len() > 1 => {
                for one in due {
                    let told = self.send(std::slice::from_ref(&one)).await;
                    if told.as_ref().is_err_and(|error| error.kind == SendErrorKind::Temporary) {
                        return Some(self.failed(told.err()?));
                    }
                    self.note_refusal(&one, told);
                }
                None
            }
            Err(error) if error.kind == SendErrorKind::Permanent => {
                self.refused.extend(due.iter().map(|one| (one.key.clone(), now + REFUSED_WAIT)));
                let _ = self.failed(error);
                None
            }
            Err(error) => Some(self.failed(error)),
        }
    }

    /// What is left for this server: nothing that another told already, and of what must be told once, nothing unless it is
    /// this server's turn.
    async fn still_to_tell(&mut self, due: Vec<Notification>) -> Vec<Notification> {
        let Some(duty) = self.duty.clone().filter(|_| !self.route.kind.is_idempotent() && !due.is_empty()) else {
            return due;
        };
        if duty.is_cut_off() {
            return due;
        }
        // What can't be read may have been told: nothing is told before it is known.
        let Ok(ledger) = duty.told(&self.route.name).await else { return Vec::new() };
        let now_ms = self.alerts.now_ms();
        // What fires anew is another one than what is over and still to be told.
        let over: BTreeSet<String> = due.iter().filter(|one| one.resolved_at_ms.is_some()).map(shared_key).collect();
        let looks_since_ms = |one: &Notification| {
            let is_anew = one.resolved_at_ms.is_none() && over.contains(&shared_key(one));
            self.alerts.looks_since_ms(&one.ensemble).filter(|_| !is_anew)
        };
        let (told, rest): (Vec<_>, Vec<_>) =
            due.into_iter().partition(|one| ledger.has_told(one, self.repeat_ms, now_ms, looks_since_ms(one)));
        if !told.is_empty() {
            self.alerts.told_elsewhere(&self.route.name, &told).await;
        }
        // Asked for each, and last: it may have changed since.
        let overdue_ms = |one: &Notification| ledger.overdue_ms(one, self.repeat_ms, now_ms);
        rest.into_iter().filter(|one| duty.is_ours(overdue_ms(one))).collect()
    }

    /// Notes for others what was told. What can't be noted is told again by whoever comes next.
    async fn note_told(&mut self, due: &[Notification]) {
        let Some(duty) = self.duty.clone().filter(|_| !self.route.kind.is_idempotent()) else { return };
        let noted = duty.note(&self.route.name, Ledger::of(due, self.alerts.now_ms())).await.err().unwrap_or_default();
        if self.note_trouble != noted && !noted.is_empty() {
            let name = &self.route.name;
            tracing::warn!(
                "that the route {name} was told is not known to other replicas, which may tell it again: {noted}"
            );
        }
        self.note_trouble = noted;
    }

    fn note_refusal(&mut self, one: &Notification, told: Result<(), SendError>) {
        if let Err(error) = told {
            self.refused.insert(one.key.clone(), Instant::now() + REFUSED_WAIT);
            let _ = self.failed(error);
        }
    }

    async fn send(&mut self, due: &[Notification]) -> Result<(), SendError> {
        let now_ms = self.alerts.now_ms();
        // Keys are of one server; where all tell `PagerDuty`, one alert must be one there.
        let sent = if self.duty.is_some() && self.route.kind == RouteKind::PagerDuty {
            let shared: Vec<_> = due.iter().map(|one| Notification { key: shared_key(one), ..one.clone() }).collect();
            self.sender.send(&self.route, &shared, now_ms).await
        } else {
            self.sender.send(&self.route, due, now_ms).await
        };
        match &sent {
            Ok(()) => {
                self.backoff.reset();
                if !std::mem::take(&mut self.trouble).is_empty() {
                    tracing::info!("the route {} takes alerts again", self.route.name);
                }
                self.note_told(due).await;
                self.alerts.told(&self.route.name, due, Ok(())).await;
            }
            Err(error) => self.alerts.told(&self.route.name, due, Err(error.why.clone())).await,
        }
        sent
    }

    fn failed(&mut self, error: SendError) -> Duration {
        if self.trouble != error.why {
            let (name, shown) = (&self.route.name, self.route.shown());
            tracing::warn!(
                "the route {name} at {shown} did not take alerts: {}; it is tried again until it does",
                error.why
            );
            self.trouble = error.why;
        }
        let jitter = f64::from(u32::try_from(self.alerts.now_ms().rem_euclid(1_000)).unwrap_or(0)) / 1_000.0;
        error.retry_after.unwrap_or_else(|| self.backoff.next(jitter))
    }
}
