//! When what is older than the settings say is looked for: once a minute, and at once when they change.

use std::time::{Duration, Instant};

use crate::store::Retention;

const PAUSE: Duration = Duration::from_secs(60);

pub(super) struct RetentionSchedule {
    settings: Box<dyn Fn() -> Retention + Send>,
    last: Option<Retention>,
    at: Instant,
}

impl RetentionSchedule {
    pub(super) fn new(settings: Box<dyn Fn() -> Retention + Send>, now: Instant) -> Self {
        Self { settings, last: None, at: now }
    }

    /// When it is due, unless the settings change before.
    pub(super) fn at(&self) -> Instant {
        self.at
    }

    /// What is to be kept, if it is due.
    pub(super) fn due(&mut self, now: Instant) -> Option<Retention> {
        let settings = (self.settings)();
        if now < self.at && self.last == Some(settings) {
            return None;
        }
        self.at = now + PAUSE;
        self.last = Some(settings);
        Some(settings)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    #[test]
    fn once_a_minute_and_when_it_changes() {
        let days = Arc::new(AtomicI64::new(30));
        let read = Arc::clone(&days);
        let settings = move || Retention {
            chunks_ms: read.load(Ordering::Relaxed),
            chunk_bytes_max: 1,
            spans_ms: 1,
            minutes_ms: 1,
        };
        let now = lockscope_runtime::clock::instant();
        let mut schedule = RetentionSchedule::new(Box::new(settings), now);
        assert_eq!(schedule.due(now).map(|due| due.chunks_ms), Some(30));
        assert_eq!(schedule.due(now + PAUSE / 2), None);
        assert_eq!(schedule.due(now + PAUSE).map(|due| due.chunks_ms), Some(30));
        days.store(1, Ordering::Relaxed);
        assert_eq!(schedule.due(now + PAUSE).map(|due| due.chunks_ms), Some(1));
        assert_eq!(schedule.at(), now + 2 * PAUSE);
        assert_eq!(schedule.due(now + PAUSE), None);
    }
}
