//! When to try again, when to give up waiting, and what the server's clock says. Pure.

/// The first wait after a lost connection.
const BACKOFF_FIRST_MS: i64 = 250;
/// No wait is longer.
const BACKOFF_MAX_MS: i64 = 10_000;
/// Without any frame for this long the connection counts as lost; the server promises one every second.
pub const SILENCE_MAX_MS: i64 = 3_000;
/// A machine that slept for longer than this is noticed: its steady clock stood still meanwhile, its wall clock did
/// not.
const SLEEP_MIN_MS: i64 = 1_000;
/// What the server calls live may be too old by our clock for so long; then the clocks are compared on a new
/// connection.
const DISPUTE_MAX_MS: i64 = 5_000;

/// The code with which the server closes the socket of somebody whose sign-in or token ended.
const CLOSED_BY_POLICY: u16 = 1008;

/// Whether the server closed the socket because a sign-in ended.
pub fn is_signed_out(close_code: u16) -> bool {
    close_code == CLOSED_BY_POLICY
}

/// How long to wait before attempt number `attempt` (0 is the first after a loss). `jitter` is from 0 to 1.
pub fn backoff_ms(attempt: u32, jitter: f64) -> i64 {
    let ceiling = BACKOFF_FIRST_MS.saturating_mul(1 << attempt.min(16)).min(BACKOFF_MAX_MS);
    let spread = (ceiling / 2) as f64 * jitter.clamp(0.0, 1.0);
    ceiling / 2 + spread as i64
}

/// True when the connection has been silent for too long.
pub fn is_silent(last_frame_at_ms: i64, now_ms: i64) -> bool {
    now_ms - last_frame_at_ms > SILENCE_MAX_MS
}

/// A clock of this machine that is never set and never stands still: the steady one, and what it slept through.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalClock {
    /// Wall clock minus steady clock, when they were first compared.
    apart_ms: Option<i64>,
    slept_ms: i64,
}

impl LocalClock {
    /// The time by it, given what the two clocks show.
    pub fn now_ms(&mut self, wall_ms: i64, steady_ms: i64) -> i64 {
        let apart_ms = wall_ms - steady_ms;
        let before_ms = *self.apart_ms.get_or_insert(apart_ms);
        if apart_ms - before_ms > SLEEP_MIN_MS {
            self.slept_ms += apart_ms - before_ms;
        }
        // A wall clock that was set back, or drifts, is followed.
        if apart_ms < before_ms || apart_ms - before_ms > SLEEP_MIN_MS {
            self.apart_ms = Some(apart_ms);
        }
        steady_ms + self.slept_ms
    }
}

/// The server's clock, as it is known here.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerClock {
    offset_ms: Option<i64>,
    /// The next frame sets it anew.
    is_forgotten: bool,
}

impl ServerClock {
    /// Goes on from what a frame said that arrived at `local_ms`. Every frame was under way for a while, so the largest
    /// difference of one connection is the best; one that is smaller only means that its frame was late.
    pub fn heard(&mut self, server_ms: i64, local_ms: i64) {
        let fresh = server_ms - local_ms;
        let known = self.offset_ms.filter(|_| !self.is_forgotten);
        self.offset_ms = Some(known.map_or(fresh, |known| known.max(fresh)));
        self.is_forgotten = false;
    }

    /// A new connection: nothing on it is older than it is.
    pub fn forget(&mut self) {
        self.is_forgotten = true;
    }

    /// The server's time; None before the first message.
    pub fn now_ms(&self, local_ms: i64) -> Option<i64> {
        self.offset_ms.map(|offset_ms| local_ms + offset_ms)
    }
}

/// Whether server and page have disagreed about what is live for too long.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dispute(Option<i64>);

impl Dispute {
    /// Takes in who calls what is shown live. True when they have disagreed for too long.
    pub fn lasts(&mut self, server_says: bool, we_say: bool, local_ms: i64) -> bool {
        if !server_says || we_say {
            self.0 = None;
            return false;
        }
        local_ms - *self.0.get_or_insert(local_ms) > DISPUTE_MAX_MS
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
    fn only_one_code_says_that_a_sign_in_ended() {
        assert!(is_signed_out(1008));
        assert!([1000, 1001, 1006, 1011, 1012, 1013].into_iter().all(|code| !is_signed_out(code)));
    }

    #[test]
    fn silence_is_noticed_after_more_than_two_heartbeats() {
        assert!(!is_silent(0, 3_000));
        assert!(is_silent(0, 3_001));
    }

    #[test]
    fn the_clock_prefers_the_quickest_frame_and_a_late_one_does_not_set_it_back() {
        let mut clock = ServerClock::default();
        assert_eq!(clock.now_ms(900), None);
        clock.heard(1_000, 900);
        assert_eq!(clock.now_ms(900), Some(1_000));
        clock.heard(2_000, 1_950);
        clock.heard(2_000, 1_880);
        assert_eq!(clock.now_ms(1_880), Some(2_000));
        // Read ten seconds after it came, as after a stop: what it says is ten seconds old.
        clock.heard(2_100, 12_000);
        assert_eq!(clock.now_ms(12_000), Some(12_120));
        clock.forget();
        assert_eq!(clock.now_ms(13_000), Some(13_120), "until something is heard");
        clock.heard(3_000, 13_000);
        assert_eq!(clock.now_ms(13_000), Some(3_000), "the server's clock was set");
    }

    #[test]
    fn a_machine_that_slept_knows_so_and_a_clock_that_is_set_back_changes_nothing() {
        let mut clock = LocalClock::default();
        assert_eq!(clock.now_ms(1_000_000, 50), 50);
        assert_eq!(clock.now_ms(1_000_500, 550), 550);
        assert_eq!(clock.now_ms(1_060_600, 650), 60_150 - 50 + 550, "a minute asleep");
        assert_eq!(clock.now_ms(1_000_000, 750), 60_750 - 50 + 50, "set back");
        assert_eq!(clock.now_ms(1_000_100, 850), 60_850, "and on from there");
    }

    #[test]
    fn a_dispute_ends_with_agreement() {
        let mut dispute = Dispute::default();
        assert!(!dispute.lasts(true, false, 1_000));
        assert!(!dispute.lasts(true, false, 6_000));
        assert!(dispute.lasts(true, false, 6_001));
        assert!(!dispute.lasts(true, true, 6_002));
        assert!(!dispute.lasts(true, false, 6_003));
        assert!(!dispute.lasts(false, false, 60_000), "both call it old");
    }
}
