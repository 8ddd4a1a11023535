//! Orders of ensembles that other replicas watch, for the section that shows all: each is asked for whoever looks.

use std::time::Duration;

use feed::ElsewherePart;
use futures_util::stream::{StreamExt as _, iter};
use lockscope_wire::LockOrders;

use crate::Http;
use crate::caller::Caller;
use crate::replica_request::{ReplicaAddress, ReplicaRequest};

const TARGET: &str = "/api/v1/orders";
/// How long one may take.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// Replicas asked at once.
const AT_ONCE: usize = 8;
/// Warnings, orders and snoozes of one replica. Overflow policy: the rest is left out, and said to be.
const KEPT_MAX: usize = 1_000;

impl Http {
    /// Orders of what others watch, as far as somebody may see them, and of what nothing is known.
    pub(super) async fn orders_elsewhere(&self, caller: &Caller) -> (Vec<LockOrders>, Vec<String>) {
        if !self.may_hand_on(caller) {
            return Default::default();
        }
        let mut parts = self.hub.projection().all_elsewhere();
        for part in &mut parts {
            part.ensembles.retain(|name| caller.scope.covers_ensemble(name));
        }
        parts.retain(|part| !part.ensembles.is_empty());
        let asked = parts.into_iter().map(|part| self.orders_of(part, caller));
        let all: Vec<Result<(LockOrders, Option<String>), String>> = iter(asked).buffered(AT_ONCE).collect().await;
        let (mut orders, mut missing) = (Vec::new(), Vec::new());
        for one in all {
            match one {
                Ok((told, why)) => {
                    orders.push(told);
                    missing.extend(why);
                }
                Err(why) => missing.push(why),
            }
        }
        (orders, missing)
    }

    async fn orders_of(&self, part: ElsewherePart, caller: &Caller) -> Result<(LockOrders, Option<String>), String> {
        let ElsewherePart { owner, ensembles, why, lost: _ } = part;
        let first = ensembles.first().map(String::as_str).unwrap_or_default();
        let names = match ensembles.len() {
            0 | 1 => first.to_owned(),
            several => format!("{first} and {} more", several - 1),
        };
        let Some((id, address)) = owner else { return Err(format!("of {names}: {why}")) };
        let of = ReplicaAddress { id, address };
        let answer = self.ask_replica(&of, &ReplicaRequest::new(TARGET, caller), ANSWER_MAX).await;
        let answer = answer.map_err(|refused| format!("of {names}: {}", refused.sentence()))?;
        let mut told: LockOrders = match serde_json::from_slice(&answer.body) {
            Ok(told) if answer.status == 200 => told,
            Ok(_) | Err(_) => return Err(format!("of {names}: the replica {} does not say them", of.id)),
        };
        told.edges.retain(|edge| ensembles.contains(&edge.ensemble));
        told.warnings.retain(|warning| ensembles.contains(&warning.ensemble));
        told.snoozes.retain(|snooze| ensembles.contains(&snooze.ensemble));
        let longest = told.edges.len().max(told.warnings.len()).max(told.snoozes.len());
        told.edges.truncate(KEPT_MAX);
        told.warnings.truncate(KEPT_MAX);
        told.snoozes.truncate(KEPT_MAX);
        let is_cut = longest > KEPT_MAX;
        Ok((told, is_cut.then(|| format!("of {names}: the replica {} has more than {KEPT_MAX}", of.id))))
    }
}

/// All in one, those seen most first.
pub(super) fn merged(own: LockOrders, others: Vec<LockOrders>) -> LockOrders {
    if others.is_empty() {
        return own;
    }
    let mut all = own;
    for LockOrders { edges, warnings, snoozes } in others {
        all.edges.extend(edges);
        all.warnings.extend(warnings);
        all.snoozes.extend(snoozes);
    }
    all.edges.sort_by_key(|edge| std::cmp::Reverse(edge.count));
    all.warnings.sort_by_key(|warning| std::cmp::Reverse(warning.count));
    all
}
