//! How long to wait before trying again: doubling, capped, with jitter. Pure; randomness is an argument.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BackoffError {
    /// The first wait is zero: that would be a busy loop.
    #[error("the first wait must be longer than zero")]
    ZeroFirst,
    #[error("the longest wait ({cap_ms} ms) must not be shorter than the first ({first_ms} ms)")]
    CapBelowFirst { first_ms: u128, cap_ms: u128 },
}

/// Exponential back-off with "equal jitter": half of each wait is fixed, half is random.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
    cap: Duration,
    failures: u32,
}

impl Backoff {
    /// Waits start near `first` and double up to `cap`.
    pub fn new(first: Duration, cap: Duration) -> Result<Self, BackoffError> {
        if first.is_zero() {
            return Err(BackoffError::ZeroFirst);
        }
        if cap < first {
            return Err(BackoffError::CapBelowFirst { first_ms: first.as_millis(), cap_ms: cap.as_millis() });
        }
        Ok(Self { first, cap, failures: 0 })
    }

    /// The next wait; `random` is in 0.0..1.0.
    pub fn next(&mut self, random: f64) -> Duration {
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(self.failures));
        self.failures = self.failures.saturating_add(1);
        let full = doubled.min(self.cap);
        full / 2 + (full / 2).mul_f64(random.clamp(0.0, 1.0))
    }

    /// It worked: the next failure starts from the first wait again.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn waits_double_up_to_the_cap_and_start_over() {
        let mut backoff = Backoff::new(100 * MS, 1_000 * MS).unwrap();
        let waits: Vec<u128> = (0..6).map(|_| backoff.next(1.0).as_millis()).collect();
        assert_eq!(waits, [100, 200, 400, 800, 1_000, 1_000]);
        backoff.reset();
        assert_eq!(backoff.next(0.0).as_millis(), 50);
    }

    #[test]
    fn never_overflows() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::MAX / 4).unwrap();
        for _ in 0..200 {
            assert!(backoff.next(0.5) > Duration::ZERO);
        }
    }

    #[test]
    fn senseless_settings_are_refused() {
        assert_eq!(Backoff::new(Duration::ZERO, MS).unwrap_err(), BackoffError::ZeroFirst);
        assert!(Backoff::new(2 * MS, MS).unwrap_err().to_string().contains("2 ms"));
    }
}
