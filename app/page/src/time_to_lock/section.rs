//! The section: what is told in one sentence, who waits for how long, and how often that was right.

use leptos::prelude::*;

use super::words;
use crate::erase::{erase, view};
use crate::explain::explained_term;
use crate::format::{middle, visible};
use crate::parts::{Columns, marked, table_of, text};
use lockscope_view::{TimeToLock, WaitTime};

const NAME_CHARS: usize = 40;
/// A line of its own without a word.
const NO_WORDS: &str = "\u{a0}";

const COLUMNS: Columns =
    &[(words::PLACE, "table-number"), ("Waiter", ""), (words::STILL, ""), (words::MEDIAN, "table-number")];

/// The section as a document has it at first; a context of the page.
#[derive(Clone, Debug)]
pub struct TimeToLockMarkup(pub String);

/// What is in the document at first.
pub(crate) fn initial() -> String {
    use_context().map_or_else(String::new, |TimeToLockMarkup(markup)| markup)
}

/// The section as markup; nothing where nobody waits.
pub fn time_to_lock_markup(told: &TimeToLock) -> String {
    markup(told, false)
}

/// The same for a document, before it is known how often such times were right; `is_kept`: that will be known.
pub fn time_to_lock_first(told: &TimeToLock, is_kept: bool) -> TimeToLockMarkup {
    TimeToLockMarkup(markup(told, is_kept))
}

fn markup(told: &TimeToLock, has_room: bool) -> String {
    if told.waiter_count == 0 {
        return String::new();
    }
    text(told.at_ms, || section(told, has_room))
}

/// `has_room`: for the line that says how often that was right, where that is not known yet.
fn section(told: &TimeToLock, has_room: bool) -> AnyView {
    let rows = told.reason.is_none().then(|| table(told));
    let is_unknown_yet = has_room && told.calibration.is_none();
    let right = if is_unknown_yet { Some(NO_WORDS.to_owned()) } else { words::right(told) };
    let counted = (!is_unknown_yet).then(|| view! { " "{marked(words::RIGHT)} });
    let right = right.map(|right| view! { <p class="quiet" data-testid="ttl-right">{right}{counted}</p> });
    view! {
        <section class="part" aria-labelledby="ttl-title" data-testid="time-to-lock">
            <h2 class="part-title" id="ttl-title">{explained_term("time-to-lock", words::TITLE)}</h2>
            <p data-testid="ttl-lead">{words::lead(told)}</p>
            {rows}
            {right}
        </section>
    }
}

fn table(told: &TimeToLock) -> AnyView {
    let last = told.last.iter().filter(|last| last.place as usize > told.waits.len());
    let rows = told.waits.iter().chain(last).map(row).collect_view();
    table_of("table", None, COLUMNS, erase(rows))
}

fn row(wait: &WaitTime) -> AnyView {
    let name = words::name(wait);
    let shown = middle(&visible(&name), NAME_CHARS);
    let (range, median) = words::range(wait);
    view! {
        <tr>
            <td class="table-number">{wait.place}</td>
            <td><bdi title=visible(&name)>{shown}</bdi></td>
            <td>{range}</td>
            <td class="table-number">{median}</td>
        </tr>
    }
}
