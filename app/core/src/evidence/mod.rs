//! What the ensemble itself says of its sessions, asked slowly and never needed: who is connected from where, what is
//! last known of each, when a dead one runs out, and who watches what.

mod disagree;
mod member;
mod member_evidence;
mod recollection;
mod report;
mod running;
mod session;
mod silence;
mod timeout_advice;
mod watched;

pub use disagree::{DISPUTED_MAX, Disagreement, DisputeSuspect, Disputed};
pub use member::{Lately, Member, Source};
pub use member_evidence::{MemberEvidence, SESSIONS_MAX};
pub use report::*;
pub use running::RunningClock;
pub use session::{ClientState, FRESH_MS, Liveness, ReportedEnd, RunsOut, SessionRecord};
pub use silence::{Silence, Silences};
pub use timeout_advice::{
    ENOUGH_MIN_MS, TimeoutAdvice, TimeoutAssessment, TimeoutFit, TimeoutOutcome, TimeoutUnknown, WATCHED_MIN_MS,
};
pub use watched::{GRACE_MS, TABLE_FRESH_MS, Watch, Watching};
