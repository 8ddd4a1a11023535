//! Whether a session's client is alive, as a sign, a word and a colour, and when it runs out.

use crate::erase::view;
use leptos::prelude::*;

use super::Piece::{Attribute, Text};
use super::time::countdown_markup;
use super::{Countdown, Markup, Piece, words};
use lockscope_view::guide::anchor;
use lockscope_view::{Liveness, RunsOut};

/// The chip; with what is left of the session where that is known.
#[component]
pub(crate) fn LivenessChip(liveness: Liveness, #[prop(optional_no_strip)] end: Option<RunsOut>) -> AnyView {
    view! {
        <span class="alive explain-row" data-liveness=liveness.name() data-explain=anchor("liveness", liveness.name()) title=words::liveness_meaning(liveness)>
            <span>{liveness.name()}</span>
            {end.map(session_end)}
        </span>
    }
}

fn session_end(end: RunsOut) -> AnyView {
    view! { " " <span class="runs-out" title=words::end_meaning(end.is_told)><Countdown words=sign(end).to_owned() until_ms=end.at_ms /></span> }
}

pub(crate) fn liveness_markup(liveness: Liveness, end: Option<RunsOut>, now_ms: i64) -> Markup {
    let end = end.map(|end| session_end_markup("", end, now_ms));
    Markup::fill(
        r#"<span class="alive explain-row"{}{}{}><span>{}</span>{}{}</span>"#,
        &[
            Attribute("data-liveness", Some(liveness.name())),
            Attribute("data-explain", Some(&anchor("liveness", liveness.name()))),
            Attribute("title", Some(words::liveness_meaning(liveness))),
            Text(liveness.name()),
            Text(if end.is_some() { " " } else { "" }),
            Piece::Markup(&end.unwrap_or_default()),
        ],
    )
}

pub(crate) fn session_end_markup(words: &str, end: RunsOut, now_ms: i64) -> Markup {
    let countdown = countdown_markup(&format!("{words}{}", sign(end)), end.at_ms, now_ms);
    Markup::fill(
        r#"<span class="runs-out"{}>{}</span>"#,
        &[Attribute("title", Some(words::end_meaning(end.is_told))), Piece::Markup(&countdown)],
    )
}

fn sign(end: RunsOut) -> &'static str {
    if end.is_told { "" } else { "≤ " }
}
