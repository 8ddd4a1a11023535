//! The first line of a problem: who, since when, and whom it hurts.

use lockscope_core::assessment::AssessedLock;
use lockscope_core::deadlock::Cycle;
use lockscope_core::sentence::waiting_text;
use lockscope_core::verdict::{Verdict, name_of, usual_hold_ms};
use lockscope_view::Headline;

use super::advice::{Case, critical, listed};
use super::{ProjectionContext, english, sentence_of};

impl ProjectionContext<'_> {
    pub(super) fn headline(&self, case: &Case<'_>) -> Headline {
        let lock = case.lock;
        let waiting = behind(&waiting_text(lock));
        let first = lock.holders.first();
        let who = first.map(name_of).unwrap_or_default();
        let since_ms = first.map(|hold| hold.since.0);
        let is_lower_bound = first.is_some_and(|hold| hold.is_lower_bound);
        let around = |before: String, after: String| Headline { before, since_ms, is_lower_bound, after };
        match lock.assessment.verdict {
            Verdict::Deadlocked | Verdict::MaybeDeadlocked => match case.cycle {
                Some(cycle) => self.headline_of(cycle),
                None => plain(sentence_of(self, lock)),
            },
            Verdict::Stuck | Verdict::Slow => match self.known_wait(lock) {
                None => around(english::has_held(&who), format!("{}{waiting}", self.usual(lock))),
                since_ms => Headline { since_ms, ..english::first_has_waited(&who, &waiting) },
            },
            Verdict::DoubleOwner => {
                // Holders may come and go: the cause is as old as its finding.
                let since = critical(lock).map(|finding| finding.since).min();
                let both = lock.holders.iter().map(|hold| hold.since).max();
                let names = listed(lock.holders.iter().map(name_of), lock.standing.holders as usize);
                Headline {
                    before: english::hold_at_once(&names),
                    since_ms: since.or(both).map(|since| since.0),
                    is_lower_bound,
                    after: format!(".{waiting}"),
                }
            }
            Verdict::Orphan => around(english::ORPHAN.to_owned(), format!(".{waiting}")),
            Verdict::NobodyHome => Headline {
                before: english::NOBODY_HOME.to_owned(),
                since_ms: lock.gone_since.map(|since| since.0),
                is_lower_bound: false,
                after: ".".to_owned(),
            },
            Verdict::Expiring | Verdict::Unknown => plain(sentence_of(self, lock)),
            Verdict::Free | Verdict::Healthy => {
                plain(critical(lock).next().map_or_else(String::new, |finding| self.finding(finding).text))
            }
        }
    }

    fn headline_of(&self, cycle: &Cycle) -> Headline {
        let name = |session| {
            let holds = cycle.steps.iter().find(|step| step.to == session);
            let lock = holds.and_then(|step| self.observatory.lock(&step.lock));
            let hold = lock.and_then(|lock| lock.holders.iter().find(|hold| hold.owner == Some(session)));
            hold.map_or_else(|| english::session(session), name_of)
        };
        let names = listed(cycle.sessions().map(name), cycle.steps.len());
        Headline {
            before: english::wait_for_each_other(&names, cycle.is_certain),
            since_ms: Some(cycle.since.0),
            is_lower_bound: false,
            after: ".".to_owned(),
        }
    }

    /// Since when the first in line waits, where since when the lock is held, and for how long as a rule, is not known.
    fn known_wait(&self, lock: &AssessedLock) -> Option<i64> {
        let first = lock.holders.first().filter(|hold| hold.is_lower_bound)?;
        let is_usual_known = usual_hold_ms(lock, &self.observatory.settings().thresholds).is_some();
        self.waits_in(lock).oldest_at_ms.filter(|at_ms| !is_usual_known && *at_ms < first.since.0)
    }

    /// What is usual, in parentheses.
    fn usual(&self, lock: &AssessedLock) -> String {
        english::usual(usual_hold_ms(lock, &self.observatory.settings().thresholds))
    }
}

/// The headline of a client that holds several locks in the same way.
pub(super) fn of_several(first: &Headline, lock: &AssessedLock, locks: u32, waiters: u32) -> Headline {
    let hold = lock.holders.first();
    Headline {
        before: english::has_held_several(&hold.map(name_of).unwrap_or_default(), locks),
        // Since when it holds, and not since when somebody waits.
        since_ms: first.since_ms.and(hold.map(|hold| hold.since.0)),
        is_lower_bound: hold.is_some_and(|hold| hold.is_lower_bound),
        after: english::waiting_behind(waiters),
    }
}

fn plain(before: String) -> Headline {
    Headline { before, ..Headline::default() }
}

/// A sentence behind another.
fn behind(sentence: &str) -> String {
    if sentence.is_empty() { String::new() } else { format!(" {sentence}") }
}
