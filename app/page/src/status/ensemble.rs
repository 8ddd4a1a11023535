//! One ensemble: link, counters, roots.

use leptos::prelude::*;

use super::members::members;
use crate::erase::view;
use crate::format::{count, duration, middle, plural, visible};
use crate::parts::{Age, Columns, Findings, Pair, Table};
use lockscope_wire::{EnsembleStatus, Link, RootState, RootStatus};

fn link_word(link: Link) -> &'static str {
    match link {
        Link::Live => "live",
        Link::Syncing => "syncing: reading everything again",
        Link::Stale => "stale: no answer",
        Link::Lost => "lost: no session",
    }
}

fn root_word(state: RootState) -> &'static str {
    match state {
        RootState::Live => "live",
        RootState::Syncing => "syncing",
        RootState::Stale => "stale",
        RootState::Partial => "partial",
        RootState::Denied => "denied",
        RootState::Gone => "gone",
        RootState::Reduced => "reduced",
    }
}

const ROOTS: Columns = &[
    ("Path", ""),
    ("State", ""),
    ("For", "table-number"),
    ("Locks", "table-number"),
    ("Znodes", "table-number"),
    ("Why", ""),
];

/// The ensemble.
pub(super) fn ensemble(ensemble: &EnsembleStatus) -> AnyView {
    let why = if ensemble.why.is_empty() { String::new() } else { format!(" ({})", visible(&ensemble.why)) };
    let link = view! {
        <span class="state" data-state=ensemble.link.name()>{link_word(ensemble.link)}</span>
        " for "
        <Age since_ms=Some(ensemble.since_ms) />
        <span class="quiet">{why}</span>
    };
    let session = ensemble.session_id.map_or("none".to_owned(), |session| session.to_string());
    let counters = [
        ("Changes processed", ensemble.events.map(count)),
        ("Full re-reads", ensemble.resyncs.map(count)),
        ("Changes missed", ensemble.missed.map(count)),
        (
            "Owner unknown",
            ensemble
                .owner_unknown
                .map(|number| format!("{} went before they could be read", plural(number, "znode", "znodes"))),
        ),
    ];
    let counter =
        |(name, value): (&'static str, Option<String>)| value.map(|value| view! { <Pair term=name value=value /> });
    let roots = ensemble.roots.iter().map(root).collect_view();
    view! {
        <section class="part dims">
            <h2 class="part-title">{format!("Ensemble {}", visible(&ensemble.name))}</h2>
            <dl class="pairs">
                <Pair term="Connect string" class="mono break-all" value=visible(&ensemble.connect) />
                <Pair term="Link" value=link />
                <Pair term="Session" class="mono" value=session />
                <Pair term="As of zxid" class="mono" value=ensemble.zxid.to_string() />
                <Pair term="Clock offset" value=offset(ensemble.clock_offset_ms, ensemble.clock_error_ms) />
                {counters.map(counter).collect_view()}
            </dl>
            <Findings found=ensemble.findings.clone() />
            <h3 class="table-caption">"Roots"</h3>
            <Table class="table" columns=ROOTS rows=roots />
            {members(&ensemble.evidence)}
        </section>
    }
}

fn offset(ms: Option<i64>, error_ms: Option<i64>) -> String {
    let error = error_ms.map_or("unknown".to_owned(), |ms| format!("{} ms", ms.max(0)));
    match ms {
        None => "not known yet".to_owned(),
        Some(ms) if ms < 0 => format!("ours is {} behind (±{error})", duration(ms.saturating_neg())),
        Some(ms) => format!("ours is {} ahead (±{error})", duration(ms)),
    }
}

fn root(root: &RootStatus) -> AnyView {
    let path = visible(&root.path);
    let (short, title) = (middle(&path, 60), path.clone());
    view! {
        <tr data-root=path>
            <td class="mono" title=title><bdi>{short}</bdi></td>
            <td><span class="state" data-state=root.state.name()>{root_word(root.state)}</span></td>
            <td class="table-number"><Age since_ms=Some(root.since_ms) /></td>
            <td class="table-number">{count(root.locks)}</td>
            <td class="table-number">{count(root.znodes)}</td>
            <td>{visible(&root.why)}</td>
        </tr>
    }
}
