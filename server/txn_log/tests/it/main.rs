//! The formats, against an encoder of the tests' own. Against ZooKeeper itself they are tested in
//! `server/tests/it/txn_log.rs`.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod encode;
mod fuzz;
mod hostile;
mod log;
mod packed;
mod printed_snapshot;
mod real;
mod snapshot;
mod tolerant;
