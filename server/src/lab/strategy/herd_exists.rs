//! One fixed znode; who can't make it watches whether it exists, and its end wakes all.

use zookeeper_client::Error;

use super::{FIXED, Ground, Place, Waiting};

pub(super) struct HerdExists;

impl Waiting for HerdExists {
    async fn enter(ground: Ground<'_>) -> Result<Place, Error> {
        loop {
            if let Some(place) = ground.take_fixed().await? {
                return Ok(place);
            }
            ground.wait_at(&format!("{}/{FIXED}", ground.directory)).await?;
        }
    }
}
