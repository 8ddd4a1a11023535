//! A counter that runs out.

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity};
use crate::lock::Lock;
use crate::mirror::Mirror;
use crate::recipe::{NodeRole, Shape};

/// Numbers before a counter runs over into negative ones.
const NUMBERS: u64 = 2_147_483_647;

/// The lock's directories whose children are ordered by their numbers.
fn counted(lock: &Lock) -> Vec<&str> {
    let parts = &lock.parts;
    let (main, second) = (Some(&*parts.main), parts.second.as_deref());
    let counted = match lock.recognition.shape {
        Shape::Line | Shape::LeaderElection | Shape::Items | Shape::TakenItems => [main, None],
        Shape::LeasesAndLocks => [main, second],
        Shape::LeasesAndSibling => [None, second],
        Shape::Fixed | Shape::Alone | Shape::Gate | Shape::Gathering | Shape::Group | Shape::Idle => [None, None],
    };
    counted.into_iter().flatten().collect()
}

/// The directory of a lock that has given out most numbers, and how many; None where numbers order nothing.
fn fullest<'a>(lock: &'a Lock, mirror: &Mirror) -> Option<(&'a str, u64)> {
    let creates = |path| {
        (
            path,
            mirror.directory(path).and_then(|directory| directory.stat).map_or(0, |stat| u64::from(stat.creates_ever)),
        )
    };
    counted(lock).into_iter().map(creates).max_by_key(|(_, creates)| *creates)
}

/// The millionths of a lock's sequence numbers that are used; None where numbers order nothing.
pub fn sequence_used_ppm(lock: &Lock, mirror: &Mirror) -> Option<u64> {
    fullest(lock, mirror).map(|(_, creates)| creates * 1_000_000 / NUMBERS)
}

/// F11; ZOOKEEPER-2944, kazoo issue 606.
pub(super) struct SequenceOverflow;

impl Lint for SequenceOverflow {
    fn code(&self) -> Code {
        Code::SequenceOverflow
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let numbered = || context.contenders.iter().filter(|contender| contender.child.role() == Some(NodeRole::Line));
        let paths = |fits: fn(i32) -> bool| {
            numbered()
                .filter(move |contender| contender.key.number().is_some_and(fits))
                .map(|contender| contender.path())
                .collect::<Vec<_>>()
        };
        let negative = paths(|number| number < 0);
        if !negative.is_empty() {
            let text = "The sequence counter ran past 2147483647 into negative numbers. Shown in order of creation; clients that sort names as text put the newcomers first and believe that they hold.";
            return Outcome::Warn(LintWarning { severity: Severity::Critical, text: text.to_owned(), paths: negative });
        }
        let stuck = paths(|number| number == i32::MAX);
        if !stuck.is_empty() {
            let text = "The sequence counter sticks at 2147483647: newcomers get equal numbers, and several may hold at once. The directory must be made anew.";
            return Outcome::Warn(LintWarning { severity: Severity::Critical, text: text.to_owned(), paths: stuck });
        }
        let Some((fullest, creates)) = fullest(context.lock, context.mirror) else { return Outcome::Ok };
        let used = creates * 100 / NUMBERS;
        if used < u64::from(context.limits.sequence_percent) {
            return Outcome::Ok;
        }
        let text = format!(
            "{used} % of the 2147483647 sequence numbers are used. Then the counter sticks or runs into negative numbers, and the order breaks."
        );
        Outcome::Warn(LintWarning { severity: Severity::Warning, text, paths: vec![fullest.to_owned()] })
    }
}
