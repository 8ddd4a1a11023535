//! One fixed znode; who can't make it watches whether it exists, and its end wakes all.

use zookeeper_client::Error;

use super::{LabNode, StrategyEnv, Waiting, fixed_path};

pub(super) struct HerdExists;

impl Waiting for HerdExists {
    async fn enter(ground: StrategyEnv<'_>) -> Result<LabNode, Error> {
        loop {
            if let Some(place) = ground.take_fixed().await? {
                return Ok(place);
            }
            ground.wait_at(&fixed_path(ground.directory)).await?;
        }
    }
}
