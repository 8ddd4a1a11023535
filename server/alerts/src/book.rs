//! All alerts of a server with what people did about them, and who is still to be told. Pure.

mod new_rules;
mod news;
mod shared;
mod silences;

pub use news::rule_shown;
use shared::{SharedAcknowledgement, SharedNotes};
pub(crate) use shared::{server_number, unique_number};

use std::collections::{BTreeMap, BTreeSet};

use lockscope_view::{Acknowledgement, Alert, AlertMatchers, AlertRule, AlertState, Silence};
use serde::{Deserialize, Serialize};

use crate::notification::Notification;
use crate::rule::is_path_meant;

/// Alerts that are over and kept. Overflow policy: the oldest goes.
pub const RESOLVED_MAX: usize = 1_000;
/// For how long those are kept: 30 days.
pub const RESOLVED_MS_MAX: i64 = 30 * 86_400_000;
/// Silences at once. Overflow policy: no further one is made.
pub const SILENCES_MAX: usize = 200;
/// The longest silence: 30 days.
pub const SILENCE_MS_MAX: i64 = 30 * 86_400_000;
/// A pending alert is stored after so long: where locks come and go, most of them never fire.
pub const YOUNG_MS: i64 = 2_000;
/// Alerts that one message tells of.
pub const BATCH_MAX: usize = 50;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BookError {
    #[error("there is no alert of the key {0:?} that is pending or firing; /api/v1/alerts lists them")]
    NoAlert(String),
    #[error("there is no silence {0}; /api/v1/alerts lists those that have not ended")]
    NoSilence(u64),
    #[error("there are {SILENCES_MAX} silences already; end one first")]
    TooMany,
    #[error("you have {} silences already, the most of one person; end one of yours first", silences::A_PERSON_MAX)]
    TooManyOfPerson,
}

/// What a receiver was told last of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    Nothing,
    Firing,
    Resolved,
}

/// Where a receiver is with an alert that it is to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Telling {
    pub told: Told,
    /// When, ms since the epoch; 0 while it was told nothing.
    pub at_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptAlert {
    /// As the API shows it.
    pub alert: Alert,
    /// When it was found, ms since the epoch: with rule, ensemble and lock, this names it.
    pub found_at_ms: i64,
    /// Since when its condition is no longer true, ms since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_since_ms: Option<i64>,
    /// Which hold it is about, by its znode's czxid, where it is that it lasts.
    #[serde(default)]
    pub hold: Option<i64>,
    /// Who is told, by the names of routes.
    pub tellings: BTreeMap<String, Telling>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSilence {
    /// As the API shows it.
    #[serde(flatten)]
    pub silence: Silence,
    /// Somebody ended it before its time; kept so that no other server brings it back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ended: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsaved {
    /// Alerts that changed; None: it is gone.
    pub alerts: Vec<(String, Option<KeptAlert>)>,
    /// Silences that changed; None: it is gone.
    pub silences: Vec<(u64, Option<KeptSilence>)>,
}

#[derive(Debug, Default)]
pub struct Book {
    alerts: BTreeMap<String, KeptAlert>,
    silences: BTreeMap<u64, Silence>,
    rules: Vec<AlertRule>,
    last_silence: u64,
    /// Silences that somebody ended before their time, and that other servers may still tell of; empty where there are none.
    ended_silences: BTreeMap<u64, Silence>,
    /// What other servers are told, and told; None where there are none.
    shared: Option<SharedNotes>,
    unsaved_alerts: BTreeSet<String>,
    unsaved_silences: BTreeSet<u64>,
    stored: BTreeSet<String>,
    /// The last instant that it was told.
    now_ms: i64,
}

impl Book {
    pub fn new(rules: Vec<AlertRule>, alerts: Vec<KeptAlert>, silences: Vec<KeptSilence>) -> Self {
        let last_silence = silences.iter().map(|kept| kept.silence.id).max().unwrap_or(0);
        let (ended, open): (Vec<_>, Vec<_>) = silences.into_iter().partition(|kept| kept.is_ended);
        let by_id = |kept: KeptSilence| (kept.silence.id, kept.silence);
        Self {
            stored: alerts.iter().map(|kept| kept.alert.key.clone()).collect(),
            alerts: alerts.into_iter().map(|kept| (kept.alert.key.clone(), kept)).collect(),
            silences: open.into_iter().map(by_id).collect(),
            ended_silences: ended.into_iter().map(by_id).collect(),
            rules,
            last_silence,
            ..Self::default()
        }
    }

    /// What is active in ensembles that are watched no longer is over: nobody looks at it.
    pub fn end_elsewhere(&mut self, is_watched: impl Fn(&str) -> bool, now_ms: i64) {
        let gone = |kept: &&KeptAlert| kept.alert.state != AlertState::Resolved && !is_watched(&kept.alert.ensemble);
        let gone: Vec<String> = self.alerts.values().filter(gone).map(|kept| kept.alert.key.clone()).collect();
        for key in gone {
            if self.alerts.get(&key).is_some_and(|kept| kept.alert.state == AlertState::Pending) {
                self.alerts.remove(&key);
            } else if let Some(kept) = self.alerts.get_mut(&key) {
                kept.alert.state = AlertState::Resolved;
                kept.alert.resolved_at_ms = Some(now_ms);
                kept.alert.unknown_since_ms = None;
            }
            self.unsaved_alerts.insert(key);
        }
    }

    pub fn rules(&self) -> &[AlertRule] {
        &self.rules
    }

    /// Alerts with who silenced them, firing ones first and worst first, then pending ones, then those that are over,
    /// newest first.
    pub fn alerts(&self, now_ms: i64) -> Vec<Alert> {
        let shown = |kept: &KeptAlert| Alert {
            silenced_by: self.silence_of(&kept.alert, now_ms).cloned(),
            ..kept.alert.clone()
        };
        let mut alerts: Vec<Alert> = self.alerts.values().map(shown).collect();
        let rank = |alert: &Alert| match alert.state {
            AlertState::Firing => 0,
            AlertState::Pending => 1,
            AlertState::Resolved => 2,
        };
        alerts.sort_by_cached_key(|alert| {
            let is_over = alert.state == AlertState::Resolved;
            let severity = if is_over { None } else { Some(alert.severity) };
            let at_ms = alert.resolved_at_ms.or(alert.fired_at_ms).unwrap_or(alert.since_at_ms);
            (rank(alert), std::cmp::Reverse(severity), std::cmp::Reverse(at_ms), alert.key.clone())
        });
        alerts
    }

    /// Those of some alerts that fire and that nobody silenced, worst first, then those that have fired longest.
    pub fn loud(&self, now_ms: i64, is_meant: impl Fn(&Alert) -> bool) -> Vec<Alert> {
        let fires = self.alerts.values().map(|kept| &kept.alert).filter(|alert| alert.state == AlertState::Firing);
        let loud = fires.filter(|alert| is_meant(alert) && self.silence_of(alert, now_ms).is_none());
        let mut loud: Vec<Alert> = loud.cloned().collect();
        loud.sort_by_cached_key(|alert| (std::cmp::Reverse(alert.severity), alert.fired_at_ms, alert.key.clone()));
        loud
    }

    /// Alerts that have not ended and that somebody looks at, with who does.
    pub fn acknowledged(&self) -> impl Iterator<Item = (&Alert, &Acknowledgement)> {
        let goes_on = self.alerts.values().filter(|kept| kept.alert.state != AlertState::Resolved);
        goes_on.filter_map(|kept| Some((&kept.alert, kept.alert.acked_by.as_ref()?)))
    }

    /// One alert that has not ended.
    pub fn alert(&self, key: &str) -> Option<&Alert> {
        self.alerts.get(key).map(|kept| &kept.alert).filter(|alert| alert.state != AlertState::Resolved)
    }

    /// Somebody looks at an alert.
    pub fn acknowledge(&mut self, key: &str, by: Acknowledgement) -> Result<(), BookError> {
        let kept = self.alerts.get_mut(key).filter(|kept| kept.alert.state != AlertState::Resolved);
        let kept = kept.ok_or_else(|| BookError::NoAlert(key.chars().take(80).collect()))?;
        kept.alert.acked_by = Some(by.clone());
        self.unsaved_alerts.insert(key.to_owned());
        let alert = &kept.alert;
        if let Some(shared) = &mut self.shared {
            shared.acknowledged(SharedAcknowledgement::of(alert, by));
        }
        Ok(())
    }

    /// Whoever is to be told from now on is noted, and what is too old goes.
    pub fn advance(&mut self, now_ms: i64) {
        self.now_ms = now_ms;
        self.forget_silences(now_ms);
        let firing = self.alerts.values().filter(|kept| kept.alert.state == AlertState::Firing);
        let due: Vec<String> = firing
            .filter(|kept| !self.new_routes(kept, now_ms).is_empty())
            .map(|kept| kept.alert.key.clone())
            .collect();
        due.into_iter().for_each(|key| self.note_routes(&key, now_ms));
        self.forget(now_ms);
    }

    /// Who is to be told of a firing alert and is not noted.
    fn new_routes(&self, kept: &KeptAlert, now_ms: i64) -> Vec<String> {
        if kept.alert.state != AlertState::Firing {
            return Vec::new();
        }
        let rule = self.rules.iter().find(|rule| rule.name == kept.alert.rule);
        let routes = rule.into_iter().flat_map(|rule| &rule.routes);
        let new: Vec<String> = routes.filter(|route| !kept.tellings.contains_key(*route)).cloned().collect();
        if new.is_empty() || self.silence_of(&kept.alert, now_ms).is_some() { Vec::new() } else { new }
    }

    fn note_routes(&mut self, key: &str, now_ms: i64) {
        let routes = self.alerts.get(key).map(|kept| self.new_routes(kept, now_ms)).unwrap_or_default();
        let nothing = Telling { told: Told::Nothing, at_ms: 0 };
        if let Some(kept) = self.alerts.get_mut(key).filter(|_| !routes.is_empty()) {
            kept.tellings.extend(routes.into_iter().map(|route| (route, nothing)));
            self.unsaved_alerts.insert(key.to_owned());
        }
    }

    fn forget(&mut self, now_ms: i64) {
        let is_over = |kept: &&KeptAlert| kept.alert.state == AlertState::Resolved;
        let mut over: Vec<(i64, String)> = self
            .alerts
            .values()
            .filter(is_over)
            .map(|kept| (kept.alert.resolved_at_ms.unwrap_or(0), kept.alert.key.clone()))
            .collect();
        over.sort_unstable();
        let too_many = over.len().saturating_sub(RESOLVED_MAX);
        let gone = over
            .into_iter()
            .enumerate()
            .filter(|(at, (ended_ms, _))| *at < too_many || now_ms.saturating_sub(*ended_ms) > RESOLVED_MS_MAX);
        for (_, (_, key)) in gone.collect::<Vec<_>>() {
            self.alerts.remove(&key);
            self.unsaved_alerts.insert(key);
        }
    }

    /// What a receiver is to be told now, what is over first, then oldest first. `repeat_ms`: after so long it is told
    /// again of what still fires; `only_stored`: of nothing that a process that is killed now would find anew; `is_wanted`:
    /// of these alone, by their keys and ensembles.
    pub fn to_tell(
        &self,
        route: &str,
        now_ms: i64,
        repeat_ms: Option<i64>,
        only_stored: bool,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<Notification> {
        let is_silenced = |kept: &KeptAlert| self.silence_of(&kept.alert, now_ms).is_some();
        let is_stored = |kept: &&KeptAlert| !only_stored || !self.unsaved_alerts.contains(&kept.alert.key);
        let stored = self.alerts.values().filter(is_stored);
        let of_route = stored.filter_map(|kept| Some((kept, kept.tellings.get(route)?)));
        let mut due: Vec<&KeptAlert> = of_route
            .filter(|(kept, telling)| match (kept.alert.state, telling.told) {
                (AlertState::Firing, Told::Nothing | Told::Resolved) => true,
                (AlertState::Firing, Told::Firing) => {
                    repeat_ms.is_some_and(|repeat_ms| now_ms.saturating_sub(telling.at_ms) >= repeat_ms)
                }
                (AlertState::Resolved, Told::Nothing | Told::Firing) => true,
                (AlertState::Resolved, Told::Resolved) | (AlertState::Pending, _) => false,
            })
            .map(|(kept, _)| kept)
            .filter(|kept| is_wanted(&kept.alert.key))
            // Nobody is told while it is silenced, not even again. That it is over is told to whoever waits for that.
            .filter(|kept| kept.alert.state != AlertState::Firing || !is_silenced(kept))
            .collect();
        due.sort_by_key(|kept| (kept.alert.resolved_at_ms.is_none(), kept.alert.fired_at_ms));
        due.into_iter().take(BATCH_MAX).map(notification).collect()
    }

    /// How many alerts a receiver is still to be told of.
    pub fn waiting(&self, route: &str, now_ms: i64) -> u64 {
        let tellings = self.alerts.values().filter_map(|kept| Some((&kept.alert, kept.tellings.get(route)?.told)));
        let waiting = tellings.filter(|(alert, told)| match alert.state {
            AlertState::Firing => *told != Told::Firing && self.silence_of(alert, now_ms).is_none(),
            AlertState::Resolved => *told != Told::Resolved,
            AlertState::Pending => false,
        });
        waiting.count() as u64
    }

    pub fn told(&mut self, route: &str, message: &[Notification], now_ms: i64) {
        for told in message {
            let Some(kept) = self.alerts.get_mut(&told.key) else { continue };
            let of = if told.resolved_at_ms.is_some() { Told::Resolved } else { Told::Firing };
            kept.tellings.insert(route.to_owned(), Telling { told: of, at_ms: now_ms });
            self.unsaved_alerts.insert(told.key.clone());
        }
    }

    /// What changed since the last call.
    pub fn take_unsaved(&mut self) -> Unsaved {
        let silences = std::mem::take(&mut self.unsaved_silences).into_iter();
        let mut alerts = Vec::new();
        for key in std::mem::take(&mut self.unsaved_alerts) {
            let kept = self.alerts.get(&key);
            if kept.is_some_and(|kept| self.is_young(kept)) {
                self.unsaved_alerts.insert(key);
                continue;
            }
            let was_stored = if kept.is_some() { !self.stored.insert(key.clone()) } else { self.stored.remove(&key) };
            // What was never stored leaves nothing behind.
            if kept.is_some() || was_stored {
                alerts.push((key, kept.cloned()));
            }
        }
        Unsaved { alerts, silences: silences.map(|id| (id, self.kept_silence(id))).collect() }
    }

    /// A pending alert may be over in a moment, and is not stored before it has lasted.
    fn is_young(&self, kept: &KeptAlert) -> bool {
        let age_ms = self.now_ms.saturating_sub(kept.found_at_ms);
        kept.alert.state == AlertState::Pending && kept.alert.acked_by.is_none() && (0..YOUNG_MS).contains(&age_ms)
    }

    /// What could not be stored is still to be.
    pub fn not_saved(&mut self, unsaved: Unsaved) {
        // Whether those are stored is not known: they are taken for stored, so that they are deleted when they go.
        self.stored.extend(unsaved.alerts.iter().map(|(key, _)| key.clone()));
        self.unsaved_alerts.extend(unsaved.alerts.into_iter().map(|(key, _)| key));
        self.unsaved_silences.extend(unsaved.silences.into_iter().map(|(id, _)| id));
    }
}

pub fn is_meant(matchers: &AlertMatchers, alert: &Alert) -> bool {
    let is = |wanted: &Option<String>, has: &str| wanted.as_deref().is_none_or(|wanted| wanted == has);
    is(&matchers.rule, &alert.rule)
        && is(&matchers.ensemble, &alert.ensemble)
        && matchers.path.as_deref().is_none_or(|path| is_path_meant(path, &alert.lock))
}

fn notification(kept: &KeptAlert) -> Notification {
    let alert = &kept.alert;
    Notification {
        key: alert.key.clone(),
        rule: alert.rule.clone(),
        ensemble: alert.ensemble.clone(),
        lock: alert.lock.clone(),
        severity: alert.severity,
        since_ms: alert.since_at_ms,
        fired_at_ms: alert.fired_at_ms.unwrap_or(alert.since_at_ms),
        resolved_at_ms: alert.resolved_at_ms,
        sentence: alert.sentence.clone(),
        link: Some(alert.link.clone()).filter(|link| !link.is_empty()),
    }
}
