//! Writes times as RFC 3339 does. Pure.

/// The first moment of the year 0, in ms since the epoch.
const FIRST_MS: i64 = -62_167_219_200_000;
/// The last moment of the year 9999, in ms since the epoch.
const LAST_MS: i64 = 253_402_300_799_999;
const DAY_MS: i64 = 86_400_000;

/// A moment in UTC, in ms since the epoch; beyond the years 0 to 9999 the nearest that can be written.
pub(super) fn rfc_3339(at_ms: i64) -> String {
    let at_ms = at_ms.clamp(FIRST_MS, LAST_MS);
    let (year, month, day) = date(at_ms.div_euclid(DAY_MS));
    let of_day = at_ms.rem_euclid(DAY_MS);
    let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
    let (second, ms) = (of_day / 1_000 % 60, of_day % 1_000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Year, month and day of a day since the epoch (civil_from_days, by H. Hinnant).
fn date(day: i64) -> (i64, i64, i64) {
    let days = day.saturating_add(719_468);
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_date_writes() {
        // date -u -d @SECONDS +%FT%TZ
        for (at_ms, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (1_767_323_045_678, "2026-01-02T03:04:05.678Z"),
            (FIRST_MS, "0000-01-01T00:00:00.000Z"),
            (i64::MIN, "0000-01-01T00:00:00.000Z"),
            (LAST_MS, "9999-12-31T23:59:59.999Z"),
            (i64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc_3339(at_ms), expected, "{at_ms}");
        }
    }
}
