//! What the tests share: servers, a client that makes the truth, the observer under test and what it believes.

mod believed;
pub(crate) mod keeper;
mod logs;
mod observer;
pub(crate) mod proxy;
mod truth;

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

pub(crate) use believed::{Believed, RootState};
use lockscope_demo::{PrivateEnsemble, PrivateZooKeeper, ServerOptions};
pub(crate) use logs::Logs;
pub(crate) use observer::Observed;
pub(crate) use truth::{Truth, open, queue};

/// How long anything may take before a test fails: nobody waits for so long but where something is broken.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// Pause before something is asked again.
pub(crate) const STEP: Duration = Duration::from_millis(10);

/// Sends a signal; a small system has no program for that.
pub(crate) fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), signal).unwrap();
}

/// How a server is set up for tests, on any machine: its sessions may be long, so that none runs out because the
/// machine was busy, and it does not wait for the disk, from which nothing is read again after a crash of the machine.
pub(crate) fn options(config: &[(&str, &str)], java: &[&str]) -> ServerOptions {
    let config = [("maxSessionTimeout", "60000")]
        .iter()
        .chain(config)
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let java = ["-Dzookeeper.forceSync=no"].iter().chain(java).map(|option| (*option).to_owned());
    ServerOptions { config: config.collect(), java: java.collect(), ..ServerOptions::default() }
}

/// A private server set up like that.
pub(crate) async fn started(options: ServerOptions) -> PrivateZooKeeper {
    PrivateZooKeeper::start(options).await.unwrap_or_else(|error| panic!("{error}"))
}

/// A private standalone server.
pub(crate) async fn zookeeper() -> PrivateZooKeeper {
    started(options(&[], &[])).await
}

/// Three private servers that vote.
pub(crate) async fn ensemble() -> PrivateEnsemble {
    PrivateEnsemble::start(options(&[], &[])).await.unwrap_or_else(|error| panic!("{error}"))
}
