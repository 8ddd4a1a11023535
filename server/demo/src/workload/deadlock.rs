//! Two clients that take the same two locks in opposite orders, until the one that has held for less time gives up.

use std::ops::Range;

use lockscope_core::znode::join_path;
use zookeeper_client::Error;

use super::mutex::{self, acquire};
use super::names::Style;
use super::place::{Place, inhabited};
use super::spawn::Player;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Begins, and waits as long as it takes.
    Stays,
    /// Comes second, from the other end, and gives up after a while.
    GivesUp,
}

const STYLE: Style = Style::Curator;
/// Until the second one is there: the deadlock never closes by chance before both have been seen holding.
const APART_MS: Range<u64> = 800..1_200;
/// How long the deadlock lasts.
const PATIENCE_MS: Range<u64> = 58_000..62_000;

/// The two locks under `root`, in the order of who stays.
pub(super) fn locks(root: &str) -> [String; 2] {
    ["a", "b"].map(|name| join_path(root, name))
}

pub(super) async fn round(player: Player<'_>, side: Side) -> Result<(), Error> {
    let Player { client, scene, pace } = player;
    let [a, b] = locks(scene.directory);
    let (first, second) = match side {
        Side::Stays => {
            let first = acquire(client, &a, STYLE, &scene.label).await?;
            inhabited(client, &b).await?;
            (first, acquire(client, &b, STYLE, &scene.label).await?)
        }
        Side::GivesUp => {
            inhabited(client, &a).await?;
            pace.pause(&APART_MS).await;
            let first = acquire(client, &b, STYLE, &scene.label).await?;
            let second = Place::queue_up(client, &a, &STYLE.prefix(client), &scene.label).await?;
            match tokio::time::timeout(pace.some(&PATIENCE_MS), mutex::turn(client, &second, STYLE)).await {
                // The other one went, or was made to.
                Ok(turn) => turn.map(|()| (first, second))?,
                Err(_) => {
                    second.leave(client).await?;
                    first.leave(client).await?;
                    // Once more, in the order that can't deadlock.
                    let first = acquire(client, &a, STYLE, &scene.label).await?;
                    (first, acquire(client, &b, STYLE, &scene.label).await?)
                }
            }
        }
    };
    player.hold().await;
    second.leave(client).await?;
    first.leave(client).await
}
