//! The service where releases are planned, ordered and carried out: whoever asks, nothing leaves before the checks here
//! and before its intent is on record. Knows no route and no page; the HTTP side calls [`ReleaseService`] and tells its answers.
//!
//! Order of things: right and scope → plan → confirmation and reason → second person → limits → view is live → intent
//! durable → act → what holds now, by the model → outcome on record. The last four run in a task of their own, which
//! goes on when whoever asked goes away.

mod checks;
mod counts;
mod ensemble;
mod execute;
mod limits;
mod plans;
mod recovery;
mod refusal;
mod requests;
mod service;

pub use counts::OutcomeCounts;
pub use ensemble::EnsembleHandle;
pub use execute::{Execution, ExecutionStatus};
pub use limits::{ACTOR_ACTS_MAX, ACTOR_WINDOW_MS, LOCK_PAUSE_MS};
pub use plans::{ACTOR_PLANS_MAX, PLAN_MS, PLANS_MAX};
pub use refusal::{Rejection, RejectionReason};
pub use service::{ReleaseService, Settings};
