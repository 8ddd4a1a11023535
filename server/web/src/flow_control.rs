//! How far ahead of its reader a socket may be. What is under way can't be taken back, and is old by the time that it
//! is read; so little is sent ahead of what the client has proved to have read, by answering a ping behind it. Pure.

use std::time::{Duration, Instant};

/// Frames sent between two pings, and behind a ping that is not answered yet.
const AHEAD_FRAMES_MAX: u32 = 4;
/// Bytes, likewise; one frame may be longer.
const AHEAD_BYTES_MAX: usize = 64 * 1024;
/// A ping that is not answered by then holds everything back; on a long line, so much later than on an empty one.
const AHEAD_MAX: Duration = Duration::from_millis(250);
/// No line is longer.
const LINE_MAX: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct FlowControl {
    /// Frames and bytes since the last ping.
    frames: u32,
    bytes: usize,
    /// Number of the last ping.
    number: u32,
    /// When it was sent, until it is answered.
    asked_at: Option<Instant>,
    /// The quickest answer: how long the line is.
    line: Option<Duration>,
    /// The last ping took too long: from here on each frame waits for its own.
    is_slow: bool,
}

impl FlowControl {
    /// Whether one more frame may go.
    pub(super) fn is_open(&self, now: Instant) -> bool {
        let Some(asked_at) = self.asked_at else { return true };
        !self.is_slow && self.has_room() && now.saturating_duration_since(asked_at) < self.due()
    }

    /// A frame went. True when a ping must follow it, as it does the first one: then nothing is in the way yet.
    pub(super) fn sent(&mut self, bytes: usize) -> bool {
        self.frames += 1;
        self.bytes += bytes;
        self.asked_at.is_none() && (self.is_slow || !self.has_room() || self.number == 0)
    }

    /// A ping goes; what it carries.
    pub(super) fn ask(&mut self, now: Instant) -> [u8; 4] {
        (self.frames, self.bytes) = (0, 0);
        self.number = self.number.wrapping_add(1).max(1);
        self.asked_at = Some(now);
        self.number.to_be_bytes()
    }

    /// A client answered: if that ping, it has read everything before it.
    pub(super) fn answered(&mut self, carried: &[u8], now: Instant) {
        if carried != self.number.to_be_bytes() {
            return;
        }
        if let Some(asked_at) = self.asked_at.take() {
            let took = now.saturating_duration_since(asked_at);
            self.line = Some(self.line.map_or(took, |line| line.min(took)));
            self.is_slow = took >= self.due();
        }
    }

    fn due(&self) -> Duration {
        AHEAD_MAX + self.line.unwrap_or_default().min(LINE_MAX)
    }

    /// For how long a ping was not answered.
    pub(super) fn waits(&self, now: Instant) -> Duration {
        self.asked_at.map_or(Duration::ZERO, |asked_at| now.saturating_duration_since(asked_at))
    }

    fn has_room(&self) -> bool {
        self.frames < AHEAD_FRAMES_MAX && self.bytes < AHEAD_BYTES_MAX
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// A frame a step for whoever may be sent one, and a client that reads one every `every` steps of 10 ms. The
    /// longest that a frame was under way, and how many came.
    fn run(every: u64, bytes: usize) -> (Duration, u32) {
        let (start, mut flow) = (Instant::now(), FlowControl::default());
        let mut pipe: VecDeque<Result<Instant, [u8; 4]>> = VecDeque::new();
        let (mut longest, mut read) = (Duration::ZERO, 0);
        for step in 0..6_000 {
            let now = start + Duration::from_millis(10 * step);
            if step % 5 == 0 && flow.is_open(now) {
                pipe.push_back(Ok(now));
                if flow.sent(bytes) {
                    pipe.push_back(Err(flow.ask(now)));
                }
            }
            if step % every == 0 {
                if let Some(Ok(sent_at)) = pipe.pop_front() {
                    longest = longest.max(now - sent_at);
                    read += 1;
                }
                // Reading on, a client answers a ping at once.
                if let Some(Err(ping)) = pipe.front() {
                    flow.answered(ping, now);
                    pipe.pop_front();
                }
            }
        }
        (longest, read)
    }

    #[test]
    fn a_quick_client_is_sent_everything() {
        assert_eq!(run(1, 900).1, 1_200);
    }

    #[test]
    fn little_is_under_way_to_a_slow_one() {
        let (longest, read) = run(10, 900);
        assert!(longest <= Duration::from_millis(800), "{longest:?}");
        assert!(read > 400, "it is kept busy: {read}");
        let (longest, _) = run(100, 900);
        assert!(longest <= Duration::from_secs(8), "{longest:?} once, as it turned slow");
    }

    #[test]
    fn one_that_never_reads_holds_little() {
        let (start, mut flow) = (Instant::now(), FlowControl::default());
        let mut bytes = 0;
        for step in 0..1_000 {
            let now = start + Duration::from_millis(step);
            if flow.is_open(now) {
                bytes += 20_000;
                if flow.sent(20_000) {
                    flow.ask(now);
                }
            }
        }
        assert!(bytes <= 2 * AHEAD_BYTES_MAX + 40_000, "{bytes}");
        // From the ping that is not answered: one of the first second.
        let waits = flow.waits(start + Duration::from_secs(10));
        assert!((9_000..=10_000).contains(&waits.as_millis()), "{waits:?}");
    }
}
