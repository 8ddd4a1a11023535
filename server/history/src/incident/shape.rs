//! Who waited for whom in an incident.

use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;

use super::{Life, Run, WaitShape};

/// From when to when; without an end while it goes on.
type Stretch = (TimeMs, Option<TimeMs>);

/// Who waited for whom, in runs that belong together and the lives of their locks.
pub(super) fn shape_of(runs: &[Run], lives: &[&Life], (from, until): (TimeMs, TimeMs), victims: usize) -> WaitShape {
    if runs.iter().any(|run| matches!(run.worst, Verdict::Deadlocked | Verdict::MaybeDeadlocked)) {
        return WaitShape::Circle;
    }
    if victims == 0 {
        return WaitShape::Nobody;
    }
    let within = |(began, ended): Stretch| {
        let (began, ended) = (began.max(from), ended.unwrap_or(until).min(until));
        (began < ended).then_some((began, ended))
    };
    let spans = |of: fn(&Life) -> Option<Stretch>| {
        let found = lives.iter().filter_map(move |life| Some((life.session?, &*life.lock, within(of(life)?)?)));
        let mut found: Vec<_> = found.collect();
        found.sort_unstable_by_key(|(session, ..)| *session);
        found
    };
    let (holds, waits) = (spans(Life::hold), spans(Life::wait));
    let is_of_holder = |(session, lock, (began, ended)): &(_, &str, (TimeMs, TimeMs))| {
        let first = holds.partition_point(|hold| hold.0 < *session);
        let its = holds.iter().skip(first).take_while(|hold| hold.0 == *session);
        its.take(PLACES_MAX).any(|(_, other, hold)| other != lock && hold.0 < *ended && *began < hold.1)
    };
    if waits.iter().any(is_of_holder) { WaitShape::Chain } else { WaitShape::Line }
}

/// Holds of one session that are compared with one of its waits. Overflow policy: further ones are not.
const PLACES_MAX: usize = 200;
