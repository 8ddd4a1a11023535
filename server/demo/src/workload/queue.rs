//! kazoo's Queue: persistent items that outlive who put them there, so their number is bounded here.

use lockscope_core::znode::join_path;
use zookeeper_client::{Acls, Client, CreateMode, Error};

use super::queue_node::{inhabited, remove};
use super::sample_client::SampleClient;

/// Items that wait at most; the producer skips its turn when there are so many.
const ITEMS_MAX: i32 = 30;
/// An item's name before its sequence number; 100 is kazoo's default priority.
const ITEM: &str = "entry-100-";

pub(super) async fn produce(sample: SampleClient<'_>) -> Result<(), Error> {
    let SampleClient { client, scene, .. } = sample;
    let waiting = client.check_stat(scene.directory).await?.map_or(0, |stat| stat.num_children);
    if waiting < ITEMS_MAX {
        let options = CreateMode::PersistentSequential.with_acls(Acls::anyone_all());
        client.create(&join_path(scene.directory, ITEM), scene.label.as_bytes(), &options).await?;
    }
    Ok(())
}

/// Takes the first item, waiting for one when there is none, and works on it.
pub(super) async fn consume(sample: SampleClient<'_>) -> Result<(), Error> {
    let SampleClient { client, scene, .. } = sample;
    for name in inhabited(client, scene.directory).await? {
        let path = join_path(scene.directory, &name);
        let taken = match client.get_data(&path).await {
            Ok(_) => client.delete(&path, None).await,
            Err(error) => Err(error),
        };
        match taken {
            Ok(()) => {
                sample.hold().await;
                return Ok(());
            }
            // Another consumer was faster: the next one.
            Err(Error::NoNode) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

pub(super) async fn clear(client: &Client, directory: &str) -> Result<(), Error> {
    for name in client.list_children(directory).await? {
        if name.starts_with(ITEM) {
            remove(client, &join_path(directory, &name)).await?;
        }
    }
    Ok(())
}
