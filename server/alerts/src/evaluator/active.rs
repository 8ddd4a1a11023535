//! One alert that has not ended: when it fires, and when it is over.

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;

use super::{
    ActiveAlert, AlertEnd, LOOK_AGAIN_MS, NOTE_OVER_MS, PROVEN_AGAIN_MS, RESOLVE_AFTER_MS, UNKNOWN_MS_MAX, seen,
};

#[derive(Debug)]
pub(super) struct Active {
    pub(super) alert: ActiveAlert,
    /// Its condition is no longer true since then.
    pub(super) over_since: Option<TimeMs>,
    /// Its condition is true again since then, and it is not known whether it still was.
    pub(super) again_since: Option<TimeMs>,
    /// It may not fire before this: before that, nobody could see it.
    pub(super) not_before: TimeMs,
}

/// What one look may go by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) now: TimeMs,
    /// Whether what is shown is known to be so.
    pub(super) is_seen: bool,
    /// Everything that was true up to here is in what is shown: events are on their way for a while, and whoever seems to
    /// wait may have gone.
    pub(super) known: TimeMs,
    /// Where the condition is not known to be true: it is by the clock, and is looked at again soon.
    pub(super) may_be: bool,
}

impl Active {
    pub(super) fn begun(alert: ActiveAlert, not_before: TimeMs) -> Self {
        Self { over_since: alert.over_since, alert, again_since: None, not_before }
    }

    /// Brings it in line with what was found: since when its condition is true, and of which hold. Says how it ended, and when it is to be looked at again.
    pub(super) fn judge(
        &mut self,
        Look { now, is_seen, known, may_be }: Look,
        (since, hold): (Option<TimeMs>, Option<Zxid>),
        for_ms: i64,
        sentence: impl FnOnce() -> Box<str>,
    ) -> (Option<AlertEnd>, Option<TimeMs>) {
        let alert = &mut self.alert;
        if alert.sentence.is_empty() || (since.is_some() && alert.fired_at.is_none()) {
            alert.sentence = sentence();
        }
        if !is_seen {
            let unknown_since = *alert.unknown_since.get_or_insert(now);
            return if now.since(unknown_since) < UNKNOWN_MS_MAX {
                (None, Some(now + LOOK_AGAIN_MS))
            } else if alert.fired_at.is_none() {
                (Some(AlertEnd::NeverFired), None)
            } else {
                alert.sentence = seen::no_longer_followed(&alert.sentence).into();
                (Some(AlertEnd::Resolved(now)), None)
            };
        }
        if alert.unknown_since.take().is_some() {
            self.not_before = known;
        }
        let Some(since) = since else {
            self.again_since = None;
            if alert.fired_at.is_none() {
                return (Some(AlertEnd::NeverFired), None);
            }
            if may_be && self.over_since.is_none() {
                // Else its end would be said to be sooner than it was.
                return (None, None);
            }
            let over = *self.over_since.get_or_insert(now);
            let ends_at = over + RESOLVE_AFTER_MS;
            if ends_at <= now {
                return (Some(AlertEnd::Resolved(over)), None);
            }
            let noted_at = over + NOTE_OVER_MS;
            if noted_at > now {
                return (None, Some(noted_at));
            }
            alert.over_since = Some(over);
            return (None, Some(ends_at));
        };
        // What was over is so again once it is known that it was: else its end would be said to be later than it was.
        let again_since = self.again_since.map_or(since, |again_since| again_since.min(since));
        if self.over_since.is_some() && again_since > known {
            self.again_since = Some(again_since);
            return (None, Some(now + PROVEN_AGAIN_MS));
        }
        (self.over_since, self.again_since, alert.over_since) = (None, None, None);
        alert.since = alert.since.min(since);
        // Not of what is not seen: whoever holds then may be another one than it is about.
        alert.hold = hold;
        if alert.fired_at.is_some() {
            return (None, None);
        }
        let fires_at = (alert.since + for_ms).max(self.not_before);
        if fires_at > now {
            return (None, Some(fires_at));
        }
        if fires_at > known {
            return (None, Some(now + PROVEN_AGAIN_MS));
        }
        alert.fired_at = Some(fires_at);
        (None, None)
    }
}
