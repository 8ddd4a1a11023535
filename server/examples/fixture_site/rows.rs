//! Which rows of the board fit a query, and in which order.

use lockscope_view::{BoardQuery, LockRow, Sort, Verdict};

pub(crate) fn matches(row: &LockRow, query: &BoardQuery) -> bool {
    let has = |text: &str| row.path.contains(text) || row.recipe_label.contains(text);
    let term = |term: &str| term.strip_prefix('!').map_or_else(|| has(term), |text| !has(text));
    (query.root.is_empty() || row.root == query.root)
        && query.verdict.is_none_or(|verdict| row.verdict == verdict)
        && query.recipe.is_none_or(|recipe| row.recipe == recipe)
        && query.q.split_whitespace().all(term)
}

pub(crate) fn sort(rows: &mut [LockRow], query: &BoardQuery, now_ms: i64) {
    let damage_ms = |row: &LockRow| i64::from(row.waiter_count.unwrap_or(0)) * now_ms - row.waiting_since_sum_ms;
    let badness = |row: &LockRow| if row.verdict >= Verdict::Slow { row.verdict as i64 } else { 0 };
    let key = |row: &LockRow| match query.sort {
        Sort::Worst => (-badness(row), -damage_ms(row)),
        Sort::Damage => (0, -damage_ms(row)),
        Sort::OldestWait => (0, row.oldest_wait_at_ms.unwrap_or(i64::MAX)),
        Sort::Depth => (0, -i64::from(row.waiter_count.unwrap_or(0))),
        Sort::Hold => (0, row.held_since_ms.unwrap_or(i64::MAX)),
        Sort::Path | Sort::Recipe | Sort::Holder => (0, 0),
    };
    rows.sort_by(|a, b| (key(a), &a.path).cmp(&(key(b), &b.path)));
    if query.group {
        rows.sort_by(|a, b| a.root.cmp(&b.root));
    }
}
