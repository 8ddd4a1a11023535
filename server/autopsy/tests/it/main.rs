//! Transactions as observations, and small logs from files to reports.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod at_once;
mod encode;
mod reports;
mod translate;
