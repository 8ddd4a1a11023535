//! Lives that ended: kept for a moment, since the end of a session is known a little later than that its znodes went, and
//! for longer where somebody may still say that it was a release by Lockscope.

use std::collections::VecDeque;

use lockscope_core::tally::Histogram;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};

use crate::store::rows::{Span, SpanEnd};

/// A life that ended is told after so long: by then it is known whether its session ended.
pub const SETTLE_MS: i64 = 1_000;
/// Znodes of a session that end together go within this time, as the model has it.
const TOGETHER_MS: i64 = 50;
/// Lives of a minute that are all kept; of more, those that are worth it.
pub const SPANS_A_MINUTE_MAX: u32 = 600;
/// Lives of a minute that are kept in all. Overflow policy: further ones are not, but for those that Lockscope ended.
pub const WORTH_A_MINUTE_MAX: u32 = 6_000;
/// Whoever waited for so long is worth it.
pub const WAIT_WORTH_MS: i64 = 50;
/// Lives that were told and may be corrected. Overflow policy: the oldest stays as it was told.
const TOLD_MAX: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct Ended {
    settling: VecDeque<(Span, bool)>,
    told: VecDeque<Span>,
    in_minute: MinuteOfLives,
    forced: VecDeque<Zxid>,
}

#[derive(Debug, Default)]
struct MinuteOfLives {
    at: TimeMs,
    ended: u32,
    kept: u32,
}

impl MinuteOfLives {
    /// One more that ended; whether it is kept.
    fn takes(&mut self, span: &Span, is_worth: bool) -> bool {
        let at = super::minute_of(span.left_at);
        if self.at != at {
            *self = Self { at, ..Self::default() };
        }
        self.ended = self.ended.saturating_add(1);
        let is_kept = (self.ended <= SPANS_A_MINUTE_MAX || is_worth) && self.kept < WORTH_A_MINUTE_MAX;
        self.kept += u32::from(is_kept);
        is_kept || span.how == SpanEnd::Forced
    }
}

impl Ended {
    /// One more; `holds` are those that ended at its lock. `is_found`: it came while nobody watched, so it may have waited for
    /// longer than was seen, as may one of whose hold only a lower bound is known.
    pub(super) fn note(&mut self, span: Span, is_found: bool, holds: &Histogram) {
        let is_odd = !matches!(span.how, SpanEnd::Released);
        let held_ms = span.held_at.map_or(0, |held_at| span.left_at.since(held_at));
        let is_long = holds.percentile(95).is_some_and(|usual| held_ms > usual);
        // A process that goes on with another's recording takes nobody for found; the hold says that its beginning was not seen.
        let is_unseen = is_found || span.is_lower_bound;
        let is_worth = is_odd || is_unseen || span.wait_ms >= WAIT_WORTH_MS || is_long;
        self.settling.push_back((span, is_worth));
    }

    /// A session ended. Who went with it went since then, or where that is not told is found as the model does it: what went
    /// within [`TOGETHER_MS`] of the first.
    pub(super) fn session_ended(&mut self, session: SessionId, since: Option<TimeMs>) {
        let ended = |span: &Span| span.session == Some(session) && span.how != SpanEnd::Unknown;
        let instants = self.settling.iter().filter(|(span, _)| ended(span)).map(|(span, _)| span.left_at);
        let together = instants
            .fold(None, |since: Option<TimeMs>, at| since.filter(|since| at.since(*since) <= TOGETHER_MS).or(Some(at)));
        let Some(since) = since.or(together) else { return };
        for (span, is_worth) in self.settling.iter_mut().filter(|(span, _)| ended(span) && span.left_at >= since) {
            (span.how, *is_worth) = (SpanEnd::SessionEnded, true);
        }
    }

    /// Lockscope itself deleted a znode.
    pub(super) fn forced(&mut self, czxid: Zxid, out: &mut Vec<Span>) {
        if let Some((span, is_worth)) = self.settling.iter_mut().find(|(span, _)| span.czxid == czxid) {
            (span.how, *is_worth) = (SpanEnd::Forced, true);
        } else if let Some(span) = self.told.iter_mut().find(|span| span.czxid == czxid) {
            if std::mem::replace(&mut span.how, SpanEnd::Forced) != SpanEnd::Forced {
                out.push(span.clone());
            }
        } else {
            // Its end is not seen yet.
            self.forced.truncate(TOLD_MAX - 1);
            self.forced.push_front(czxid);
        }
    }

    /// Those that are known well enough by now.
    pub(super) fn settle(&mut self, now: TimeMs, out: &mut Vec<Span>) {
        while let Some((span, _)) = self.settling.front()
            && now.since(span.left_at) >= SETTLE_MS
        {
            self.tell_first(out);
        }
    }

    pub(super) fn settle_all(&mut self, out: &mut Vec<Span>) {
        while !self.settling.is_empty() {
            self.tell_first(out);
        }
    }

    fn tell_first(&mut self, out: &mut Vec<Span>) {
        let Some((mut span, mut is_worth)) = self.settling.pop_front() else { return };
        if let Some(at) = self.forced.iter().position(|czxid| *czxid == span.czxid) {
            self.forced.remove(at);
            (span.how, is_worth) = (SpanEnd::Forced, true);
        }
        if self.in_minute.takes(&span, is_worth) {
            self.told.truncate(TOLD_MAX - 1);
            self.told.push_front(span.clone());
            out.push(span);
        }
    }
}
