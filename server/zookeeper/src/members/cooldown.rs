//! How long a source that failed is not asked again: doubling, capped. Pure; the time is an argument.

use std::time::Duration;

use tokio::time::Instant;

/// The first wait: the next round, or the one after it.
const FIRST: Duration = Duration::from_secs(4);
pub(super) const REST_MAX: Duration = Duration::from_secs(60);
/// The one after an answer that was too long: making it costs the member much, and the next is hardly shorter.
const SPARED: Duration = Duration::from_secs(3_600);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rest {
    failures: u32,
    until: Option<Instant>,
}

impl Rest {
    /// Whether it is left alone now.
    pub(super) fn is_on(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now < until)
    }

    pub(super) fn failed(&mut self, now: Instant) {
        let wait = FIRST.saturating_mul(2_u32.saturating_pow(self.failures)).min(REST_MAX);
        self.failures = self.failures.saturating_add(1);
        self.until = Some(now + wait);
    }

    pub(super) fn was_too_long(&mut self, now: Instant) {
        self.until = Some(now + SPARED);
    }

    pub(super) fn worked(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_double_up_to_a_minute_and_start_over() {
        let (mut rest, now) = (Rest::default(), Instant::now());
        assert!(!rest.is_on(now));
        for seconds in [4, 8, 16, 32, 60, 60] {
            rest.failed(now);
            assert!(
                rest.is_on(now + Duration::from_secs(seconds - 1)) && !rest.is_on(now + Duration::from_secs(seconds)),
                "{seconds}"
            );
        }
        rest.was_too_long(now);
        assert!(rest.is_on(now + Duration::from_secs(3_599)) && !rest.is_on(now + Duration::from_secs(3_600)));
        rest.worked();
        assert!(!rest.is_on(now));
    }
}
