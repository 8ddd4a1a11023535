//! A counter that runs out.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::lock::Lock;
use crate::mirror::Mirror;
use crate::recipe::{NodeRole, Shape};

/// Numbers before a counter runs over into negative ones.
const NUMBERS: u64 = 2_147_483_647;

/// How far ahead the end of the numbers is foreseen, in days.
const DAYS_MAX: u64 = 90;
/// A directory's rate is believed from this age on.
const AGE_MIN_MS: u64 = 3_600_000;
const DAY_MS: u64 = 86_400_000;

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
            return forecast(context, fullest, creates);
        }
        let oddity = Oddity::SequenceUsed { percent: used };
        Outcome::Warn(LintWarning { severity: Severity::Warning, oddity, paths: vec![fullest.to_owned()] })
    }
}

/// The last number comes within [`DAYS_MAX`] days, by the mean rate since the directory was made.
fn forecast(context: &LintContext<'_>, fullest: &str, creates: u64) -> Outcome {
    let made = context.mirror.node(fullest).and_then(|node| node.read.as_ref()).map(|read| read.ctime_ms);
    let Some(made) = made else { return Outcome::Ok };
    let age_ms = u64::try_from(context.now.since(context.offset.to_ours(made))).unwrap_or(0);
    if age_ms < AGE_MIN_MS || creates == 0 {
        return Outcome::Ok;
    }
    let days = u128::from(NUMBERS.saturating_sub(creates)) * u128::from(age_ms) / u128::from(creates * DAY_MS);
    let a_day = u128::from(creates) * u128::from(DAY_MS) / u128::from(age_ms);
    let (Ok(days), Ok(a_day)) = (u64::try_from(days), u64::try_from(a_day)) else { return Outcome::Ok };
    if days > DAYS_MAX {
        return Outcome::Ok;
    }
    // Two digits that count: so it changes with the days that are left, and not with each number.
    let unit = 10_u64.pow(a_day.max(10).ilog10() - 1);
    let oddity = Oddity::SequenceForecast { days, a_day: a_day / unit * unit };
    Outcome::Warn(LintWarning { severity: Severity::Info, oddity, paths: vec![fullest.to_owned()] })
}

fn critical(oddity: Oddity, paths: Vec<String>) -> Outcome {
    Outcome::Warn(LintWarning { severity: Severity::Critical, oddity, paths })
}
