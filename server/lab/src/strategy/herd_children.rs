//! One fixed znode; who can't make it watches the children of the directory, and every change there wakes all.

use zookeeper_client::Error;

use super::{FIXED, LabNode, StrategyEnv, Waiting};

pub(super) struct HerdChildren;

impl Waiting for HerdChildren {
    async fn enter(ground: StrategyEnv<'_>) -> Result<LabNode, Error> {
        loop {
            if let Some(place) = ground.take_fixed().await? {
                return Ok(place);
            }
            let (names, watcher) = ground.client.list_and_watch_children(ground.directory).await?;
            if names.iter().any(|name| name == FIXED) {
                ground.wait(watcher).await?;
            }
        }
    }
}
