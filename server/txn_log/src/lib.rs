//! Reads ZooKeeper's transaction logs and snapshots from bytes: no I/O, no clock, no panic on whatever the bytes are.

mod record;

pub use record::{Acl, Change, Create, Lifetime, Multi, Transaction};
