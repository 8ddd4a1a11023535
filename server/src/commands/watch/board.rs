//! The board as lines: roots in trouble, what needs somebody with the next step, and the rows. Pure.

use lockscope_view::{Board, BoardHead, LockProblem, LockRow, RootState, Step, StepAct};

use super::text::{Line, Table, rest_of_columns, wrapped};
use super::words;
use crate::commands::query::table::{Tone, of_verdict};

const SENTENCE_LINES: usize = 2;
/// Roots in trouble that have a line each.
const ROOTS_MAX: usize = 2;
/// From so many columns on there is room for one more column of the table.
const HOLDER_COLUMNS_MIN: usize = 60;
const OLDEST_COLUMNS_MIN: usize = 92;
const RECIPE_COLUMNS_MIN: usize = 120;
/// Between two columns.
const GAP: usize = 2;
const HELD: usize = 12;
const WAIT: usize = 7;
const RECIPE: usize = 22;

/// What stands above the rows, in at most so many lines.
pub(super) fn head(board: &BoardHead, is_live: bool, now_ms: i64, columns: usize, lines_max: usize) -> Vec<Line> {
    let mut lines = roots(board, now_ms, columns);
    if board.problem_count == 0 {
        let tone = if is_live && board.is_all_known() { Tone::Good } else { Tone::Plain };
        if board.totals.locks > 0 {
            lines.extend(wrapped("", tone, &words::calm(board, is_live), columns, SENTENCE_LINES));
        }
    } else {
        lines.push(Line::of(Tone::Head, &words::need_you(board.problem_count)));
    }
    let mut shown = 0;
    for one in &board.problems {
        let block = problem(one, now_ms, columns);
        // Two lines are kept: for those that have none, and for the sums.
        if lines.len() + block.len() + 2 > lines_max && shown > 0 {
            break;
        }
        lines.extend(block);
        shown += 1;
    }
    let rest = board.problem_count.saturating_sub(shown);
    if rest > 0 {
        let is_all_told = usize::try_from(shown).is_ok_and(|shown| shown == board.problems.len());
        let kinds = if is_all_told { board.problems_left_out.as_slice() } else { &[] };
        lines.push(Line::of(Tone::Faint, &words::more_problems(rest, kinds)));
    }
    if board.totals.locks > 0 {
        lines.push(Line::of(Tone::Faint, &words::totals(board, now_ms)));
    }
    cut(lines, lines_max)
}

/// At most so many lines; that some are missing is said.
pub(super) fn cut(mut lines: Vec<Line>, lines_max: usize) -> Vec<Line> {
    if lines.len() > lines_max {
        lines.truncate(lines_max.saturating_sub(1));
        if lines_max > 0 {
            lines.push(Line::of(Tone::Faint, words::MORE_BELOW));
        }
    }
    lines
}

fn roots(board: &BoardHead, now_ms: i64, columns: usize) -> Vec<Line> {
    let is_troubled = |state| !matches!(state, RootState::Live | RootState::Past);
    let troubled: Vec<_> = board.roots.iter().filter(|root| is_troubled(root.state)).collect();
    let mut lines: Vec<Line> = troubled
        .iter()
        .take(ROOTS_MAX)
        .flat_map(|root| {
            let name = root.tag.as_ref().map_or_else(|| root.path.clone(), |tag| format!("{} {}", tag.name, root.path));
            wrapped("", Tone::Odd, &words::root(&name, root.state, &root.why, root.since_ms, now_ms), columns, 2)
        })
        .collect();
    if let Some(more) = troubled.len().checked_sub(ROOTS_MAX).filter(|more| *more > 0) {
        lines.push(Line::of(Tone::Odd, &words::more_roots(more)));
    }
    lines
}

fn problem(of: &LockProblem, now_ms: i64, columns: usize) -> Vec<Line> {
    let word = of.finding.as_ref().map_or_else(|| words::verdict(of.verdict).to_owned(), |code| code.replace('_', " "));
    let tone = if of.finding.is_some() { Tone::Bad } else { of_verdict(of.verdict.name()) };
    let tag = of.tag.as_ref().map_or_else(String::new, |tag| format!("{}  ", tag.name));
    let locks = format!("{tag}{}", words::problem_locks(&of.locks, of.lock_count));
    let mut lines = vec![Line::of(tone, &word).with(Tone::Plain, "  ").name(Tone::Head, &locks, columns)];
    let looked = of.looked_after.as_ref().map_or_else(String::new, |by| format!(" {}", words::headline(by, now_ms)));
    let sentence = format!("{}{looked}", words::headline(&of.headline, now_ms));
    lines.extend(wrapped("  ", Tone::Plain, &sentence, columns, SENTENCE_LINES));
    lines.extend(step("  → ", &of.step, columns));
    lines
}

/// A step behind its lead; a command stands on one line, so that it can be copied.
pub(super) fn step(lead: &str, of: &Step, columns: usize) -> Vec<Line> {
    let text = words::step(of);
    let Some(StepAct::Copy { command }) = &of.act else {
        return wrapped(lead, Tone::Plain, &text, columns, SENTENCE_LINES);
    };
    let whole = Line::of(Tone::Plain, &format!("{lead}{text} $ {command}"));
    if whole.width() <= columns {
        return vec![whole];
    }
    let mut lines = wrapped(lead, Tone::Plain, &text, columns, SENTENCE_LINES);
    lines.push(Line::of(Tone::Plain, &format!("    $ {command}")));
    lines
}

/// The table of these locks, by the width there is.
pub(super) fn table(board: &Board, columns: usize) -> Table<7> {
    let verdict = board.window.rows.iter().map(|row| words::verdict(row.verdict).len()).max().unwrap_or(0).max(7);
    let if_wide = |least: usize, width: usize| if columns >= least { width } else { 0 };
    let (held, oldest) = (if_wide(HOLDER_COLUMNS_MIN, HELD), if_wide(OLDEST_COLUMNS_MIN, HELD));
    let recipe = if_wide(RECIPE_COLUMNS_MIN, RECIPE);
    let room = rest_of_columns(columns, GAP, &[verdict, held, WAIT, oldest, recipe]);
    let holder = if_wide(HOLDER_COLUMNS_MIN, room.saturating_sub(GAP) * 2 / 5);
    let lock = room.saturating_sub(if holder > 0 { holder + GAP } else { 0 });
    let columns = [
        ("VERDICT", verdict, false),
        ("LOCK", lock, false),
        ("HOLDER", holder, false),
        ("HELD", held, true),
        ("WAITERS", WAIT, true),
        ("OLDEST WAIT", oldest, true),
        ("RECIPE", recipe, false),
    ];
    Table { columns, gap: GAP }
}

/// What stands in a lock's row.
pub(super) fn cells(row: &LockRow, is_chosen: bool, now_ms: i64) -> [(Tone, String); 7] {
    let name = row.tag.as_ref().map_or_else(|| row.path.clone(), |tag| format!("{} {}", tag.name, row.path));
    [
        (of_verdict(row.verdict.name()), words::verdict(row.verdict).to_owned()),
        (if is_chosen { Tone::Head } else { Tone::Plain }, name),
        (Tone::Plain, holder(row)),
        (Tone::Plain, words::least(row.held_since_ms, row.hold_is_lower_bound, now_ms)),
        (Tone::Plain, words::waiters(row)),
        (Tone::Plain, words::least(row.oldest_wait_at_ms, row.wait_is_lower_bound, now_ms)),
        (Tone::Faint, row.recipe_label.clone()),
    ]
}

/// The first holder and how many more there are.
fn holder(row: &LockRow) -> String {
    let Some(first) = row.holders.first() else {
        return match row.holder_count {
            0 => words::NONE.to_owned(),
            many => many.to_string(),
        };
    };
    let name = words::name(first);
    if row.holder_count > 1 { format!("{name} +{}", row.holder_count - 1) } else { name }
}
