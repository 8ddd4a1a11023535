//! Numbered znodes; the lowest holds, everybody else watches the one before its own.

use zookeeper_client::Error;

use super::numbered::Numbered;
use super::{LabNode, StrategyEnv, Waiting};

pub(super) struct Predecessor;

impl Waiting for Predecessor {
    async fn enter(ground: StrategyEnv<'_>) -> Result<LabNode, Error> {
        let own = Numbered::make(ground).await?;
        loop {
            let before = own.before(ground).await?;
            let Some(last) = before.last() else { return Ok(own.place) };
            ground.wait_at(&format!("{}/{last}", ground.directory)).await?;
        }
    }
}
