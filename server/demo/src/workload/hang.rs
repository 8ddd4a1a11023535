//! A client that hangs while it holds: its session lives, its work does not go on, and everyone behind it waits until
//! an operator takes its znode away.

use std::ops::Range;

use zookeeper_client::Error;

use super::mutex;
use super::names::Style;
use super::sample_client::SampleClient;

/// Before it queues up, so that the others show how long a hold usually takes.
const AFTER_MS: Range<u64> = 6_000..8_000;

/// Between two looks whether somebody took its znode away.
const LOOK_MS: Range<u64> = 900..1_100;

pub(super) async fn round(sample: SampleClient<'_>, style: Style) -> Result<(), Error> {
    sample.pace.pause(&AFTER_MS).await;
    let place = mutex::acquire(sample.client, sample.scene.directory, style, &sample.scene.label).await?;
    // No watch on its own znode: one that hangs would not be notified either, and it must not look as if it listened.
    while sample.client.check_stat(place.path()).await?.is_some() {
        sample.pace.pause(&LOOK_MS).await;
    }
    Ok(())
}
