//! Findings as a list, worst first.

use crate::format::{middle, visible};
use crate::html::Html;
use lockscope_wire::FindingRow;

/// The list; nothing for none.
pub(crate) fn findings(found: &[FindingRow], now_ms: i64) -> Html {
    if found.is_empty() {
        return Html::default();
    }
    let mut order: Vec<&FindingRow> = found.iter().collect();
    order.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let rows = order.into_iter().map(|finding| row(finding, now_ms)).collect();
    Html::tag("ul", &[("class", "findings"), ("aria-label", "Findings")], Html::all(rows))
}

fn row(finding: &FindingRow, now_ms: i64) -> Html {
    let path = |path: &String| Html::of("li", &[("title", &visible(path))], &middle(&visible(path), 72));
    let text = vec![
        Html::of("strong", &[("class", "finding-word")], finding.severity.name()),
        Html::text(&format!(" {} ", finding.text)),
        Html::tag(
            "span",
            &[("class", "quiet")],
            Html::all(vec![Html::text(&format!("{}, for ", finding.code)), Html::age(Some(finding.since_ms), false, now_ms)]),
        ),
    ];
    let paths = Html::all(finding.paths.iter().map(path).collect());
    let paths = if finding.paths.is_empty() { Html::default() } else { Html::tag("ul", &[("class", "finding-paths")], paths) };
    let inner = vec![Html::tag("p", &[], Html::all(text)), paths];
    let attributes = [("class", "finding"), ("data-key", &*finding.code), ("data-severity", finding.severity.name()), ("data-code", &finding.code)];
    Html::tag("li", &attributes, Html::all(inner))
}
