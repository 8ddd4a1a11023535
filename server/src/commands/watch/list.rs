//! A list on a screen: which row is chosen, which are seen, which have to be asked for, and when rows change places.
//! Pure.

use std::collections::BTreeMap;

use lockscope_view::WINDOW_ROWS_MAX;

/// Rows that are asked for at once, at least.
const FETCH_ROWS: u32 = 100;
/// A new order of rows is taken each so often, unless a row came, went, or is of another severity.
const ORDER_MS: i64 = 2_000;

/// Where in a list somebody is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListState {
    /// The chosen row: where it stands, and what it is.
    chosen: Option<(u32, String)>,
    /// First row on screen.
    top: u32,
}

/// A step through a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// So many rows.
    By(i64),
    /// So many screens.
    Screens(i64),
    /// To the first row.
    First,
    /// To the last row.
    Last,
}

impl ListState {
    /// The chosen row's place.
    pub(super) fn at(&self) -> Option<u32> {
        self.chosen.as_ref().map(|(at, _)| *at)
    }

    /// The chosen row's key; empty for a row that was not sent yet.
    pub(super) fn key(&self) -> Option<&str> {
        self.chosen.as_ref().map(|(_, key)| key.as_str())
    }

    /// Nothing chosen, from the top.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Chooses another row of `total`, of which `seen` fit on the screen.
    pub(super) fn step(&mut self, by: Move, total: u32, seen: u32) {
        if total == 0 {
            self.chosen = None;
            return;
        }
        let last = i64::from(total - 1);
        let at = self.at().map(i64::from);
        let to = match by {
            Move::By(rows) => at.map_or(i64::from(self.top), |at| at.saturating_add(rows)),
            Move::Screens(screens) => {
                at.unwrap_or(i64::from(self.top)).saturating_add(screens.saturating_mul(i64::from(seen.max(1))))
            }
            Move::First => 0,
            Move::Last => last,
        };
        let to = u32::try_from(to.clamp(0, last)).unwrap_or_default();
        if at != Some(i64::from(to)) {
            self.chosen = Some((to, String::new()));
        }
    }

    /// Follows the chosen row to where it stands now, and moves the screen so that it is seen. `keys` are those of the
    /// rows from `offset` on.
    pub(super) fn settle<'a>(&mut self, keys: impl Iterator<Item = &'a str>, offset: u32, total: u32, seen: u32) {
        let keys: Vec<&str> = keys.collect();
        if let Some((at, key)) = &mut self.chosen {
            let found = keys.iter().position(|known| known == key).filter(|_| !key.is_empty());
            match found.and_then(|index| u32::try_from(index).ok()) {
                Some(index) => *at = offset + index,
                None => {
                    *at = (*at).min(total.saturating_sub(1));
                    let there = at.checked_sub(offset).and_then(|index| keys.get(index as usize));
                    *key = there.map_or_else(String::new, |key| (*key).to_owned());
                }
            }
        }
        if total == 0 {
            self.clear();
        }
        let seen = seen.max(1);
        self.top = self.top.min(total.saturating_sub(seen));
        if let Some(at) = self.at() {
            self.top = self.top.clamp((at + 1).saturating_sub(seen), at);
        }
    }

    /// First row on screen.
    pub(super) fn top(&self) -> u32 {
        self.top
    }

    /// The window of rows to have, for a screen of so many: unchanged while it still covers the screen.
    pub(super) fn window(&self, offset: u32, limit: u32, total: u32, seen: u32) -> (u32, u32) {
        let wanted = FETCH_ROWS.max(seen.saturating_mul(2)).min(WINDOW_ROWS_MAX);
        let end = self.top.saturating_add(seen).min(total);
        if limit >= wanted && self.top.min(total) >= offset && end <= offset.saturating_add(limit) {
            return (offset, limit);
        }
        let spare = wanted.saturating_sub(seen) / 2;
        // In steps, so that viewers of about the same place share one view on the server.
        (self.top.saturating_sub(spare) / 20 * 20, wanted)
    }
}

/// Which row stands where: the server's order, taken when there is a reason to.
#[derive(Clone, Debug, Default)]
pub(super) struct RowOrder {
    keys: Vec<String>,
    severities: BTreeMap<String, u8>,
    offset: u32,
    taken_at_ms: i64,
}

impl RowOrder {
    /// Takes the server's order with the next look.
    pub(super) fn forget(&mut self) {
        self.keys.clear();
    }

    /// The indices of the rows in the order in which they are shown. `rows` are keys and severities in the server's.
    pub(super) fn arrange(&mut self, rows: &[(&str, u8)], offset: u32, now_ms: i64) -> Vec<usize> {
        let is_same_set = self.offset == offset
            && self.keys.len() == rows.len()
            && rows.iter().all(|(key, severity)| self.severities.get(*key) == Some(severity));
        let age_ms = now_ms.saturating_sub(self.taken_at_ms);
        if !is_same_set || !(0..ORDER_MS).contains(&age_ms) {
            self.keys = rows.iter().map(|(key, _)| (*key).to_owned()).collect();
            self.severities = rows.iter().map(|(key, severity)| ((*key).to_owned(), *severity)).collect();
            (self.offset, self.taken_at_ms) = (offset, now_ms);
            return (0..rows.len()).collect();
        }
        let places: BTreeMap<&str, usize> = rows.iter().enumerate().map(|(at, (key, _))| (*key, at)).collect();
        self.keys.iter().filter_map(|key| places.get(key.as_str()).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

    fn settled(list: &mut ListState, keys: &[&str]) {
        list.settle(keys.iter().copied(), 0, u32::try_from(keys.len()).unwrap(), 3);
    }

    #[test]
    fn the_chosen_row_is_followed_and_stays_on_screen() {
        let mut list = ListState::default();
        for _ in 0..5 {
            list.step(Move::By(1), 6, 3);
            settled(&mut list, &KEYS);
        }
        assert_eq!((list.at(), list.key(), list.top()), (Some(4), Some("e"), 2));
        settled(&mut list, &["e", "a", "b", "c", "d", "f"]);
        assert_eq!((list.at(), list.top()), (Some(0), 0));
        settled(&mut list, &["a", "b"]);
        assert_eq!((list.at(), list.key()), (Some(0), Some("a")), "it is gone: what stands there now");
        settled(&mut list, &[]);
        assert_eq!((list.at(), list.top()), (None, 0));
    }

    #[test]
    fn steps_end_at_the_ends() {
        let mut list = ListState::default();
        list.step(Move::By(-1), 6, 3);
        assert_eq!(list.at(), Some(0));
        list.step(Move::Screens(9), 6, 3);
        assert_eq!(list.at(), Some(5));
        list.step(Move::Screens(-1), 6, 3);
        assert_eq!(list.at(), Some(2));
        list.step(Move::First, 6, 3);
        assert_eq!(list.at(), Some(0));
        list.step(Move::Last, 0, 3);
        assert_eq!(list.at(), None);
    }

    #[test]
    fn rows_that_are_seen_are_asked_for() {
        let mut list = ListState::default();
        assert_eq!(list.window(0, 100, 10_000, 20), (0, 100));
        list.step(Move::Last, 10_000, 20);
        list.settle(KEYS.iter().copied(), 0, 10_000, 20);
        let (offset, limit) = list.window(0, 100, 10_000, 20);
        assert!(offset <= 9_980 && offset + limit >= 10_000, "{offset} {limit}");
        assert_eq!(list.window(offset, limit, 10_000, 20), (offset, limit));
        assert_eq!(list.window(0, 100, 10_000, 400).1, 500);
    }

    #[test]
    fn rows_change_places_for_a_reason() {
        let mut order = RowOrder::default();
        assert_eq!(order.arrange(&[("a", 1), ("b", 1)], 0, 0), [0, 1]);
        assert_eq!(order.arrange(&[("b", 1), ("a", 1)], 0, 1_999), [1, 0], "a still first");
        assert_eq!(order.arrange(&[("b", 1), ("a", 1)], 0, 2_000), [0, 1]);
        assert_eq!(order.arrange(&[("a", 9), ("b", 1)], 0, 2_001), [0, 1], "another severity");
        assert_eq!(order.arrange(&[("c", 1), ("a", 9), ("b", 1)], 0, 2_002), [0, 1, 2], "one more");
        order.forget();
        assert_eq!(order.arrange(&[("a", 9), ("c", 1), ("b", 1)], 0, 2_003), [0, 1, 2]);
    }
}
