//! Numbered znodes; the lowest holds, and everybody else watches the lowest: its end wakes all.

use zookeeper_client::Error;

use super::numbered::Numbered;
use super::{LabNode, StrategyEnv, Waiting};

pub(super) struct HerdLowest;

impl Waiting for HerdLowest {
    async fn enter(ground: StrategyEnv<'_>) -> Result<LabNode, Error> {
        let own = Numbered::make(ground).await?;
        loop {
            let before = own.before(ground).await?;
            let Some(lowest) = before.first() else { return Ok(own.place) };
            ground.wait_at(&format!("{}/{lowest}", ground.directory)).await?;
        }
    }
}
