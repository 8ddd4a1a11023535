//! When created znodes are read: at once while there are few, since a lock may be held for less than a millisecond and
//! only a read shows its session; together where there are many. Pure; the time is an argument.

use std::time::{Duration, Instant};

use super::request::READS_A_REQUEST;

/// Where there are many, the next read waits so long after the last; and half as long where some are waiting.
const PAUSE: Duration = Duration::from_millis(6);
const SOME: usize = 8;
/// So often a second reads go at once, in the long run.
const EVERY: Duration = Duration::from_millis(20);
/// And so many in a row.
const ROW: u32 = 16;

/// Bounds how many reads are sent at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadPace {
    sent_at: Option<Instant>,
    /// When all that were sent would have been due, had they come `EVERY` so often; bounded.
    due: Instant,
}

impl ReadPace {
    pub(super) fn new(now: Instant) -> Self {
        Self { sent_at: None, due: now }
    }

    /// How many znodes have to wait, that they are read now.
    pub(super) fn least(&self, now: Instant) -> usize {
        let is_row_over = self.due > now + EVERY * (ROW - 1);
        match self.sent_at.filter(|_| is_row_over).map(|sent_at| now.saturating_duration_since(sent_at)) {
            Some(since) if since < PAUSE / 2 => READS_A_REQUEST,
            Some(since) if since < PAUSE => SOME,
            _ => 1,
        }
    }

    pub(super) fn sent(&mut self, now: Instant) {
        self.sent_at = Some(now);
        self.due = (self.due.max(now) + EVERY).min(now + EVERY * ROW);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of reads that are wanted so often are sent within a second, at once or after their pause.
    fn sent(every: Duration) -> (u32, u32) {
        let begin = Instant::now();
        let (mut pace, mut now) = (ReadPace::new(begin), begin);
        let (mut all, mut at_once) = (0, 0);
        while now < begin + Duration::from_secs(1) {
            all += 1;
            if pace.least(now) == 1 {
                pace.sent(now);
                at_once += 1;
            }
            now += every;
        }
        (all, at_once)
    }

    #[test]
    fn few_are_read_at_once_and_many_together() {
        assert_eq!(sent(Duration::from_millis(20)), (50, 50));
        let (all, at_once) = sent(Duration::from_millis(1));
        assert_eq!(all, 1_000);
        assert!((165..=190).contains(&at_once), "{at_once}");
    }

    #[test]
    fn a_few_in_a_row_go_at_once() {
        let now = Instant::now();
        let mut pace = ReadPace::new(now);
        for _ in 0..ROW {
            assert_eq!(pace.least(now), 1);
            pace.sent(now);
        }
        assert_eq!(pace.least(now), READS_A_REQUEST);
        assert_eq!(pace.least(now + PAUSE / 2), SOME, "a few are enough by then");
        assert_eq!(pace.least(now + PAUSE), 1, "it waited long enough");
        assert_eq!(pace.least(now + EVERY), 1, "one more is due");
    }
}
