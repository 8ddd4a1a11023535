//! What happened lately: the flight recorder's rows.

use serde::{Deserialize, Serialize};

use super::name::named_enum;
use super::{Epoch, SessionId, Verdict, Zxid};

/// Rows when nothing is said.
const LIMIT_USUAL: u32 = 100;

named_enum! {
    /// The kind of a row.
    EventKind {
        /// The link to the ensemble is another.
        Link = "link",
        /// A watched root is in another state.
        Root = "root",
        /// A directory was recognised as a lock.
        LockAppeared = "lock_appeared",
        /// A lock is shown no more.
        LockVanished = "lock_vanished",
        /// A contender joined.
        Arrived = "arrived",
        /// Who owns a contender became known.
        Identified = "identified",
        /// A contender left.
        Left = "left",
        /// Somebody else holds, or nobody.
        HolderChanged = "holder_changed",
        /// A session ended.
        SessionEnded = "session_ended",
        /// A deadlock closed.
        DeadlockClosed = "deadlock_closed",
        /// A deadlock came apart.
        DeadlockOpened = "deadlock_opened",
        /// Something odd was found.
        FindingRaised = "finding_raised",
        /// It is so no more.
        FindingCleared = "finding_cleared",
        /// The verdict is another.
        VerdictChanged = "verdict_changed",
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventRow {
    /// Its number among those of its ensemble since the server started; what may not be seen leaves gaps.
    pub number: u64,
    /// When the server took it in, ms since the Unix epoch.
    pub at_ms: i64,
    /// What it is.
    pub kind: EventKind,
    /// The lock or root it is about; null for what is about all.
    pub path: Option<String>,
    /// The contender's znode, its name only.
    pub node: Option<String>,
    /// The znode's identity.
    pub czxid: Option<Zxid>,
    /// The session it is about.
    pub session_id: Option<SessionId>,
    /// The new verdict.
    pub verdict: Option<Verdict>,
    /// The finding's code.
    pub finding: Option<String>,
    /// One plain sentence.
    pub text: String,
}

/// Answer of `/api/v1/events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Events {
    /// The ensemble.
    pub ensemble: String,
    /// Differs with every start of the server: numbers begin anew then.
    pub epoch: Epoch,
    /// In the order they happened.
    pub events: Vec<EventRow>,
    /// What to ask `after` next, to get what comes then.
    pub next_after: u64,
    /// How many after the one that was asked for are kept no more, seen or not.
    pub lost: u64,
    /// Of an answer that reaches back: what to ask `before` next, to get what came earlier; null where nothing did.
    pub next_before: Option<String>,
}

/// Which events the live view `events` shows: the newest ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EventsQuery {
    /// The ensemble; empty: each of them.
    pub ensemble: String,
    /// Only what is at or below this path; empty: all.
    pub path: String,
    /// Rows at most, of each ensemble.
    pub limit: u32,
}

impl Default for EventsQuery {
    fn default() -> Self {
        Self { ensemble: String::new(), path: String::new(), limit: LIMIT_USUAL }
    }
}

/// Body of the live view `events`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lately {
    /// Each ensemble that is meant and of which something may be seen.
    pub ensembles: Vec<LatelyIn>,
}

/// What happened lately in one ensemble.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatelyIn {
    /// Its name.
    pub ensemble: String,
    /// In the order they happened, the newest last.
    pub events: Vec<EventRow>,
}

/// What turns the view `events` into its successor. Nothing that may be seen happened between what the viewer has and
/// these rows; where that can't be said, the view is sent whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatelyDelta {
    /// The ensembles where something happened.
    pub ensembles: Vec<LaterIn>,
}

/// What happened since in one ensemble.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaterIn {
    /// Its name.
    pub ensemble: String,
    /// How many rows leave the view, the oldest first.
    pub dropped: u32,
    /// The rows that come after those that stay.
    pub events: Vec<EventRow>,
}

impl Lately {
    /// The difference that turns `self` into `next`. None where a difference would hide that rows between the two may
    /// never have been in the view, or where other ensembles are seen.
    pub fn diff(&self, next: &Self) -> Option<LatelyDelta> {
        let are_the_same = self.ensembles.len() == next.ensembles.len();
        let pairs = self.ensembles.iter().zip(&next.ensembles);
        let later = pairs.filter(|(old, new)| old != new).map(|(old, new)| old.later(new)).collect::<Option<Vec<_>>>();
        later.filter(|_| are_the_same).map(|ensembles| LatelyDelta { ensembles })
    }

    /// Applies a difference made by [`Lately::diff`]. False when it is none of this view's; the view is unchanged then.
    #[must_use]
    pub fn apply(&mut self, delta: &LatelyDelta) -> bool {
        let mut next = self.clone();
        for later in &delta.ensembles {
            let Some(of) = next.ensembles.iter_mut().find(|of| of.ensemble == later.ensemble) else { return false };
            let dropped = later.dropped as usize;
            if dropped > of.events.len() {
                return false;
            }
            of.events.drain(..dropped);
            of.events.extend_from_slice(&later.events);
        }
        *self = next;
        true
    }
}

impl LatelyIn {
    /// None when nothing of `self` stays.
    fn later(&self, next: &Self) -> Option<LaterIn> {
        let first = next.events.first()?;
        let dropped = self.events.iter().position(|row| row == first)?;
        let events = next.events.strip_prefix(self.events.get(dropped..)?)?;
        (self.ensemble == next.ensemble).then(|| LaterIn {
            ensemble: self.ensemble.clone(),
            dropped: u32::try_from(dropped).unwrap_or(u32::MAX),
            events: events.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u64) -> EventRow {
        EventRow {
            number,
            at_ms: 1,
            kind: EventKind::Arrived,
            path: Some("/order".to_owned()),
            node: None,
            czxid: None,
            session_id: None,
            verdict: None,
            finding: None,
            text: "somebody joined.".to_owned(),
        }
    }

    fn lately(of: &[(&str, std::ops::Range<u64>)]) -> Lately {
        let of = of.iter().map(|(ensemble, rows)| LatelyIn {
            ensemble: (*ensemble).to_owned(),
            events: rows.clone().map(row).collect(),
        });
        Lately { ensembles: of.collect() }
    }

    #[test]
    fn a_difference_holds_new_rows_only_and_leads_there() {
        for (before, after, rows) in [
            (lately(&[("a", 1..4)]), lately(&[("a", 1..6)]), 2),
            (lately(&[("a", 1..4)]), lately(&[("a", 3..6)]), 2),
            (lately(&[("a", 1..4), ("b", 7..9)]), lately(&[("a", 1..4), ("b", 8..10)]), 1),
        ] {
            let delta = before.diff(&after).unwrap();
            assert_eq!(delta.ensembles.iter().map(|of| of.events.len()).sum::<usize>(), rows);
            let mut view = before;
            assert!(view.apply(&delta));
            assert_eq!(view, after);
        }
    }

    #[test]
    fn where_rows_may_be_missing_there_is_no_difference() {
        for (before, after) in [
            (lately(&[("a", 1..4)]), lately(&[("a", 4..7)])),
            (lately(&[("a", 1..1)]), lately(&[("a", 1..3)])),
            (lately(&[("a", 1..4)]), lately(&[("b", 1..5)])),
            (lately(&[("a", 1..4)]), lately(&[("a", 1..4), ("b", 1..2)])),
        ] {
            assert_eq!(before.diff(&after), None);
        }
    }

    #[test]
    fn kinds_are_called_what_they_are_called_on_the_wire() {
        for kind in EventKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }

    #[test]
    fn a_difference_of_another_view_changes_nothing() {
        let mut view = lately(&[("a", 1..3)]);
        let of = |ensemble: &str, dropped| LatelyDelta {
            ensembles: vec![LaterIn { ensemble: ensemble.to_owned(), dropped, events: vec![row(9)] }],
        };
        assert!(!view.apply(&of("b", 0)) && !view.apply(&of("a", 3)));
        assert_eq!(view, lately(&[("a", 1..3)]));
    }
}
