//! Many ensembles at a glance: one pass over the locks of each, and none over their contenders.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lockscope_view as view;

use super::words::view_verdict;
use super::{ProjectionContext, count32};
use crate::known::SLOW;

const LABELS_MAX: usize = 100;

/// Every tile, in no order.
pub(crate) fn fleet_tiles(looks: &[ProjectionContext<'_>]) -> Vec<view::FleetTile> {
    looks.iter().map(tile).collect()
}

/// The tiles for a query, of all that there are, as they may be shown at an instant.
pub fn fleet(mut all: Vec<view::FleetTile>, query: &view::FleetQuery, now_ms: i64) -> view::Fleet {
    let mut counted: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for (key, value) in all.iter().flat_map(|tile| &tile.labels) {
        *counted.entry((key, value)).or_default() += 1;
    }
    let (all_count, listed) = (all.len(), counted.len().min(LABELS_MAX));
    let labels_left_out = counted.len() - listed;
    let mut counted: Vec<_> = counted.into_iter().collect();
    counted.sort_by_key(|(_, count)| Reverse(*count));
    let label = |((key, value), ensembles): ((&str, &str), u32)| view::LabelCount {
        key: key.to_owned(),
        value: value.to_owned(),
        ensembles,
    };
    let labels = counted.into_iter().take(LABELS_MAX).map(label).collect();
    let wanted = query.q.to_lowercase();
    all.retain(|tile| {
        let has = |(key, value): &(String, String)| tile.labels.get(key) == Some(value);
        query.labels.iter().all(has) && (wanted.is_empty() || tile.name.to_lowercase().contains(&wanted))
    });
    let mut tiles: Vec<view::FleetTile> = all.into_iter().map(|tile| aged(tile, now_ms)).collect();
    let mut verdicts: BTreeMap<view::Verdict, u32> = BTreeMap::new();
    for worst in tiles.iter().filter_map(|tile| tile.worst) {
        *verdicts.entry(worst).or_default() += 1;
    }
    let not_live = tiles.iter().filter(|tile| !tile.is_live).count();
    tiles.retain(|tile| query.verdict.is_none_or(|verdict| tile.worst == Some(verdict)));
    tiles.sort_by(|one, other| rank(one).cmp(&rank(other)));
    view::Fleet {
        server_time_ms: now_ms,
        total: count32(tiles.len()),
        all: count32(all_count),
        offset: query.offset,
        verdicts: verdicts.into_iter().rev().collect(),
        not_live: count32(not_live),
        labels,
        labels_left_out: count32(labels_left_out),
        ensembles: tiles.into_iter().skip(query.offset as usize).take(query.limit as usize).collect(),
    }
}

/// The same tile, as it may be shown by now: what is too old is not live any more.
fn aged(tile: view::FleetTile, now_ms: i64) -> view::FleetTile {
    match tile.known_at_ms {
        Some(at_ms) if tile.is_live && !view::is_fresh(at_ms, now_ms) => {
            view::FleetTile { link: view::Link::Stale, since_ms: at_ms, is_live: false, why: SLOW.to_owned(), ..tile }
        }
        _ => tile,
    }
}

/// What is wrong comes first, then what is not known: a tile that is not live hides what may have happened. Equals stand
/// in the order of their names, so that nothing moves for no reason.
fn rank(tile: &view::FleetTile) -> (Reverse<Option<view::Verdict>>, bool, Reverse<u32>, &str) {
    // A lock that is free or held as usual is no worse than none.
    let worst = tile.worst.filter(|worst| *worst > view::Verdict::Unknown);
    (Reverse(worst), tile.is_live, Reverse(tile.waiters), &tile.name)
}

fn tile(look: &ProjectionContext<'_>) -> view::FleetTile {
    let mut verdicts: BTreeMap<view::Verdict, u32> = BTreeMap::new();
    let (mut locks, mut held, mut waiters, mut incomplete) = (0_u32, 0_u32, 0_u32, 0_u32);
    let mut oldest_wait_at_ms = None;
    for lock in look.locks() {
        *verdicts.entry(view_verdict(lock.assessment.verdict)).or_default() += 1;
        let waits = look.counted_waits(lock);
        locks += 1;
        held += u32::from(!lock.holders.is_empty());
        waiters = waiters.saturating_add(waits.count);
        incomplete += u32::from(lock.recognition.counts_as_waiting() && !lock.missing().is_empty());
        oldest_wait_at_ms = oldest_wait_at_ms.into_iter().chain(waits.oldest_at_ms).min();
    }
    let (link, since, why) = look.link();
    let roots = look.root_statuses();
    let is_live = |root: &&view::RootStatus| root.state == view::RootState::Live;
    let not_live = roots.iter().find(|root| !is_live(root));
    let why_root = not_live.map(|root| format!("{}: {}", root.path, root.why));
    view::FleetTile {
        name: look.ensemble.name.clone(),
        color: look.ensemble.color,
        labels: look.ensemble.labels.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
        link,
        since_ms: since.0,
        is_live: link == view::Link::Live && not_live.is_none(),
        why: if link == view::Link::Live { why_root.unwrap_or_default() } else { why.to_owned() },
        known_at_ms: look.known_at().map(|at| at.0),
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

    fn of(name: &str, worst: Option<view::Verdict>, is_live: bool, waiters: u32) -> view::FleetTile {
        view::FleetTile {
            name: name.to_owned(),
            color: None,
            labels: BTreeMap::new(),
            link: view::Link::Live,
            since_ms: 0,
            is_live,
            why: String::new(),
            known_at_ms: Some(1_000),
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
        use view::Verdict::{Deadlocked, Free, Healthy, Stuck};
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

    #[test]
    fn what_is_too_old_is_not_live_and_is_counted_so() {
        let tiles = || vec![of("a", None, true, 0), of("b", None, false, 0)];
        let query = view::FleetQuery { limit: 10, ..view::FleetQuery::default() };
        let seen = |now_ms| {
            let seen = fleet(tiles(), &query, now_ms);
            let tile = seen.ensembles.into_iter().find(|tile| tile.name == "a").unwrap();
            (seen.not_live, tile.is_live, tile.link, tile.since_ms)
        };
        assert_eq!(seen(3_000), (1, true, view::Link::Live, 0));
        assert_eq!(seen(3_001), (2, false, view::Link::Stale, 1_000));
        assert_eq!(seen(-1_001).0, 2, "the clock was set back");
    }

    #[test]
    fn a_filter_counts_labels_of_all_and_verdicts_of_what_it_finds() {
        let mut tiles = vec![of("eu", Some(view::Verdict::Stuck), true, 1), of("us", None, true, 0)];
        tiles[0].labels.insert("env".to_owned(), "prod".to_owned());
        let query = view::FleetQuery { q: "U".to_owned(), limit: 1, offset: 1, ..view::FleetQuery::default() };
        let found = fleet(tiles.clone(), &query, 1_000);
        assert_eq!((found.total, found.all, found.ensembles.len()), (2, 2, 1));
        assert_eq!(found.ensembles[0].name, "us");
        let labels = vec![("env".to_owned(), "prod".to_owned())];
        let found = fleet(tiles, &view::FleetQuery { labels, limit: 9, ..view::FleetQuery::default() }, 1_000);
        assert_eq!((found.total, found.all, found.labels[0].ensembles), (1, 2, 1));
        assert_eq!(found.verdicts, [(view::Verdict::Stuck, 1)]);
    }
}
