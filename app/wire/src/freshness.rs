//! Live or not: one rule for the server, the page and the command line.

/// What is shown may be called live while it is known to be true up to an instant no longer ago than this.
pub const LIVE_AGE_MAX_MS: i64 = 2_000;

/// How old something is that is known to be true up to an instant. A clock that was set back makes nothing younger.
pub fn age_ms(known_at_ms: i64, now_ms: i64) -> i64 {
    now_ms.saturating_sub(known_at_ms).saturating_abs()
}

/// Whether it may be called live.
pub fn is_fresh(known_at_ms: i64, now_ms: i64) -> bool {
    age_ms(known_at_ms, now_ms) <= LIVE_AGE_MAX_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_live_for_longer_than_two_seconds_whatever_the_clock_does() {
        assert!(is_fresh(10_000, 12_000) && is_fresh(10_000, 9_000));
        assert!(!is_fresh(10_000, 12_001) && !is_fresh(10_000, 7_999) && !is_fresh(i64::MIN, i64::MAX));
    }
}
