//! Tells those who can't see the page which problems are new: politely, and not more often than one can listen.

use leptos::prelude::*;

use super::{current, finding_word, verdict_word, words};
use crate::erase::{effect, view};
use crate::format::visible;
use crate::live::Live;
use lockscope_view::LockProblem;

/// Two announcements are at least so far apart.
const PAUSE_MS: i64 = 10_000;
/// Problems named in one announcement.
const NAMED_MAX: usize = 3;

/// The region that a screen reader reads from.
#[component]
pub(super) fn Announcements() -> AnyView {
    let live = Live::of_app();
    let text = RwSignal::new(String::new());
    let problems = Memo::new(move |_| live.board_head(|head| head.problems.clone()));
    // What was announced, and when; nothing before the first look, which the page itself shows.
    let told: StoredValue<Option<(i64, Vec<LockProblem>)>> = StoredValue::new(None);
    effect(move || {
        let now_ms = live.now_ms();
        let Some(problems) = problems.get().filter(|_| current(live).is_live()) else { return };
        told.update_value(|told| match told {
            None => *told = Some((now_ms - PAUSE_MS, problems)),
            Some((at_ms, before)) if now_ms - *at_ms >= PAUSE_MS => {
                if let Some(news) = news(before, &problems) {
                    text.set(news);
                    *at_ms = now_ms;
                }
                *before = problems;
            }
            Some(_) => {}
        });
    });
    view! { <p class="sr-only" role="status" aria-live="polite" data-testid="announcements">{move || text.get()}</p> }
}

/// What is new among problems: `New: /a stuck, /b two owners`.
fn news(before: &[LockProblem], now: &[LockProblem]) -> Option<String> {
    let is_new = |problem: &&LockProblem| before.iter().all(|old| old.key != problem.key);
    let text = |problem: &LockProblem| {
        let what = problem.finding.as_deref().map_or_else(|| verdict_word(problem.verdict).to_owned(), finding_word);
        let lock = problem.locks.first().map(|path| visible(path)).unwrap_or_default();
        words::news_of(&lock, &what)
    };
    let new: Vec<String> = now.iter().filter(is_new).take(NAMED_MAX).map(text).collect();
    (!new.is_empty()).then(|| words::news(&new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::{Headline, Step, Verdict};

    fn problem(key: &str, verdict: Verdict) -> LockProblem {
        LockProblem {
            key: key.to_owned(),
            ensemble: String::new(),
            tag: None,
            verdict,
            finding: None,
            locks: vec![key.to_owned()],
            lock_count: 1,
            headline: Headline::default(),
            waiter_count: 0,
            waiting_since_sum_ms: 0,
            step: Step::default(),
            looked_after: None,
        }
    }

    #[test]
    fn only_what_is_new_is_told() {
        let (a, b) = (problem("/a", Verdict::Stuck), problem("/b", Verdict::DoubleOwner));
        assert_eq!(news(std::slice::from_ref(&a), &[a.clone(), b.clone()]), Some("New: /b two owners".to_owned()));
        assert_eq!(news(&[a.clone(), b.clone()], &[b, a]), None);
    }
}
