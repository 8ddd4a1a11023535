//! Times and counts as people read them, on the page and on a terminal. Pure.

use super::{NoEstimateReason, WaitCalibration};

/// A duration: `850 ms`, `12.3 s`, `4 min 05 s`, `2 h 10 min`, `3 d 4 h`. Never negative.
pub fn duration(ms: i64) -> String {
    let ms = ms.max(0);
    let seconds = ms / 1_000;
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{seconds}.{} s", ms % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3_600_000..86_400_000 => format!("{} h {:02} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

/// A number with thin spaces between thousands.
pub fn count(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut out = String::with_capacity(digits.len() * 2);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// A number of bytes: `64 B`, `45.2 KB`, `4.2 GB`.
pub fn bytes(number: u64) -> String {
    match number {
        ..1_000 => format!("{number} B"),
        1_000..1_000_000 => format!("{}.{} KB", number / 1_000, number % 1_000 / 100),
        1_000_000..1_000_000_000 => format!("{}.{} MB", number / 1_000_000, number % 1_000_000 / 100_000),
        _ => format!("{}.{} GB", number / 1_000_000_000, number % 1_000_000_000 / 100_000_000),
    }
}

/// `1 lock`, `2 locks`.
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A stretch of durations: `35.0 s to 1 min 30 s`, `about 2.0 s` where its ends read the same.
pub fn between(low_ms: i64, high_ms: i64) -> String {
    let (low, high) = (duration(low_ms), duration(high_ms));
    if low == high { format!("about {low}") } else { format!("{low} to {high}") }
}

/// A place in a line: `1st`, `22nd`, `113th`.
pub fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    format!("{}{ending}", count(number))
}

/// How often times that were told were right; None where none was judged.
pub fn how_often_right(calibration: &WaitCalibration) -> Option<String> {
    let percent = calibration.right_percent()?;
    let waits = plural(calibration.judged, "wait", "waits");
    Some(format!("right {percent} % of {waits} of the last day"))
}

/// Why nothing can be said of a wait.
pub fn no_estimate(reason: NoEstimateReason) -> &'static str {
    match reason {
        NoEstimateReason::NotAQueue => "nobody is served in an order that can be seen",
        NoEstimateReason::TooFewHolds => "fewer than 20 holds were seen to end",
        NoEstimateReason::HolderAgeUnknown => "it was held before anybody looked, for how long is not known",
        NoEstimateReason::HolderBeyondSeen => "it is held for longer than nearly all or all holds that were seen",
        NoEstimateReason::Deadlocked => "it is in a deadlock, or in what looks like one",
        NoEstimateReason::Stuck => "it does not go on by itself",
        NoEstimateReason::HolderGone => "the session of a holder is silent or gone",
        NoEstimateReason::HolderBlocked => "its holder waits for another lock that does not go on",
        NoEstimateReason::NotWatching => "its client, or one before it, does not watch what it waits for",
        NoEstimateReason::Incomplete => "not all of its line can be seen",
        NoEstimateReason::NotLive => "what is known of it is too old",
        NoEstimateReason::TooManyHolders => "more than 64 hold it at once",
        NoEstimateReason::TooFarBack => "more than 1,000 readers and writers stand before",
    }
}

/// An instant as UTC, `14:03:22 UTC`.
pub fn clock(at_ms: i64) -> String {
    let seconds = at_ms.div_euclid(1_000).rem_euclid(86_400);
    format!("{:02}:{:02}:{:02} UTC", seconds / 3_600, seconds % 3_600 / 60, seconds % 60)
}

/// An instant as UTC with its day, `2026-11-21 14:03:22 UTC`.
pub fn date(at_ms: i64) -> String {
    // Days since 1 March of the year 0, so that a leap day is the last of its year.
    let days = at_ms.div_euclid(86_400_000) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months from March on; 153 days are five of them.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02} {}", year_of_era + era * 400 + next_year, clock(at_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_well() {
        assert_eq!(
            (bytes(64), bytes(45_260), bytes(2_500_000)),
            ("64 B".to_owned(), "45.2 KB".to_owned(), "2.5 MB".to_owned())
        );
    }

    #[test]
    fn durations_read_well() {
        for (ms, text) in [
            (-5, "0 ms"),
            (850, "850 ms"),
            (1_000, "1.0 s"),
            (12_345, "12.3 s"),
            (245_000, "4 min 05 s"),
            (7_800_000, "2 h 10 min"),
            (273_600_000, "3 d 4 h"),
        ] {
            assert_eq!(duration(ms), text);
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (at_ms, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399_000, "2000-02-28 23:59:59 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (4_107_542_400_000, "2100-03-01 00:00:00 UTC"),
            (1_700_000_000_000, "2023-11-14 22:13:20 UTC"),
            (-1_000, "1969-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(date(at_ms), text);
        }
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(999_u64), "999");
        assert_eq!(count(1_234_567_u64), "1\u{202f}234\u{202f}567");
        assert_eq!(plural(1, "lock", "locks"), "1 lock");
        assert_eq!(plural(0, "lock", "locks"), "0 locks");
    }

    #[test]
    fn instants_are_utc() {
        assert_eq!(clock(50_602_000), "14:03:22 UTC");
    }
}
