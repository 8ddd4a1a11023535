//! Tiles of ensembles that other replicas watch: each replica is asked for all of its own in one answer, once for all who
//! look, and only while somebody does. One that hangs holds up neither who looks nor what the others said. How old tiles
//! are is the owner's age and the way by our own clock, so that nothing is live for longer than it can be proved; what came
//! last of one that does not answer stays, as something that is not known.

mod kept;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feed::project::fleet;
use feed::{ElsewherePart, VisibilityScope};
use futures_util::future::join_all;
use lockscope_wire::{Fleet, FleetQuery, FleetTile, Link, REPLICA_TILES_MAX, is_fresh};
use runtime::{clock, tasks};

use super::Http;
use super::caller::Caller;
use super::elsewhere::FLEET;
use super::replica_request::{ReplicaAddress, ReplicaRequest};
pub(super) use kept::{FleetElsewhere, TheirTiles};
use kept::{KeptOfScope, SaidByReplica};

/// Others are asked no more often than this for the same, however many look: what they say may be called live for 2 s.
const REST: Duration = Duration::from_millis(500);
/// How long one may take. By then its link says that it hangs.
const ANSWER_MAX: Duration = Duration::from_millis(1_200);
/// How long somebody who looks waits for one, and how long nobody does for one that did not answer somebody in that time.
/// Meanwhile what it said last is shown.
const LOOK_WAITS_MAX: Duration = Duration::from_millis(400);
const SILENCE: Duration = Duration::from_secs(5);

/// A tile as its owner showed it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TheirTile {
    tile: FleetTile,
    /// Up to when it is known to be true.
    known: Option<Instant>,
}

impl Http {
    /// Tiles of what others watch, as of half a second ago at most; none for whom another replica asks.
    pub(super) async fn fleet_elsewhere(&self, caller: &Caller) -> TheirTiles {
        if caller.is_of_replica || caller.actor.through.is_some() || self.requests.is_none() || self.is_past {
            return TheirTiles::default();
        }
        let parts = self.hub.projection().all_elsewhere();
        if parts.is_empty() {
            return TheirTiles::default();
        }
        // Which ensembles may be seen is a matter of leaving tiles out; which paths, of how they are counted.
        let paths = &caller.actor.scope.paths;
        let kept = self.fleet_elsewhere.of(VisibilityScope::new(&[], paths, false));
        TheirTiles::new(join_all(parts.into_iter().map(|part| self.tiles_of(part, paths, &kept))).await)
    }

    /// What one replica said last: now, where it says something soon.
    async fn tiles_of(&self, part: ElsewherePart, paths: &[String], kept: &Arc<KeptOfScope>) -> Arc<SaidByReplica> {
        let of = kept.replica(part.owner.as_ref().map_or("", |(id, _)| id));
        let mut told = of.said();
        if let Some(turn) = of.turn(REST) {
            let (http, paths, kept, of) = (self.clone(), paths.to_vec(), kept.clone(), of.clone());
            // It goes on where whoever looks is gone, and answers whoever looks next.
            tasks::spawn("tiles of another replica", async move {
                let said = http.ask_for_tiles(part, &paths, &kept).await;
                of.say(said);
                drop(turn);
            });
        } else if of.has_rested_less_than(REST) {
            return told.borrow().clone();
        }
        if !of.is_silent(SILENCE) && tokio::time::timeout(LOOK_WAITS_MAX, told.changed()).await.is_err() {
            of.note_silence();
        }
        told.borrow().clone()
    }

    /// What this replica watches itself, for another one, which knows the labels.
    pub(super) fn own_fleet(&self, scope: &VisibilityScope, query: &FleetQuery) -> Fleet {
        let mut own = self.hub.projection().fleet_tiles(scope).own;
        own.iter_mut().for_each(|tile| tile.labels.clear());
        fleet(own, query, self.hub.now_ms())
    }

    /// Every ensemble, wherever it is watched, as far as somebody may see it.
    pub(super) fn whole_fleet(&self, scope: &VisibilityScope, query: &FleetQuery, others: &TheirTiles) -> Fleet {
        let feed::FleetTiles { own: mut tiles, elsewhere } = self.hub.projection().fleet_tiles(scope);
        let (now, now_ms) = (clock::instant(), self.hub.now_ms());
        let shown = |unknown: FleetTile| match others.get(&unknown.name) {
            Some(their) => their.shown(unknown, now, now_ms),
            None => unknown,
        };
        tiles.extend(elsewhere.into_iter().map(shown));
        fleet(tiles, query, now_ms)
    }

    /// Asks one replica.
    async fn ask_for_tiles(&self, part: ElsewherePart, paths: &[String], kept: &KeptOfScope) -> SaidByReplica {
        let ElsewherePart { owner, ensembles, why, lost } = part;
        let before = kept.all();
        let not_known = |why: &str| {
            let (now, now_ms) = (clock::instant(), self.hub.now_ms());
            let lost = |name: &String| TheirTile::lost(name, before.get(name), why, now, now_ms);
            SaidByReplica::failed(ensembles.iter().map(lost))
        };
        let Some((id, address)) = owner else { return not_known(&why) };
        if !lost.is_empty() {
            return not_known(&lost);
        }
        let us = self.cluster.as_ref().map(|cluster| cluster.id().to_owned()).unwrap_or_default();
        let of = ReplicaAddress { id, address };
        let target = format!("{FLEET}?limit={REPLICA_TILES_MAX}");
        let request = ReplicaRequest::of_replica(&target, &us).below(paths);
        let asked_at = clock::instant();
        let answer = match self.ask_replica(&of, &request, ANSWER_MAX).await {
            Ok(answer) => answer,
            Err(refused) => return not_known(refused.sentence()),
        };
        match serde_json::from_slice::<Fleet>(&answer.body) {
            Ok(told) if answer.status == 200 => {
                let all = heard(told, asked_at);
                let unnamed = format!("the replica {} at {} does not watch it by now", of.id, of.address);
                let (now, now_ms) = (clock::instant(), self.hub.now_ms());
                let one = |name: &String| match all.get(name) {
                    Some(their) => their.clone(),
                    None => TheirTile::lost(name, before.get(name), &unnamed, now, now_ms),
                };
                SaidByReplica::new(ensembles.iter().map(one))
            }
            Ok(_) | Err(_) => {
                let status = answer.status;
                not_known(&format!(
                    "the replica {} at {} does not say it (status {status}); give all replicas the same version",
                    of.id, of.address
                ))
            }
        }
    }
}

/// What a replica said when it was asked at an instant: no clock but its own says how old that was then, and none but ours
/// how long the answer took.
fn heard(told: Fleet, asked_at: Instant) -> BTreeMap<String, TheirTile> {
    let Fleet { server_time_ms, ensembles, .. } = told;
    let their = |tile: FleetTile| {
        let known_at_ms = tile.known_at_ms.or(tile.is_live.then_some(server_time_ms));
        let age_ms = known_at_ms.map(|at_ms| server_time_ms.saturating_sub(at_ms).max(0).unsigned_abs());
        let known = age_ms.and_then(|age_ms| asked_at.checked_sub(Duration::from_millis(age_ms)));
        // An age that no instant has is no proof of anything.
        let is_live = tile.is_live && known.is_some();
        (tile.name.clone(), TheirTile { tile: FleetTile { is_live, ..tile }, known })
    };
    ensembles.into_iter().map(their).collect()
}

impl TheirTile {
    /// What came of it last, as something that is not known any more.
    fn lost(name: &str, before: Option<&Self>, why: &str, now: Instant, now_ms: i64) -> Self {
        let why = format!("its state is not known: {why}");
        match before {
            Some(before) if before.tile.is_live => {
                let since_ms = before.known_at_ms(now, now_ms).unwrap_or(now_ms);
                let tile = FleetTile { link: Link::Stale, since_ms, is_live: false, why, ..before.tile.clone() };
                Self { tile, known: before.known }
            }
            Some(before) => Self { tile: FleetTile { why, ..before.tile.clone() }, known: before.known },
            None => Self { tile: FleetTile::unknown(name, now_ms, why), known: None },
        }
    }

    /// Up to when it is known to be true, ms since the epoch by the clock that shows `now_ms` at `now`.
    fn known_at_ms(&self, now: Instant, now_ms: i64) -> Option<i64> {
        let age = now.saturating_duration_since(self.known?);
        Some(now_ms.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX)))
    }

    /// As it may be shown by now, in place of one that says that nothing is known.
    fn shown(&self, unknown: FleetTile, now: Instant, now_ms: i64) -> FleetTile {
        let known_at_ms = self.known_at_ms(now, now_ms);
        let FleetTile { name, color, labels, .. } = unknown;
        let tile = FleetTile { name, color, labels, known_at_ms, ..self.tile.clone() };
        match known_at_ms {
            Some(at_ms) if tile.is_live && !is_fresh(at_ms, now_ms) => {
                let why = "what came of the replica that watches it is too old to be live".to_owned();
                FleetTile { link: Link::Stale, since_ms: at_ms, is_live: false, why, ..tile }
            }
            _ => tile,
        }
    }
}

#[cfg(test)]
mod tests;
