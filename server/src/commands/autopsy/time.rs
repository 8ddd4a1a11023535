//! Instants on the command line: RFC 3339, or milliseconds since the epoch. Pure.

use crate::config::ConfigError;

/// Reads one.
///
/// # Errors
/// It is neither.
pub(super) fn instant(flag: &str, text: &str) -> Result<i64, ConfigError> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let read = if is_number { text.parse().ok() } else { rfc_3339(text) };
    read.ok_or_else(|| {
        ConfigError(format!(
            "{flag} {text:?} is no time; write one like 2026-11-22T03:12:00Z, or milliseconds since the epoch"
        ))
    })
}

fn rfc_3339(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i64>().ok()).flatten()
    };
    let is = |at: usize, any: &[u8]| text.as_bytes().get(at).is_some_and(|byte| any.contains(byte));
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let marks = is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":");
    let fits = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    if !marks || !fits || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let rest = text.get(19..)?;
    let (fraction_ms, zone) = fraction(rest)?;
    let days = days_from_epoch(year, month, day);
    Some(((days * 24 + hour) * 60 + minute - zone_minutes(zone)?) * 60_000 + second * 1_000 + fraction_ms)
}

/// Milliseconds behind a point, and what follows.
fn fraction(rest: &str) -> Option<(i64, &str)> {
    let Some(digits) = rest.strip_prefix('.') else { return Some((0, rest)) };
    let end = digits.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(digits.len());
    let (digits, zone) = digits.split_at_checked(end)?;
    let ms = format!("{digits:0<3}").get(..3)?.parse().ok()?;
    (!digits.is_empty()).then_some((ms, zone))
}

/// Minutes that a zone is ahead. A time without one would be read otherwise elsewhere, so there has to be one.
fn zone_minutes(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, rest) = (zone.get(..1)?, zone.get(1..)?);
    let (hours, minutes) = rest.split_once(':')?;
    let number = |text: &str| {
        let is_two = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_two.then(|| text.parse::<i64>().ok()).flatten()
    };
    let minutes = number(hours).filter(|hours| *hours < 24)? * 60 + number(minutes).filter(|minutes| *minutes < 60)?;
    match sign {
        "+" => Some(minutes),
        "-" => Some(-minutes),
        _ => None,
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    let is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// By H. Hinnant's days_from_civil.
fn days_from_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_rfc_3339_or_a_number() {
        let ms = |text: &str| instant("--from", text).map_err(|error| error.to_string());
        assert_eq!(ms("1764041547412"), Ok(1_764_041_547_412));
        assert_eq!(ms("1970-01-01T00:00:00Z"), Ok(0));
        assert_eq!(ms("2025-11-25T03:32:27.412Z"), Ok(1_764_041_547_412));
        assert_eq!(ms("2025-11-25T04:32:27.4125+01:00"), Ok(1_764_041_547_412));
        assert_eq!(ms("2025-11-24 22:02:27.412-05:30"), Ok(1_764_041_547_412));
        assert_eq!(ms("2024-02-29T12:00:00z"), Ok(1_709_208_000_000));
        for wrong in [
            "",
            "yesterday",
            "-1",
            "2025-11-25",
            "2025-11-25T03:32:27",
            "2025-02-29T00:00:00Z",
            "2025-11-25T24:00:00Z",
            "2025-11-25T03:32:27.Z",
            "2025-1é-25T03:32:27Z",
        ] {
            assert!(ms(wrong).is_err_and(|why| why.contains("--from") && why.contains("like 2026-")), "{wrong}");
        }
    }
}
