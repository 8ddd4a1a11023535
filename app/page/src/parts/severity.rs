//! How bad something is, as a chip.

use leptos::prelude::*;

use crate::erase::view;
use lockscope_view::Severity;

/// How bad: a sign and a word, and its colour where that is so now.
pub(crate) fn severity(severity: Severity, has_colour: bool) -> AnyView {
    let sign = match severity {
        // A disc, a triangle's outline, a square.
        Severity::Info => "M6 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8z",
        Severity::Warning => "M6 1l5.4 9.6h-10.8zM6 4.1l-2.8 5h5.6z",
        Severity::Critical => "M2 2h8v8h-8z",
    };
    view! {
        <span class="chip" data-severity=has_colour.then(|| severity.name())>
            <svg class="chip-sign" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><path fill-rule="evenodd" d=sign></path></svg>
            <span>{severity.name()}</span>
        </span>
    }
}
