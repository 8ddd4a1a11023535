//! What the tests share: servers, a client that makes the truth, the observer under test and what it believes.

mod believed;
mod logs;
mod observer;
pub(crate) mod proxy;
mod truth;

use std::time::Duration;

pub(crate) use believed::{Believed, RootState};
pub(crate) use logs::Logs;
pub(crate) use observer::Observed;
use server::demo::{PrivateZooKeeper, ServerOptions};
pub(crate) use truth::{Truth, open, queue};

/// How long anything may take before a test fails.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// A private standalone server.
pub(crate) async fn zookeeper() -> PrivateZooKeeper {
    let server = PrivateZooKeeper::start(ServerOptions::default()).await;
    server.unwrap_or_else(|error| panic!("{error}"))
}
