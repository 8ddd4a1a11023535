//! One lock on the board.

use leptos::html::A;
use leptos::prelude::*;

use super::state::{BoardState, Slot};
use crate::ui::charts::Sparkline;
use crate::ui::format::{middle, plural, visible};
use crate::ui::parts::{Age, VerdictChip, holder_name, waiters_text};
use crate::wire::{LockQuery, LockRow, Role, Verdict};

/// Longest name on a row; the whole is in its title and on the lock's page.
const PATH_CHARS: usize = 72;
const HOLDER_CHARS: usize = 32;

/// The row. It reads its own lock only.
#[component]
pub(super) fn Row(
    state: BoardState,
    /// The lock's path.
    path: String,
    /// The rows on screen, for this row's place.
    slots: Memo<Vec<Slot>>,
) -> impl IntoView {
    let key = path.clone();
    let place = Memo::new(move |_| slots.with(|slots| slots.iter().find(|slot| slot.path == key).map(|slot| slot.at)));
    let key = path.clone();
    let last = StoredValue::new(None::<LockRow>);
    let found = Memo::new(move |_| state.row(&key));
    let is_away = move || found.with(|found| found.as_ref().is_none_or(|(_, is_sent)| !is_sent)).then_some("true");
    let row = Memo::new(move |_| {
        let fresh = found.with(|found| found.as_ref().map(|(row, _)| row.clone()));
        if fresh.is_some() {
            last.set_value(fresh.clone());
        }
        fresh.or_else(|| last.get_value())
    });
    let verdict = Signal::derive(move || row.with(|row| row.as_ref().map_or(Verdict::Unknown, |row| row.verdict)));
    let key = path.clone();
    let is_chosen = Memo::new(move |_| state.chosen.with(|chosen| chosen.as_ref().is_some_and(|slot| slot.path == key)));
    let is_old = move || row.with(|row| row.as_ref().is_some_and(|row| row.state != crate::wire::RootState::Live)).then_some("true");
    view! {
        <div
            class="board-row lock-row"
            role="row"
            data-lock=path.clone()
            data-verdict=move || verdict.get().name()
            data-away=is_away
            data-old=is_old
            data-chosen=move || is_chosen.get().then_some("true")
            aria-selected=move || if is_chosen.get() { "true" } else { "false" }
            aria-rowindex=move || place.get().unwrap_or_default() + 2
        >
            <div class="cell cell-verdict" role="gridcell" data-col="verdict"><VerdictChip verdict=verdict /></div>
            <div class="cell cell-lock" role="gridcell"><LockName row=row path=path.clone() is_chosen=is_chosen grouped=Signal::derive(move || state.query.with(|query| query.group)) /></div>
            <div class="cell cell-holder" role="gridcell" data-col="holder"><Holder row=row /></div>
            <Numbers row=row />
        </div>
    }
}

#[component]
fn LockName(row: Memo<Option<LockRow>>, path: String, is_chosen: Memo<bool>, grouped: Signal<bool>) -> impl IntoView {
    let link = NodeRef::<A>::new();
    Effect::new(move |_| {
        if let Some(link) = link.get().filter(|_| is_chosen.get()) {
            let options = web_sys::FocusOptions::new();
            options.set_prevent_scroll(true);
            // Focus fails only for an element that is not there.
            let _ = link.focus_with_options(&options);
        }
    });
    let ensemble = row.with_untracked(|row| row.as_ref().map(|row| row.ensemble.clone())).unwrap_or_default();
    let href = LockQuery { ensemble, path: path.clone(), ..LockQuery::default() }.to_url();
    let whole = visible(&path);
    let text = move |read: fn(&LockRow) -> String| move || row.with(|row| row.as_ref().map(read));
    let root = move || grouped.get().then(|| row.with(|row| row.as_ref().map(|row| format!("in {}", middle(&visible(&row.root), 30)))));
    view! {
        <div class="lock-line">
            <a class="lock-path" href=href data-col="path" title=whole.clone() node_ref=link><bdi>{middle(&whole, PATH_CHARS)}</bdi></a>
            <span class="lock-recipe">{text(|row| row.recipe_label.clone())}</span>
            <span class="lock-root">{root}</span>
            <span class="lock-findings" title=text(|row| row.findings.join(", "))>{text(findings_text)}</span>
        </div>
        <div class="lock-sentence" data-col="sentence" title=text(|row| visible(&row.sentence))>{text(|row| visible(&row.sentence))}</div>
    }
}

fn findings_text(row: &LockRow) -> String {
    match row.findings.len() {
        0 => String::new(),
        number => plural(number as u64, "finding", "findings"),
    }
}

#[component]
fn Holder(row: Memo<Option<LockRow>>) -> impl IntoView {
    let name = move || {
        row.with(|row| row.as_ref().map(|row| row.holders.first().map_or_else(|| nobody(row), |holder| middle(&holder_name(holder), HOLDER_CHARS))))
    };
    let whole = move || row.with(|row| row.as_ref().and_then(|row| row.holders.first().map(holder_name)));
    let session = move || row.with(|row| row.as_ref().and_then(second_line));
    view! {
        <div class="holder-name" title=whole>{name}</div>
        <div class="holder-session">{session}</div>
    }
}

fn nobody(row: &LockRow) -> String {
    if row.verdict == Verdict::Unknown { "not known".to_owned() } else { "nobody".to_owned() }
}

/// The session below a label, and how many more hold.
fn second_line(row: &LockRow) -> Option<String> {
    let holder = row.holders.first().filter(|holder| holder.role == Role::Holder)?;
    let session = holder.session_id.filter(|_| holder.label.is_some()).map(|session| session.to_string());
    let more = row.holder_count.saturating_sub(1);
    match (session, more) {
        (session, 0) => session,
        (Some(session), more) => Some(format!("{session} and {more} more")),
        (None, more) => Some(format!("and {more} more")),
    }
}

#[component]
fn Numbers(row: Memo<Option<LockRow>>) -> impl IntoView {
    let held = Signal::derive(move || row.with(|row| row.as_ref().and_then(|row| row.held_since_ms)));
    let at_least = Signal::derive(move || row.with(|row| row.as_ref().is_some_and(|row| row.hold_is_lower_bound)));
    let oldest = Signal::derive(move || row.with(|row| row.as_ref().and_then(|row| row.oldest_wait_at_ms)));
    let depth = Memo::new(move |_| row.with(|row| row.as_ref().map(|row| row.depth.clone()).unwrap_or_default()));
    let waiters = move || row.with(|row| row.as_ref().map(waiters_text));
    let none = move || row.with(|row| row.as_ref().is_some_and(|row| row.waiter_count == 0)).then_some("true");
    view! {
        <div class="cell cell-number cell-hold" role="gridcell" data-col="hold"><Age since_ms=held at_least=at_least /></div>
        <div class="cell cell-number cell-waiters" role="gridcell" data-col="waiters" data-none=none>{waiters}</div>
        <div class="cell cell-number cell-oldest" role="gridcell" data-col="oldest"><Age since_ms=oldest /></div>
        <div class="cell cell-depth" role="gridcell" data-col="depth"><Sparkline depth=depth /></div>
    }
}
