//! Releases on real servers: every outcome, races judged by what really happened, the desk's checks, and what becomes
//! of real libraries' queues.

mod desk;
mod killed;
mod libraries;
pub(crate) mod office;
mod outcomes;
mod races;
mod slow;
mod tap;
