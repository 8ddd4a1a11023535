//! Findings as a list, worst first.

use leptos::prelude::*;

use super::{Age, finding_word};
use crate::erase::{erase, view};
use crate::explain::explained;
use crate::format::{middle, visible};
use lockscope_view::FindingRow;
use lockscope_view::guide::anchor;

/// The list; nothing for none.
#[component]
pub(crate) fn Findings(mut found: Vec<FindingRow>) -> AnyView {
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let is_some = !found.is_empty();
    erase(
        is_some.then(
            || view! { <ul class="findings" aria-label="Findings">{found.into_iter().map(row).collect_view()}</ul> },
        ),
    )
}

fn row(finding: FindingRow) -> AnyView {
    let path = |path: String| view! { <li title=visible(&path)>{middle(&visible(&path), 72)}</li> };
    let paths = (!finding.paths.is_empty()).then(|| {
        let paths = finding.paths.into_iter().map(path).collect_view();
        view! { <ul class="finding-paths">{paths}</ul> }
    });
    view! {
        <li class="finding" data-key=finding.code.clone() data-severity=finding.severity.name() data-code=finding.code.clone()>
            <p>
                <strong class="finding-word">{finding.severity.name()}</strong>
                {format!(" {} ", visible(&finding.text))}
                <span class="quiet">{explained(anchor("finding", &finding.code), erase(finding_word(&finding.code)))}", for " <Age since_ms=Some(finding.since_ms) /></span>
            </p>
            {paths}
        </li>
    }
}
