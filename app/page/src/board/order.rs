//! The order of rows on screen. Values move, rows rarely do: at most each two seconds, and only for a reason. While
//! somebody points at the list or has chosen a row, no row moves at all. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockscope_view::{LockRow, Sort, Verdict, Window};

/// Rows move at most this often.
const CALM_MS: i64 = 2_000;
/// After somebody asked for another order or other rows, what comes is taken as it comes for so long.
const SETTLE_MS: i64 = 1_500;
/// A row overtakes another of its severity once its damage is so many percent of the other's.
const OVERTAKES_PERCENT: i64 = 120;

#[derive(Debug, Default)]
pub(super) struct Order {
    pinned: BTreeMap<u32, String>,
    /// The same by row: whoever scrolls through thousands fills the places of a hundred at once.
    places: BTreeMap<String, u32>,
    /// Rows as last seen, so that one that went can still be shown in its place.
    remembered: BTreeMap<String, Arc<LockRow>>,
    /// Somebody points at the list or has chosen a row: nothing moves, for whatever reason.
    is_held: bool,
    /// Since when the places are as they are.
    since_ms: i64,
    /// Until when every order is taken at once.
    settles_until_ms: i64,
}

impl Order {
    /// Takes the order as it is now, and keeps it while it is held.
    pub(super) fn pin(&mut self, window: &Window<LockRow>, now_ms: i64) {
        self.forget();
        self.since_ms = now_ms;
        self.fill(window);
    }

    fn forget(&mut self) {
        self.pinned.clear();
        self.places.clear();
        self.remembered.clear();
    }

    pub(super) fn hold(&mut self, is_held: bool) {
        self.is_held = is_held;
    }

    /// Another order, or other rows, were asked for: what was pinned is void.
    pub(super) fn reset(&mut self, now_ms: i64) {
        self.forget();
        self.is_held = false;
        self.settles_until_ms = now_ms + SETTLE_MS;
    }

    /// Takes in a new window: rows move where they may, and there is a reason; free places are filled.
    pub(super) fn follow(&mut self, window: &Window<LockRow>, now_ms: i64, sort: Sort) {
        let may_move = !self.is_held
            && (now_ms < self.settles_until_ms || now_ms.saturating_sub(self.since_ms) >= CALM_MS)
            && self.differs(window);
        if self.pinned.is_empty()
            || (may_move && (now_ms < self.settles_until_ms || self.has_reason(window, now_ms, sort)))
        {
            self.pin(window, now_ms);
        } else {
            self.fill(window);
        }
    }

    fn fill(&mut self, window: &Window<LockRow>) {
        for (at, row) in places(window) {
            if !self.pinned.contains_key(&at) && !self.places.contains_key(&row.key) {
                self.pinned.insert(at, row.key.clone());
                self.places.insert(row.key.clone(), at);
            }
            if self.remembered.get(&row.key).is_none_or(|known| **known != *row) {
                self.remembered.insert(row.key.clone(), Arc::new(row.clone()));
            }
        }
    }

    /// True when the pinned places differ from what they would be.
    pub(super) fn differs(&self, window: &Window<LockRow>) -> bool {
        places(window).any(|(at, row)| self.pinned.get(&at).is_none_or(|key| *key != row.key))
            || self.pinned.last_key_value().is_some_and(|(at, _)| *at >= window.total)
    }

    /// The same, where somebody has to apply it.
    pub(super) fn awaits_apply(&self, window: &Window<LockRow>) -> bool {
        self.is_held && self.differs(window)
    }

    /// Whether the new order is worth the unrest: a row came or went, is of another severity, or has clearly more damage
    /// than one that stands before it.
    fn has_reason(&self, window: &Window<LockRow>, now_ms: i64, sort: Sort) -> bool {
        if !matches!(sort, Sort::Worst | Sort::Damage) {
            return true;
        }
        let place = |row: &LockRow| self.places.get(&row.key);
        let is_same_set = window.rows.iter().all(|row| place(row).is_some())
            && self.pinned.last_key_value().is_none_or(|(at, _)| *at < window.total);
        let overtakes = |(at, row): (usize, &LockRow)| {
            let behind = window.rows.iter().skip(at + 1);
            let mut overtaken = behind.filter(|other| place(other) < place(row));
            overtaken.any(|other| {
                (sort == Sort::Worst && severity(row) != severity(other))
                    || damage_ms(row, now_ms) * 100 > damage_ms(other, now_ms).max(CALM_MS) * OVERTAKES_PERCENT
            })
        };
        !is_same_set || window.rows.iter().enumerate().any(overtakes)
    }

    pub(super) fn key_at(&self, at: u32) -> Option<&str> {
        self.pinned.get(&at).map(String::as_str)
    }

    pub(super) fn total(&self, window: &Window<LockRow>) -> u32 {
        window.total.max(self.pinned.last_key_value().map_or(0, |(at, _)| at + 1))
    }

    /// A row that is pinned, as it was last sent. The same while it does not change.
    pub(super) fn remembered(&self, path: &str) -> Option<&Arc<LockRow>> {
        self.remembered.get(path)
    }
}

/// How bad a verdict is; the calm ones are alike.
fn severity(row: &LockRow) -> u8 {
    if row.verdict >= Verdict::Slow { row.verdict as u8 } else { 0 }
}

fn damage_ms(row: &LockRow, now_ms: i64) -> i64 {
    row.total_wait_ms(now_ms).unwrap_or_default()
}

fn places(window: &Window<LockRow>) -> impl Iterator<Item = (u32, &LockRow)> {
    (window.offset..).zip(&window.rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::{Confidence, Depth, Recipe, RootState};

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
            hand_offs_in_10_s: None,
        }
    }

    fn shown(order: &Order, window: &Window<LockRow>) -> Vec<String> {
        (0..order.total(window)).filter_map(|at| order.key_at(at).map(str::to_owned)).collect()
    }

    fn follow(order: &mut Order, window: &Window<LockRow>, now_ms: i64) -> Vec<String> {
        order.follow(window, now_ms, Sort::Worst);
        shown(order, window)
    }

    /// Rows with one waiter each, who waits for so long.
    fn waiting(rows: &[(&str, i64)], now_ms: i64) -> Window<LockRow> {
        let paths: Vec<&str> = rows.iter().map(|(path, _)| *path).collect();
        let mut window = window(&paths);
        for (row, (_, ms)) in window.rows.iter_mut().zip(rows) {
            (row.waiter_count, row.waiting_since_sum_ms) = (Some(1), now_ms - ms);
            row.oldest_wait_at_ms = Some(now_ms - ms);
        }
        window
    }

    #[test]
    fn held_rows_keep_their_places_and_say_that_the_order_changed() {
        let mut order = Order::default();
        order.pin(&window(&["/a", "/b"]), 0);
        order.hold(true);
        let next = window(&["/b", "/c", "/a"]);
        assert_eq!(follow(&mut order, &next, 60_000), ["/a", "/b"]);
        assert!(order.awaits_apply(&next));
        order.pin(&next, 60_000);
        assert_eq!(shown(&order, &next), ["/b", "/c", "/a"]);
        assert!(!order.awaits_apply(&next));
    }

    #[test]
    fn rows_move_at_most_each_two_seconds() {
        let mut order = Order::default();
        follow(&mut order, &window(&["/a", "/b"]), 0);
        let next = window(&["/b", "/c", "/a"]);
        assert_eq!(follow(&mut order, &next, 1_999), ["/a", "/b"]);
        assert!(!order.awaits_apply(&next), "it comes by itself");
        assert_eq!(follow(&mut order, &next, 2_000), ["/b", "/c", "/a"]);
    }

    #[test]
    fn rows_move_for_a_reason() {
        let mut order = Order::default();
        let now_ms = 100_000;
        follow(&mut order, &waiting(&[("/a", 10_000), ("/b", 9_000)], 0), 0);
        let close = waiting(&[("/b", 11_000), ("/a", 10_500)], now_ms);
        assert_eq!(follow(&mut order, &close, now_ms), ["/a", "/b"], "that is no news");
        let clear = waiting(&[("/b", 14_000), ("/a", 10_500)], now_ms);
        assert_eq!(follow(&mut order, &clear, now_ms), ["/b", "/a"]);
        let mut worse = waiting(&[("/a", 1_000), ("/b", 14_000)], now_ms);
        worse.rows.iter_mut().take(1).for_each(|row| row.verdict = Verdict::Stuck);
        assert_eq!(follow(&mut order, &worse, now_ms + 2_000), ["/a", "/b"]);
        let brief = waiting(&[("/b", 900), ("/a", 10)], now_ms + 2_000);
        order.pin(&waiting(&[("/a", 10), ("/b", 900)], now_ms), now_ms);
        assert_eq!(follow(&mut order, &brief, now_ms + 2_000), ["/a", "/b"], "short waits are alike");
    }

    #[test]
    fn another_order_is_taken_at_once() {
        let mut order = Order::default();
        follow(&mut order, &window(&["/a", "/b"]), 0);
        order.reset(100);
        assert_eq!(follow(&mut order, &window(&["/a", "/b"]), 110), ["/a", "/b"], "the answer is under way");
        assert_eq!(follow(&mut order, &window(&["/b", "/a"]), 200), ["/b", "/a"]);
    }

    #[test]
    fn a_row_that_went_is_remembered_until_the_order_is_applied() {
        let mut order = Order::default();
        order.pin(&window(&["/a", "/b"]), 0);
        let next = window(&["/b"]);
        assert_eq!(follow(&mut order, &next, 1), ["/a", "/b"]);
        assert!(order.remembered("/a").is_some() && order.differs(&next));
        assert_eq!(follow(&mut order, &next, 2_000), ["/b"]);
        assert!(order.remembered("/a").is_none());
    }

    #[test]
    fn scrolling_on_fills_new_places_once() {
        let mut order = Order::default();
        order.pin(&window(&["/a", "/b"]), 0);
        let mut next = window(&["/a", "/d"]);
        next.offset = 2;
        next.total = 4;
        assert_eq!(follow(&mut order, &next, 1), ["/a", "/b", "/d"]);
    }
}
