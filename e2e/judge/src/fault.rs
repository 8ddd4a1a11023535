//! What was done to the system while it was captured.

use crate::Limits;

/// A fault and how long it lasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultSpan {
    /// What was broken.
    pub fault: Fault,
    /// From when on.
    pub lost_at_ms: i64,
    /// When it was good again: for a lost link the moment of the first good reconnect. LIVE may be right from then on,
    /// and soon after has to be. `None` when it was still broken at the end.
    pub good_at_ms: Option<i64>,
}

/// What a fault breaks, as far as the rules depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing that is true can be learned from the ensemble: nothing may be LIVE from 2 s on, all is exact 1 s after a
    /// good reconnect.
    LinkLost,
    /// What passes the link is late: what is LIVE has to be true, and nothing is exact in time.
    LinkSlow,
    /// Lockscope stands still, or its line to the client is cut: only the client itself can notice, after 3 s.
    Silent,
    /// The ensemble takes requests but commits none (no quorum, a frozen leader, a disk that hangs): what the log
    /// stamps within the span may have come true as late as its end.
    CommitsHeld,
}

/// What was stamped so shortly before commits were held was still on its way, and held as well.
const IN_FLIGHT_MS: i64 = 50;

/// All spans, to be asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faults<'a> {
    pub(crate) spans: &'a [FaultSpan],
    pub(crate) limits: &'a Limits,
}

impl Faults<'_> {
    /// How long LIVE may stay after this is lost; `None` where it may stay.
    fn live_max_ms(&self, fault: Fault) -> Option<i64> {
        match fault {
            Fault::LinkLost => Some(self.limits.not_live_max_ms),
            Fault::Silent => Some(self.limits.silence_max_ms),
            Fault::LinkSlow | Fault::CommitsHeld => None,
        }
    }

    /// When a transaction of this stamp may have come true at the latest.
    pub(crate) fn came_true_ms(&self, stamped_at_ms: i64) -> i64 {
        self.held_at(stamped_at_ms).map(FaultSpan::ends_ms).fold(stamped_at_ms, i64::max)
    }

    /// Everything stamped until this instant had come true at the given one.
    pub(crate) fn settled_ms(&self, at_ms: i64) -> i64 {
        self.held_at(at_ms).map(|span| span.lost_at_ms - IN_FLIGHT_MS).fold(at_ms, i64::min)
    }

    /// The spans by which something of this stamp was held up.
    fn held_at(&self, stamped_at_ms: i64) -> impl Iterator<Item = &FaultSpan> {
        let is_held =
            move |span: &&FaultSpan| (span.lost_at_ms - IN_FLIGHT_MS..span.ends_ms()).contains(&stamped_at_ms);
        self.spans.iter().filter(|span| span.fault == Fault::CommitsHeld).filter(is_held)
    }

    /// The last instant of a stretch at which the client was not just about to notice a silence.
    pub(crate) fn last_inexcusable(&self, begin_ms: i64, end_ms: i64) -> Option<i64> {
        let excuse_ms = self.limits.silence_max_ms + self.limits.clock_tolerance_ms;
        let is_excuse = |span: &&FaultSpan, at_ms: i64| {
            (span.lost_at_ms..=span.lost_at_ms.saturating_add(excuse_ms)).contains(&at_ms)
        };
        let mut last_ms = end_ms;
        while last_ms > begin_ms {
            let silent = self.spans.iter().filter(|span| span.fault == Fault::Silent);
            match silent.filter(|span| is_excuse(span, last_ms)).map(|span| span.lost_at_ms).min() {
                Some(lost_at_ms) => last_ms = lost_at_ms - 1,
                None => return Some(last_ms),
            }
        }
        None
    }

    /// Whether something else broke between two instants.
    pub(crate) fn is_disturbed(&self, by_other_than: &FaultSpan, begin_ms: i64, end_ms: i64) -> bool {
        self.spans.iter().any(|span| span != by_other_than && span.lost_at_ms <= end_ms && span.ends_ms() > begin_ms)
    }

    /// For each span in which LIVE must end, how long it lasts and from when on LIVE is wrong.
    pub(crate) fn dark(&self) -> impl Iterator<Item = (&FaultSpan, i64)> {
        self.spans.iter().filter_map(|span| {
            Some((span, span.lost_at_ms + self.live_max_ms(span.fault)? + self.limits.clock_tolerance_ms))
        })
    }

    /// The spans after which everything has to be exact, with the instant of the reconnect.
    pub(crate) fn reconnects(&self) -> impl Iterator<Item = (&FaultSpan, i64)> {
        self.spans.iter().filter(|span| span.fault == Fault::LinkLost).filter_map(|span| Some((span, span.good_at_ms?)))
    }
}

impl FaultSpan {
    pub(crate) fn ends_ms(&self) -> i64 {
        self.good_at_ms.unwrap_or(i64::MAX)
    }
}
