//! A client whose create succeeded but whose reply was lost: it creates again and waits behind its own first znode,
//! with everyone else, until it notices.

use std::ops::Range;

use zookeeper_client::Error;

use super::mutex;
use super::names::Style;
use super::queue_node::QueueNode;
use super::sample_client::SampleClient;

const STYLE: Style = Style::Curator;
const UNNOTICED_MS: Range<u64> = 38_000..42_000;

pub(super) async fn round(sample: SampleClient<'_>) -> Result<(), Error> {
    let SampleClient { client, scene, pace } = sample;
    // One name for both: a client that tries again uses the random part it had.
    let prefix = STYLE.prefix(client);
    let lost = QueueNode::queue_up(client, scene.directory, &prefix, &scene.label).await?;
    let known = QueueNode::queue_up(client, scene.directory, &prefix, &scene.label).await?;
    match tokio::time::timeout(pace.some(&UNNOTICED_MS), mutex::turn(client, &known, STYLE)).await {
        // Somebody else took the first one away.
        Ok(turn) => turn?,
        Err(_) => {
            lost.leave(client).await?;
            mutex::turn(client, &known, STYLE).await?;
        }
    }
    sample.hold().await;
    known.leave(client).await
}
