//! One ensemble: link, counters, roots.

use leptos::prelude::*;

use super::members::members;
use super::words;
use crate::erase::view;
use crate::format::{count, middle, visible};
use crate::parts::{Age, Columns, Findings, Instant, Pair, Table};
use lockscope_view::{EnsembleStatus, HistoryStatus, RootStatus};

const ROOTS: Columns = &[
    ("Path", ""),
    ("State", ""),
    ("For", "table-number"),
    ("Locks", "table-number"),
    ("Znodes", "table-number"),
    ("Why", ""),
];

pub(super) fn ensemble(ensemble: &EnsembleStatus) -> AnyView {
    let why = if ensemble.why.is_empty() { String::new() } else { format!(" ({})", visible(&ensemble.why)) };
    let link = view! {
        <span class="state" data-state=ensemble.link.name()>{words::link_word(ensemble.link)}</span>
        " for "
        <Age since_ms=Some(ensemble.since_ms) />
        <span class="quiet">{why}</span>
    };
    let session = ensemble.session_id.map_or(words::NONE.to_owned(), |session| session.to_string());
    let counter =
        |(name, value): (&'static str, Option<String>)| value.map(|value| view! { <Pair term=name value=value /> });
    let roots = ensemble.roots.iter().map(root).collect_view();
    view! {
        <section class="part dims">
            <h2 class="part-title">{words::ensemble(&ensemble.name)}</h2>
            <dl class="pairs">
                <Pair term="Connect string" class="mono break-all" value=visible(&ensemble.connect) />
                <Pair term="Link" value=link />
                <Pair term="Proof" value=view! { <span title=words::PROOF>{words::proof(ensemble.proof)}</span> } />
                <Pair term="Session" class="mono" value=session />
                <Pair term="As of zxid" class="mono" value=ensemble.zxid.to_string() />
                <Pair term="Clock offset" value=words::offset(ensemble.clock_offset_ms, ensemble.clock_error_ms) />
                <Pair term="History" value=history(ensemble.history.as_ref()) />
                {words::counters(ensemble).map(counter).collect_view()}
            </dl>
            <Findings found=ensemble.findings.clone() />
            <h3 class="table-caption">"Roots"</h3>
            <Table class="table" columns=ROOTS rows=roots />
            {members(&ensemble.evidence)}
        </section>
    }
}

fn history(history: Option<&HistoryStatus>) -> AnyView {
    let Some(history) = history else { return view! { <span class="quiet">{words::HISTORY_OFF}</span> } };
    let is_kept = history.is_recorded || history.is_standby;
    let since = history.failing_since_ms.or(history.to_at_ms).filter(|_| !is_kept);
    let trouble = (!is_kept).then(|| {
        let since = since.map(|since_ms| view! { " for " <Age since_ms=Some(since_ms) /> });
        view! { <p class="notice" data-testid="history-trouble">"not kept" {since} ": " {visible(&history.why)}</p> }
    });
    let to = history.to_at_ms.filter(|_| !is_kept);
    let to = to.map_or_else(|| view! { <span>"now"</span> }, |at_ms| view! { <Instant at_ms /> });
    let kept = history.from_at_ms.map(|at_ms| {
        view! { "from " <Instant at_ms /> " to " {to} <span class="quiet">", " {words::kept(history)}</span> }
    });
    let generated = history.generated_until_ms.map(|at_ms| {
        view! { <p class="quiet" data-testid="history-generated">{words::GENERATED_UNTIL} <Instant at_ms /></p> }
    });
    let standby = history.is_standby.then(|| view! { <p class="quiet">{words::STANDBY}</p> });
    view! { <span data-testid="history">{kept}</span> {generated} {standby} {trouble} }
}

fn root(root: &RootStatus) -> AnyView {
    let path = visible(&root.path);
    let (short, title) = (middle(&path, 60), path.clone());
    view! {
        <tr data-root=path>
            <td class="mono" title=title><bdi>{short}</bdi></td>
            <td><span class="state" data-state=root.state.name()>{words::root_word(root.state)}</span></td>
            <td class="table-number"><Age since_ms=Some(root.since_ms) /></td>
            <td class="table-number">{count(root.locks)}</td>
            <td class="table-number">{count(root.znodes)}</td>
            <td>{visible(&root.why)}</td>
        </tr>
    }
}
