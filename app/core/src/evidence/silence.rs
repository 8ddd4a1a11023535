//! How long a session's client was silent, as its member stamps its answers. Answers are asked for every few seconds, so
//! a silence is known within bounds: a time-out that is called too short rests on the lower one, one that is called too
//! long on the upper one.

use crate::time::TimeMs;

/// Silences are kept for the present stretch of so long and the one before it: half a day to a day.
const STRETCH_MS: i64 = 43_200_000;
/// Two answers of a member that are further apart say nothing of the time between them: nobody asked.
const APART_MAX_MS: i64 = 30_000;

/// The longest silence of a stretch of time; both bounds are 0 where none was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Silence {
    /// It was silent for so long at least once, ms.
    pub at_least_ms: u32,
    /// It was never silent for longer, ms.
    pub at_most_ms: u32,
}

impl Silence {
    fn max(self, other: Self) -> Self {
        Self { at_least_ms: self.at_least_ms.max(other.at_least_ms), at_most_ms: self.at_most_ms.max(other.at_most_ms) }
    }
}

/// The silences of one session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Silences {
    /// Since when its silences are known without a break in what the member says; None while they are not.
    pub since: Option<TimeMs>,
    /// When the present stretch began.
    pub turned_at: TimeMs,
    /// When its member last answered it, ms of the member's running clock.
    pub answered_ms: Option<i64>,
    /// The longest of the present stretch.
    pub present: Silence,
    /// The longest of the stretch before.
    pub before: Silence,
}

/// What a member's answer says of one connection, beside what was known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    /// When the member was asked.
    pub(super) asked_at: TimeMs,
    /// When it last answered the client, ms of its running clock.
    pub(super) answered_ms: Option<i64>,
    /// The same on our clock, never too early.
    pub(super) heard_at: Option<TimeMs>,
    /// When the client was last heard before, on our clock.
    pub(super) heard_before: Option<TimeMs>,
    /// When its member was asked before, where that listed it.
    pub(super) listed_before: Option<TimeMs>,
    /// It came by another connection than before.
    pub(super) has_moved: bool,
    /// Exactly one packet came from it since.
    pub(super) is_one_packet: bool,
}

impl Silences {
    /// Takes in an answer.
    pub(super) fn note(&mut self, heard: Heard) {
        let Heard { asked_at, answered_ms, heard_at, heard_before, listed_before, has_moved, is_one_packet } = heard;
        let Some((answered_ms, heard_at)) = answered_ms.zip(heard_at) else {
            // A member that does not stamp its answers says nothing of silences.
            *self = Self::default();
            return;
        };
        let before_ms = self.answered_ms.replace(answered_ms);
        if self.since.is_none() {
            (self.since, self.turned_at) = (Some(asked_at), asked_at);
        }
        self.turn(asked_at);
        // One that lasts counts for the upper bound alone: whoever never speaks again was not silent, but dead.
        self.present.at_most_ms = self.present.at_most_ms.max(bounded(asked_at.since(heard_at)));
        let Some(before_ms) = before_ms.filter(|before_ms| has_moved || answered_ms > *before_ms) else { return };
        if listed_before.is_some_and(|before| asked_at.since(before) > APART_MAX_MS) {
            return;
        }
        let stayed_ms = listed_before.zip(heard_before).map_or(0, |(listed, heard)| bounded(listed.since(heard)));
        // Over a change of connection only our clock knows both ends; the silence was over when it was listed again.
        let over_ms = if has_moved {
            heard_before.map_or(0, |heard| bounded(asked_at.since(heard)))
        } else {
            bounded(answered_ms.saturating_sub(before_ms))
        };
        let at_least_ms = if is_one_packet && !has_moved { over_ms } else { stayed_ms.min(over_ms) };
        self.present = self.present.max(Silence { at_least_ms, at_most_ms: over_ms });
    }

    /// Forgets what is longer ago than two stretches.
    fn turn(&mut self, now: TimeMs) {
        let age_ms = now.since(self.turned_at);
        if age_ms >= STRETCH_MS {
            self.before = if age_ms < STRETCH_MS.saturating_mul(2) { self.present } else { Silence::default() };
            (self.present, self.turned_at) = (Silence::default(), now);
        }
    }

    /// The longest that is still kept.
    pub fn longest(&self) -> Silence {
        self.present.max(self.before)
    }

    /// Over how long it is the longest, up to an instant, ms: since the session's silences are known, a day at most.
    pub fn over_ms(&self, now: TimeMs) -> i64 {
        let known_ms = self.since.map_or(0, |since| now.since(since));
        known_ms.clamp(0, now.since(self.turned_at).max(0).saturating_add(STRETCH_MS))
    }
}

fn bounded(ms: i64) -> u32 {
    u32::try_from(ms.max(0)).unwrap_or(u32::MAX)
}
