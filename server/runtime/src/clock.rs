//! The only file that reads a clock. Owns nothing else; everybody who needs the time is handed a [`Clock`].

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug)]
pub struct Clock(Kind);

#[derive(Clone, Debug)]
enum Kind {
    System,
    Manual(Arc<AtomicI64>),
}

impl Clock {
    pub fn system() -> Self {
        Self(Kind::System)
    }

    /// A clock that stands at `now_ms` until it is set; clones share it. For tests.
    pub fn manual(now_ms: i64) -> Self {
        Self(Kind::Manual(Arc::new(AtomicI64::new(now_ms))))
    }

    /// Moves a manual clock; the machine's clock can't be moved, and false says so.
    pub fn set_ms(&self, now_ms: i64) -> bool {
        match &self.0 {
            Kind::System => false,
            Kind::Manual(at) => {
                at.store(now_ms, Ordering::Relaxed);
                true
            }
        }
    }

    /// Milliseconds since the Unix epoch; negative before it.
    #[expect(clippy::disallowed_methods, reason = "this is the one file that reads the clock")]
    pub fn now_ms(&self) -> i64 {
        match &self.0 {
            Kind::Manual(at) => at.load(Ordering::Relaxed),
            Kind::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH);
                since.map_or_else(
                    |before| i64::try_from(before.duration().as_millis()).map_or(i64::MIN, i64::wrapping_neg),
                    |after| i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
                )
            }
        }
    }
}

/// Microseconds of the system's monotonic clock, as service managers count them.
pub fn monotonic_us() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1_000)
}

/// CPU time that this thread has used so far: what something costs, whoever else wants the cores or a lock meanwhile.
pub fn thread_cpu() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec.try_into().unwrap_or(0), used.tv_nsec.try_into().unwrap_or(0))
}

/// A monotonic instant, for pacing and time-outs only; never shown.
pub fn instant() -> Instant {
    Instant::now()
}
