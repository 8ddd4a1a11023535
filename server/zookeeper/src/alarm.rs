//! The one timer of a session for all that is due within milliseconds: an instant that is put off or dropped costs
//! nothing, for the timer rings when the earliest was due and is then set anew. It is `async-io`'s, as the client's I/O
//! is: the thread that waits for events waits for it too.

use std::future;
use std::time::Instant;

use async_io::Timer;

/// Rings at what it was set to, or before that.
#[derive(Debug)]
pub(super) struct Alarm {
    timer: Timer,
    at: Option<Instant>,
}

impl Alarm {
    pub(super) fn new() -> Self {
        Self { timer: Timer::never(), at: None }
    }

    /// It rings by then, if not earlier.
    pub(super) fn set(&mut self, due: Instant) {
        if self.at.is_none_or(|at| due < at) {
            self.timer.set_at(due);
            self.at = Some(due);
        }
    }

    /// Waits until it rings; for ever while it is not set.
    pub(super) async fn rung(&mut self) {
        if self.at.is_none() {
            return future::pending().await;
        }
        (&mut self.timer).await;
        self.at = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn it_rings_for_the_earliest_and_once() {
        let mut alarm = Alarm::new();
        assert!(alarm.rung().now_or_never().is_none());
        let begin = Instant::now();
        let due = begin + Duration::from_millis(5);
        [begin + Duration::from_secs(3_600), due, begin + Duration::from_secs(60)].iter().for_each(|at| alarm.set(*at));
        alarm.rung().await;
        assert!(Instant::now() >= due);
        assert!(alarm.rung().now_or_never().is_none());
    }
}
