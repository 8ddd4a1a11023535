//! Releases on real servers: every outcome, races judged by what really happened, the checks of the release service,
//! and what becomes of real libraries' queues.

mod killed;
mod libraries;
pub(crate) mod office;
mod outcomes;
mod races;
mod service;
mod slow;
mod tap;
