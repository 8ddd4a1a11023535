//! Whether a condition of a rule is true of a lock now, since when, and when that may change although nothing happens.

use lockscope_core::assessment::AssessedLock;
use lockscope_core::diagnosis::Verdict;
use lockscope_core::lock::Since;
use lockscope_core::observation::RootId;
use lockscope_core::observatory::Observatory;
use lockscope_core::sentence;
use lockscope_core::time::TimeMs;

use super::{Before, RuleAt, is_root_seen};
use crate::rule::{Condition, Rule};

/// What a look at a lock shows of a rule.
pub(super) struct Found<'a> {
    /// Since when one of its conditions is true; None: none is.
    pub(super) since: Option<TimeMs>,
    /// When one may become true.
    pub(super) next: Option<TimeMs>,
    /// It is true that the root can't be seen.
    pub(super) is_unseen: bool,
    /// What is wrong, in words.
    pub(super) sentence: Box<dyn Fn() -> Box<str> + 'a>,
}

/// What a look shows of one condition.
enum Truth {
    Since(TimeMs),
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
        now: TimeMs,
        key: &RuleAt,
        before: &mut Before,
    ) -> Found<'a> {
        let path = key.1.clone();
        let lock = model.lock(&path).filter(|lock| lock.path == path);
        let (mut since, mut next, mut found, mut is_unseen) = (None, None, None, false);
        for condition in &self.when {
            match self.truth(*condition, model, now, (lock, key), before) {
                Truth::Since(at) => {
                    since = since.into_iter().chain([at]).min();
                    found = found.or(Some(*condition));
                    is_unseen |= matches!(condition, Condition::Unseen(_));
                }
                Truth::From(at) => next = next.into_iter().chain([at]).min(),
                Truth::False => {}
            }
        }
        let sentence = move || said(found, model, lock, &path, now).into_boxed_str();
        Found { since, next, is_unseen, sentence: Box::new(sentence) }
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
        now: TimeMs,
        (lock, key): (Option<&AssessedLock>, &RuleAt),
        before: &mut Before,
    ) -> Truth {
        let after = |since: Option<TimeMs>, ms: i64| match since.map(|since| since + ms) {
            Some(at) if at < now => Truth::Since(at),
            // It is longer than that a millisecond later.
            Some(at) => Truth::From(at + 1),
            None => Truth::False,
        };
        match (condition, lock) {
            (Condition::Unseen(ms), _) => match root_at(model, &key.1).map(|root| is_root_seen(model, root, now)) {
                Some((false, since)) => after(Some(before.unseen.get(key).map_or(since, |at| since.min(*at))), ms),
                Some((true, _)) | None => {
                    before.unseen.remove(key);
                    Truth::False
                }
            },
            (Condition::NotHeld(ms), lock) => {
                let unheld = &mut before.unheld;
                let is_seen = || model.root_of(&key.1).map(|root| is_root_seen(model, root, now).0);
                let is_unheld = match lock {
                    Some(lock) => lock.holders.is_empty() && lock.assessment.verdict != Verdict::Unknown,
                    // While nobody sees whether it is there, it stays as it was.
                    None if is_seen() == Some(false) => unheld.contains_key(key),
                    None => self.names_one() && is_seen() == Some(true),
                };
                if !is_unheld {
                    unheld.remove(key);
                    return Truth::False;
                }
                after(Some(*unheld.entry(key.clone()).or_insert(now)), ms)
            }
            (_, None) => Truth::False,
            (Condition::Verdict(verdict), Some(lock)) if lock.assessment.verdict == verdict => {
                if self.speaks_for_circle(model, lock) { Truth::Since(now) } else { Truth::False }
            }
            (Condition::Verdict(_), Some(_)) => Truth::False,
            (Condition::Finding(code), Some(lock)) => {
                let finding = lock.assessment.findings.iter().find(|finding| finding.code == code);
                finding.map_or(Truth::False, |finding| Truth::Since(finding.since))
            }
            (Condition::Waiting(ms), Some(lock)) => after(waits_since(model, lock), ms),
            (Condition::Held(ms), Some(lock)) => after(lock.holders.iter().map(|hold| hold.since).min(), ms),
            (Condition::Depth(count), Some(lock)) if counts(lock) && lock.waiters_seen() > count => Truth::Since(now),
            (Condition::Depth(_), Some(_)) => Truth::False,
        }
    }
}

/// Standbys of an election, members and items wait for no lock.
fn counts(lock: &AssessedLock) -> bool {
    lock.recognition.counts_as_waiting()
}

fn waits_since(model: &Observatory, lock: &AssessedLock) -> Option<TimeMs> {
    let ours = |since| match since {
        Since::Created(ctime_ms) => model.offset().to_ours(ctime_ms),
        Since::Arrived(at) => at,
    };
    let oldest = counts(lock).then(|| lock.oldest_wait(ours)).flatten();
    oldest.map(|(at, _)| at)
}

fn root_at(model: &Observatory, path: &str) -> Option<RootId> {
    (0..).map(RootId).zip(model.roots()).find(|(_, view)| *view.path == *path).map(|(root, _)| root)
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
            let why = root_at(model, path).map_or("", |root| model.root_state(root, now).2);
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
