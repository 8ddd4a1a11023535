//! Whether a session's client is alive, as a sign, a word and a colour, and when it runs out.

use crate::erase::view;
use leptos::prelude::*;

use super::Countdown;
use lockscope_wire::guide::anchor;
use lockscope_wire::{Liveness, RunsOut};

/// What is known of a session's client, in a word or two.
fn word(liveness: Liveness) -> &'static str {
    match liveness {
        Liveness::Connected => "connected",
        Liveness::Silent => "silent",
        Liveness::Disconnected => "disconnected",
        Liveness::Persistent => "persistent",
        Liveness::Unknown => "unknown",
    }
}

/// What the word means and how it is known.
fn meaning(liveness: Liveness) -> &'static str {
    match liveness {
        Liveness::Connected => "A member lists its connection, and heard from it lately.",
        Liveness::Silent => {
            "Its client was silent for more than a third of its session timeout: the server that lists it received nothing, or the leader's date of its end stands still."
        }
        Liveness::Disconnected => {
            "Every server was asked who is connected, and none lists it. Its session ends when its timeout has passed."
        }
        Liveness::Persistent => "No session owns this znode: it stays until somebody deletes it.",
        Liveness::Unknown => {
            "No evidence: no member ever listed it, or not every member reported lately who is connected. See the status page."
        }
    }
}

/// The chip; with what is left of the session where that is known.
#[component]
pub(crate) fn LivenessChip(liveness: Liveness, #[prop(optional_no_strip)] end: Option<RunsOut>) -> AnyView {
    view! {
        <span class="alive explain-row" data-liveness=liveness.name() data-explain=anchor("liveness", liveness.name()) title=meaning(liveness)>
            <span>{word(liveness)}</span>
            {end.map(|end| view! { " " <SessionEnd words="" end=end /> })}
        </span>
    }
}

/// A countdown to the end of a session, after a few words.
#[component]
pub(crate) fn SessionEnd(words: &'static str, end: RunsOut) -> AnyView {
    let (sign, title) = if end.is_told {
        ("", "The leader reports when the session runs out if its client stays silent.")
    } else {
        (
            "≤ ",
            "At the latest: no leader reports it, so this is its session timeout, from when no server listed it any more.",
        )
    };
    view! {
        <span class="runs-out" title=title>
            <Countdown words=format!("{words}{sign}") until_ms=end.at_ms />
        </span>
    }
}
