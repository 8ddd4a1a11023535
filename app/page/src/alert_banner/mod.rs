//! The line below every page that says which alerts fire. The server draws it, into the document and as markup for a
//! script of the document, which fetches it anew; to the page's code it does not exist.

mod script;
#[cfg(test)]
mod tests;
mod words;

use leptos::prelude::*;
use leptos::tachys::html::InertElement;
use lockscope_view::Alert;

use crate::erase::view;
use crate::exact::Exact;
use crate::format::{middle, visible};
use crate::parts::{Age, and_more, lock_url, severity, text};

pub(crate) use script::script;

/// Longest name of a lock, and longest sentence; the page of alerts has the whole.
const PATH_CHARS: usize = 48;
const SENTENCE_CHARS: usize = 160;
/// Alerts that the line carries for notifications of the browser: those that fired last.
const CARRIED_MAX: usize = 3;
/// Alerts that the line has the keys of, by which a browser knows what is new: those that fired last. Overflow policy: earlier
/// ones are left out, and the line says after which instant it has all.
const KEYS_MAX: usize = 32;

/// The line as markup, empty where nothing fires. A context of documents that have one.
#[derive(Clone, Debug, Default)]
pub struct AlertBanner(String);

/// The line of these alerts, which fire and which nobody silenced, worst first.
pub fn alert_banner(firing: &[Alert], now_ms: i64) -> AlertBanner {
    let Some(first) = firing.first() else { return AlertBanner::default() };
    AlertBanner(text(now_ms, || line(first, firing)))
}

impl AlertBanner {
    /// The same as text, for the script.
    pub fn into_markup(self) -> String {
        self.0
    }

    /// The element, for the end of a document, with its script.
    pub(crate) fn element(self, nonce: Option<String>) -> AnyView {
        let line = InertElement::new(["<alert-banner>", &self.0, "</alert-banner>"].concat());
        view! {
            {line}
            <script nonce=nonce inner_html=script()></script>
        }
    }
}

fn line(first: &Alert, firing: &[Alert]) -> AnyView {
    // What nobody looks at comes first: that is what needs somebody.
    let told = firing.iter().find(|alert| alert.acked_by.is_none()).unwrap_or(first);
    let is_looked_at = told.acked_by.is_some();
    let newest = newest(firing);
    let keys: Vec<String> = newest.iter().map(|alert| format!("{} {}", fired_at_ms(alert), alert.key)).collect();
    let whole_after_ms = newest.last().filter(|_| firing.len() > newest.len()).map(|alert| fired_at_ms(alert));
    let carried = newest.iter().take(CARRIED_MAX).map(|alert| carried(alert)).collect_view();
    let path = visible(&told.lock);
    let by = told.acked_by.as_ref().map(|ack| {
        view! { " "<span class="looked-after">{words::looks_at_it(&ack.by)}" "<Age since_ms=Some(ack.at_ms) />"."</span> }
    });
    let unseen = told.unknown_since_ms.map(|at_ms| {
        view! { " "<span class="alert-unseen">{words::UNSEEN}" "<Age since_ms=Some(at_ms) />"."</span> }
    });
    let sentence = middle(&visible(&told.sentence), SENTENCE_CHARS);
    let more = firing.len() - 1;
    let href = lock_url(&told.ensemble, &told.lock);
    view! {
        <aside
            class="alert-bar"
            aria-label=words::NAME
            data-testid="alert-banner"
            data-severity=(!is_looked_at).then(|| told.severity.name())
            data-number=firing.len().to_string()
            data-keys=Exact(keys.join("\n"))
            data-whole-after=whole_after_ms.map(|at_ms| at_ms.to_string())
        >
            {severity(told.severity, !is_looked_at)}
            <a class="alert-count" href="/alerts" rel="external">{words::fire(firing.len())}</a>
            <span class="alert-what">
                <a class="alert-lock" href=href rel="external"><bdi>{middle(&path, PATH_CHARS)}</bdi></a>
                {words::FOR}<Age since_ms=Some(told.since_at_ms) />": "{sentence}{by}{unseen}
            </span>
            {(more > 0).then(|| view! { <a class="alert-more" href="/alerts?state=firing" rel="external">{and_more(u32::try_from(more).unwrap_or(u32::MAX))}</a> })}
            {carried}
        </aside>
    }
}

/// Those that fired last, the newest first.
fn newest(firing: &[Alert]) -> Vec<&Alert> {
    let mut newest: Vec<&Alert> = firing.iter().collect();
    newest.sort_by(|one, other| (fired_at_ms(other), &one.key).cmp(&(fired_at_ms(one), &other.key)));
    newest.truncate(KEYS_MAX);
    newest
}

fn fired_at_ms(alert: &Alert) -> i64 {
    alert.fired_at_ms.unwrap_or(alert.since_at_ms)
}

/// One that the browser may tell of.
fn carried(alert: &Alert) -> AnyView {
    view! { <data hidden value=Exact(alert.key.clone()) title=Exact(alert.lock.clone())>{visible(&alert.sentence)}</data> }
}
