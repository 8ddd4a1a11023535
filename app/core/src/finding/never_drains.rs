//! A queue that grows faster than it is served.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::lock::Lock;
use crate::tally::{DEPTH_SLICE_MS, DEPTH_SLICES, Depth};
use crate::time::TimeMs;

/// Waiters from which on it is reported.
const WAITERS_MIN: u32 = 10;
/// Parts into which the last two minutes are split, 30 s each. Depths are compared between parts, so that a burst, which
/// ends within one, is none.
const PARTS: usize = 4;
const SLICES_A_PART: usize = DEPTH_SLICES / PARTS;
/// While it is reported it is looked at again after so long: that nobody comes any more is no change.
const AGAIN_MS: i64 = 15_000;
const MINUTE_MS: i64 = 60_000;

/// Begins when the mean depth of each part is more than that before it, by a waiter at least; ends when the last is not.
pub(super) struct NeverDrains;

impl Lint for NeverDrains {
    fn code(&self) -> Code {
        Code::NeverDrains
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let (lock, now) = (context.lock, context.now);
        if lock.waiters_seen() < WAITERS_MIN || !lock.recognition.counts_as_waiting() {
            return Outcome::Ok;
        }
        let sums = sums(&lock.tally.depth, now);
        let [first, .., before, last] = sums;
        let was_found = context.assessment.findings.iter().any(|finding| finding.code == self.code());
        let grows = sums.windows(2).all(|pair| matches!(pair, [a, b] if *b >= a + SLICES_A_PART as i64));
        if !(grows || (was_found && last > before)) {
            return Outcome::Ok;
        }
        // Between the middles of the first part and the last lie as many parts as there are but one.
        let apart_ms = (PARTS - 1) as i64 * SLICES_A_PART as i64 * DEPTH_SLICE_MS;
        let grown = (last - first) * MINUTE_MS / (SLICES_A_PART as i64 * apart_ms);
        let (served, gave_up) = (served_a_minute(lock, now), gave_up_a_minute(lock, now));
        let oddity = Oddity::NeverDrains {
            arrive: rounded(grown.max(0) + served + gave_up),
            served: rounded(served),
            gave_up: rounded(gave_up),
        };
        let warning = LintWarning { severity: Severity::Info, oddity, paths: vec![lock.path.to_string()] };
        Outcome::WarnUntil(warning, now + AGAIN_MS)
    }
}

/// The depth summed over each part of the last two minutes, the oldest first; before anything was noted it was 0.
fn sums(depth: &Depth, now: TimeMs) -> [i64; PARTS] {
    let peaks = depth.peaks();
    let as_last = usize::try_from(now.since(depth.until()) / DEPTH_SLICE_MS).unwrap_or(0).min(DEPTH_SLICES);
    let mut sums = [0; PARTS];
    for (sum, part) in sums.iter_mut().rev().zip(0..) {
        let ages = part * SLICES_A_PART..(part + 1) * SLICES_A_PART;
        let at_age = |age: usize| match age.checked_sub(as_last) {
            None => peaks.last(),
            Some(back) => peaks.len().checked_sub(back + 1).and_then(|at| peaks.get(at)),
        };
        *sum = ages.filter_map(at_age).map(|peak| i64::from(*peak)).sum();
    }
    sums
}

/// Holds that ended in a minute, by the last of them that are kept.
fn served_a_minute(lock: &Lock, now: TimeMs) -> i64 {
    let by_holds = a_minute(now, lock.tally.past.iter().map(|past| past.until), crate::lock::PAST_MAX);
    lock.tally.hand_offs.in_10_s().map_or(by_holds, |in_10_s| i64::from(in_10_s) * MINUTE_MS / 10_000)
}

fn gave_up_a_minute(lock: &Lock, now: TimeMs) -> i64 {
    a_minute(now, lock.tally.attempts.lately.iter().map(|gave_up| gave_up.at), crate::tally::GAVE_UP_MAX)
}

/// How many there are in a minute, of instants in the last two: over the time since the oldest where the list is full.
fn a_minute(now: TimeMs, instants: impl Iterator<Item = TimeMs>, most: usize) -> i64 {
    let window_ms = DEPTH_SLICES as i64 * DEPTH_SLICE_MS;
    let recent: Vec<TimeMs> = instants.filter(|at| now.since(*at) <= window_ms).collect();
    let is_full = recent.len() >= most;
    let over_ms = recent.iter().min().filter(|_| is_full).map_or(window_ms, |oldest| now.since(*oldest).max(1));
    recent.len() as i64 * MINUTE_MS / over_ms
}

/// To one digit that counts: what is said of a queue does not flicker with each arrival.
fn rounded(number: i64) -> u64 {
    let number = u64::try_from(number).unwrap_or(0);
    let unit = 10_u64.pow(number.max(1).ilog10());
    (number + unit / 2) / unit * unit
}
