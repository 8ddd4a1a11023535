//! One lock on the board, as text. Pure.

use std::sync::Arc;

use super::state::Drawn;
use super::words;
use crate::charts::sparkline_markup;
use crate::format::{middle, visible};
use crate::parts::Piece::{Attribute, Text};
use crate::parts::{
    AgeText, Markup, Piece, RowMarkup, chip_markup, filled, hold_least, holder_name, lock_url, mark, missing_words,
    session_end_markup, tag_markup, wait_least, waiters_text,
};
use lockscope_view::guide::anchor;
use lockscope_view::{ContenderRole, LockRow, RunsOut, Verdict};

/// Longest name on a row; the whole is in its title and on the lock's page.
const PATH_CHARS: usize = 72;
const HOLDER_CHARS: usize = 32;
const ROOT_CHARS: usize = 30;

/// How a board is looked at, and when.
pub(super) struct Look {
    pub(super) is_grouped: bool,
    pub(super) now_ms: i64,
}

pub(super) fn row(look: &Look, drawn: &Drawn) -> Arc<RowMarkup> {
    let Drawn { at, row, is_away, is_chosen, is_pinned } = drawn;
    let text = |mark: Option<&str>| mark.map(str::to_owned);
    let attributes = vec![
        ("class", Some("board-row lock-row".to_owned())),
        ("data-key", Some(row.key.clone())),
        ("data-lock", Some(row.path.clone())),
        ("data-verdict", Some(row.verdict.name().to_owned())),
        ("data-away", text(mark(*is_away))),
        ("data-old", text(mark(!row.state.is_current()))),
        ("data-chosen", text(mark(*is_chosen))),
        ("data-pinned", text(mark(*is_pinned))),
        ("aria-selected", Some(is_chosen.to_string())),
    ];
    let held = AgeText::new((row.held_since_ms, hold_least(row.hold_is_lower_bound)), look.now_ms);
    let oldest = AgeText::new((row.oldest_wait_at_ms, wait_least(row.wait_is_lower_bound)), look.now_ms);
    let cells = vec![
        verdict_cell(look, row),
        lock_cell(look, row, *is_pinned),
        holder_cell(row),
        Markup::fill(
            r#"<span class="cell cell-number cell-hold age" role="gridcell" data-col="hold"{}{}{}>{}</span>"#,
            &held.pieces(),
        ),
        Markup::fill(
            r#"<span class="cell cell-number cell-waiters" role="gridcell" data-col="waiters"{}{}>{}</span>"#,
            &[
                Attribute("data-none", mark(row.waiter_count == Some(0))),
                Attribute("title", filled(missing_words(&row.missing))),
                Text(&waiters_text(row)),
            ],
        ),
        Markup::fill(
            r#"<span class="cell cell-number cell-oldest age" role="gridcell" data-col="oldest"{}{}{}>{}</span>"#,
            &oldest.pieces(),
        ),
        Markup::fill(
            r#"<span class="cell cell-depth" role="gridcell" data-col="depth">{}</span>"#,
            &[Piece::Markup(&sparkline_markup(&row.depth, look.now_ms))],
        ),
    ];
    let cells = cells.into_iter().map(Arc::new).collect();
    Arc::new(RowMarkup {
        key: row.key.as_str().into(),
        at: i64::from(*at),
        index: *at,
        attributes: Arc::new(attributes),
        cells,
    })
}

fn verdict_cell(look: &Look, row: &LockRow) -> Markup {
    let end = ending(row).map(|end| session_end_markup("runs out in ", end, look.now_ms));
    Markup::fill(
        r#"<div class="cell cell-verdict" role="gridcell" data-col="verdict"><span class="explain explain-row"{}>{}</span>{}</div>"#,
        &[
            Attribute("data-explain", Some(&anchor("verdict", row.verdict.name()))),
            Piece::Markup(&chip_markup(row.verdict)),
            Piece::Markup(&end.unwrap_or_default()),
        ],
    )
}

/// When the lock frees itself, where its holder is gone: when the first of them runs out.
fn ending(row: &LockRow) -> Option<RunsOut> {
    let ends = row.holders.iter().filter_map(|holder| holder.runs_out);
    ends.min_by_key(|end| end.at_ms).filter(|_| row.verdict == Verdict::Expiring)
}

fn lock_cell(look: &Look, row: &LockRow, is_pinned: bool) -> Markup {
    let href = lock_url(&row.ensemble, &row.path);
    let whole = visible(&row.path);
    let root = look.is_grouped.then(|| words::in_root(&middle(&visible(&row.root), ROOT_CHARS))).and_then(filled);
    let root = root.map(|root| Markup::fill(r#"<span class="lock-root">{}</span>"#, &[Text(&root)]));
    let sentence = visible(&row.sentence);
    Markup::fill(
        r#"<div class="cell cell-lock" role="gridcell"><div class="lock-line">{}<a class="lock-path" data-col="path"{}{}><bdi>{}</bdi></a>{}<span class="lock-recipe">{}</span>{}{}</div><div class="lock-sentence" data-col="sentence"{}>{}</div></div>"#,
        &[
            Piece::Markup(&row.tag.as_ref().map(tag_markup).unwrap_or_default()),
            Attribute("href", Some(&href)),
            Attribute("title", Some(&whole)),
            Text(&middle(&whole, PATH_CHARS)),
            Piece::Markup(&pin(is_pinned)),
            Text(&visible(&row.recipe_label)),
            Piece::Markup(&root.unwrap_or_default()),
            Piece::Markup(&findings(row)),
            Attribute("title", Some(&sentence)),
            Text(&sentence),
        ],
    )
}

fn findings(row: &LockRow) -> Markup {
    if row.findings.is_empty() {
        return Markup::default();
    }
    Markup::fill(
        r#"<span class="lock-findings"{}>{}</span>"#,
        &[Attribute("title", Some(&row.findings.join(", "))), Text(&words::findings(row.findings.len() as u64))],
    )
}

/// Keeps the row before all others, or lets it go: the list listens. The keyboard has a key for it.
fn pin(is_pinned: bool) -> Markup {
    let label = words::pin(is_pinned);
    Markup::fill(
        r#"<button class="pin needs-script" type="button" tabindex="-1"{}{}{}>{}</button>"#,
        &[
            Attribute("aria-pressed", Some(&is_pinned.to_string())),
            Attribute("aria-label", Some(label)),
            Attribute("title", Some(&words::with_key(label))),
            Text(if is_pinned { "★" } else { "☆" }),
        ],
    )
}

fn holder_cell(row: &LockRow) -> Markup {
    let whole = row.holders.first().map(holder_name).unwrap_or_default();
    let name = if whole.is_empty() { words::nobody(row.verdict).to_owned() } else { middle(&whole, HOLDER_CHARS) };
    Markup::fill(
        r#"<div class="cell cell-holder" role="gridcell" data-col="holder"><div class="holder-name"{}>{}</div><div class="holder-session">{}</div></div>"#,
        &[
            Attribute("title", filled(&whole).map(String::as_str)),
            Text(&name),
            Text(&second_line(row).unwrap_or_default()),
        ],
    )
}

/// The session below a label, and how many more hold.
fn second_line(row: &LockRow) -> Option<String> {
    let holder = row.holders.first().filter(|holder| holder.role == ContenderRole::Holder)?;
    let session = holder.session_id.filter(|_| holder.label.is_some()).map(|session| session.to_string());
    let more = row.holder_count.saturating_sub(1);
    match (session, more) {
        (session, 0) => session,
        (Some(session), more) => Some(format!("+{more} · {session}")),
        (None, more) => Some(format!("+{more}")),
    }
}
