//! The evidence collector against real servers, hostile ones, and none.

mod collected;
mod demand;
mod ensemble;
mod hostile;
mod parsers;
mod standalone;

use lockscope_demo::PrivateZooKeeper;

use crate::harness::{options, started};

/// A server with further lines in its configuration; a later line wins over an earlier one.
async fn zookeeper_with(lines: &[(&str, &str)]) -> PrivateZooKeeper {
    started(options(lines, &[])).await
}
