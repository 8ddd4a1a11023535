//! The evidence collector against real servers, hostile ones, and none.

mod collected;
mod demand;
mod ensemble;
mod hostile;
mod parsers;
mod standalone;

use server::demo::{PrivateZooKeeper, ServerOptions};

/// A server with further lines in its configuration; a later line wins over an earlier one.
async fn zookeeper_with(lines: &[(&str, &str)]) -> PrivateZooKeeper {
    let config = lines.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    PrivateZooKeeper::start(ServerOptions { config, ..ServerOptions::default() }).await.unwrap_or_else(|error| panic!("{error}"))
}
