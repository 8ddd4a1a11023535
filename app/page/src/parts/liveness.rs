//! Whether a session's client is alive, as a sign, a word and a colour, and when it runs out.

use crate::erase::view;
use leptos::prelude::*;

use super::{Countdown, words};
use lockscope_wire::guide::anchor;
use lockscope_wire::{Liveness, RunsOut};

/// The chip; with what is left of the session where that is known.
#[component]
pub(crate) fn LivenessChip(liveness: Liveness, #[prop(optional_no_strip)] end: Option<RunsOut>) -> AnyView {
    view! {
        <span class="alive explain-row" data-liveness=liveness.name() data-explain=anchor("liveness", liveness.name()) title=words::liveness_meaning(liveness)>
            <span>{words::liveness(liveness)}</span>
            {end.map(|end| view! { " " <SessionEnd words="" end=end /> })}
        </span>
    }
}

/// A countdown to the end of a session, after a few words.
#[component]
pub(crate) fn SessionEnd(words: &'static str, end: RunsOut) -> AnyView {
    let sign = if end.is_told { "" } else { "≤ " };
    view! {
        <span class="runs-out" title=words::end_meaning(end.is_told)>
            <Countdown words=format!("{words}{sign}") until_ms=end.at_ms />
        </span>
    }
}
