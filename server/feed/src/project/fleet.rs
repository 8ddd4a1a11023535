//! Many ensembles at a glance: one pass over the locks of each, and none over their contenders.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lockscope_wire as wire;

use super::words::wire_verdict;
use super::{ProjectionContext, count32};

/// Labels that are listed.
const LABELS_MAX: usize = 100;

/// The tiles for a query.
pub(crate) fn fleet(looks: &[ProjectionContext<'_>], query: &wire::FleetQuery) -> wire::Fleet {
    let mut labels: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for (key, value) in looks.iter().flat_map(|look| look.ensemble.labels.iter()) {
        *labels.entry((key, value)).or_default() += 1;
    }
    let wanted = query.q.to_lowercase();
    let is_meant = |look: &&ProjectionContext<'_>| {
        let has = |(key, value): &(String, String)| look.ensemble.labels.get(key) == Some(value);
        query.labels.iter().all(has) && (wanted.is_empty() || look.ensemble.name.to_lowercase().contains(&wanted))
    };
    let mut tiles: Vec<wire::FleetTile> = looks.iter().filter(is_meant).map(tile).collect();
    let mut verdicts: BTreeMap<wire::Verdict, u32> = BTreeMap::new();
    for worst in tiles.iter().filter_map(|tile| tile.worst) {
        *verdicts.entry(worst).or_default() += 1;
    }
    let not_live = tiles.iter().filter(|tile| !tile.is_live).count();
    tiles.retain(|tile| query.verdict.is_none_or(|verdict| tile.worst == Some(verdict)));
    tiles.sort_by(|one, other| rank(one).cmp(&rank(other)));
    let (total, listed) = (tiles.len(), labels.len().min(LABELS_MAX));
    let left_out = labels.len() - listed;
    let mut labels: Vec<_> = labels.into_iter().collect();
    labels.sort_by_key(|(_, count)| Reverse(*count));
    let label = |((key, value), ensembles): ((&str, &str), u32)| wire::LabelCount {
        key: key.to_owned(),
        value: value.to_owned(),
        ensembles,
    };
    wire::Fleet {
        total: count32(total),
        all: count32(looks.len()),
        offset: query.offset,
        verdicts: verdicts.into_iter().rev().collect(),
        not_live: count32(not_live),
        labels: labels.into_iter().take(LABELS_MAX).map(label).collect(),
        labels_left_out: count32(left_out),
        ensembles: tiles.into_iter().skip(query.offset as usize).take(query.limit as usize).collect(),
    }
}

/// What is wrong comes first, then what is not known: a tile that is not live hides what may have happened. Equals stand
/// in the order of their names, so that nothing moves for no reason.
fn rank(tile: &wire::FleetTile) -> (Reverse<Option<wire::Verdict>>, bool, Reverse<u32>, &str) {
    // A lock that is free or held as usual is no worse than none.
    let worst = tile.worst.filter(|worst| *worst > wire::Verdict::Unknown);
    (Reverse(worst), tile.is_live, Reverse(tile.waiters), &tile.name)
}

fn tile(look: &ProjectionContext<'_>) -> wire::FleetTile {
    let mut verdicts: BTreeMap<wire::Verdict, u32> = BTreeMap::new();
    let (mut locks, mut held, mut waiters, mut incomplete) = (0_u32, 0_u32, 0_u32, 0_u32);
    let mut oldest_wait_at_ms = None;
    for lock in look.locks() {
        *verdicts.entry(wire_verdict(lock.assessment.verdict)).or_default() += 1;
        let waits = look.counted_waits(lock);
        locks += 1;
        held += u32::from(!lock.holders.is_empty());
        waiters = waiters.saturating_add(waits.count);
        incomplete += u32::from(lock.recognition.counts_as_waiting() && !lock.missing().is_empty());
        oldest_wait_at_ms = oldest_wait_at_ms.into_iter().chain(waits.oldest_at_ms).min();
    }
    let (link, since, why) = look.link();
    let roots = look.root_statuses();
    let is_live = |root: &&wire::RootStatus| root.state == wire::RootState::Live;
    let not_live = roots.iter().find(|root| !is_live(root));
    let why_root = not_live.map(|root| format!("{}: {}", root.path, root.why));
    wire::FleetTile {
        name: look.ensemble.name.clone(),
        color: look.ensemble.color,
        labels: look.ensemble.labels.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
        link,
        since_ms: since.0,
        is_live: link == wire::Link::Live && not_live.is_none(),
        why: if link == wire::Link::Live { why_root.unwrap_or_default() } else { why.to_owned() },
        worst: verdicts.last_key_value().map(|(verdict, _)| *verdict),
        verdicts: verdicts.into_iter().rev().collect(),
        locks,
        held,
        waiters,
        incomplete,
        oldest_wait_at_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, worst: Option<wire::Verdict>, is_live: bool, waiters: u32) -> wire::FleetTile {
        wire::FleetTile {
            name: name.to_owned(),
            color: None,
            labels: BTreeMap::new(),
            link: wire::Link::Live,
            since_ms: 0,
            is_live,
            why: String::new(),
            worst,
            verdicts: Vec::new(),
            locks: 0,
            held: 0,
            waiters,
            incomplete: 0,
            oldest_wait_at_ms: None,
        }
    }

    #[test]
    fn what_is_wrong_comes_first_then_what_is_not_known() {
        use wire::Verdict::{Deadlocked, Free, Healthy, Stuck};
        let mut tiles = [
            of("empty", None, true, 0),
            of("busy", Some(Healthy), true, 900),
            of("lost", Some(Free), false, 0),
            of("stuck", Some(Stuck), true, 1),
            of("deadlocked", Some(Deadlocked), true, 2),
        ];
        tiles.sort_by(|one, other| rank(one).cmp(&rank(other)));
        assert_eq!(tiles.map(|tile| tile.name), ["deadlocked", "stuck", "lost", "busy", "empty"]);
    }
}
