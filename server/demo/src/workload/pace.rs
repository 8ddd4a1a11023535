//! How fast the sample lives. Every wait for its own sake goes through here.

use std::ops::Range;
use std::time::Duration;

/// The sample's pace: lifelike, or faster for a test that can't wait for minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    percent: u32,
}

impl Pace {
    pub const LIFELIKE: Self = Self { percent: 100 };

    /// All waits take this part of their time.
    pub const fn percent(percent: u32) -> Self {
        Self { percent }
    }

    /// A random time within `range_ms`, at this pace.
    pub(super) fn some(self, range_ms: &Range<u64>) -> Duration {
        let ms = if range_ms.is_empty() { range_ms.start } else { rand::random_range(range_ms.clone()) };
        Duration::from_millis(ms) * self.percent / 100
    }

    pub(super) async fn pause(self, range_ms: &Range<u64>) {
        tokio::time::sleep(self.some(range_ms)).await;
    }
}
