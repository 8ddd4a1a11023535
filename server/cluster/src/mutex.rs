//! Whose turn an act is: one mutex a lock, as Curator's `InterProcessMutex` has it, for all replicas.
//!
//! The mutex keeps replicas from acting on the same lock at once. It is not what makes an act safe: a session may end in
//! the middle of one, and then what was planned for is compared by its czxid all the same.

use std::fmt;
use std::time::Duration;

use tokio::sync::oneshot;
use zookeeper_client::{Acl, Acls, Client, CreateMode, Error, LockOptions, LockPrefix, OwnedLockClient};

use crate::cluster::Cluster;
use crate::membership::STEP;

/// What Curator calls a contender of a mutex.
const NAME: &str = "lock-";

/// A mutex that is held; it is given back when this is dropped.
pub struct ActMutex {
    held: OwnedLockClient,
}

impl fmt::Debug for ActMutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActMutex").field("path", &self.held.lock_path()).finish()
    }
}

impl ActMutex {
    pub fn path(&self) -> &str {
        self.held.lock_path()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MutexError {
    #[error(
        "the cluster's ensemble {ensemble} can't be reached ({why}), so other replicas can't be kept from acting as well"
    )]
    NotConnected { ensemble: String, why: String },
    /// Another replica acts on the same lock.
    #[error("another replica acts on this lock, and did not end within {0:?}")]
    Busy(Duration),
    /// Something else.
    #[error("ZooKeeper answered {why} at {path}")]
    Refused { why: String, path: String },
}

impl Cluster {
    /// Waits for the turn to act on a lock, at most this long.
    ///
    /// # Errors
    /// When it is not ours within the time.
    pub async fn act_mutex(&self, ensemble: &str, lock: &str, within: Duration) -> Result<ActMutex, MutexError> {
        let had = self.contend(ensemble, lock, within).await;
        self.count(|counts| match &had {
            Ok(_) => counts.mutexes += 1,
            Err(_) => counts.mutexes_refused += 1,
        });
        had
    }

    async fn contend(&self, ensemble: &str, lock: &str, within: Duration) -> Result<ActMutex, MutexError> {
        let not_connected = |why: String| MutexError::NotConnected { ensemble: self.settings().ensemble.clone(), why };
        let Some(client) = self.client() else { return Err(not_connected(self.why())) };
        let dir = self.paths().act(ensemble, lock);
        let refused = |error: Error| match error {
            Error::SessionExpired | Error::ClientClosed | Error::ConnectionLoss => not_connected(error.to_string()),
            error => MutexError::Refused { why: error.to_string(), path: dir.clone() },
        };
        let acl = self.acl();
        let (give, had) = oneshot::channel();
        let (own, place, data) = (client.clone(), dir.clone(), self.settings().id.clone());
        // Never given up in the middle: the crate's clean-up after that names the znode without its directory, so a
        // contender would stay in the line for as long as the session. What comes too late is given back at once.
        tokio::spawn(async move {
            let taken = loop {
                match take(&own, &place, &data, &acl).await {
                    // Somebody took our place in the line away: again from its end, while anybody waits for it.
                    Err(Error::RuntimeInconsistent) if !give.is_closed() => tokio::time::sleep(STEP).await,
                    taken => break taken,
                }
            };
            let _ = give.send(taken);
        });
        match tokio::time::timeout(within, had).await {
            Ok(Ok(Ok(held))) => Ok(ActMutex { held }),
            Ok(Ok(Err(error))) => Err(refused(error)),
            Ok(Err(_)) => Err(not_connected("the request for it was dropped".to_owned())),
            Err(_) if client.state().is_terminated() => Err(not_connected("its session ended".to_owned())),
            Err(_) => Err(MutexError::Busy(within)),
        }
    }
}

async fn take(client: &Client, dir: &str, data: &str, acl: &[Acl]) -> Result<OwnedLockClient, Error> {
    // ZooKeeper takes containers away once nobody uses them.
    let container = CreateMode::Container.with_acls(Acls::new(acl));
    let options = LockOptions::new(Acls::new(acl)).with_ancestor_options(container)?;
    let held = client.lock(LockPrefix::new_curator(dir, NAME)?, data.as_bytes(), options).await?;
    Ok(held.into_owned())
}
