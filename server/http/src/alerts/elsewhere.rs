//! Alerts of ensembles that other replicas watch: each is asked for its own, once for all who look, and what came last stays
//! where one does not answer, as something that is not known any more.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use feed::ElsewherePart;
use futures_util::stream::{StreamExt as _, iter};
use lockscope_wire::{Alert, AlertMatchers, AlertState, Alerts, Silence};
use runtime::clock;
use tokio::sync::Mutex as Turn;

use crate::Http;
use crate::caller::Caller;
use crate::handed_on_send::ReplicaProcess;
use crate::problem::ErrorResponse;
use crate::replica_request::{ReplicaAddress, ReplicaRequest};

/// Where an owner is asked.
const TARGET: &str = "/api/v1/alerts";
/// Others are asked no more often than this, however many look.
const REST: Duration = Duration::from_secs(1);
/// How old what came may be for the line below every page, before whoever asks waits for it.
const OLD: Duration = Duration::from_secs(15);
/// How long one may take, and how long a page waits for all at most.
const ANSWER_MAX: Duration = Duration::from_secs(2);
const PAGE_WAITS_MAX: Duration = Duration::from_millis(500);
/// Replicas asked at once.
const AT_ONCE: usize = 8;
/// Alerts that are kept of one replica, and silences. Overflow policy: the rest is left out, and said to be.
const KEPT_MAX: usize = 1_000;

/// What one replica said of the ensembles that it is asked about.
#[derive(Clone, Debug)]
pub(crate) struct TheirAlerts {
    /// None: nobody watches these ensembles.
    pub(crate) replica: Option<ReplicaAddress>,
    pub(crate) ensembles: Vec<String>,
    pub(crate) alerts: Vec<Alert>,
    pub(crate) silences: Vec<Silence>,
    /// When it answered last, ms since the epoch; None where it never did.
    heard_at_ms: Option<i64>,
    /// Why something of it is not known; empty where it is.
    why: String,
}

/// What all of them said; cheap to clone.
pub(crate) type OthersAlerts = Arc<[TheirAlerts]>;

/// The last answers. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct AlertsElsewhere {
    kept: Arc<Mutex<Option<(Instant, OthersAlerts)>>>,
    turn: Arc<Turn<()>>,
}

impl AlertsElsewhere {
    fn last(&self) -> Option<(Duration, OthersAlerts)> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().map(|(at, all)| (clock::instant().saturating_duration_since(*at), all.clone()))
    }

    fn keep(&self, all: OthersAlerts) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some((clock::instant(), all));
    }
}

impl Http {
    /// Alerts of what others watch, as of a second ago at most; none for whom another replica asks.
    pub(crate) async fn alerts_elsewhere(&self, caller: &Caller) -> OthersAlerts {
        if caller.is_of_replica || caller.actor.through.is_some() || self.requests.is_none() || self.is_past {
            return Arc::default();
        }
        let _turn = self.alerts_elsewhere.turn.lock().await;
        match self.alerts_elsewhere.last() {
            Some((age, all)) if age < REST => all,
            Some(_) | None => self.ask_for_alerts().await,
        }
    }

    /// The same for the line below every page: what came last, while it is asked for anew; a page does not wait for long.
    pub(crate) async fn recent_alerts_elsewhere(&self, caller: &Caller) -> OthersAlerts {
        if caller.is_of_replica || self.requests.is_none() || self.hub.projection().all_elsewhere().is_empty() {
            return Arc::default();
        }
        let last = self.alerts_elsewhere.last();
        if last.as_ref().is_some_and(|(age, _)| *age < REST) {
            return last.map(|(_, all)| all).unwrap_or_default();
        }
        let (http, caller) = (self.clone(), caller.clone());
        // It goes on when whoever asked is gone; the next one has it then.
        let asked = tokio::spawn(async move { http.alerts_elsewhere(&caller).await });
        match last {
            Some((age, all)) if age < OLD => all,
            last => match tokio::time::timeout(PAGE_WAITS_MAX, asked).await {
                Ok(Ok(all)) => all,
                Ok(Err(_)) | Err(_) => last.map(|(_, all)| all).unwrap_or_default(),
            },
        }
    }

    /// What came last, without waiting for anything.
    pub(crate) fn last_alerts_elsewhere(&self) -> OthersAlerts {
        self.alerts_elsewhere.last().filter(|(age, _)| *age < OLD).map(|(_, all)| all).unwrap_or_default()
    }

    /// An alert that another replica has, as far as somebody may see it, and that replica.
    pub(crate) async fn alert_elsewhere(
        &self,
        caller: &Caller,
        key: &str,
    ) -> Result<Option<(ReplicaProcess, Alert)>, ErrorResponse> {
        let others = self.alerts_elsewhere(caller).await;
        let is_meant = |alert: &&Alert| alert.key == key && caller.scope.covers(&alert.ensemble, &alert.lock);
        let found = others.iter().find_map(|one| Some((one, one.alerts.iter().find(is_meant)?)));
        let Some((of, alert)) = found else { return Ok(None) };
        Ok(Some((self.asked_again(of)?, alert.clone())))
    }

    /// A silence that one other replica has, and that replica.
    pub(crate) async fn silence_elsewhere(
        &self,
        caller: &Caller,
        id: u64,
    ) -> Result<Option<(ReplicaProcess, Silence)>, ErrorResponse> {
        let others = self.alerts_elsewhere(caller).await;
        let all = others.iter().filter_map(|one| Some((one, one.silences.iter().find(|silence| silence.id == id)?)));
        let mut all = all.filter(|(of, _)| of.ensembles.iter().any(|name| caller.scope.covers_ensemble(name)));
        let Some((of, silence)) = all.next() else { return Ok(None) };
        if let Some((other, _)) = all.find(|(other, _)| other.replica != of.replica) {
            let name = |of: &TheirAlerts| {
                of.replica.as_ref().map_or_else(String::new, |of| format!("{} at {}", of.id, of.address))
            };
            return Err(ErrorResponse::new(
                StatusCode::CONFLICT,
                format!("several replicas have a silence {id}: {} and {}; end it there", name(of), name(other)),
            ));
        }
        Ok(Some((self.asked_again(of)?, silence.clone())))
    }

    /// The replica that silences for itself what is meant; None where this one does, for all of them where they share it.
    pub(crate) fn silenced_elsewhere(
        &self,
        caller: &Caller,
        matchers: &AlertMatchers,
    ) -> Result<Option<ReplicaProcess>, ErrorResponse> {
        if !self.may_hand_on(caller) || self.alert_desk()?.alerts.is_shared() {
            return Ok(None);
        }
        let named = matchers.ensemble.as_deref();
        if let Some(there) = self.elsewhere(named.unwrap_or_default(), &caller.scope) {
            return self.owner_that_is_there(&there).map(Some);
        }
        if named.is_none() && !self.hub.projection().all_elsewhere().is_empty() {
            let sentence = "replicas keep their own silences here, and others watch some ensembles: name the `ensemble`, or give the cluster a PostgreSQL, which shares them";
            return Err(ErrorResponse::new(StatusCode::UNPROCESSABLE_ENTITY, sentence));
        }
        Ok(None)
    }

    fn asked_again(&self, of: &TheirAlerts) -> Result<ReplicaProcess, ErrorResponse> {
        let owner = of.replica.as_ref().and_then(|of| self.other_replica(&of.id));
        owner.ok_or_else(|| ErrorResponse::owner_unreachable(format!("nothing was sent: {}", said(of))))
    }

    /// Asks all of them.
    async fn ask_for_alerts(&self) -> OthersAlerts {
        let parts = self.hub.projection().all_elsewhere();
        let before = self.alerts_elsewhere.last().map(|(_, all)| all).unwrap_or_default();
        let asked = parts.into_iter().map(|part| self.alerts_of(part, &before));
        let all: Vec<TheirAlerts> = iter(asked).buffered(AT_ONCE).collect().await;
        let all: OthersAlerts = all.into();
        self.alerts_elsewhere.keep(all.clone());
        all
    }

    async fn alerts_of(&self, part: ElsewherePart, before: &[TheirAlerts]) -> TheirAlerts {
        let ElsewherePart { owner, ensembles, why, lost: _ } = part;
        let Some((id, address)) = owner else { return lost(None, ensembles, &why, before) };
        let us = self.cluster.as_ref().map(|cluster| cluster.id().to_owned()).unwrap_or_default();
        let of = ReplicaAddress { id, address };
        let request = ReplicaRequest::of_replica(TARGET, &us).with_payloads();
        let answer = match self.ask_replica(&of, &request, ANSWER_MAX).await {
            Ok(answer) => answer,
            Err(refused) => return lost(Some(of), ensembles, refused.sentence(), before),
        };
        match serde_json::from_slice::<Alerts>(&answer.body) {
            Ok(told) if answer.status == 200 => heard(of, ensembles, told, self.hub.now_ms()),
            Ok(_) | Err(_) => {
                let why = format!("the replica {} does not say what fires (status {})", of.id, answer.status);
                lost(Some(of), ensembles, &why, before)
            }
        }
    }
}

/// What a replica said, of the ensembles that it is asked about alone.
fn heard(of: ReplicaAddress, ensembles: Vec<String>, told: Alerts, now_ms: i64) -> TheirAlerts {
    let Alerts { mut alerts, mut silences, .. } = told;
    alerts.retain(|alert| ensembles.contains(&alert.ensemble));
    let is_meant = |silence: &Silence| silence.matchers.ensemble.as_ref().is_none_or(|name| ensembles.contains(name));
    silences.retain(is_meant);
    let is_cut = alerts.len() > KEPT_MAX || silences.len() > KEPT_MAX;
    alerts.truncate(KEPT_MAX);
    silences.truncate(KEPT_MAX);
    let why = if is_cut { format!("the replica {} has more than {KEPT_MAX} alerts", of.id) } else { String::new() };
    TheirAlerts { replica: Some(of), ensembles, alerts, silences, heard_at_ms: Some(now_ms), why }
}

/// What came of the same ensembles last, as something that is not known any more.
fn lost(of: Option<ReplicaAddress>, ensembles: Vec<String>, why: &str, before: &[TheirAlerts]) -> TheirAlerts {
    let theirs = || before.iter().filter(|one| one.ensembles.iter().any(|name| ensembles.contains(name)));
    let heard_at_ms = theirs().filter_map(|one| one.heard_at_ms).min();
    let still = |alert: &Alert| Alert {
        unknown_since_ms: match alert.state {
            AlertState::Resolved => alert.unknown_since_ms,
            AlertState::Firing | AlertState::Pending => alert.unknown_since_ms.or(heard_at_ms),
        },
        ..alert.clone()
    };
    let alerts = theirs().flat_map(|one| &one.alerts).filter(|alert| ensembles.contains(&alert.ensemble)).map(still);
    let silences = theirs().flat_map(|one| &one.silences).cloned();
    TheirAlerts {
        alerts: alerts.take(KEPT_MAX).collect(),
        silences: silences.take(KEPT_MAX).collect(),
        replica: of,
        ensembles,
        heard_at_ms,
        why: why.to_owned(),
    }
}

/// Puts what others said behind what this replica has, in the order of one list.
pub(super) fn merge(own: &mut Alerts, others: &[TheirAlerts]) {
    if others.is_empty() {
        return;
    }
    own.alerts.extend(others.iter().flat_map(|one| one.alerts.iter().cloned()));
    own.alerts.sort_by_cached_key(|alert| {
        let rank = match alert.state {
            AlertState::Firing => 0,
            AlertState::Pending => 1,
            AlertState::Resolved => 2,
        };
        let severity = (rank < 2).then_some(alert.severity);
        let at_ms = alert.resolved_at_ms.or(alert.fired_at_ms).unwrap_or(alert.since_at_ms);
        (rank, std::cmp::Reverse(severity), std::cmp::Reverse(at_ms), alert.key.clone())
    });
    for silence in others.iter().flat_map(|one| &one.silences) {
        // One that all replicas have is one.
        if !own.silences.contains(silence) {
            own.silences.push(silence.clone());
        }
    }
    own.missing = others.iter().filter(|one| !one.why.is_empty()).map(said).collect();
}

fn said(of: &TheirAlerts) -> String {
    let more = of.ensembles.len().saturating_sub(3);
    let mut names = of.ensembles.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 {
        names = format!("{names} and {more} more");
    }
    format!("of {names}: {}", of.why)
}

#[cfg(test)]
mod tests;
