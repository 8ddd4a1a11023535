//! Who owns what while members come and go. Pure: time is an argument.
//!
//! A member counts once it was there for [`SETTLE_MS`] without a break, and counts on until it was away for as long: a
//! server that restarts moves nothing. What all its owners are away of moves at once, so that nothing is without an owner.

use std::collections::BTreeMap;

use crate::rendezvous;

/// For how long a member must be there, or away, before units move because of it.
pub const SETTLE_MS: i64 = 10_000;
/// Owners of one unit.
pub const OWNERS: usize = 2;

/// A member as the assignment knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Standing {
    capacity: u8,
    is_here: bool,
    /// Whether units are given to it.
    counts: bool,
    /// Since when it is here, or away.
    since_ms: i64,
}

/// Members as they came and went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    members: BTreeMap<String, Standing>,
}

impl Assignment {
    /// Takes in who is there now: id and capacity. `now_ms` is of any clock that does not go back.
    pub fn observe<'a>(&mut self, now_ms: i64, here: impl IntoIterator<Item = (&'a str, u8)>) {
        let here: BTreeMap<&str, u8> = here.into_iter().collect();
        // Who finds others at its start waits for nobody: they were there before it.
        let is_first = self.members.is_empty();
        for (id, capacity) in &here {
            let new = Standing { capacity: *capacity, is_here: true, counts: is_first, since_ms: now_ms };
            let standing = self.members.entry((*id).to_owned()).or_insert(new);
            standing.capacity = *capacity;
            if !standing.is_here {
                standing.is_here = true;
                standing.since_ms = now_ms;
            }
        }
        for (id, standing) in &mut self.members {
            if standing.is_here && !here.contains_key(id.as_str()) {
                standing.is_here = false;
                standing.since_ms = now_ms;
            }
        }
        self.advance(now_ms);
    }

    /// Takes in that time went by.
    pub fn advance(&mut self, now_ms: i64) {
        for standing in self.members.values_mut() {
            if standing.counts != standing.is_here && now_ms.saturating_sub(standing.since_ms) >= SETTLE_MS {
                standing.counts = standing.is_here;
            }
        }
        self.members.retain(|_, standing| standing.is_here || standing.counts);
    }

    /// When [`Self::advance`] may change something next; None: not before members change.
    pub fn due_ms(&self) -> Option<i64> {
        let unsettled = self.members.values().filter(|standing| standing.counts != standing.is_here);
        unsettled.map(|standing| standing.since_ms.saturating_add(SETTLE_MS)).min()
    }

    /// Whether any unit may have other owners than by an assignment before. Who comes and goes and never settles moves
    /// nothing, as long as nobody falls back on it.
    pub fn has_moved_since(&self, before: &Self) -> bool {
        let settled = |one: &Self| -> Vec<(String, Standing)> {
            let settled = one.members.iter().filter(|(_, standing)| standing.counts);
            settled.map(|(id, standing)| (id.clone(), Standing { since_ms: 0, ..*standing })).collect()
        };
        let is_alone = |settled: &[(String, Standing)]| {
            let away = settled.iter().filter(|(_, standing)| !standing.is_here).count();
            away >= OWNERS.min(settled.len())
        };
        let (now, then) = (settled(self), settled(before));
        now != then || (is_alone(&now) && self != before)
    }

    /// Who owns a unit, the first of them first: those of its owners that are here, else whoever is here. Empty only where
    /// nobody is.
    pub fn owners(&self, unit: &str) -> Vec<&str> {
        let all = |is_meant: fn(&Standing) -> bool| {
            let meant = self.members.iter().filter(move |(_, standing)| is_meant(standing));
            meant.map(|(id, standing)| (id.as_str(), standing.capacity))
        };
        let settled = rendezvous::owners(unit, all(|standing| standing.counts), OWNERS);
        let is_here = |id: &&str| self.members.get(*id).is_some_and(|standing| standing.is_here);
        let owners: Vec<&str> = settled.into_iter().filter(is_here).collect();
        if owners.is_empty() {
            return rendezvous::owners(unit, all(|standing| standing.is_here), OWNERS);
        }
        owners
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(ids: &[&'static str]) -> Vec<(&'static str, u8)> {
        ids.iter().map(|id| (*id, 1)).collect()
    }

    #[test]
    fn a_restart_within_ten_seconds_moves_nothing() {
        let mut assignment = Assignment::default();
        assignment.observe(0, here(&["a", "b", "c"]));
        let before: Vec<Vec<String>> = owned(&assignment);
        assignment.observe(1_000, here(&["a", "c"]));
        assert!(owned(&assignment).iter().all(|owners| !owners.is_empty()), "one of two owners is left");
        assignment.observe(10_999, here(&["a", "b", "c"]));
        assignment.advance(11_000);
        assert_eq!(owned(&assignment), before);
        assert_eq!(assignment.due_ms(), None);
    }

    #[test]
    fn whoever_is_away_for_long_is_replaced_then() {
        let mut assignment = Assignment::default();
        assignment.observe(0, here(&["a", "b", "c"]));
        assignment.observe(5_000, here(&["a", "c"]));
        assert_eq!(assignment.due_ms(), Some(15_000));
        assignment.advance(14_999);
        assert!(owned(&assignment).iter().any(|owners| owners.len() == 1));
        assignment.advance(15_000);
        assert!(owned(&assignment).iter().all(|owners| owners.len() == 2));
    }

    #[test]
    fn whoever_comes_is_given_something_after_ten_seconds() {
        let mut assignment = Assignment::default();
        assignment.observe(0, here(&["a", "b"]));
        assignment.observe(1_000, here(&["a", "b", "c"]));
        let has_c = |assignment: &Assignment| owned(assignment).iter().any(|owners| owners.iter().any(|id| id == "c"));
        assignment.advance(10_999);
        assert!(!has_c(&assignment));
        assignment.advance(11_000);
        assert!(has_c(&assignment));
    }

    #[test]
    fn what_all_owners_are_away_of_moves_at_once() {
        let mut assignment = Assignment::default();
        assignment.observe(0, here(&["a", "b", "c", "d"]));
        assignment.observe(1, here(&["d"]));
        assert!(owned(&assignment).iter().all(|owners| *owners == ["d"]));
        assignment.observe(2, here(&[]));
        assert!(owned(&assignment).iter().all(Vec::is_empty));
    }

    #[test]
    fn who_never_settles_moves_nothing_unless_somebody_falls_back_on_it() {
        let mut assignment = Assignment::default();
        assignment.observe(0, here(&["a", "b", "c"]));
        for at in 1..30 {
            let before = assignment.clone();
            let all = if at % 2 == 0 { here(&["a", "b", "c"]) } else { here(&["a", "b", "c", "flaps"]) };
            assignment.observe(at * 700, all);
            assert!(!assignment.has_moved_since(&before), "{at}");
        }
        let before = assignment.clone();
        assignment.observe(30_000, here(&["a", "b"]));
        assert!(assignment.has_moved_since(&before), "an owner is away");
        assignment.observe(30_001, here(&["a"]));
        let before = assignment.clone();
        assignment.observe(30_002, here(&["a", "flaps"]));
        assert!(assignment.has_moved_since(&before), "what b and c owned is its now");
        let before = assignment.clone();
        assignment.observe(30_003, here(&["a", "flaps"]));
        assert!(!assignment.has_moved_since(&before), "nobody came or went");
    }

    fn owned(assignment: &Assignment) -> Vec<Vec<String>> {
        let owners = |unit: i32| assignment.owners(&unit.to_string()).into_iter().map(str::to_owned).collect();
        (0..64).map(owners).collect()
    }
}
