//! The first line of a problem: who, since when, and whom it hurts.

use lockscope_core::assessment::AssessedLock;
use lockscope_core::deadlock::Cycle;
use lockscope_core::sentence::waiting_text;
use lockscope_core::verdict::{Verdict, name_of, usual_hold_ms};
use lockscope_wire::Headline;
use lockscope_wire::words::count;

use super::advice::{Case, critical, listed};
use super::{ProjectionContext, sentence_of};

impl ProjectionContext<'_> {
    /// The headline of one lock.
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
            Verdict::Stuck | Verdict::Slow => {
                around(format!("{who} has held it for"), format!("{}{waiting}", self.usual(lock)))
            }
            Verdict::DoubleOwner => {
                // Holders may come and go: the cause is as old as its finding.
                let since = critical(lock).map(|finding| finding.since).min();
                let both = lock.holders.iter().map(|hold| hold.since).max();
                let names = listed(lock.holders.iter().map(name_of), lock.standing.holders as usize);
                Headline {
                    before: format!("{names} hold it at once. This goes on for"),
                    since_ms: since.or(both).map(|since| since.0),
                    is_lower_bound,
                    after: format!(".{waiting}"),
                }
            }
            Verdict::Orphan => {
                around("It is held by a znode that no session owns, for".to_owned(), format!(".{waiting}"))
            }
            Verdict::NobodyHome => Headline {
                before: "Its directory has been gone for".to_owned(),
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

    /// Who waits for each other.
    fn headline_of(&self, cycle: &Cycle) -> Headline {
        let name = |session| {
            let holds = cycle.steps.iter().find(|step| step.to == session);
            let lock = holds.and_then(|step| self.observatory.lock(&step.lock));
            let hold = lock.and_then(|lock| lock.holders.iter().find(|hold| hold.owner == Some(session)));
            hold.map_or_else(|| format!("session {session}"), name_of)
        };
        let names = listed(cycle.sessions().map(name), cycle.steps.len());
        let maybe = if cycle.is_certain { "" } else { "If one thread does both, " };
        Headline {
            before: format!("{maybe}{names} have waited for each other for"),
            since_ms: Some(cycle.since.0),
            is_lower_bound: false,
            after: ".".to_owned(),
        }
    }

    /// What is usual, in parentheses.
    fn usual(&self, lock: &AssessedLock) -> String {
        match usual_hold_ms(lock, &self.observatory.settings().thresholds) {
            Some(ms @ 0..1_000) => {
                format!("(usually {}).", if ms < 100 { "under 0.1 s".to_owned() } else { format!("0.{} s", ms / 100) })
            }
            Some(ms) => format!("(usually {}).", lockscope_core::verdict::duration(ms)),
            None => "; what is usual is not known yet.".to_owned(),
        }
    }
}

/// The headline of a client that holds several locks in the same way.
pub(super) fn of_several(first: Headline, who: &str, locks: u32, waiters: u32) -> Headline {
    let waiting = if waiters == 1 { "1 waits.".to_owned() } else { format!("{} wait.", count(waiters)) };
    Headline { before: format!("{who} has held {} locks for", count(locks)), after: format!(". {waiting}"), ..first }
}

fn plain(before: String) -> Headline {
    Headline { before, ..Headline::default() }
}

/// A sentence behind another.
fn behind(sentence: &str) -> String {
    if sentence.is_empty() { String::new() } else { format!(" {sentence}") }
}
