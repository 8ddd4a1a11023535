//! Exclusive locks: a queue in which each watches the one before, or one fixed znode that everyone wants.

use lockscope_core::znode::join_path;
use zookeeper_client::{Client, Error};

use super::names::{Style, nearest};
use super::queue_node::{QueueNode, gone_or_changed};
use super::sample_client::SampleClient;

pub(super) async fn acquire(client: &Client, directory: &str, style: Style, label: &str) -> Result<QueueNode, Error> {
    let place = QueueNode::queue_up(client, directory, &style.prefix(client), label).await?;
    turn(client, &place, style).await?;
    Ok(place)
}

/// Waits for the one before, again and again, until there is none.
pub(super) async fn turn(client: &Client, place: &QueueNode, style: Style) -> Result<(), Error> {
    place.turn(client, |names, own| nearest(names, own, style.mark()).cloned()).await
}

/// Acquires, holds, releases.
pub(super) async fn round(sample: SampleClient<'_>, style: Style) -> Result<(), Error> {
    let place = acquire(sample.client, sample.scene.directory, style, &sample.scene.label).await?;
    sample.hold().await;
    place.leave(sample.client).await
}

/// The herd recipe: everyone wants the same znode, and everyone wakes when it goes.
pub(super) async fn fixed_round(sample: SampleClient<'_>) -> Result<(), Error> {
    let path = join_path(sample.scene.directory, "lock");
    let place = loop {
        match QueueNode::take(sample.client, path.clone(), &sample.scene.label).await {
            Ok(place) => break place,
            Err(Error::NodeExists) => gone_or_changed(sample.client, &path).await?,
            Err(error) => return Err(error),
        }
    };
    sample.hold().await;
    place.leave(sample.client).await
}
