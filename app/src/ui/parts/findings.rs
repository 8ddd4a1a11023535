//! Findings as a list, worst first.

use leptos::prelude::*;

use super::Age;
use crate::ui::format::{middle, visible};
use crate::wire::FindingRow;

/// The list; nothing for none.
#[component]
pub(crate) fn FindingList(mut findings: Vec<FindingRow>) -> impl IntoView {
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let row = |finding: FindingRow| {
        let since = Signal::stored(Some(finding.since_ms));
        let paths = finding.paths.iter().map(|path| view! { <li title=visible(path)>{middle(&visible(path), 72)}</li> }).collect_view();
        view! {
            <li class="finding" data-severity=finding.severity.name() data-code=finding.code.clone()>
                <p>
                    <strong class="finding-word">{finding.severity.name()}</strong>
                    " " {visible(&finding.text)} " "
                    <span class="quiet">{finding.code.clone()} ", for " <Age since_ms=since /></span>
                </p>
                <ul class="finding-paths">{paths}</ul>
            </li>
        }
    };
    (!findings.is_empty()).then(|| view! { <ul class="findings" aria-label="Findings">{findings.into_iter().map(row).collect_view()}</ul> })
}
