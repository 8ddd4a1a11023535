//! Instants. The core has no clock: every instant comes in as an argument.

use std::fmt;
use std::ops::{Add, Sub};

/// Milliseconds since the Unix epoch, on the observer's clock unless a name says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeMs(pub i64);

impl TimeMs {
    /// Milliseconds from `earlier` to `self`, never negative: clocks that disagree make no negative ages.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }
}

impl Add<i64> for TimeMs {
    type Output = Self;
    fn add(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

impl Sub<i64> for TimeMs {
    type Output = Self;
    fn sub(self, ms: i64) -> Self {
        Self(self.0.saturating_sub(ms))
    }
}

impl fmt::Display for TimeMs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}
