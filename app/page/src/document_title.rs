//! What a tab's title shows: the worst that is the matter with any lock, and whose locks they are.

use crate::erase::{effect, view};
use leptos::prelude::*;
use leptos_meta::Title;
use std::sync::Arc;

use super::format::visible;
use super::live::Live;
use super::live::beside;
use super::parts::{current, words::locks_are};
use super::past;
use crate::ports::Source;
use lockscope_view::{BoardHead, Verdict};

/// Title and icon change at most this often.
const CALM_MS: i64 = 5_000;

/// The worst of all locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentTitle {
    /// In words, as `2 stuck`; empty where nothing is the matter.
    words: String,
    /// The end of the icon's name; empty where nothing is the matter.
    sign: &'static str,
    /// The ensemble's name, where it has one.
    ensemble: String,
}

impl DocumentTitle {
    pub fn of(head: &BoardHead) -> Self {
        let ensemble = head.as_of.ensemble.as_ref().map(|tag| tag.name.clone()).unwrap_or_default();
        let worst = head.totals.verdicts.first().copied().map(|(verdict, locks)| (sign(verdict), verdict, locks));
        let (sign, words) = match worst {
            Some((sign, verdict, locks)) if !sign.is_empty() => (sign, locks_are(verdict, locks)),
            _ => ("", String::new()),
        };
        Self { words, sign, ensemble }
    }

    pub(crate) fn title(&self, page: &str) -> String {
        let mut title = String::new();
        for part in [&*self.words, &*visible(page), &*self.ensemble] {
            if !part.is_empty() {
                title.push_str(part);
                title.push_str(" · ");
            }
        }
        title.push_str("Lockscope");
        title
    }

    pub(crate) fn icon(&self) -> String {
        format!("/favicon{}.svg", self.sign)
    }

    /// With a word for why it is not live.
    fn doubted(self, word: &str) -> Self {
        Self { words: word.to_owned(), sign: "-lost", ..self }
    }
}

/// The icon of a verdict: nothing where all is well.
fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Free | Verdict::Healthy | Verdict::Unknown => "",
        Verdict::Slow | Verdict::Expiring | Verdict::MaybeDeadlocked => "-warn",
        Verdict::NobodyHome | Verdict::Orphan => "-odd",
        Verdict::Stuck | Verdict::DoubleOwner | Verdict::Deadlocked => "-bad",
    }
}

/// On the server of those who see through this source; the browser has none.
pub(crate) fn initial_title() -> DocumentTitle {
    use_context::<Arc<dyn Source>>()
        .map(|source| DocumentTitle::of(&source.board(&beside()).value.head))
        .unwrap_or_default()
}

#[component]
pub(crate) fn TitleSigns(
    /// The page's name; empty for the board.
    page: String,
) -> AnyView {
    let live = Live::of_app();
    let early = initial_title();
    let wanted = Memo::new(move |_| {
        let tab = live.board_head(DocumentTitle::of).unwrap_or_else(|| early.clone());
        let link = current(live);
        if let Some(mark) = past::mark() {
            return (true, tab.doubted(mark));
        }
        let is_sure = link.is_live() || link.state == "syncing";
        (is_sure, if is_sure { tab } else { tab.doubted(link.word) })
    });
    let shown = RwSignal::new(wanted.get_untracked());
    let since_ms = StoredValue::new(0);
    effect(move || {
        let (next, now_ms) = (wanted.get(), live.now_ms());
        let (is_sure, _) = shown.get_untracked();
        // What is not known any more is said at once.
        if next != shown.get_untracked() && (next.0 != is_sure || now_ms - since_ms.get_value() >= CALM_MS) {
            since_ms.set_value(now_ms);
            shown.set(next);
        }
    });
    effect(move || shown.with(|(_, tab)| show(&tab.icon())));
    let text = move || shown.with(|(_, tab)| tab.title(&page));
    view! { <Title text=title_text(text) /> }
}

/// The title for the document that the server writes: as text, and as it is now. `leptos_meta` 0.8.7 writes a title
/// into the document without escaping it, and would ask a closure for it after the render yielded, when another
/// request's signals may be the current ones.
#[cfg(feature = "ssr")]
fn title_text(text: impl Fn() -> String) -> String {
    text().to_html()
}

/// The browser sets the title as text.
#[cfg(not(feature = "ssr"))]
fn title_text<F: Fn() -> String>(text: F) -> F {
    text
}

/// Shows an icon; the same one again would be asked for again. Browser only: the document says it.
fn show(icon: &str) {
    let link = crate::browser::first::<web_sys::Element>("link[rel=icon]");
    if let Some(link) = link.filter(|link| link.get_attribute("href").as_deref() != Some(icon)) {
        // The attribute's name is one.
        let _ = link.set_attribute("href", icon);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::{EnsembleColor, EnsembleTag};

    #[test]
    fn the_worst_comes_first() {
        let mut head = BoardHead::default();
        assert_eq!(DocumentTitle::of(&head).title(""), "Lockscope");
        head.totals.waiters = 1_200;
        assert_eq!(DocumentTitle::of(&head).title(""), "Lockscope");
        head.totals.verdicts = vec![(Verdict::Orphan, 2), (Verdict::Healthy, 7)];
        head.as_of.ensemble = Some(EnsembleTag { name: "prod".to_owned(), color: EnsembleColor::Teal });
        assert_eq!(DocumentTitle::of(&head).title("/a/b"), "2 orphans · /a/b · prod · Lockscope");
        assert_eq!(DocumentTitle::of(&head).icon(), "/favicon-odd.svg");
        let lost = DocumentTitle::of(&head).doubted("OFFLINE");
        assert_eq!(
            (lost.title("Waits"), lost.icon()),
            ("OFFLINE · Waits · prod · Lockscope".to_owned(), "/favicon-lost.svg".to_owned())
        );
    }
}
