//! A list on a screen: which row is chosen, which are seen, which have to be asked for, and when rows change places.
//! Pure.

use std::collections::BTreeMap;

use lockscope_view::{LockRow, Verdict, WINDOW_ROWS_MAX};

/// Rows that are asked for at once, at least.
const FETCH_ROWS: u32 = 100;
/// A new order of rows is taken each so often, unless a row came, went, or is of another verdict.
const ORDER_MS: i64 = 2_000;

/// The chosen row of a list, and the first on screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListState {
    /// Where the chosen row stands, and its key: empty for a row that was not sent yet.
    chosen: Option<(u32, String)>,
    top: u32,
}

impl ListState {
    pub(super) fn at(&self) -> Option<u32> {
        self.chosen.as_ref().map(|(at, _)| *at)
    }

    /// The chosen row's key; empty for a row that was not sent yet.
    pub(super) fn key(&self) -> Option<&str> {
        self.chosen.as_ref().map(|(_, key)| key.as_str())
    }

    pub(super) fn top(&self) -> u32 {
        self.top
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Chooses the row so many further on, of `total`; the first step chooses the first row on screen.
    pub(super) fn step(&mut self, by: i64, total: u32) {
        let Some(last) = total.checked_sub(1) else { return self.clear() };
        let to = match self.at() {
            None if matches!(by, -1 | 1) => i64::from(self.top),
            at => i64::from(at.unwrap_or(self.top)).saturating_add(by),
        };
        let to = u32::try_from(to.clamp(0, i64::from(last))).unwrap_or_default();
        if self.at() != Some(to) {
            self.chosen = Some((to, String::new()));
        }
    }

    /// Follows the chosen row to where it stands now, and moves the screen so that it is seen. `keys` are those of the
    /// rows from `offset` on.
    pub(super) fn settle(&mut self, keys: &[&str], offset: u32, total: u32, seen: u32) {
        if total == 0 {
            return self.clear();
        }
        if let Some((at, key)) = &mut self.chosen {
            let found = keys.iter().position(|known| known == key).filter(|_| !key.is_empty());
            if let Some(index) = found.and_then(|index| u32::try_from(index).ok()) {
                *at = offset + index;
            } else {
                *at = (*at).min(total - 1);
                let there = at.checked_sub(offset).and_then(|index| keys.get(index as usize));
                *key = there.copied().unwrap_or_default().to_owned();
            }
        }
        let seen = seen.max(1);
        self.top = self.top.min(total.saturating_sub(seen));
        if let Some(at) = self.at() {
            self.top = self.top.clamp((at + 1).saturating_sub(seen), at);
        }
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
    /// Keys and verdicts in the order that was taken.
    rows: Vec<(String, Verdict)>,
    indices: Vec<usize>,
    offset: u32,
    taken_at_ms: i64,
}

impl RowOrder {
    /// The server's order is taken next time.
    pub(super) fn forget(&mut self) {
        self.rows.clear();
    }

    /// The rows' indices in the order in which they are shown, as last arranged.
    pub(super) fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// Arranges rows that are in the server's order.
    pub(super) fn arrange(&mut self, rows: &[LockRow], offset: u32, now_ms: i64) -> &[usize] {
        let places: BTreeMap<&str, usize> = rows.iter().enumerate().map(|(at, row)| (row.key.as_str(), at)).collect();
        let place = |(key, verdict): &(String, Verdict)| {
            let at = *places.get(key.as_str())?;
            rows.get(at).filter(|row| row.verdict == *verdict).map(|_| at)
        };
        let known: Option<Vec<usize>> = self.rows.iter().map(place).collect();
        let is_recent = self.offset == offset && (0..ORDER_MS).contains(&now_ms.saturating_sub(self.taken_at_ms));
        self.indices = known.filter(|known| is_recent && known.len() == rows.len()).unwrap_or_else(|| {
            self.rows = rows.iter().map(|row| (row.key.clone(), row.verdict)).collect();
            (self.offset, self.taken_at_ms) = (offset, now_ms);
            (0..rows.len()).collect()
        });
        &self.indices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

    fn settled(list: &mut ListState, keys: &[&str]) {
        list.settle(keys, 0, u32::try_from(keys.len()).unwrap(), 3);
    }

    #[test]
    fn the_chosen_row_is_followed_and_stays_on_screen() {
        let mut list = ListState::default();
        for _ in 0..5 {
            list.step(1, 6);
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
        list.step(-1, 6);
        assert_eq!(list.at(), Some(0));
        list.step(9 * 3, 6);
        assert_eq!(list.at(), Some(5));
        list.step(-3, 6);
        assert_eq!(list.at(), Some(2));
        list.step(i64::MIN, 6);
        assert_eq!(list.at(), Some(0));
        list.step(i64::MAX, 0);
        assert_eq!(list.at(), None);
    }

    #[test]
    fn rows_that_are_seen_are_asked_for() {
        let mut list = ListState::default();
        assert_eq!(list.window(0, 100, 10_000, 20), (0, 100));
        list.step(i64::MAX, 10_000);
        list.settle(&KEYS, 0, 10_000, 20);
        let (offset, limit) = list.window(0, 100, 10_000, 20);
        assert!(offset <= 9_980 && offset + limit >= 10_000, "{offset} {limit}");
        assert_eq!(list.window(offset, limit, 10_000, 20), (offset, limit));
        assert_eq!(list.window(0, 100, 10_000, 400).1, 500);
    }

    #[test]
    fn rows_change_places_for_a_reason() {
        let (fine, stuck) = (Verdict::Healthy, Verdict::Stuck);
        let rows = |rows: &[(&str, Verdict)]| -> Vec<LockRow> {
            rows.iter().map(|(key, verdict)| super::super::tests::row(key, *verdict, "x", 0)).collect()
        };
        let mut order = RowOrder::default();
        assert_eq!(order.arrange(&rows(&[("a", fine), ("b", fine)]), 0, 0), [0, 1]);
        assert_eq!(order.arrange(&rows(&[("b", fine), ("a", fine)]), 0, 1_999), [1, 0], "a still first");
        assert_eq!(order.arrange(&rows(&[("b", fine), ("a", fine)]), 0, 2_000), [0, 1]);
        assert_eq!(order.arrange(&rows(&[("a", stuck), ("b", fine)]), 0, 2_001), [0, 1], "another verdict");
        assert_eq!(order.arrange(&rows(&[("c", fine), ("a", stuck), ("b", fine)]), 0, 2_002), [0, 1, 2], "one more");
        order.forget();
        assert_eq!(order.arrange(&rows(&[("a", stuck), ("c", fine), ("b", fine)]), 0, 2_003), [0, 1, 2]);
    }
}
