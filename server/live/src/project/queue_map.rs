//! A whole queue in little. The one view that walks through a queue: `live::pace` looks at it once a second at most, and
//! the walk ends after [`view::QUEUE_MAPPED_MAX`] contenders.

use lockscope_core::assessment::AssessedLock;
use lockscope_core::change::Departure;
use lockscope_core::label::label_of;
use lockscope_core::lock::{ContenderRef, HOLDERS_MAX, Lock};
use lockscope_core::znode::SessionId;
use lockscope_view as view;

use super::applications::ApplicationRule;
use super::contenders::listed;
use super::evidence::HIDDEN_MAX;
use super::session_groups::host_of;
use super::words::view_root_state;
use super::{ProjectionContext, count32};

/// Counts contenders as they come, in queue order.
struct Survey {
    map: view::QueueMap,
    /// Holders come first.
    holders: u32,
}

impl Survey {
    fn add(&mut self, liveness: view::Liveness) {
        let at = self.map.mapped;
        self.map.mapped += 1;
        if at.is_multiple_of(self.map.per_slice) {
            self.map.slices.push(view::QueueSlice::default());
        }
        if let Some(slice) = self.map.slices.last_mut() {
            slice.add(liveness);
        }
        if at >= self.holders && liveness == view::Liveness::Disconnected {
            self.map.dead_count += 1;
            if self.map.dead.len() < view::QUEUE_DEAD_MAX {
                self.map.dead.push(at);
            }
        }
    }
}

impl ProjectionContext<'_> {
    /// A lock's queue; None when there is no such lock. `rule`: what an application is.
    pub fn queue_map(&self, query: &view::QueueMapQuery, rule: &ApplicationRule) -> Option<Box<view::QueueMap>> {
        let (lock, mirror) = self.shown_lock(&query.ensemble, &query.path)?;
        let total = listed(lock);
        let map = view::QueueMap {
            state: view_root_state(self.observatory.root_state(lock.root, self.now).0),
            total,
            mapped: 0,
            per_slice: total.min(view::QUEUE_MAPPED_MAX).div_ceil(view::QUEUE_SLICES_MAX).max(1),
            slices: Vec::new(),
            dead_count: 0,
            dead: Vec::new(),
            hand_overs: hand_overs(lock),
            place: None,
            app: query.app.clone(),
        };
        let mut survey = Survey { map, holders: lock.standing.holders };
        let wanted = query.app.to_lowercase();
        let mut place = None;
        let limit = view::QUEUE_MAPPED_MAX as usize;
        for contender in lock.contenders(mirror).take(limit) {
            let at = survey.map.mapped;
            if at >= survey.holders && place.is_none() && self.is_of_app(&contender, &wanted, rule) {
                place = Some(at);
            }
            survey.add(self.liveness_at(at, lock, &contender));
        }
        // Those without a znode come last.
        let left = limit.saturating_sub(survey.map.mapped as usize);
        for (session, since) in lock.watchers.iter().take(HIDDEN_MAX.min(left)) {
            if place.is_none() && self.is_on_host(session, &wanted) {
                place = Some(survey.map.mapped);
            }
            survey.add(self.liveness(session, since));
        }
        survey.map.place = place.map(|position| view::QueuePlace { position, ahead: ahead(lock, position) });
        Some(Box::new(survey.map))
    }

    /// As the row of the list has it: of who holds, what the lock's verdict rests on.
    fn liveness_at(&self, at: u32, lock: &Lock, contender: &ContenderRef<'_>) -> view::Liveness {
        let Some(owner) = contender.child.owner() else {
            let is_persistent = contender.child.is_owned() == Some(false);
            return if is_persistent { view::Liveness::Persistent } else { view::Liveness::Unknown };
        };
        // Beyond those that are kept one by one nobody is found among the holders.
        let hold = if (at as usize) < HOLDERS_MAX { lock.hold_of(contender) } else { None };
        match hold.filter(|hold| hold.owner == Some(owner)) {
            Some(hold) => self.holders_peer(hold, owner).1,
            None => self.liveness(owner, contender.child.arrived_at),
        }
    }

    /// Whether it is of an application or a host, in small letters; of none where nothing is asked for. By an identity
    /// alone: other payload is not for everybody.
    fn is_of_app(&self, contender: &ContenderRef<'_>, wanted: &str, rule: &ApplicationRule) -> bool {
        if wanted.is_empty() {
            return false;
        }
        let read = contender.child.read.as_ref();
        let label = read.and_then(|read| label_of(contender.key.name(), &read.payload));
        label.is_some_and(|label| rule.application_of(&label).to_lowercase() == wanted)
            || contender.child.owner().is_some_and(|owner| self.is_on_host(owner, wanted))
    }

    fn is_on_host(&self, session: SessionId, wanted: &str) -> bool {
        !wanted.is_empty() && self.address(session).is_some_and(|address| host_of(address).to_lowercase() == wanted)
    }
}

/// Holds that must end before that of whoever stands at a position begins: of a semaphore one for each place, else all
/// before it.
fn ahead(lock: &Lock, position: u32) -> u32 {
    if lock.has_leases() { (position + 1).saturating_sub(lock.standing.holders) } else { position }
}

/// How quickly a queue moves, by the last holds that were seen to end. What ended while nobody looked says nothing of when.
fn hand_overs(lock: &AssessedLock) -> Option<view::HandOvers> {
    let seen = lock.tally.past.iter().take_while(|past| past.how != Departure::DuringGap);
    let ends: Vec<i64> = seen.map(|past| past.until.0).collect();
    let oldest = ends.last().filter(|_| ends.len() >= view::HAND_OVERS_MIN && lock.recognition.is_meant_to_pass())?;
    let newest = ends.first()?;
    Some(view::HandOvers { count: count32(ends.len() - 1), since_ms: *oldest, until_ms: *newest })
}

#[cfg(test)]
mod tests;
