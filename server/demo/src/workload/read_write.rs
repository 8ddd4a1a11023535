//! Curator's InterProcessReadWriteLock: one queue of readers and writers; readers in front of all writers hold together.

use zookeeper_client::Error;

use super::names::{first, nearest, protected};
use super::place::Place;
use super::spawn::Player;

/// What a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

const READ: &str = "__READ__";
const WRITE: &str = "__WRIT__";
/// In the names of both kinds.
const BOTH: &str = "__";

pub(super) async fn round(player: Player<'_>, access: Access) -> Result<(), Error> {
    let Player { client, scene, .. } = player;
    let name = match access {
        Access::Read => READ,
        Access::Write => WRITE,
    };
    let place = Place::queue_up(client, scene.directory, &protected(name), &scene.label).await?;
    match access {
        // Every reader waits for the first writer, even when a nearer one is in front: all wake when it goes.
        Access::Read => place.turn(client, |names, own| first(names, own, WRITE).cloned()).await?,
        Access::Write => place.turn(client, |names, own| nearest(names, own, BOTH).cloned()).await?,
    }
    player.hold().await;
    place.leave(client).await
}
