//! Tiles of ensembles that others watch. Their locks are not asked for here: a tile says who has them. Pure.

use lockscope_wire::{Fleet, FleetQuery, FleetTile, Link};

use crate::directory::Foreign;
use crate::words;

/// Those of others behind our own, as far as the window reaches.
pub(crate) fn with_foreign<'a>(
    mut own: Fleet,
    query: &FleetQuery,
    foreign: impl Iterator<Item = &'a Foreign>,
    since_ms: i64,
) -> Fleet {
    let (mut total, mut all, mut not_live) = (own.total, own.all, own.not_live);
    let mut ensembles = std::mem::take(&mut own.ensembles);
    let wanted = query.q.to_lowercase();
    let behind = total;
    let mut place = 0_u32;
    for one in foreign {
        all = all.saturating_add(1);
        let has = |(key, value): &(String, String)| one.labels.get(key) == Some(value);
        let is_meant = query.labels.iter().all(has) && (wanted.is_empty() || one.name.to_lowercase().contains(&wanted));
        if !is_meant {
            continue;
        }
        not_live = not_live.saturating_add(1);
        // Of no tile here it is known which verdict is its worst.
        if query.verdict.is_some() {
            continue;
        }
        total = total.saturating_add(1);
        let is_reached = behind.saturating_add(place) >= query.offset;
        if is_reached && ensembles.len() < query.limit as usize {
            ensembles.push(tile(one, since_ms));
        }
        place = place.saturating_add(1);
    }
    Fleet { total, all, not_live, ensembles, ..own }
}

fn tile(foreign: &Foreign, since_ms: i64) -> FleetTile {
    FleetTile {
        name: foreign.name.clone(),
        color: foreign.color,
        labels: foreign.labels.clone(),
        link: Link::Stale,
        since_ms,
        is_live: false,
        why: words::elsewhere(foreign),
        worst: None,
        verdicts: Vec::new(),
        locks: 0,
        held: 0,
        waiters: 0,
        incomplete: 0,
        oldest_wait_at_ms: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(name: &str) -> Foreign {
        let labels = [("env".to_owned(), "prod".to_owned())].into();
        Foreign { name: name.to_owned(), color: None, connect: String::new(), labels, owners: Vec::new() }
    }

    #[test]
    fn none_is_left_out_and_none_is_counted_twice() {
        let all: Vec<Foreign> = ["x", "y", "z"].into_iter().map(foreign).collect();
        let shown = |offset, limit, q: &str| {
            let query = FleetQuery { offset, limit, q: q.to_owned(), ..FleetQuery::default() };
            let own = Fleet { total: 2, all: 2, offset, ..Fleet::default() };
            let fleet = with_foreign(own, &query, all.iter(), 7);
            let names: Vec<String> = fleet.ensembles.iter().map(|tile| tile.name.clone()).collect();
            (fleet.total, fleet.all, names.join(" "))
        };
        assert_eq!(shown(0, 100, ""), (5, 5, "x y z".to_owned()));
        assert_eq!(shown(3, 100, ""), (5, 5, "y z".to_owned()));
        assert_eq!(shown(0, 1, ""), (5, 5, "x".to_owned()));
        assert_eq!(shown(0, 100, "Y"), (3, 5, "y".to_owned()));
    }
}
