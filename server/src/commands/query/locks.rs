//! The list of locks as a table. Pure.

use lockscope_view::visible;

use super::responses::{Lock, Locks};
use super::table::{Cell, Column, OutputStyle, Tone, of_verdict, render as table};
use super::words::{NONE, held, instant, locks, name_at, waiters};

const COLUMNS: [Column; 7] = [
    Column::of_words("VERDICT"),
    Column::of_names("LOCK", 12),
    Column::of_names("RECIPE", 6),
    Column::of_names("HOLDER", 10),
    Column::of_numbers("HELD"),
    Column::of_numbers("WAITERS"),
    Column::of_numbers("OLDEST WAIT"),
];
const RECIPE_AT: usize = 2;
/// Terminals narrower than this have no column for the recipe: names would be cut for it.
const RECIPE_COLUMNS_MIN: usize = 100;
const ENSEMBLE: Column = Column::of_names("ENSEMBLE", 8);

pub(super) fn render(answer: &Locks, offset: u32, has_several: bool, now_ms: i64, shown: OutputStyle) -> String {
    let as_of = shown.tone(Tone::Faint, &format!("as of {}", instant(now_ms)));
    if answer.locks.is_empty() {
        let all = if answer.total > 0 {
            format!("no more than {}", locks(answer.total))
        } else {
            "no lock matches".to_owned()
        };
        return format!("{all}, {as_of}\n");
    }
    let has_recipe = shown.columns.is_none_or(|columns| columns >= RECIPE_COLUMNS_MIN);
    let mut columns = COLUMNS.to_vec();
    let mut rows: Vec<Vec<Cell>> = answer.locks.iter().map(row).collect();
    if !has_recipe {
        columns.remove(RECIPE_AT);
        rows.iter_mut().for_each(|row| drop(row.remove(RECIPE_AT)));
    }
    if has_several {
        columns.insert(1, ENSEMBLE);
        rows.iter_mut().zip(&answer.locks).for_each(|(row, lock)| row.insert(1, Cell::plain(visible(&lock.ensemble))));
    }
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let total = if count == answer.total {
        locks(count)
    } else {
        format!(
            "{} to {} of {}; --offset {} goes on",
            offset + 1,
            offset.saturating_add(count),
            locks(answer.total),
            offset.saturating_add(count)
        )
    };
    format!("{}\n{total}, {as_of}\n", table(&columns, &rows, 0, shown))
}

fn row(lock: &Lock) -> Vec<Cell> {
    let (verdict, path, recipe) = (visible(&lock.verdict), visible(&lock.path), visible(&lock.recipe_label));
    vec![
        Cell(of_verdict(&lock.verdict), verdict),
        Cell::plain(path),
        Cell(Tone::Faint, recipe),
        Cell::plain(holder(lock)),
        Cell::plain(held(lock.hold_ms, lock.hold_is_lower_bound)),
        Cell::plain(waiters(lock)),
        Cell::plain(held(lock.oldest_wait_ms, lock.wait_is_lower_bound)),
    ]
}

/// The first holder and how many more there are.
fn holder(lock: &Lock) -> String {
    match (lock.holders.first(), lock.holder_count) {
        (None, 0) => NONE.to_owned(),
        (None, count) => format!("{count} holders"),
        (Some(first), ..=1) => name_at(first),
        (Some(first), count) => format!("{} +{}", name_at(first), count - 1),
    }
}
