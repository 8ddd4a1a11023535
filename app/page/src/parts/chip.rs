//! A verdict as a sign, a word and a colour: none of the three alone.

use crate::erase::view;
use leptos::prelude::*;

use super::Piece::{Attribute, Text};
use super::{Markup, verdict_word};
use lockscope_view::Verdict;

/// The sign of a verdict, drawn in a 12 by 12 box.
fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        // A ring.
        Verdict::Free => "M6 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8zM6 3.6a2.4 2.4 0 1 1 0 4.8a2.4 2.4 0 1 1 0-4.8z",
        // A disc.
        Verdict::Healthy => "M6 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8z",
        // A dash.
        Verdict::Unknown => "M2 5h8v2h-8z",
        // An hour-glass.
        Verdict::Slow => "M2.5 1.5h7l-2.6 4.5l2.6 4.5h-7l2.6-4.5z",
        // A disc half gone.
        Verdict::Expiring => {
            "M6 1.5a4.5 4.5 0 0 0 0 9zM7.5 1.9a4.5 4.5 0 0 1 2.6 2.4l-1.5.7a3 3 0 0 0-1.1-1.2zM10.4 6.8a4.5 4.5 0 0 1-2.9 3.3v-1.9a3 3 0 0 0 1.3-1.4z"
        }
        // An empty frame.
        Verdict::NobodyHome => "M2 2h8v8h-8zM3.6 3.6v4.8h4.8v-4.8z",
        // A lozenge.
        Verdict::Orphan => "M6 .8l5.2 5.2l-5.2 5.2l-5.2-5.2z",
        // A square.
        Verdict::Stuck => "M2 2h8v8h-8z",
        // Two discs.
        Verdict::DoubleOwner => {
            "M3.6 3a3 3 0 1 0 0 6a3 3 0 1 0 0-6zM8.9 3a3 3 0 0 1 0 6a3 3 0 0 1-1.4-.4a4.4 4.4 0 0 0 0-5.2a3 3 0 0 1 1.4-.4z"
        }
        // A triangle's outline.
        Verdict::MaybeDeadlocked => "M6 1l5.4 9.6h-10.8zM6 4.1l-2.8 5h5.6z",
        // A triangle.
        Verdict::Deadlocked => "M6 1l5.4 9.6h-10.8z",
    }
}

#[component]
pub(crate) fn Chip(verdict: Verdict) -> AnyView {
    view! {
        <span class="chip" data-verdict=verdict.name()>
            <svg class="chip-sign" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
                <path fill-rule="evenodd" d=sign(verdict)></path>
            </svg>
            <span>{verdict_word(verdict)}</span>
        </span>
    }
}

pub(crate) fn chip_markup(verdict: Verdict) -> Markup {
    Markup::fill(
        r#"<span class="chip"{}><svg class="chip-sign" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><path fill-rule="evenodd"{}></path></svg><span>{}</span></span>"#,
        &[
            Attribute("data-verdict", Some(verdict.name())),
            Attribute("d", Some(sign(verdict))),
            Text(verdict_word(verdict)),
        ],
    )
}
