//! Curator's InterProcessReadWriteLock: one queue of readers and writers; readers in front of all writers hold
//! together.

use zookeeper_client::Error;

use super::names::{first, nearest, protected};
use super::queue_node::QueueNode;
use super::sample_client::SampleClient;
use super::scenes::Access;

const READ: &str = "__READ__";
const WRITE: &str = "__WRIT__";
/// In the names of both kinds.
const BOTH: &str = "__";

pub(super) async fn round(sample: SampleClient<'_>, access: Access) -> Result<(), Error> {
    let SampleClient { client, scene, .. } = sample;
    let name = match access {
        Access::Read => READ,
        Access::Write => WRITE,
    };
    let place = QueueNode::queue_up(client, scene.directory, &protected(name), &scene.label).await?;
    match access {
        // Every reader waits for the first writer, even when a nearer one is in front: all wake when it goes.
        Access::Read => place.turn(client, |names, own| first(names, own, WRITE).cloned()).await?,
        Access::Write => place.turn(client, |names, own| nearest(names, own, BOTH).cloned()).await?,
    }
    sample.hold().await;
    place.leave(client).await
}
