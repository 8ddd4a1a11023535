//! Two clients that take the same two locks in opposite orders, until the one that has held for less time gives up.

use std::ops::Range;

use lockscope_core::znode::join_path;
use zookeeper_client::Error;

use super::mutex::{self, acquire};
use super::names::Style;
use super::queue_node::{QueueNode, inhabited};
use super::sample_client::SampleClient;
use super::scenes::Side;

const STYLE: Style = Style::Curator;
/// Until the second one is there: the deadlock never closes by chance before both have been seen holding.
const APART_MS: Range<u64> = 800..1_200;
/// How long the deadlock lasts.
const PATIENCE_MS: Range<u64> = 58_000..62_000;

/// The two locks under `root`, in the order of who stays.
pub(super) fn locks(root: &str) -> [String; 2] {
    ["a", "b"].map(|name| join_path(root, name))
}

pub(super) async fn round(sample: SampleClient<'_>, side: Side) -> Result<(), Error> {
    let SampleClient { client, scene, pace } = sample;
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
            let second = QueueNode::queue_up(client, &a, &STYLE.prefix(client), &scene.label).await?;
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
    sample.hold().await;
    second.leave(client).await?;
    first.leave(client).await
}
