//! The list of locks as a table. Pure.

use lockscope_view::api::AgedLock;
use lockscope_view::visible;

use super::responses::Locks;
use super::table::{Cell, Column, OutputStyle, Tone, of_verdict, render as table};
use super::words::{NONE, held, instant, locks, name_at, waiters};

type Lock = AgedLock<String>;

/// Terminals narrower than this have no column for the recipe: names would be cut for it.
const RECIPE_COLUMNS_MIN: usize = 100;

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
    let mut columns =
        vec![Column::of_words("VERDICT", |lock: &Lock| Cell(of_verdict(&lock.verdict), visible(&lock.verdict)))];
    if has_several {
        columns.push(Column::of_names("ENSEMBLE", 8, |lock: &Lock| visible(&lock.ensemble)));
    }
    columns.push(Column::of_names("LOCK", 12, |lock: &Lock| visible(&lock.path)));
    if shown.columns.is_none_or(|columns| columns >= RECIPE_COLUMNS_MIN) {
        columns.push(Column::of_names("RECIPE", 6, |lock: &Lock| Cell(Tone::Faint, visible(&lock.recipe_label))));
    }
    columns.extend([
        Column::of_names("HOLDER", 10, holder),
        Column::of_numbers("HELD", |lock: &Lock| held(lock.hold_ms, lock.hold_is_lower_bound)),
        Column::of_numbers("WAITERS", waiters),
        Column::of_numbers("OLDEST WAIT", |lock: &Lock| held(lock.oldest_wait_ms, lock.wait_is_lower_bound)),
    ]);
    let count = u32::try_from(answer.locks.len()).unwrap_or(u32::MAX);
    let end = offset.saturating_add(count);
    let total = if count == answer.total {
        locks(count)
    } else {
        format!("{} to {end} of {}; --offset {end} goes on", offset + 1, locks(answer.total))
    };
    format!("{}\n{total}, {as_of}\n", table(&columns, &answer.locks, 0, shown))
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
