//! Numbered znodes; the lowest holds, everybody else watches the one before its own.

use zookeeper_client::Error;

use super::numbered::Numbered;
use super::{Ground, Place, Waiting};

pub(super) struct Predecessor;

impl Waiting for Predecessor {
    async fn enter(ground: Ground<'_>) -> Result<Place, Error> {
        let own = Numbered::make(ground).await?;
        loop {
            let before = own.before(ground).await?;
            let Some(last) = before.last() else { return Ok(own.place) };
            ground.wait_at(&format!("{}/{last}", ground.directory)).await?;
        }
    }
}
