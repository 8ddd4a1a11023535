//! A counter that runs out.

use super::{Code, Lint, Outcome, Severity, Survey, Warning};
use crate::domain::recipe::Place;

/// Numbers before a counter runs over into negative ones.
const NUMBERS: u64 = 2_147_483_647;

/// F11; ZOOKEEPER-2944, kazoo issue 606.
pub(super) struct SequenceOverflow;

impl Lint for SequenceOverflow {
    fn code(&self) -> Code {
        Code::SequenceOverflow
    }

    fn look(&self, survey: &Survey<'_>) -> Outcome {
        let Some(directory) = survey.directory() else { return Outcome::Ok };
        let numbered = || survey.seats.iter().filter(|seat| seat.child.place() == Some(Place::Line));
        let paths =
            |fits: fn(i32) -> bool| numbered().filter(move |seat| seat.key.number().is_some_and(fits)).map(|seat| seat.path()).collect::<Vec<_>>();
        let negative = paths(|number| number < 0);
        if !negative.is_empty() {
            let text = "The sequence counter ran past 2147483647 into negative numbers. Shown in order of creation; clients that sort names as text put the newcomers first and believe that they hold.";
            return Outcome::Warn(Warning { severity: Severity::Critical, text: text.to_owned(), paths: negative });
        }
        let stuck = paths(|number| number == i32::MAX);
        if !stuck.is_empty() {
            let text = "The sequence counter sticks at 2147483647: newcomers get equal numbers, and several may hold at once. The directory must be made anew.";
            return Outcome::Warn(Warning { severity: Severity::Critical, text: text.to_owned(), paths: stuck });
        }
        let used = directory.stat.map_or(0, |stat| u64::from(stat.creates_ever)) * 100 / NUMBERS;
        if used < u64::from(survey.limits.sequence_percent) {
            return Outcome::Ok;
        }
        let text = format!(
            "{used} % of the 2147483647 sequence numbers are used. Then the counter sticks or runs into negative numbers, and the order breaks."
        );
        Outcome::Warn(Warning { severity: Severity::Warning, text, paths: vec![survey.lock.parts.main.to_string()] })
    }
}
