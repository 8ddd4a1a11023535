//! Curator's InterProcessSemaphoreV2: a mutex decides who may take a lease next; the leases are the permits.

use lockscope_core::znode::join_path;
use zookeeper_client::Error;

use super::mutex;
use super::names::{Style, protected};
use super::queue_node::QueueNode;
use super::sample_client::SampleClient;

pub(super) fn leases(root: &str) -> String {
    join_path(root, "leases")
}

/// Where clients wait.
pub(super) fn locks(root: &str) -> String {
    join_path(root, "locks")
}

pub(super) async fn round(sample: SampleClient<'_>, permits: usize) -> Result<(), Error> {
    let SampleClient { client, scene, .. } = sample;
    let lock = mutex::acquire(client, &locks(scene.directory), Style::Curator, &scene.label).await?;
    // The newest lease is no permit yet: its client waits, first in the queue, until one of the others goes.
    let lease = QueueNode::queue_up(client, &leases(scene.directory), &protected("lease-"), &scene.label).await?;
    lease.until_at_most(client, permits).await?;
    lock.leave(client).await?;
    sample.hold().await;
    lease.leave(client).await
}
