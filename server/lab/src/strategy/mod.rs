//! The ways of waiting for a lock, each as its recipe is documented, its faults included: nothing protects a create
//! whose reply is lost, and nobody looks twice. Owns what a client asks ZooKeeper for; must not know lanes or figures.

mod herd_children;
mod herd_exists;
mod herd_lowest;
mod numbered;
mod predecessor;

use std::future::Future;

use lockscope_view::Strategy;
use zookeeper_client::{Acls, Client, CreateMode, Error, EventType, OneshotWatcher};

use super::live_stats::EventSink;

#[derive(Clone, Copy, Debug)]
pub(super) struct StrategyEnv<'a> {
    pub(super) client: &'a Client,
    pub(super) directory: &'a str,
    /// Gets what happens.
    pub(super) teller: &'a EventSink,
}

/// A znode that is the lock, or one's place in the queue for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LabNode {
    pub(super) path: String,
}

trait Waiting {
    /// Queues up and waits until the lock is held.
    fn enter(ground: StrategyEnv<'_>) -> impl Future<Output = Result<LabNode, Error>> + Send;
}

pub(super) async fn enter(strategy: Strategy, ground: StrategyEnv<'_>) -> Result<LabNode, Error> {
    match strategy {
        Strategy::Predecessor => predecessor::Predecessor::enter(ground).await,
        Strategy::HerdChildren => herd_children::HerdChildren::enter(ground).await,
        Strategy::HerdExists => herd_exists::HerdExists::enter(ground).await,
        Strategy::HerdLowest => herd_lowest::HerdLowest::enter(ground).await,
    }
}

pub(super) async fn leave(client: &Client, place: LabNode) -> Result<(), Error> {
    client.delete(&place.path, None).await
}

/// The path of a numbered znode; None where the strategy has one fixed znode.
pub(super) fn numbered_path(strategy: Strategy, directory: &str, number: u64) -> Option<String> {
    is_numbered(strategy).then(|| format!("{directory}/{}{number:010}", numbered::PREFIX))
}

pub(super) fn fixed_path(directory: &str) -> String {
    format!("{directory}/{FIXED}")
}

/// Whether each client has a numbered znode of its own.
pub(super) fn is_numbered(strategy: Strategy) -> bool {
    match strategy {
        Strategy::Predecessor | Strategy::HerdLowest => true,
        Strategy::HerdChildren | Strategy::HerdExists => false,
    }
}

/// Whether a release wakes everybody who waits.
pub(super) fn wakes_all(strategy: Strategy) -> bool {
    match strategy {
        Strategy::Predecessor => false,
        Strategy::HerdChildren | Strategy::HerdExists | Strategy::HerdLowest => true,
    }
}

/// Watch events that draining so many clients once causes.
pub(super) fn events_expected(strategy: Strategy, n: u64) -> u64 {
    if wakes_all(strategy) { n * n.saturating_sub(1) / 2 } else { n.saturating_sub(1) }
}

/// The one znode that everybody wants.
const FIXED: &str = "lock";

impl StrategyEnv<'_> {
    /// Tries to make the one znode; None where somebody else has it.
    async fn take_fixed(self) -> Result<Option<LabNode>, Error> {
        let path = fixed_path(self.directory);
        match self.client.create(&path, &self.label(), &CreateMode::Ephemeral.with_acls(Acls::anyone_all())).await {
            Ok(_) => Ok(Some(LabNode { path })),
            Err(Error::NodeExists) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Waits for an event. An end of the session is an error.
    async fn wait(self, watcher: OneshotWatcher) -> Result<(), Error> {
        self.teller.queued();
        let event = watcher.changed().await;
        if event.event_type == EventType::Session && event.session_state.is_terminated() {
            return Err(Error::SessionExpired);
        }
        self.teller.woken();
        Ok(())
    }

    /// Waits for an event at a znode; at once when it is not there.
    async fn wait_at(self, path: &str) -> Result<(), Error> {
        let (stat, watcher) = self.client.check_and_watch_stat(path).await?;
        if stat.is_some() { self.wait(watcher).await } else { Ok(()) }
    }

    /// Its payload.
    fn label(self) -> Vec<u8> {
        format!("lab-client-{}", self.teller.client).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_famous_numbers() {
        assert_eq!(events_expected(Strategy::HerdChildren, 50), 1_225);
        assert_eq!(events_expected(Strategy::HerdLowest, 500), 124_750);
        assert_eq!(events_expected(Strategy::Predecessor, 50), 49);
    }
}
