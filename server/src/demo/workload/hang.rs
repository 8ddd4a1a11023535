//! A client that hangs while it holds: its session lives, its work does not go on, and everyone behind it waits until an
//! operator takes its znode away.

use std::ops::Range;

use zookeeper_client::Error;

use super::mutex;
use super::names::Style;
use super::place::gone_or_changed;
use super::spawn::Player;

/// Before it queues up, so that the others show how long a hold usually takes.
const AFTER_MS: Range<u64> = 6_000..8_000;

pub(super) async fn round(player: Player<'_>, style: Style) -> Result<(), Error> {
    player.pace.pause(&AFTER_MS).await;
    let place = mutex::acquire(player.client, player.scene.directory, style, &player.scene.label).await?;
    while player.client.check_stat(place.path()).await?.is_some() {
        gone_or_changed(player.client, place.path()).await?;
    }
    Ok(())
}
