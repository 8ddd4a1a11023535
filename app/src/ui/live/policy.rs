//! When to try again, when to give up waiting, and what the server's clock says. Pure.

/// The first wait after a lost connection.
const BACKOFF_FIRST_MS: i64 = 250;
/// No wait is longer.
const BACKOFF_MAX_MS: i64 = 10_000;
/// Without any frame for this long the connection counts as lost; the server promises one every 5 s.
pub(crate) const SILENCE_MAX_MS: i64 = 12_000;
/// The server's clock moves backwards on screen only when it differs by more than this.
const CLOCK_SLACK_MS: i64 = 250;

/// How long to wait before attempt number `attempt` (0 is the first after a loss). `jitter` is from 0 to 1.
pub(crate) fn backoff_ms(attempt: u32, jitter: f64) -> i64 {
    let ceiling = BACKOFF_FIRST_MS.saturating_mul(1 << attempt.min(16)).min(BACKOFF_MAX_MS);
    let spread = (ceiling / 2) as f64 * jitter.clamp(0.0, 1.0);
    ceiling / 2 + spread as i64
}

/// True when the connection has been silent for too long.
pub(crate) fn is_silent(last_frame_at_ms: i64, now_ms: i64) -> bool {
    now_ms - last_frame_at_ms > SILENCE_MAX_MS
}

/// The server's clock minus ours after a frame that carried `server_ms` arrived at `local_ms`. Every frame was
/// under way for a while, so the largest of many is the best; a much smaller one means that a clock was set.
pub(crate) fn clock_offset_ms(known: Option<i64>, server_ms: i64, local_ms: i64) -> i64 {
    let fresh = server_ms - local_ms;
    match known {
        Some(known) if fresh <= known && known - fresh <= CLOCK_SLACK_MS => known,
        _ => fresh,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_maximum_and_jitter_spreads_them() {
        assert_eq!(backoff_ms(0, 0.0), 125);
        assert_eq!(backoff_ms(0, 1.0), 250);
        assert_eq!(backoff_ms(3, 1.0), 2_000);
        assert_eq!(backoff_ms(40, 1.0), BACKOFF_MAX_MS);
        assert!(backoff_ms(2, 0.3) < backoff_ms(2, 0.6));
    }

    #[test]
    fn silence_is_noticed_after_more_than_two_heartbeats() {
        assert!(!is_silent(0, 11_000));
        assert!(is_silent(0, 12_001));
    }

    #[test]
    fn the_clock_prefers_the_quickest_frame() {
        assert_eq!(clock_offset_ms(None, 1_000, 900), 100);
        assert_eq!(clock_offset_ms(Some(100), 2_000, 1_950), 100);
        assert_eq!(clock_offset_ms(Some(100), 2_000, 1_880), 120);
        assert_eq!(clock_offset_ms(Some(100), 2_000, 5_000), -3_000);
    }
}
