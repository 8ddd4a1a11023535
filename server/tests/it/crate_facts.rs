//! What the observer relies on from server and client crate, checked directly: how two watches on one path get along.

use std::time::Duration;

use zookeeper_client::{AddWatchMode, Client, EventType, PersistentWatcher};

use crate::harness::{Truth, open, zookeeper};

/// What a watcher hears within a grace time after all changes were acknowledged.
async fn heard(watcher: &mut PersistentWatcher) -> Vec<(EventType, String)> {
    let mut events = Vec::new();
    while let Ok(event) = tokio::time::timeout(Duration::from_millis(300), watcher.changed()).await {
        events.push((event.event_type, event.path));
    }
    events
}

async fn changes(truth: &Truth, watcher: &Client) {
    truth.make("/order/a").await;
    truth.make("/order/a/b").await;
    truth.delete("/order/a/b").await;
    truth.delete("/order/a").await;
    watcher.sync("/order").await.unwrap();
}

/// The reason for a second session: before 3.9 the later of two watches on one path silently replaces the earlier.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_and_recursive_watch_work_side_by_side_on_two_sessions() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    let [one, two] = [open(&server.address()).await, open(&server.address()).await];
    truth.make("/order").await;
    let mut children = one.watch("/order", AddWatchMode::Persistent).await.unwrap();
    let mut recursive = two.watch("/order", AddWatchMode::PersistentRecursive).await.unwrap();
    for _ in 0..2 {
        changes(&truth, &one).await;
        let tree = heard(&mut recursive).await;
        let names = ["/order/a", "/order/a/b", "/order/a/b", "/order/a"].map(str::to_owned);
        let kinds = [EventType::NodeCreated, EventType::NodeCreated, EventType::NodeDeleted, EventType::NodeDeleted];
        assert_eq!(tree, kinds.into_iter().zip(names).collect::<Vec<_>>());
        let lists = heard(&mut children).await;
        assert_eq!(lists.iter().filter(|(event, _)| *event == EventType::NodeChildrenChanged).count(), 2, "{lists:?}");
        // Both survive the deletion and return of their own node.
        truth.delete("/order").await;
        truth.make("/order").await;
        let root = [EventType::NodeDeleted, EventType::NodeCreated].map(|event| (event, "/order".to_owned()));
        assert_eq!(heard(&mut recursive).await, root);
        heard(&mut children).await;
    }
}
