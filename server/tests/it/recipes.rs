//! Real libraries contend and we look: what Lockscope's API says of holders, waiters, order and owners must be what the
//! clients themselves say. Clients live in processes of their own; each has a session of its own.

mod agree;
mod alive;
mod circle;
mod crate_locks;
mod deaths;
mod exclusive;
mod gates;
mod items;
pub(crate) mod lockscope;
mod modes;
pub(crate) mod patroni;
mod semaphores;
mod strangers;
mod watchers;

pub(crate) use lockscope_campaign::clients as host;
