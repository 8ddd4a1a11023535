//! The desk where releases are planned, ordered and carried out: whoever asks, nothing leaves before the checks here
//! and before its intent is on record. Knows no route and no page; the HTTP side calls [`Desk`] and tells its answers.
//!
//! Order of things: right and scope → plan → confirmation and reason → second person → limits → view is live → intent
//! durable → act → what holds now, by the model → outcome on record. The last four run in a task of their own, which
//! goes on when whoever asked goes away.

mod carry;
mod checks;
mod counts;
mod desk;
mod limits;
mod orders;
mod plans;
mod refusal;
mod settle;
mod site;

pub use carry::{Executed, Kind};
pub use counts::Told;
pub use desk::{Desk, Settings};
pub use limits::{ACTOR_ACTS_MAX, ACTOR_WINDOW_MS, LOCK_PAUSE_MS};
pub use plans::{ACTOR_PLANS_MAX, PLAN_MS, PLANS_MAX};
pub use refusal::{Refused, RefusedFor};
pub use site::Site;
