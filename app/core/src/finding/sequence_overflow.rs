//! A counter that runs out.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
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
            return critical(Oddity::SequenceNegative, negative);
        }
        let stuck = paths(|number| number == i32::MAX);
        if !stuck.is_empty() {
            return critical(Oddity::SequenceStuck, stuck);
        }
        let Some((fullest, creates)) = fullest(context.lock, context.mirror) else { return Outcome::Ok };
        let used = creates * 100 / NUMBERS;
        if used < u64::from(context.limits.sequence_percent) {
            return Outcome::Ok;
        }
        let oddity = Oddity::SequenceUsed { percent: used };
        Outcome::Warn(LintWarning { severity: Severity::Warning, oddity, paths: vec![fullest.to_owned()] })
    }
}

fn critical(oddity: Oddity, paths: Vec<String>) -> Outcome {
    Outcome::Warn(LintWarning { severity: Severity::Critical, oddity, paths })
}
