//! kazoo's DoubleBarrier: members gather, the last one opens the gate, all work, and all leave together.

use std::ops::Range;

use lockscope_core::znode::join_path;
use zookeeper_client::{Acls, Client, CreateMode, Error, EventType};

use super::names::hex;
use super::queue_node::{QueueNode, gone_or_changed, inhabited, remove, wait};
use super::sample_client::SampleClient;

/// How long a member waits for others to leave: one that lost its session and came again too early never does.
const EXIT_MS_MAX: Range<u64> = 20_000..20_001;

/// The gate: there while members work.
fn ready(directory: &str) -> String {
    join_path(directory, "ready")
}

pub(super) async fn round(sample: SampleClient<'_>, members: usize) -> Result<(), Error> {
    let SampleClient { client, scene, pace } = sample;
    let place = QueueNode::take(client, join_path(scene.directory, &hex()), &scene.label).await?;
    enter(client, scene.directory, members).await?;
    sample.hold().await;
    let directory = place.directory().to_owned();
    remove(client, &ready(&directory)).await?;
    match tokio::time::timeout(pace.some(&EXIT_MS_MAX), exit(client, &directory, place.name())).await {
        Ok(left) => left?,
        Err(_) => tracing::debug!(label = %scene.label, "not all members of the sample's barrier left"),
    }
    place.leave(client).await
}

/// Opens the gate when all are there, or waits until somebody does.
async fn enter(client: &Client, directory: &str, members: usize) -> Result<(), Error> {
    let ready = ready(directory);
    loop {
        // The watch first: a gate that opens after the look at the members is then not missed, even when it closes
        // again.
        let (is_open, opened) = client.check_and_watch_stat(&ready).await?;
        if is_open.is_some() {
            return Ok(());
        }
        if client.list_children(directory).await?.len() >= members {
            break;
        }
        if wait(opened).await? == EventType::NodeCreated {
            return Ok(());
        }
    }
    match client.create(&ready, b"", &CreateMode::Persistent.with_acls(Acls::anyone_all())).await {
        Ok(_) | Err(Error::NodeExists) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The member with the lowest name waits for all others; they go and wait for it. So nobody comes again before all
/// left.
async fn exit(client: &Client, directory: &str, own: &str) -> Result<(), Error> {
    loop {
        let names = inhabited(client, directory).await?;
        let (Some(lowest), Some(highest)) = (names.first(), names.last()) else { continue };
        if lowest != own {
            remove(client, &join_path(directory, own)).await?;
            return gone_or_changed(client, &join_path(directory, lowest)).await;
        }
        if highest == own {
            return Ok(());
        }
        gone_or_changed(client, &join_path(directory, highest)).await?;
    }
}

/// Takes a gate away that no member is left to close.
pub(super) async fn clear(client: &Client, directory: &str) -> Result<(), Error> {
    remove(client, &ready(directory)).await
}
