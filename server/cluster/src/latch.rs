//! Who leads: a latch as Curator's `LeaderLatch` has it, taken with zookeeper-client's own lock.

use zookeeper_client::{Acls, Client, Error, LockPrefix};

use crate::cluster::Cluster;
use crate::membership::STEP;
use crate::session::Trouble;

/// What Curator calls a contender of a latch.
const NAME: &str = "latch-";
const SEQUENCE_DIGITS: usize = 10;
/// Characters of a leader's id that are believed.
const ID_CHARS_MAX: usize = 64;

impl Cluster {
    /// Waits for its turn and leads until the session ends or somebody takes the znode away.
    pub(crate) async fn lead(&self, client: &Client) -> Trouble {
        let (dir, id) = (self.paths().latch(), &self.settings().id);
        let acl = self.acl();
        loop {
            let prefix = match LockPrefix::new_curator(&dir, NAME) {
                Ok(prefix) => prefix,
                Err(error) => return Trouble::of(&error, "CREATE", &dir),
            };
            let held = match client.lock(prefix, id.as_bytes(), Acls::new(&acl)).await {
                Ok(held) => held,
                // Somebody took our place in the line away: again from its end.
                Err(Error::RuntimeInconsistent | Error::ConnectionLoss) => {
                    tokio::time::sleep(STEP).await;
                    continue;
                }
                Err(error) => return Trouble::of(&error, "CREATE", &dir),
            };
            self.set_latch(Some(held.lock_path().to_owned()));
            let gone = self.watch_latch(client, held.lock_path()).await;
            self.set_latch(None);
            match gone {
                Ok(()) => tracing::warn!("somebody deleted {}: this replica leads no longer", held.lock_path()),
                Err(trouble) => return trouble,
            }
        }
    }

    /// Ends when the znode is gone.
    async fn watch_latch(&self, client: &Client, path: &str) -> Result<(), Trouble> {
        loop {
            match client.check_and_watch_stat(path).await {
                Ok((None, _)) => return Ok(()),
                Ok((Some(_), watcher)) => drop(watcher.changed().await),
                Err(Error::ConnectionLoss) => tokio::time::sleep(STEP).await,
                Err(error) => return Err(Trouble::of(&error, "READ", path)),
            }
        }
    }

    pub(crate) async fn follow_leader(&self, client: &Client) -> Trouble {
        let dir = self.paths().latch();
        loop {
            let (names, watcher) = match client.list_and_watch_children(&dir).await {
                Ok(found) => found,
                Err(Error::ConnectionLoss) => {
                    tokio::time::sleep(STEP).await;
                    continue;
                }
                Err(error) => return Trouble::of(&error, "READ", &dir),
            };
            let Some(first) = first(names) else {
                self.set_first(None);
                watcher.changed().await;
                continue;
            };
            let path = format!("{dir}/{first}");
            match client.get_data(&path).await {
                Ok((data, _)) => {
                    self.set_first(Some(String::from_utf8_lossy(&data).chars().take(ID_CHARS_MAX).collect()));
                    watcher.changed().await;
                }
                // The list has changed.
                Err(Error::NoNode) => {}
                Err(Error::ConnectionLoss) => tokio::time::sleep(STEP).await,
                Err(error) => return Trouble::of(&error, "READ", &path),
            }
        }
    }
}

/// Who is first in the line, by the sequence at the end of the name.
fn first(names: Vec<String>) -> Option<String> {
    let sequence = |name: &String| {
        let digits = name.get(name.len().checked_sub(SEQUENCE_DIGITS)?..)?;
        if name.contains(NAME) { digits.parse::<u32>().ok() } else { None }
    };
    let numbered = names.into_iter().filter_map(|name| Some((sequence(&name)?, name)));
    numbered.min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_sequence_is_first_whatever_stands_before_it() {
        let names = ["_c_ffff-latch-0000000012", "_c_0000-latch-0000000013", "note", "ä-latch-000000000ä", "latch-1"];
        assert_eq!(first(names.map(str::to_owned).into()).as_deref(), Some("_c_ffff-latch-0000000012"));
        assert_eq!(first(Vec::new()), None);
    }
}
