//! The service that plans and executes releases: nothing is sent before the checks here have passed and the intent is
//! logged. Knows no route and no page; the HTTP side calls [`ReleaseService`] and serves its answers.
//!
//! Order of things: right and scope → plan → confirmation and reason → second person → limits → view is live →
//! intent durable → turn among other servers → release → who holds now, by the model → outcome logged. The last four run in a task of their own,
//! which goes on when the client disconnects.

mod admission;
mod approval;
mod checks;
mod coordination;
mod counts;
mod ensemble;
mod ensembles;
mod execute;
mod limits;
mod plans;
mod recovery;
mod refusal;
mod report;
mod requests;
mod service;

pub use coordination::{Coordination, LimitedRelease, SharedLedger, Turn};
pub use counts::OutcomeCounts;
pub use ensemble::EnsembleHandle;
pub use execute::Execution;
pub use limits::{ACTOR_ACTS_MAX, ACTOR_WINDOW_MS, LOCK_PAUSE_MS};
pub use plans::{ACTOR_PLANS_MAX, PLAN_MS, PLANS_MAX};
pub use refusal::{Rejection, RejectionReason};
pub use service::{ReleaseService, Settings};
