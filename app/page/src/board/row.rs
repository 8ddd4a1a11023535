//! One lock on the board.

use super::state::Drawn;
use crate::charts::sparkline;
use crate::format::{middle, plural, visible};
use crate::html::Html;
use crate::parts::{chip, holder_name, missing_words, runs_out, tag, waiters_text};
use lockscope_wire::{ContenderRole, LockQuery, LockRow, RunsOut, Verdict};

/// Longest name on a row; the whole is in its title and on the lock's page.
const PATH_CHARS: usize = 72;
const HOLDER_CHARS: usize = 32;
const ROOT_CHARS: usize = 30;

/// The row.
pub(super) fn row(drawn: &Drawn, is_grouped: bool, now_ms: i64) -> Html {
    let row = &drawn.row;
    let cell = |class: &str, column: &str, inner: Html| Html::tag("div", &[("class", class), ("role", "gridcell"), ("data-col", column)], inner);
    let none = if row.waiter_count == Some(0) { "true" } else { "" };
    let waiters = [
        ("class", "cell cell-number cell-waiters"),
        ("role", "gridcell"),
        ("data-col", "waiters"),
        ("data-none", none),
        ("title", missing_words(&row.missing)),
    ];
    let out = ending(row).map(|end| runs_out("runs out in ", &end, now_ms)).unwrap_or_default();
    let cells = vec![
        cell("cell cell-verdict", "verdict", Html::all(vec![chip(row.verdict), out])),
        cell("cell cell-lock", "", lock(row, is_grouped)),
        cell("cell cell-holder", "holder", holder(row)),
        cell("cell cell-number cell-hold", "hold", Html::age(row.held_since_ms, row.hold_is_lower_bound, now_ms)),
        Html::of("div", &waiters, &waiters_text(row)),
        cell("cell cell-number cell-oldest", "oldest", Html::wait(row.oldest_wait_at_ms, row.wait_is_lower_bound, now_ms)),
        cell("cell cell-depth", "depth", sparkline(&row.depth)),
    ];
    let yes = |is_so: bool| if is_so { "true" } else { "" };
    let at = (drawn.at + 2).to_string();
    let attributes = [
        ("class", "board-row lock-row"),
        ("role", "row"),
        ("data-key", &*row.key),
        ("data-lock", &row.path),
        ("data-verdict", row.verdict.name()),
        ("data-away", yes(drawn.is_away)),
        ("data-old", yes(!row.state.is_current())),
        ("data-chosen", yes(drawn.is_chosen)),
        ("aria-selected", if drawn.is_chosen { "true" } else { "false" }),
        ("aria-rowindex", &at),
    ];
    Html::tag("div", &attributes, Html::all(cells))
}

/// When the lock frees itself, where its holder is gone: when the first of them runs out.
fn ending(row: &LockRow) -> Option<RunsOut> {
    let ends = row.holders.iter().filter_map(|holder| holder.runs_out);
    ends.min_by_key(|end| end.at_ms).filter(|_| row.verdict == Verdict::Expiring)
}

/// Its name, what it is, and its state in words.
fn lock(row: &LockRow, is_grouped: bool) -> Html {
    let href = LockQuery { ensemble: row.ensemble.clone(), path: row.path.clone(), ..LockQuery::default() }.to_url();
    let whole = visible(&row.path);
    let name = Html::of("bdi", &[], &middle(&whole, PATH_CHARS));
    let root = if is_grouped { format!("in {}", middle(&visible(&row.root), ROOT_CHARS)) } else { String::new() };
    let findings = if row.findings.is_empty() { String::new() } else { plural(row.findings.len() as u64, "finding", "findings") };
    let sentence = visible(&row.sentence);
    let line = vec![
        tag(row.tag.as_ref()),
        Html::tag("a", &[("class", "lock-path"), ("href", &href), ("data-col", "path"), ("title", &whole)], name),
        Html::of("span", &[("class", "lock-recipe")], &row.recipe_label),
        Html::of("span", &[("class", "lock-root")], &root),
        Html::of("span", &[("class", "lock-findings"), ("title", &row.findings.join(", "))], &findings),
    ];
    Html::all(vec![
        Html::tag("div", &[("class", "lock-line")], Html::all(line)),
        Html::of("div", &[("class", "lock-sentence"), ("data-col", "sentence"), ("title", &sentence)], &sentence),
    ])
}

/// Who holds it.
fn holder(row: &LockRow) -> Html {
    let whole = row.holders.first().map(holder_name).unwrap_or_default();
    let nobody = if row.verdict == Verdict::Unknown { "not known" } else { "nobody" };
    let name = if whole.is_empty() { nobody.to_owned() } else { middle(&whole, HOLDER_CHARS) };
    Html::all(vec![
        Html::of("div", &[("class", "holder-name"), ("title", &whole)], &name),
        Html::of("div", &[("class", "holder-session")], &second_line(row).unwrap_or_default()),
    ])
}

/// The session below a label, and how many more hold.
fn second_line(row: &LockRow) -> Option<String> {
    let holder = row.holders.first().filter(|holder| holder.role == ContenderRole::Holder)?;
    let session = holder.session_id.filter(|_| holder.label.is_some()).map(|session| session.to_string());
    let more = row.holder_count.saturating_sub(1);
    match (session, more) {
        (session, 0) => session,
        (Some(session), more) => Some(format!("{session} and {more} more")),
        (None, more) => Some(format!("and {more} more")),
    }
}
