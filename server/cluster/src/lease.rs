//! Until when a replica may believe that its session lives. Pure: instants are arguments.
//!
//! A session ends one time-out after ZooKeeper's *leader* last heard of it. The server that we are connected to tells the
//! leader of its sessions every half a tick, and a time-out has two ticks at least; what it answers by itself proves nothing of
//! the leader, so a heartbeat is a `sync`, which the leader answers while the session lives. Of two heartbeats within a
//! quarter of the time-out, the leader heard of the first no later than a quarter after it: so at the sending of the second
//! the session has half a time-out left, however late the answer. A process that was stopped finds its lease over by the
//! clock alone, before it hears anything.

use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lease {
    /// When the last heartbeat that was answered was sent.
    beat: Option<Instant>,
    until: Option<Instant>,
}

impl Lease {
    /// A heartbeat that was sent at `sent` was answered.
    pub fn renew(&mut self, sent: Instant, session_timeout: Duration) {
        let before = self.beat.replace(sent);
        if before.is_some_and(|before| sent.saturating_duration_since(before) <= session_timeout / 4) {
            self.until = self.until.max(sent.checked_add(session_timeout / 2));
        }
    }

    /// The session, or the connection to it, is lost.
    pub fn end(&mut self) {
        *self = Self::default();
    }

    pub fn holds_at(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(10);

    fn after(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn it_counts_from_the_sending_and_not_from_the_answer() {
        let start = lockscope_runtime::clock::instant();
        let mut lease = Lease::default();
        lease.renew(start, TIMEOUT);
        assert!(!lease.holds_at(start), "one heartbeat alone may not have reached the leader");
        lease.renew(after(start, 2_500), TIMEOUT);
        assert!(lease.holds_at(after(start, 7_499)));
        assert!(!lease.holds_at(after(start, 7_500)), "half a time-out after the sending");
    }

    #[test]
    fn a_heartbeat_after_a_pause_proves_nothing_by_itself() {
        let start = lockscope_runtime::clock::instant();
        let mut lease = Lease::default();
        lease.renew(start, TIMEOUT);
        lease.renew(after(start, 2_501), TIMEOUT);
        assert!(!lease.holds_at(after(start, 2_502)));
        lease.renew(after(start, 4_000), TIMEOUT);
        assert!(lease.holds_at(after(start, 8_999)));
        lease.end();
        assert!(!lease.holds_at(after(start, 4_001)));
        lease.renew(after(start, 4_002), TIMEOUT);
        assert!(!lease.holds_at(after(start, 4_003)), "it begins anew");
    }
}
