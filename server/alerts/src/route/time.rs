//! Writes times as RFC 3339 does. Pure.

use lockscope_view::words::date;

/// The first moment of the year 0, in ms since the epoch.
const FIRST_MS: i64 = -62_167_219_200_000;
/// The last moment of the year 9999, in ms since the epoch.
const LAST_MS: i64 = 253_402_300_799_999;

/// A moment in UTC, in ms since the epoch; beyond the years 0 to 9999 the nearest that can be written.
pub(super) fn rfc_3339(at_ms: i64) -> String {
    let at_ms = at_ms.clamp(FIRST_MS, LAST_MS);
    // `2026-11-21 14:03:22 UTC`
    let date = date(at_ms);
    format!("{}.{:03}Z", date.trim_end_matches(" UTC").replace(' ', "T"), at_ms.rem_euclid(1_000))
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
