//! The order of rows on screen. While somebody points at the list or has chosen a row, places are pinned: values
//! move, rows do not. Pure.

use std::collections::BTreeMap;

use lockscope_wire::{LockRow, Window};

/// Which row is where.
#[derive(Debug, Default)]
pub(super) struct Order {
    pinned: Option<BTreeMap<u32, String>>,
    /// Rows as last seen, so that one that went can still be shown in its place.
    remembered: BTreeMap<String, LockRow>,
}

impl Order {
    /// Pins the places of the rows known now.
    pub(super) fn pin(&mut self, window: &Window<LockRow>) {
        self.pinned = Some(BTreeMap::new());
        self.remembered.clear();
        self.follow(window);
    }

    /// Lets rows move again.
    pub(super) fn release(&mut self) {
        self.pinned = None;
        self.remembered.clear();
    }

    /// Takes in a new window: free places are filled, rows are remembered.
    pub(super) fn follow(&mut self, window: &Window<LockRow>) {
        let Some(pinned) = &mut self.pinned else { return };
        for (at, row) in places(window) {
            if !pinned.contains_key(&at) && !pinned.values().any(|key| *key == row.key) {
                pinned.insert(at, row.key.clone());
            }
            if self.remembered.get(&row.key) != Some(row) {
                self.remembered.insert(row.key.clone(), row.clone());
            }
        }
    }

    /// True when the pinned places differ from what they would be.
    pub(super) fn differs(&self, window: &Window<LockRow>) -> bool {
        let Some(pinned) = &self.pinned else { return false };
        places(window).any(|(at, row)| pinned.get(&at).is_none_or(|key| *key != row.key))
            || pinned.last_key_value().is_some_and(|(at, _)| *at >= window.total)
    }

    /// The path of the row in a place.
    pub(super) fn key_at(&self, window: &Window<LockRow>, at: u32) -> Option<String> {
        match &self.pinned {
            Some(pinned) => pinned.get(&at).cloned(),
            None => window.rows.get(at.checked_sub(window.offset)? as usize).map(|row| row.key.clone()),
        }
    }

    /// How many places there are.
    pub(super) fn total(&self, window: &Window<LockRow>) -> u32 {
        let pinned = self.pinned.as_ref().and_then(|pinned| pinned.last_key_value()).map_or(0, |(at, _)| at + 1);
        window.total.max(pinned)
    }

    /// A row that is pinned but no longer among those sent.
    pub(super) fn remembered(&self, path: &str) -> Option<&LockRow> {
        self.remembered.get(path)
    }
}

fn places(window: &Window<LockRow>) -> impl Iterator<Item = (u32, &LockRow)> {
    (window.offset..).zip(&window.rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_wire::{Confidence, Depth, Recipe, RootState, Verdict};

    fn window(paths: &[&str]) -> Window<LockRow> {
        let rows: Vec<LockRow> = paths.iter().map(|path| row(path)).collect();
        Window { total: rows.len() as u32, offset: 0, rows }
    }

    fn row(path: &str) -> LockRow {
        LockRow {
            key: path.to_owned(),
            tag: None,
            ensemble: String::new(),
            path: path.to_owned(),
            root: "/".to_owned(),
            recipe: Recipe::SequentialMutex,
            recipe_label: String::new(),
            confidence: Confidence::High,
            verdict: Verdict::Free,
            sentence: String::new(),
            state: RootState::Live,
            holders: Vec::new(),
            holder_count: 0,
            waiter_count: Some(0),
            oldest_wait_at_ms: None,
            wait_is_lower_bound: false,
            waiting_since_sum_ms: 0,
            missing: Vec::new(),
            held_since_ms: None,
            hold_is_lower_bound: false,
            findings: Vec::new(),
            depth: Depth::default(),
        }
    }

    fn shown(order: &Order, window: &Window<LockRow>) -> Vec<String> {
        (0..order.total(window)).filter_map(|at| order.key_at(window, at)).collect()
    }

    #[test]
    fn free_rows_follow_the_server() {
        let order = Order::default();
        assert_eq!(shown(&order, &window(&["/a", "/b"])), ["/a", "/b"]);
    }

    #[test]
    fn pinned_rows_keep_their_places_and_say_that_the_order_changed() {
        let mut order = Order::default();
        order.pin(&window(&["/a", "/b"]));
        let next = window(&["/b", "/c", "/a"]);
        order.follow(&next);
        assert_eq!(shown(&order, &next), ["/a", "/b"]);
        assert!(order.differs(&next));
        order.pin(&next);
        assert_eq!(shown(&order, &next), ["/b", "/c", "/a"]);
        assert!(!order.differs(&next));
    }

    #[test]
    fn a_row_that_went_is_remembered_until_the_order_is_applied() {
        let mut order = Order::default();
        order.pin(&window(&["/a", "/b"]));
        let next = window(&["/b"]);
        order.follow(&next);
        assert_eq!(shown(&order, &next), ["/a", "/b"]);
        assert!(order.remembered("/a").is_some() && order.differs(&next));
        order.release();
        assert_eq!(shown(&order, &next), ["/b"]);
        assert!(order.remembered("/a").is_none());
    }

    #[test]
    fn scrolling_on_fills_new_places_once() {
        let mut order = Order::default();
        order.pin(&window(&["/a", "/b"]));
        let mut next = window(&["/a", "/d"]);
        next.offset = 2;
        next.total = 4;
        order.follow(&next);
        assert_eq!(shown(&order, &next), ["/a", "/b", "/d"]);
    }
}
