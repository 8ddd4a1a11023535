//! One lock on the board.

use leptos::prelude::*;

use super::state::{BoardState, Drawn};
use super::words;
use crate::charts::Sparkline;
use crate::erase::view;
use crate::exact::Exact;
use crate::explain::explained_in_row;
use crate::format::{middle, visible};
use crate::live::Places;
use crate::parts::{
    Age, Chip, SessionEnd, Tag, filled, hold_least, holder_name, mark, missing_words, wait_least, waiters_text,
};
use lockscope_wire::guide::anchor;
use lockscope_wire::{ContenderRole, LockQuery, LockRow, RunsOut, Verdict};

/// Longest name on a row; the whole is in its title and on the lock's page.
const PATH_CHARS: usize = 72;
const HOLDER_CHARS: usize = 32;
const ROOT_CHARS: usize = 30;

/// The row.
pub(super) fn row(state: BoardState, drawn: Drawn, is_grouped: bool, places: Places) -> AnyView {
    let Drawn { at, row, is_away, is_chosen, is_pinned } = drawn;
    let depth = row.depth.clone();
    let out = ending(&row).map(|end| view! { <SessionEnd words="runs out in " end=end /> });
    view! {
        <div
            class="board-row lock-row"
            role="row"
            data-key=Exact(row.key.clone())
            data-lock=Exact(row.path.clone())
            data-verdict=row.verdict.name()
            data-away=mark(is_away)
            data-old=mark(!row.state.is_current())
            data-chosen=mark(is_chosen)
            data-pinned=mark(is_pinned)
            aria-selected=if is_chosen { "true" } else { "false" }
            aria-rowindex=(at + 2).to_string()
            prop:style=places.style_of(at)
        >
            <div class="cell cell-verdict" role="gridcell" data-col="verdict">{explained_in_row(anchor("verdict", row.verdict.name()), view! { <Chip verdict=row.verdict /> })}{out}</div>
            <div class="cell cell-lock" role="gridcell">{lock(state, &row, is_grouped, is_pinned)}</div>
            <div class="cell cell-holder" role="gridcell" data-col="holder">{holder(&row)}</div>
            <div class="cell cell-number cell-hold" role="gridcell" data-col="hold">
                <Age since_ms=row.held_since_ms least=hold_least(row.hold_is_lower_bound) />
            </div>
            <div
                class="cell cell-number cell-waiters"
                role="gridcell"
                data-col="waiters"
                data-none=mark(row.waiter_count == Some(0))
                title=filled(missing_words(&row.missing))
            >
                {waiters_text(&row)}
            </div>
            <div class="cell cell-number cell-oldest" role="gridcell" data-col="oldest">
                <Age since_ms=row.oldest_wait_at_ms least=wait_least(row.wait_is_lower_bound) />
            </div>
            <div class="cell cell-depth" role="gridcell" data-col="depth"><Sparkline depth=depth /></div>
        </div>
    }
}

/// When the lock frees itself, where its holder is gone: when the first of them runs out.
fn ending(row: &LockRow) -> Option<RunsOut> {
    let ends = row.holders.iter().filter_map(|holder| holder.runs_out);
    ends.min_by_key(|end| end.at_ms).filter(|_| row.verdict == Verdict::Expiring)
}

/// Its name, what it is, and its state in words.
fn lock(state: BoardState, row: &LockRow, is_grouped: bool, is_pinned: bool) -> AnyView {
    let href = LockQuery { ensemble: row.ensemble.clone(), path: row.path.clone(), ..LockQuery::default() }.to_url();
    let whole = visible(&row.path);
    let name = middle(&whole, PATH_CHARS);
    let root = is_grouped.then(|| words::in_root(&middle(&visible(&row.root), ROOT_CHARS)));
    let findings = (!row.findings.is_empty()).then(|| words::findings(row.findings.len() as u64));
    let sentence = visible(&row.sentence);
    let title = sentence.clone();
    view! {
        <div class="lock-line">
            <Tag of=row.tag.clone() />
            <a class="lock-path" href=href data-col="path" title=whole><bdi>{name}</bdi></a>
            {pin(state, row, is_pinned)}
            <span class="lock-recipe">{visible(&row.recipe_label)}</span>
            <span class="lock-root">{root}</span>
            <span class="lock-findings" title=filled(row.findings.join(", "))>{findings}</span>
        </div>
        <div class="lock-sentence" data-col="sentence" title=title>{sentence}</div>
    }
}

/// Keeps the row before all others, or lets it go. The keyboard has a key for it.
fn pin(state: BoardState, row: &LockRow, is_pinned: bool) -> AnyView {
    let key = row.key.clone();
    let label = words::pin(is_pinned);
    view! {
        <button
            class="pin needs-script"
            type="button"
            tabindex="-1"
            aria-pressed=is_pinned.to_string()
            aria-label=label
            title=words::with_key(label)
            on:click=move |_| state.toggle_pin(&key)
        >
            {if is_pinned { "★" } else { "☆" }}
        </button>
    }
}

/// Who holds it.
fn holder(row: &LockRow) -> AnyView {
    let whole = row.holders.first().map(holder_name).unwrap_or_default();
    let name = if whole.is_empty() { words::nobody(row.verdict).to_owned() } else { middle(&whole, HOLDER_CHARS) };
    view! {
        <div class="holder-name" title=filled(whole)>{name}</div>
        <div class="holder-session">{second_line(row)}</div>
    }
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
