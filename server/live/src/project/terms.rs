//! What somebody filters by, and what of a lock it looks at.

use lockscope_core::assessment::AssessedLock;

use super::words::view_verdict;

/// Filter text: terms that must occur, and with `!` terms that must not.
pub(super) struct Terms {
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

impl Terms {
    pub(super) fn parse(text: &str) -> Self {
        let (unwanted, wanted): (Vec<_>, Vec<_>) =
            text.split_whitespace().map(str::to_lowercase).partition(|term| term.starts_with('!'));
        let unwanted = unwanted
            .into_iter()
            .map(|term| term.trim_start_matches('!').to_owned())
            .filter(|term| !term.is_empty())
            .collect();
        Self { wanted, unwanted }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.unwanted.is_empty()
    }

    pub(super) fn fit_text(&self, text: impl FnOnce() -> String) -> bool {
        if self.is_empty() {
            return true;
        }
        let text = text().to_lowercase();
        self.wanted.iter().all(|term| text.contains(term)) && !self.unwanted.iter().any(|term| text.contains(term))
    }

    pub(super) fn fit(&self, lock: &AssessedLock) -> bool {
        self.fit_text(|| text_of(lock))
    }
}

/// What a filter looks at. A verdict is found by its name, and by its name in words.
fn text_of(lock: &AssessedLock) -> String {
    let verdict = view_verdict(lock.assessment.verdict).name();
    let mut text = format!("{} {} {verdict} {}", lock.path, lock.recognition.label, verdict.replace('_', " "));
    for hold in &lock.holders {
        text.push(' ');
        text.push_str(hold.label.as_deref().unwrap_or_default());
        text.extend(hold.owner.map(|owner| format!(" {owner}")));
    }
    text
}
