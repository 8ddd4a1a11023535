//! Exclusive locks: a queue in which each watches the one before, or one fixed znode that everyone wants.

use lockscope_core::znode::join_path;
use zookeeper_client::{Client, Error};

use super::names::{Style, nearest};
use super::place::{Place, gone_or_changed};
use super::spawn::Player;

/// Queues up and waits for its turn.
pub(super) async fn acquire(client: &Client, directory: &str, style: Style, label: &str) -> Result<Place, Error> {
    let place = Place::queue_up(client, directory, &style.prefix(client), label).await?;
    turn(client, &place, style).await?;
    Ok(place)
}

/// Waits for the one before, again and again, until there is none.
pub(super) async fn turn(client: &Client, place: &Place, style: Style) -> Result<(), Error> {
    place.turn(client, |names, own| nearest(names, own, style.mark()).cloned()).await
}

/// Acquires, holds, releases.
pub(super) async fn round(player: Player<'_>, style: Style) -> Result<(), Error> {
    let place = acquire(player.client, player.scene.directory, style, &player.scene.label).await?;
    player.hold().await;
    place.leave(player.client).await
}

/// The herd recipe: everyone wants the same znode, and everyone wakes when it goes.
pub(super) async fn fixed_round(player: Player<'_>) -> Result<(), Error> {
    let path = join_path(player.scene.directory, "lock");
    let place = loop {
        match Place::take(player.client, path.clone(), &player.scene.label).await {
            Ok(place) => break place,
            Err(Error::NodeExists) => gone_or_changed(player.client, &path).await?,
            Err(error) => return Err(error),
        }
    };
    player.hold().await;
    place.leave(player.client).await
}
