//! Sessions: what each holds and waits for across all locks.

use serde::{Deserialize, Serialize};

use super::name::named_enum;
use super::{
    AsOf, ClientInfo, Contender, EnsembleTag, Liveness, RunsOut, SessionId, Verdict, Window, WindowDelta, WindowRow,
};

/// Locks named on a session's row.
pub const ROW_LOCKS_MAX: usize = 4;
/// Events of a session's history that are sent.
pub const SESSION_EVENTS_MAX: usize = 200;

/// Body of the live view `sessions`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sessions {
    /// All but the rows.
    pub head: SessionsHead,
    /// The sessions that match, in order; none where they are grouped.
    pub window: Window<SessionRow>,
    /// The groups of those that match, in order; none where each session is a row.
    pub groups: Window<SessionGroupRow>,
}

/// Totals over every session, filtered or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionsHead {
    /// How far it can be trusted.
    pub as_of: AsOf,
    /// Sessions that own znodes under the roots.
    pub sessions: u32,
    /// Those that hold something.
    pub holding: u32,
    /// Those that wait for something.
    pub waiting: u32,
}

/// One session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionRow {
    /// Its id, in hexadecimal, behind its ensemble's name where there are several.
    pub key: String,
    /// Ensemble.
    pub ensemble: String,
    /// The same with its colour; null for the only one when it has no name.
    pub tag: Option<EnsembleTag>,
    /// Its id.
    pub session_id: SessionId,
    /// Who it says it is; never trusted.
    pub label: Option<String>,
    /// Address and more, when evidence has it.
    pub client: Option<ClientInfo>,
    /// Alive?
    pub liveness: Liveness,
    /// When it runs out by itself; for sessions whose client is silent.
    pub runs_out: Option<RunsOut>,
    /// Znodes that hold.
    pub holds: u32,
    /// Znodes that wait for a lock.
    pub waits: u32,
    /// All its znodes under the roots, in locks or not.
    pub ephemerals: u32,
    /// Since when its oldest hold lasts.
    pub oldest_hold_at_ms: Option<i64>,
    /// Since when its oldest wait lasts.
    pub oldest_wait_at_ms: Option<i64>,
    /// Contenders that wait behind what it holds.
    pub blocks: u32,
    /// The first locks it is in.
    pub locks: Vec<String>,
    /// It is part of a cycle of sessions that wait for each other.
    pub in_cycle: bool,
    /// The worst verdict on a cycle it is part of: `deadlocked` or `maybe_deadlocked`; null for who is in none.
    pub cycle_verdict: Option<Verdict>,
    /// Znodes that neither hold nor wait for a lock: standbys of an election, clients that gather at a barrier, items of
    /// a queue, members of a group.
    pub stands_by: u32,
}

impl WindowRow for SessionRow {
    fn key(&self) -> &str {
        &self.key
    }
}

/// Sessions of one client host or of one application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionGroupRow {
    /// The host's address, or the application's name; empty for sessions of which it is not known. Never trusted.
    pub name: String,
    /// Sessions.
    pub sessions: u32,
    /// Znodes of theirs that hold.
    pub holds: u32,
    /// Znodes of theirs that wait for a lock.
    pub waits: u32,
    /// Contenders that wait behind what they hold; those of a lock that several of them hold are counted once.
    pub blocks: u32,
    /// Since when their oldest hold lasts.
    pub oldest_hold_at_ms: Option<i64>,
    /// Since when their oldest wait lasts.
    pub oldest_wait_at_ms: Option<i64>,
    /// The worst verdict on a cycle that one of them is part of: `deadlocked` or `maybe_deadlocked`; null for none.
    pub cycle_verdict: Option<Verdict>,
}

impl WindowRow for SessionGroupRow {
    fn key(&self) -> &str {
        &self.name
    }
}

/// What turns one list of sessions into the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionsDelta {
    /// The new head, when it changed.
    pub head: Option<SessionsHead>,
    /// The rows' difference, when they changed.
    pub window: Option<WindowDelta<SessionRow>>,
    /// The groups' difference, when they changed.
    pub groups: Option<WindowDelta<SessionGroupRow>>,
}

impl Sessions {
    /// The difference that turns `self` into `next`; None when they are equal.
    pub fn diff(&self, next: &Self) -> Option<SessionsDelta> {
        let head = (self.head != next.head).then(|| next.head.clone());
        let window = self.window.diff(&next.window);
        let groups = self.groups.diff(&next.groups);
        let is_other = head.is_some() || window.is_some() || groups.is_some();
        is_other.then_some(SessionsDelta { head, window, groups })
    }

    /// Applies a difference made by [`Sessions::diff`].
    pub fn apply(&mut self, delta: &SessionsDelta) {
        if let Some(head) = &delta.head {
            self.head = head.clone();
        }
        if let Some(window) = &delta.window {
            self.window.apply(window);
        }
        if let Some(groups) = &delta.groups {
            self.groups.apply(groups);
        }
    }
}

/// Body of the live view `session`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionPage {
    /// How far it can be trusted.
    pub as_of: AsOf,
    /// The session as in the list.
    pub row: SessionRow,
    /// What it holds and waits for; holds first.
    pub spots: Window<SessionLockRow>,
    /// What happened to it since this server watches, newest first.
    pub history: Vec<SessionEvent>,
}

/// One znode of a session in one lock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionLockRow {
    /// The lock.
    pub lock: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// What it was recognised as.
    pub recipe_label: String,
    /// The znode as the lock's page shows it.
    pub contender: Contender,
}

impl WindowRow for SessionLockRow {
    fn key(&self) -> &str {
        &self.contender.path
    }
}

/// One thing that happened to a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionEvent {
    /// When, as we saw it.
    pub at_ms: i64,
    /// In which lock.
    pub lock: String,
    /// The znode's name.
    pub node: String,
    /// What.
    pub what: Happened,
}

named_enum! {
    /// What happened to a contender.
    Happened {
        /// It queued up.
        Joined = "joined",
        /// It held.
        Held = "held",
        /// It held, and its znode was deleted.
        Released = "released",
        /// It left without having held.
        Left = "left",
        /// It went with its session.
        SessionEnded = "session_ended",
        /// It was gone after a gap in our view.
        GoneInGap = "gone_in_gap",
    }
}
