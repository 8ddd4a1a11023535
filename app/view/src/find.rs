//! What fits a few letters: what the page's palette and the page for finding show.

use serde::{Deserialize, Serialize};

use super::name::named_enum;
use super::{Alert, LockProblem, LockRow, SessionRow, Verdict};

named_enum! {
    /// Where to go and what to do, apart from locks and sessions.
    FindPlace {
        /// The board.
        Board = "board",
        /// Who waits for whom.
        Waits = "waits",
        /// Clients.
        Sessions = "sessions",
        /// The lab.
        Lab = "lab",
        /// The server's own state.
        Status = "status",
        /// The audit log.
        Audit = "audit",
        /// The dialog that releases, on the page of a lock.
        Release = "release",
        /// Holds updates back, or goes on.
        Pause = "pause",
        /// Dark, light, or as the system has it.
        Theme = "theme",
        /// Copies the address of the page.
        CopyLink = "copy_link",
        /// The keys.
        Keys = "keys",
        /// The form for signing in.
        SignIn = "sign_in",
        /// Signs out.
        SignOut = "sign_out",
        /// What happened.
        Events = "events",
        /// Which alerts fire.
        Alerts = "alerts",
        /// What was wrong when.
        Incidents = "incidents",
        /// Who made others wait.
        Blame = "blame",
        /// Ensembles as tiles, where there are several.
        Fleet = "fleet",
    }
}

/// A problem that goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundIncident {
    /// As boards show it.
    pub problem: LockProblem,
    /// The address of its incident, or of its first lock where nothing is recorded.
    pub link: String,
}

/// What was asked for, and what fits it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FindAnswer {
    /// As it was typed.
    pub q: String,
    /// The worst of those that fit.
    pub locks: Vec<LockRow>,
    /// How many more there are.
    pub more_locks: u32,
    /// The first of those that fit.
    pub sessions: Vec<SessionRow>,
    /// Pages and actions that fit; some may not be there on the page that asks.
    pub places: Vec<FindPlace>,
    /// Verdicts whose words fit, and how many locks have them; none that no lock has.
    pub verdicts: Vec<(Verdict, u32)>,
    /// Problems that fit, worst first.
    pub incidents: Vec<FoundIncident>,
    /// Alerts that fit, that fire and that nobody silenced, worst first.
    pub alerts: Vec<Alert>,
    /// When that was so, ms since the epoch.
    pub now_ms: i64,
    /// There are too many locks to look through all of them for what is nearly what was typed.
    pub is_partial: bool,
}
