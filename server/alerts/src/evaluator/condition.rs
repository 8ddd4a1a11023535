//! Whether a condition of a rule is true of a lock now, since when, and when that may change although nothing happens.

use lockscope_core::assessment::AssessedLock;
use lockscope_core::diagnosis::Verdict;
use lockscope_core::lock::Hold;
use lockscope_core::observatory::{Observatory, RootView};
use lockscope_core::sentence;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;

use super::seen::{is_gone, is_root_seen, is_seen};
use super::{Before, PROVEN_AGAIN_MS, RuleAt};
use crate::rule::{Condition, Rule};

pub(super) struct Found<'a> {
    /// Since when one of its conditions is true; None: none is.
    pub(super) since: Option<TimeMs>,
    /// One is true by the clock, and what made it false may be on its way.
    pub(super) may_be: bool,
    /// When one may become true.
    pub(super) next: Option<TimeMs>,
    /// It is true that the root can't be seen.
    pub(super) is_unseen: bool,
    /// Which hold lasts too long, where that is what is true.
    pub(super) hold: Option<Zxid>,
    pub(super) sentence: Box<dyn Fn() -> Box<str> + 'a>,
}

enum Truth {
    Since(TimeMs),
    /// It has lasted for so long by the clock, and what ended it may be on its way.
    MayBe,
    From(TimeMs),
    False,
}

impl Rule {
    /// It is about what can't be seen.
    pub(super) fn is_unseen_itself(&self) -> bool {
        self.when.iter().all(|condition| matches!(condition, Condition::Unseen(_)))
    }

    /// Looks at a lock, or at a root of that path.
    pub(super) fn found<'a>(
        &'a self,
        model: &'a Observatory,
        (now, known): (TimeMs, TimeMs),
        key: &RuleAt,
        before: &mut Before,
    ) -> Found<'a> {
        let path = key.1.clone();
        // What a model still shows of a root that is gone is what was there before.
        let lock = model.lock(&path).filter(|lock| lock.path == path && !is_gone(model, &path, now));
        before.forget_other_hold(key, lock, is_seen(model, &path, now));
        let (mut since, mut next, mut found, mut is_unseen, mut may_be) = (None, None, None, false, false);
        for condition in &self.when {
            match self.truth(*condition, model, (now, known), (lock, key), before) {
                Truth::Since(at) => {
                    since = since.into_iter().chain([at]).min();
                    found = found.or(Some(*condition));
                    is_unseen |= matches!(condition, Condition::Unseen(_));
                }
                Truth::MayBe => may_be = true,
                Truth::From(at) => next = next.into_iter().chain([at]).min(),
                Truth::False => {}
            }
        }
        let next = next.into_iter().chain(may_be.then_some(now + PROVEN_AGAIN_MS)).min();
        let is_hold = found.is_some_and(Condition::is_of_a_hold);
        let hold = lock.filter(|_| is_hold).and_then(|lock| oldest(lock)?.czxid);
        let sentence = move || said(found, model, lock, &path, now).into_boxed_str();
        Found { since, may_be, next, is_unseen, hold, sentence: Box::new(sentence) }
    }

    /// A deadlock is one alert, at the first of its locks that the rule is about.
    fn speaks_for_circle(&self, model: &Observatory, lock: &AssessedLock) -> bool {
        if !matches!(lock.assessment.verdict, Verdict::Deadlocked | Verdict::MaybeDeadlocked) {
            return true;
        }
        let locks = model.cycles_of(&lock.path).flat_map(|cycle| cycle.locks());
        locks.filter(|other| self.means(other)).min().is_none_or(|first| **first == *lock.path)
    }

    fn truth(
        &self,
        condition: Condition,
        model: &Observatory,
        (now, known): (TimeMs, TimeMs),
        (lock, key): (Option<&AssessedLock>, &RuleAt),
        before: &mut Before,
    ) -> Truth {
        let by = |limit: TimeMs, since: Option<TimeMs>, ms: i64| match since.map(|since| since + ms) {
            Some(at) if at < limit => Truth::Since(at),
            Some(at) if at < now => Truth::MayBe,
            // It is longer than that a millisecond later.
            Some(at) => Truth::From(at + 1),
            None => Truth::False,
        };
        let after = |since, ms| by(known, since, ms);
        match (condition, lock) {
            (Condition::Unseen(ms), _) => match model.root_at(&key.1).map(|root| is_root_seen(model, root, now)) {
                Some((false, since)) => by(now, Some(before.unseen.get(key).map_or(since, |at| since.min(*at))), ms),
                Some((true, _)) | None => {
                    before.unseen.remove(key);
                    Truth::False
                }
            },
            (Condition::NotHeld(ms), lock) => {
                let unheld = &mut before.unheld;
                let is_watched = model.root_of(&key.1).is_some();
                let is_unheld = match lock {
                    Some(lock) => lock.holders.is_empty() && lock.assessment.verdict != Verdict::Unknown,
                    // While nobody sees whether it is there, it stays as it was.
                    None if !is_seen(model, &key.1, now) => unheld.contains_key(key),
                    None => self.names_one() && is_watched,
                };
                if !is_unheld {
                    unheld.remove(key);
                    return Truth::False;
                }
                after(Some(*unheld.entry(key.clone()).or_insert(now)), ms)
            }
            (_, None) => Truth::False,
            (condition, Some(_)) if condition.is_of_a_hold() && before.held.contains_key(key) => {
                before.held.get(key).map_or(Truth::False, |(_, since)| Truth::Since(*since))
            }
            (Condition::Verdict(verdict), Some(lock)) if lock.assessment.verdict == verdict => {
                if self.speaks_for_circle(model, lock) { Truth::Since(now) } else { Truth::False }
            }
            (Condition::Verdict(_), Some(_)) => Truth::False,
            (Condition::Finding(code), Some(lock)) => {
                let finding = lock.assessment.findings.iter().find(|finding| finding.code == code);
                finding.map_or(Truth::False, |finding| Truth::Since(finding.since))
            }
            (Condition::Waiting(ms), Some(lock)) => after(waits_since(model, lock), ms),
            (Condition::Held(ms), Some(lock)) => after(oldest(lock).map(|hold| hold.since), ms),
            (Condition::Depth(count), Some(lock)) if counts(lock) && lock.waiters_seen() > count => Truth::Since(now),
            (Condition::Depth(_), Some(_)) => Truth::False,
        }
    }
}

impl Condition {
    /// It is true of one hold, and becomes so because that lasts.
    fn is_of_a_hold(self) -> bool {
        match self {
            Self::Held(_) | Self::Verdict(Verdict::Stuck | Verdict::Slow) => true,
            Self::Verdict(_)
            | Self::Finding(_)
            | Self::Waiting(_)
            | Self::Depth(_)
            | Self::NotHeld(_)
            | Self::Unseen(_) => false,
        }
    }
}

impl Before {
    /// A hold that is over, or of which the model knows by itself how long it lasts, needs no memory.
    fn forget_other_hold(&mut self, key: &RuleAt, lock: Option<&AssessedLock>, is_seen: bool) {
        let Some((known, _)) = self.held.get(key).filter(|_| is_seen) else { return };
        let goes_on = lock.and_then(oldest).is_some_and(|hold| hold.czxid == Some(*known) && hold.is_lower_bound);
        if !goes_on {
            self.held.remove(key);
        }
    }
}

/// The hold that has lasted longest; of equals the first.
fn oldest(lock: &AssessedLock) -> Option<&Hold> {
    lock.holders.iter().min_by_key(|hold| hold.since)
}

/// Standbys of an election, members and items wait for no lock.
fn counts(lock: &AssessedLock) -> bool {
    lock.recognition.counts_as_waiting()
}

fn waits_since(model: &Observatory, lock: &AssessedLock) -> Option<TimeMs> {
    let oldest = counts(lock).then(|| lock.oldest_wait(|since| since.to_ours(model.offset()))).flatten();
    // A znode of a backup may be old; that it waits in this history is known since that is read.
    let restored_at = model.roots().get(lock.root.0 as usize).and_then(RootView::restored_at);
    oldest.map(|(at, _)| restored_at.map_or(at, |restored_at| at.max(restored_at)))
}

fn said(
    condition: Option<Condition>,
    model: &Observatory,
    lock: Option<&AssessedLock>,
    path: &str,
    now: TimeMs,
) -> String {
    match (condition, lock) {
        (Some(Condition::Unseen(_)), _) => {
            let why = model.root_at(path).map_or("", |root| model.root_state(root, now).2);
            let why = if why.is_empty() { "" } else { &format!(" ({why})") };
            format!("What is below {path} can't be seen{why}: nobody knows how its locks are.")
        }
        (Some(Condition::Finding(code)), Some(lock)) => {
            let finding = lock.assessment.findings.iter().find(|finding| finding.code == code);
            finding.map_or_else(String::new, |finding| finding.text.to_string())
        }
        (_, Some(lock)) => {
            let thresholds = &model.settings().thresholds;
            model.mirror_of(lock).map_or_else(String::new, |mirror| sentence::sentence(lock, mirror, thresholds))
        }
        (_, None) => format!("Nobody holds {path}: it is not there."),
    }
}
