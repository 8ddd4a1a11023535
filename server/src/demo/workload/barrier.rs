//! kazoo's DoubleBarrier: members gather, the last one opens the gate, all work, and all leave together.

use std::time::Duration;

use app::domain::znode::join_path;
use zookeeper_client::{Acls, Client, CreateMode, Error};

use super::names::hex;
use super::place::{Place, appeared, gone_or_changed, inhabited, remove};
use super::spawn::Player;

/// How long a member waits for others to leave: one that lost its session and came again too early never does.
const EXIT_MAX: Duration = Duration::from_secs(20);

/// The gate: there while members work.
fn ready(directory: &str) -> String {
    join_path(directory, "ready")
}

pub(super) async fn round(player: Player<'_>, members: usize) -> Result<(), Error> {
    let Player { client, scene, .. } = player;
    let place = Place::take(client, join_path(scene.directory, &hex()), &scene.label).await?;
    enter(client, scene.directory, members).await?;
    player.hold().await;
    let directory = place.directory().to_owned();
    remove(client, &ready(&directory)).await?;
    match tokio::time::timeout(EXIT_MAX, exit(client, &directory, place.name())).await {
        Ok(left) => left?,
        Err(_) => tracing::debug!(label = %scene.label, "not all members of the sample's barrier left"),
    }
    place.leave(client).await
}

async fn enter(client: &Client, directory: &str, members: usize) -> Result<(), Error> {
    let ready = ready(directory);
    if client.list_children(directory).await?.len() < members {
        return appeared(client, &ready).await;
    }
    match client.create(&ready, b"", &CreateMode::Persistent.with_acls(Acls::anyone_all())).await {
        Ok(_) | Err(Error::NodeExists) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The member with the lowest name waits for all others; they go and wait for it. So nobody comes again before all left.
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
