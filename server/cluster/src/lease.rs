//! Until when a replica may believe that its session lives. Pure: instants are arguments.
//!
//! ZooKeeper ends a session no sooner than one time-out after the last request that it got. A request is got no sooner than
//! it was sent; so an answer proves the session up to the instant of *sending* plus the time-out, however late the answer.
//! A process that was stopped finds its lease over by the clock alone, before it hears anything.

use std::time::{Duration, Instant};

/// Where clocks of two machines run at different rates: a hundredth of the time-out, and no less.
const MARGIN_MIN: Duration = Duration::from_millis(20);

/// A lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lease {
    until: Option<Instant>,
}

impl Lease {
    /// An answer came to a request that was sent at `sent`.
    pub fn renew(&mut self, sent: Instant, session_timeout: Duration) {
        let margin = (session_timeout / 100).max(MARGIN_MIN);
        let until = sent.checked_add(session_timeout.saturating_sub(margin));
        self.until = self.until.max(until);
    }

    /// The session, or the connection to it, is lost.
    pub fn end(&mut self) {
        self.until = None;
    }

    /// Whether it holds at an instant.
    pub fn holds_at(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(10);

    #[test]
    fn it_counts_from_the_sending_and_not_from_the_answer() {
        let start = runtime::clock::instant();
        let mut lease = Lease::default();
        assert!(!lease.holds_at(start));
        lease.renew(start, TIMEOUT);
        assert!(lease.holds_at(start + Duration::from_millis(9_899)));
        assert!(!lease.holds_at(start + Duration::from_millis(9_900)), "before the server may end it");
    }

    #[test]
    fn an_answer_to_an_older_request_shortens_nothing() {
        let start = runtime::clock::instant();
        let mut lease = Lease::default();
        lease.renew(start + Duration::from_secs(3), TIMEOUT);
        lease.renew(start, TIMEOUT);
        assert!(lease.holds_at(start + Duration::from_secs(12)));
        lease.end();
        assert!(!lease.holds_at(start));
    }
}
