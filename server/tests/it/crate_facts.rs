//! What the observer relies on from server and client crate, checked directly: how two watches on one path get along.

use futures_util::FutureExt as _;
use zookeeper_client::{AddWatchMode, Client, EventType, PersistentWatcher};

use crate::harness::{Truth, open, zookeeper};

/// What a watcher has heard of all that was acknowledged: events of a session come before its later answers.
async fn heard(client: &Client, watcher: &mut PersistentWatcher) -> Vec<(EventType, String)> {
    client.sync("/").await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = watcher.changed().now_or_never() {
        events.push((event.event_type, event.path));
    }
    events
}

async fn changes(truth: &Truth) {
    truth.make("/order/a").await;
    truth.make("/order/a/b").await;
    truth.delete("/order/a/b").await;
    truth.delete("/order/a").await;
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
        changes(&truth).await;
        let tree = heard(&two, &mut recursive).await;
        let names = ["/order/a", "/order/a/b", "/order/a/b", "/order/a"].map(str::to_owned);
        let kinds = [EventType::NodeCreated, EventType::NodeCreated, EventType::NodeDeleted, EventType::NodeDeleted];
        assert_eq!(tree, kinds.into_iter().zip(names).collect::<Vec<_>>());
        let lists = heard(&one, &mut children).await;
        assert_eq!(lists.iter().filter(|(event, _)| *event == EventType::NodeChildrenChanged).count(), 2, "{lists:?}");
        // Both survive the deletion and return of their own node.
        truth.delete("/order").await;
        truth.make("/order").await;
        let root = [EventType::NodeDeleted, EventType::NodeCreated].map(|event| (event, "/order".to_owned()));
        assert_eq!(heard(&two, &mut recursive).await, root);
        heard(&one, &mut children).await;
    }
}
