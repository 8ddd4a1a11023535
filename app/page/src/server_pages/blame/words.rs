//! The page of who made others wait, in words. Pure.

use lockscope_view::past::{Blame, BlameBy, HoldTimes};

use super::view::BlameFigures;
use crate::format::{count, duration, plural, visible};
pub(super) use crate::server_pages::words::percent;
use crate::server_pages::words::{percent_below, recorded};

pub(super) const AS_OF: &str = "Up to the moment ";
pub(super) const IN_THE_END: &str = "Charged in the end";
pub(super) const AS_HOLDER: &str = "Charged as holder";
pub(super) const SHARE: &str = "Of all waiting";
pub(super) const WEEK_BEFORE: &str = "A week before";
pub(super) const HOLDS: &str = "Holds";
pub(super) const HOLD_TIMES: &str = "Hold p50 · p99";
pub(super) const VICTIMS: &str = "Sessions that waited";
pub(super) const WORST: &str = "Worst wait ended";
pub(super) const OTHERS: &str = "Others";
pub(super) const HAND_OFF: &str = "Hand-off";
pub(super) const UNKNOWN: &str = "Not known";
pub(super) const ALL: &str = "All waiting";

pub(super) fn by(by: BlameBy) -> &'static str {
    match by {
        BlameBy::Client => "clients",
        BlameBy::Host => "hosts",
        BlameBy::Session => "sessions",
        BlameBy::Lock => "locks",
        BlameBy::Ensemble => "ensembles",
    }
}

/// The head of the table, with the classes of its columns.
pub(super) fn heads(by: BlameBy, has_roots: bool, has_week_before: bool) -> Vec<(&'static str, &'static str)> {
    const NUMBER: &str = "table-number";
    let who = match by {
        BlameBy::Client => "Client",
        BlameBy::Host => "Host",
        BlameBy::Session => "Session",
        BlameBy::Lock => "Lock",
        BlameBy::Ensemble => "Ensemble",
    };
    let all = [
        (true, who, ""),
        (has_roots, IN_THE_END, NUMBER),
        (true, AS_HOLDER, NUMBER),
        (true, SHARE, NUMBER),
        (has_week_before, WEEK_BEFORE, NUMBER),
        (true, HOLDS, NUMBER),
        (true, HOLD_TIMES, NUMBER),
        (true, VICTIMS, NUMBER),
        (true, WORST, ""),
    ];
    all.into_iter().filter(|(is_there, ..)| *is_there).map(|(_, name, class)| (name, class)).collect()
}

/// What is not in the rows, in the end and as who held, and all of it.
pub(super) fn sums(figures: &BlameFigures) -> Vec<(&'static str, i64, i64)> {
    let (root_others_ms, others_ms) = figures.others_ms();
    let Blame { hand_off_ms, unknown_ms, waits_ms, .. } = figures.blame;
    let all = [
        (OTHERS, root_others_ms, others_ms),
        (HAND_OFF, hand_off_ms, hand_off_ms),
        (UNKNOWN, unknown_ms, unknown_ms),
        (ALL, waits_ms, waits_ms),
    ];
    all.into_iter().filter(|(name, root_ms, direct_ms)| *name == ALL || *root_ms > 0 || *direct_ms > 0).collect()
}

/// Who made others wait most: what stands before the name, and behind it.
pub(super) fn most(by: BlameBy, charged_ms: i64, share: f64, figures: &BlameFigures) -> (&'static str, String) {
    let part = format!("{} of all {} of waiting", percent(share), duration(figures.blame.waits_ms));
    let charged = duration(charged_ms);
    let before = match by {
        BlameBy::Lock => return ("The lock ", format!(" was waited for most: {charged}, {part}.")),
        BlameBy::Ensemble => {
            return ("In the ensemble ", format!(" most was waited for holders: {charged}, {part}."));
        }
        BlameBy::Client => "",
        BlameBy::Host => "The host ",
        BlameBy::Session => "The session ",
    };
    let end = if figures.has_roots { " in the end" } else { "" };
    (before, format!(" made others wait most: {charged}{end}, {part}."))
}

pub(super) fn nobody_charged(figures: &BlameFigures) -> String {
    let Blame { hand_off_ms, unknown_ms, waits_ms, .. } = figures.blame;
    format!(
        "None of those listed made others wait: of {} of waiting, {} went by while nobody held, and of {} it is not known who held.",
        duration(waits_ms),
        duration(hand_off_ms),
        duration(unknown_ms)
    )
}

/// Where nobody waited, or nothing says so.
pub(super) fn nobody(is_known: bool) -> &'static str {
    if is_known {
        "Nobody waited for a lock in this range, as far as it is recorded."
    } else {
        "Nothing of this range is recorded."
    }
}

pub(super) fn not_included(ensembles: &str) -> String {
    format!("Not included: {}", visible(ensembles))
}

pub(super) fn coverage(known: f64) -> String {
    recorded(known, "; waits of the rest are not counted")
}

pub(super) fn gap(ms: i64, why: &str) -> String {
    format!(": not recorded for {}: {}", duration(ms), visible(why))
}

pub(super) fn hold_times(of: Option<&HoldTimes>) -> String {
    of.map_or("–".to_owned(), |of| format!("{} · {}", duration(of.p50), duration(of.p99)))
}

pub(super) fn at_least(number: u64) -> String {
    format!("≥ {}", count(number))
}

/// What it was a week before. Where not all of that time is recorded, it was at least so much.
pub(super) fn trend(now_ms: i64, before_ms: Option<i64>, is_whole: bool) -> String {
    match before_ms {
        None => "–".to_owned(),
        Some(before_ms) if !is_whole => format!("≥ {}", duration(before_ms)),
        Some(0) => "up from none".to_owned(),
        Some(before_ms) if before_ms < now_ms => format!("up from {}", duration(before_ms)),
        Some(before_ms) if before_ms > now_ms => format!("down from {}", duration(before_ms)),
        Some(_) => "the same".to_owned(),
    }
}

pub(super) fn left_out(rows: usize) -> String {
    format!("{} of less waiting each.", plural(rows as u64, "further row", "further rows"))
}

pub(super) fn meanings(figures: &BlameFigures) -> Vec<(&'static str, String)> {
    let text = |text: &str| text.to_owned();
    let mut all = vec![(
        "What is counted",
        text(
            "The waits of contenders whose znodes went in this range, each with all of its wait. Who still waits or holds is not counted yet.",
        ),
    )];
    if figures.has_roots {
        all.push((IN_THE_END, text("Waiting charged to whom everybody waited for in the end: where a holder itself waited for another lock, its part is passed on to the holder of that one, and so on.")));
    }
    all.push((
        AS_HOLDER,
        text("Waiting charged to whoever held the lock meanwhile. Several that hold at once share evenly."),
    ));
    all.push((HAND_OFF, text("Waiting while nobody held: from one holder's end until the next one holds.")));
    all.push((
        UNKNOWN,
        text("Waiting while nobody looked (a gap), or written before Lockscope kept what waits are charged to."),
    ));
    let sums = format!(
        "Every millisecond is charged once, so the rows, the others, hand-off and what is not known add up to all waiting: {}.",
        duration(figures.blame.waits_ms)
    );
    all.push((ALL, sums));
    all.push((
        WORST,
        text("The wait of which it is charged most. The link leads to the lock at the moment before that wait ended."),
    ));
    all.push((WEEK_BEFORE, week_before(figures.blame.week_before_part)));
    all
}

fn week_before(part: Option<f64>) -> String {
    match part {
        None => "There was no time to look at the same range a week before; a shorter range has it.".to_owned(),
        Some(1.0..) => "What it was charged in the same range a week before.".to_owned(),
        Some(part) if part > 0.0 => format!(
            "What it was charged in the same range a week before: at least, since {} of that is recorded.",
            percent_below(part)
        ),
        Some(_) => "Nothing of the same range a week before is recorded.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_says_where_it_comes_from() {
        assert_eq!(trend(5_000, Some(2_000), true), "up from 2.0 s");
        assert_eq!(trend(5_000, Some(9_000), true), "down from 9.0 s");
        assert_eq!(trend(5_000, Some(5_000), true), "the same");
        assert_eq!(trend(5_000, Some(0), true), "up from none");
        assert_eq!(trend(5_000, Some(9_000), false), "≥ 9.0 s");
        assert_eq!(trend(5_000, None, true), "–");
    }

    #[test]
    fn what_is_not_all_is_never_said_to_be_all() {
        assert_eq!(coverage(1.0), "All of it is recorded.");
        assert_eq!(coverage(0.99996), "99.9 % of it is recorded; waits of the rest are not counted.");
        assert_eq!(coverage(0.0), "Nothing of it is recorded.");
        assert_eq!((percent(0.0001), percent(0.5)), ("< 0.1 %".to_owned(), "50.0 %".to_owned()));
    }
}
