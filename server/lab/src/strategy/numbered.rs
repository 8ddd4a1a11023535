//! What the ways with numbered znodes share.

use zookeeper_client::{Acls, CreateMode, Error};

use super::{LabNode, StrategyEnv};

pub(super) const PREFIX: &str = "lock-";
/// How often a create is tried again when its reply is lost.
const CREATES_MAX: u32 = 5;

/// A numbered znode of one's own.
pub(super) struct Numbered {
    pub(super) place: LabNode,
    name: String,
}

impl Numbered {
    /// Makes one. When the reply is lost it is simply made again: whether the first was made is not looked at.
    pub(super) async fn make(ground: StrategyEnv<'_>) -> Result<Self, Error> {
        let prefix = format!("{}/{PREFIX}", ground.directory);
        let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
        let mut tries_left = CREATES_MAX;
        let (_, sequence) = loop {
            tries_left -= 1;
            match ground.client.create(&prefix, &ground.label(), &options).await {
                Err(Error::ConnectionLoss) if tries_left > 0 => {}
                made => break made?,
            }
        };
        ground.teller.came(sequence.into_i64());
        Ok(Self { place: LabNode { path: format!("{prefix}{sequence}") }, name: format!("{PREFIX}{sequence}") })
    }

    /// All names in order, up to and without one's own. An error when one's own is gone.
    pub(super) async fn before(&self, ground: StrategyEnv<'_>) -> Result<Vec<String>, Error> {
        let mut names = ground.client.list_children(ground.directory).await?;
        if !names.contains(&self.name) {
            return Err(Error::NoNode);
        }
        names.retain(|name| *name < self.name);
        names.sort_unstable();
        Ok(names)
    }
}
