//! The ways of waiting for a lock, each as its recipe is documented, its faults included: nothing protects a create
//! whose reply is lost, and nobody looks twice. Owns what a client asks ZooKeeper for; must not know lanes or figures.

use lockscope_view::Strategy;
use zookeeper_client::{Acls, Client, CreateMode, Error, EventType, OneshotWatcher};

use super::live_stats::EventSink;

/// The one znode that everybody wants.
const FIXED: &str = "lock";
/// What numbered znodes are called, before their numbers.
const PREFIX: &str = "lock-";
/// How often a create is tried again when its reply is lost.
const CREATES_MAX: u32 = 5;

#[derive(Clone, Copy, Debug)]
pub(super) struct StrategyEnv<'a> {
    pub(super) client: &'a Client,
    pub(super) directory: &'a str,
    /// Gets what happens.
    pub(super) teller: &'a EventSink,
}

/// Queues up and waits until the lock is held. Gives the path of the znode that is the lock, or one's place in the queue
/// for it.
pub(super) async fn enter(strategy: Strategy, ground: StrategyEnv<'_>) -> Result<String, Error> {
    match strategy {
        Strategy::Predecessor => ground.enter_numbered(<[String]>::last).await,
        // The end of the lowest wakes all.
        Strategy::HerdLowest => ground.enter_numbered(<[String]>::first).await,
        // Every change in the directory wakes all.
        Strategy::HerdChildren => loop {
            if let Some(path) = ground.take_fixed().await? {
                return Ok(path);
            }
            let (names, watcher) = ground.client.list_and_watch_children(ground.directory).await?;
            if names.iter().any(|name| name == FIXED) {
                ground.wait(watcher).await?;
            }
        },
        // The end of the one znode wakes all.
        Strategy::HerdExists => loop {
            if let Some(path) = ground.take_fixed().await? {
                return Ok(path);
            }
            ground.wait_at(&fixed_path(ground.directory)).await?;
        },
    }
}

/// The path of a numbered znode; None where the strategy has one fixed znode.
pub(super) fn numbered_path(strategy: Strategy, directory: &str, number: u64) -> Option<String> {
    is_numbered(strategy).then(|| format!("{directory}/{PREFIX}{number:010}"))
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

impl StrategyEnv<'_> {
    /// Makes a numbered znode of its own; the lowest holds. `watched`: which of those before its own it watches.
    async fn enter_numbered(self, watched: fn(&[String]) -> Option<&String>) -> Result<String, Error> {
        let own = self.make_numbered().await?;
        loop {
            let before = self.before(&own).await?;
            let Some(watched) = watched(&before) else { return Ok(format!("{}/{own}", self.directory)) };
            self.wait_at(&format!("{}/{watched}", self.directory)).await?;
        }
    }

    /// Gives the name. When the reply is lost it is simply made again: whether the first was made is not looked at.
    async fn make_numbered(self) -> Result<String, Error> {
        let prefix = format!("{}/{PREFIX}", self.directory);
        let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
        let mut tries_left = CREATES_MAX;
        let (_, sequence) = loop {
            tries_left -= 1;
            match self.client.create(&prefix, &self.label(), &options).await {
                Err(Error::ConnectionLoss) if tries_left > 0 => {}
                made => break made?,
            }
        };
        self.teller.came(sequence.into_i64());
        Ok(format!("{PREFIX}{sequence}"))
    }

    /// All names in order, up to and without one's own. An error when one's own is gone.
    async fn before(self, own: &str) -> Result<Vec<String>, Error> {
        let mut names = self.client.list_children(self.directory).await?;
        if !names.iter().any(|name| name == own) {
            return Err(Error::NoNode);
        }
        names.retain(|name| name.as_str() < own);
        names.sort_unstable();
        Ok(names)
    }

    /// Tries to make the one znode; None where somebody else has it.
    async fn take_fixed(self) -> Result<Option<String>, Error> {
        let path = fixed_path(self.directory);
        match self.client.create(&path, &self.label(), &CreateMode::Ephemeral.with_acls(Acls::anyone_all())).await {
            Ok(_) => Ok(Some(path)),
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
