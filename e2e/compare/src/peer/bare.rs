//! The recursive watch of zookeeper-client, alone, or with one read of each created znode.

use std::time::Duration;

use zookeeper_client::{AddWatchMode, Client, EventType};

const SESSION: Duration = Duration::from_secs(20);

#[tokio::main]
pub(super) async fn watch(connect: &str, root: &str, reads: bool) {
    let client = Client::connector().with_session_timeout(SESSION).connect(connect).await.unwrap();
    let mut watcher = client.watch(root, AddWatchMode::PersistentRecursive).await.unwrap();
    println!("ready");
    let end = crate::load::end(root);
    let mut seen = 0_u64;
    loop {
        let event = watcher.changed().await;
        let is_created = event.event_type == EventType::NodeCreated;
        seen += u64::from(is_created || event.event_type == EventType::NodeDeleted);
        if event.path == end {
            break;
        }
        if reads && is_created {
            let client = client.clone();
            // It may be gone already.
            tokio::spawn(async move { drop(client.get_data(&event.path).await) });
        }
    }
    super::end(seen);
}
