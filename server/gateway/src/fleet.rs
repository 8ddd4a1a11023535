//! Tiles of ensembles that others watch, as long as nothing came of whoever watches them. Pure.

use std::collections::HashSet;

use feed::FleetTiles;
use lockscope_wire::FleetTile;

use crate::directory::Foreign;
use crate::words;

/// Those of others beside our own. What moves here is ours as soon as it is shown here.
pub(crate) fn with_foreign<'a>(
    own: Vec<FleetTile>,
    foreign: impl Iterator<Item = &'a Foreign>,
    since_ms: i64,
) -> FleetTiles {
    let known: HashSet<&str> = own.iter().map(|tile| &*tile.name).collect();
    let foreign = foreign.filter(|foreign| !known.contains(&*foreign.name));
    let elsewhere = foreign.map(|foreign| tile(foreign, since_ms)).collect();
    FleetTiles { own, elsewhere }
}

fn tile(foreign: &Foreign, since_ms: i64) -> FleetTile {
    let (color, labels) = (foreign.color, foreign.labels.clone());
    FleetTile { color, labels, ..FleetTile::unknown(&foreign.name, since_ms, words::elsewhere(foreign)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(name: &str) -> Foreign {
        let labels = [("env".to_owned(), "prod".to_owned())].into();
        Foreign { name: name.to_owned(), color: None, connect: String::new(), labels, owners: Vec::new() }
    }

    #[test]
    fn none_is_left_out_and_none_is_there_twice() {
        let all: Vec<Foreign> = ["x", "y", "z"].into_iter().map(foreign).collect();
        let own = vec![FleetTile { is_live: true, ..tile(&all[1], 3) }];
        let tiles = with_foreign(own, all.iter(), 7);
        let all = tiles.own.iter().chain(&tiles.elsewhere);
        let seen: Vec<(&str, bool)> = all.map(|tile| (&*tile.name, tile.is_live)).collect();
        assert_eq!(seen, [("y", true), ("x", false), ("z", false)]);
        assert_eq!((tiles.elsewhere[0].known_at_ms, tiles.elsewhere[0].labels.len()), (None, 1));
    }
}
