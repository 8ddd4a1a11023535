//! What a lock over time says. Pure.

use super::choice::{Former, Length, Step};
use super::view::{OverTimeView, What};
use crate::charts::over_time::Scale;
use crate::format::{count, duration, plural, visible};
use crate::parts::{finding_word, verdict_word};
use lockscope_view::Verdict;
use lockscope_view::past::{Percentiles, Point};

pub(super) const HISTORY_OFF: &str = "History is off: set history = \"on\" and a data directory.";
/// What stands where the fragment can't be fetched.
pub(super) const NOT_FETCHED: &str =
    "This could not be loaded: the server may be gone, busy, or newer than this page. Reload the page to try again.";
pub(super) const STAYS_OLD: &str = "Not refreshed: the server did not answer.";

pub(super) const BEGINS: &str = "Begins";
pub(super) const WORST: &str = "Worst verdict";
pub(super) const HELD_LONGEST: &str = "Held longest by";
pub(super) const ACQUIRED_TIMES: &str = "Acquired";
pub(super) const GAVE_UP: &str = "Gave up";
pub(super) const MOST_WAITING: &str = "Most waiting";
pub(super) const WAIT_TIMES: &str = "Wait p50 · p95 · p99";
pub(super) const HOLD_TIMES: &str = "Hold p50 · p95 · p99";
pub(super) const VERDICT: &str = "Verdict, the worst of each piece";
pub(super) const HOLDERS: &str = "Who held";
pub(super) const SHARES: &str = "Who held, by share of each piece";
pub(super) const DEPTH: &str = "Waiting at most";
pub(super) const WAIT: &str = "Wait: p50, p95, p99";
pub(super) const HOLD: &str = "Hold: p50, p95, p99";
pub(super) const ACQUIRED: &str = "Acquired a minute";
pub(super) const NOBODY_KNOWN: &str = "owner unknown";
pub(super) const NONE_ENDED: &str = "none ended";

pub(super) const NOTHING_LISTED: &str = "Nothing happened here in this range.";
pub(super) const NOT_COMPARED: &str = "Nothing is recorded of the range before: there is no thin line.";
pub(super) const THE_REST: &str = "What is left out, as JSON";

pub(crate) fn length(length: Length) -> &'static str {
    match length {
        Length::QuarterHour => "15 min",
        Length::Hour => "1 h",
        Length::SixHours => "6 h",
        Length::Day => "24 h",
        Length::Week => "7 d",
        Length::Month => "30 d",
    }
}

/// What is compared with: in short, at length with what is seen first, and behind its line.
pub(super) fn former(former: Former) -> (&'static str, &'static str, &'static str) {
    match former {
        Former::Day => ("−1 d", "−1 d: compare with the day before", "a day before"),
        Former::Week => ("−1 w", "−1 w: compare with the week before", "a week before"),
    }
}

/// A step from the range, with its sign and at length.
pub(super) fn step(step: Step) -> (&'static str, &'static str) {
    match step {
        Step::Earlier => ("←", "Earlier"),
        Step::Later => ("→", "Later"),
        Step::In => ("+", "Zoom in"),
        Step::Out => ("−", "Zoom out"),
        Step::FirstHalf => ("◧", "First half"),
        Step::SecondHalf => ("◨", "Second half"),
    }
}

pub(super) fn summary(view: &OverTimeView) -> String {
    let sum = |of: fn(&Point) -> u32| view.pieces.iter().map(|piece| u64::from(of(piece))).sum::<u64>();
    let acquired = sum(|piece| piece.acquired);
    let clients = (view.clients.len() + view.clients_left_out) as u64;
    let known = match view.known {
        1_000.. => String::new(),
        0 => " Nothing of this range is recorded.".to_owned(),
        part => format!(" {}.{} % of the range is recorded.", part / 10, part % 10),
    };
    if acquired == 0 && clients == 0 && view.pieces.is_empty() {
        return if view.known == 0 {
            known.trim_start().to_owned()
        } else {
            format!("Nobody held it or waited.{known}")
        };
    }
    let most = view.pieces.iter().map(|piece| piece.depth_max).max().unwrap_or(0);
    let waited = if most == 0 { "Nobody waited".to_owned() } else { format!("At most {} waited", count(most)) };
    let worst = view.pieces.iter().map(|piece| piece.worst).max();
    let worst = worst.filter(|verdict| *verdict > Verdict::Unknown);
    let worst = worst.map_or(String::new(), |verdict| format!(" At worst it was {}.", verdict_word(verdict)));
    let held = match clients {
        0 => format!("Acquired {}.", plural(acquired, "time", "times")),
        _ => {
            format!("Acquired {}; held by {}.", plural(acquired, "time", "times"), plural(clients, "client", "clients"))
        }
    };
    format!("{held} {waited}.{worst}{known}")
}

pub(super) fn grain(ms: i64) -> String {
    let (days, hours, minutes) = (ms / 86_400_000, ms / 3_600_000, ms / 60_000);
    match ms {
        _ if days > 0 => plural(days.unsigned_abs(), "day", "days"),
        _ if hours > 0 => plural(hours.unsigned_abs(), "hour", "hours"),
        _ => plural(minutes.unsigned_abs(), "minute", "minutes"),
    }
}

pub(super) fn grain_line(ms: i64) -> String {
    format!("One piece is {}", grain(ms))
}

pub(super) fn at_most(number: i64) -> String {
    format!("at most {}", count(number.max(0).unsigned_abs()))
}

pub(super) fn scale(scale: Option<Scale>) -> String {
    match scale {
        None => NONE_ENDED.to_owned(),
        Some(Scale::Linear { most }) => at_most(most),
        Some(Scale::Powers { from, to }) => format!("{} to {}", power(from), power(to)),
    }
}

fn power(of_ten: u32) -> String {
    let ms = 10_i64.saturating_pow(of_ten);
    match of_ten {
        ..3 => format!("{ms} ms"),
        _ => format!("{} s", count((ms / 1_000).unsigned_abs())),
    }
}

pub(super) fn share(held_ms: i64, range_ms: i64) -> String {
    let part = held_ms.saturating_mul(1_000) / range_ms.max(1);
    let part = if part > 0 { format!(", {}.{} %", part / 10, part % 10) } else { String::new() };
    format!("{}{part}", duration(held_ms))
}

pub(super) fn more_clients(clients: usize) -> String {
    format!("and {}", plural(clients as u64, "other", "others"))
}

pub(crate) fn more_gaps(gaps: usize) -> String {
    format!("and {} before", plural(gaps as u64, "gap", "gaps"))
}

pub(super) fn gap(ms: i64, why: &str) -> String {
    format!("not recorded for {}: {why}", duration(ms))
}

pub(super) fn bar(client: &str, ms: i64, is_going_on: bool) -> String {
    let still = if is_going_on { ", and holds still" } else { "" };
    format!("{} held for {}{still}", visible(client), duration(ms))
}

/// What a piece says when it is pointed at; its time is in UTC there.
pub(super) fn piece(begin: &str, piece: &Point) -> String {
    let verdict = verdict_word(piece.worst);
    format!("{begin}, {verdict}: acquired {}, at most {} waiting", count(piece.acquired), count(piece.depth_max))
}

pub(super) fn kind(what: &What) -> String {
    match what {
        What::Fact(mark) if mark.kind == "finding" => finding_word(&mark.code),
        What::Fact(mark) => mark.kind.to_string(),
        What::Hold(hold) if hold.hold_ms.is_some() => "hold".to_owned(),
        What::Hold(_) => "wait".to_owned(),
        What::Gap(_) => "gap".to_owned(),
    }
}

pub(super) fn happened(what: &What) -> String {
    match what {
        What::Fact(mark) => visible(&mark.text),
        What::Hold(hold) => {
            let sign = if hold.is_lower_bound { "at least " } else { "" };
            let waited = duration(hold.wait_ms);
            let after = if hold.wait_ms > 0 { format!(" after waiting {waited}") } else { String::new() };
            match (hold.hold_ms, &*hold.how) {
                (None, how) => format!("waited {waited}: {}", end(how)),
                (Some(hold_ms), "still") => format!("holds for {sign}{}{after}", duration(hold_ms)),
                (Some(hold_ms), how) => format!("held for {sign}{}{after}: {}", duration(hold_ms), end(how)),
            }
        }
        What::Gap(gap) => {
            let text = duration(gap.to_ms - gap.from_ms);
            format!("Nothing is known of the next {text}: {}.", visible(&gap.why))
        }
    }
}

/// How it ended, by its name in the API.
fn end(how: &str) -> &'static str {
    match how {
        "released" => "released",
        "gave_up" => "gave up",
        "session_ended" => "its session ended",
        "forced" => "released through Lockscope",
        _ => "how it ended is not known",
    }
}

pub(super) fn left_out(holds: Option<usize>, has_more_facts: bool) -> Option<String> {
    let holds = match holds {
        Some(0) => None,
        Some(holds) => Some(plural(holds as u64, "older hold", "older holds")),
        None => Some("more older holds than were counted".to_owned()),
    };
    let facts = has_more_facts.then(|| "older facts".to_owned());
    let all: Vec<String> = holds.into_iter().chain(facts).collect();
    (!all.is_empty()).then(|| format!("Left out: {}. Zoom in to see them.", all.join(" and ")))
}

pub(super) fn percentiles(of: Percentiles) -> String {
    let of = of.all();
    if of.iter().all(Option::is_none) {
        return "–".to_owned();
    }
    of.map(|ms| ms.map_or("–".to_owned(), duration)).join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::past::Hold;

    #[test]
    fn lanes_say_how_far_they_reach() {
        assert_eq!(scale(Some(Scale::Powers { from: 1, to: 4 })), "10 ms to 10 s");
        assert_eq!(scale(None), "none ended");
        assert_eq!((grain(60_000), grain(10_800_000)), ("1 minute".to_owned(), "3 hours".to_owned()));
        assert_eq!(share(1_800_000, 3_600_000), "30 min 00 s, 50.0 %");
    }

    #[test]
    fn what_happened_is_a_sentence() {
        let held = |how: &'static str, is_lower_bound| {
            let how = how.into();
            What::Hold(Box::new(Hold { wait_ms: 300, hold_ms: Some(2_100), how, is_lower_bound, ..Hold::default() }))
        };
        assert_eq!(happened(&held("forced", false)), "held for 2.1 s after waiting 300 ms: released through Lockscope");
        assert_eq!(happened(&held("still", true)), "holds for at least 2.1 s after waiting 300 ms");
        assert_eq!(left_out(Some(0), false), None);
        assert_eq!(
            left_out(Some(1), true).as_deref(),
            Some("Left out: 1 older hold and older facts. Zoom in to see them.")
        );
    }
}
