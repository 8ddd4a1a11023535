//! The demo's sample workload.

use std::time::Duration;

use crate::harness::{Believed, Observed, zookeeper};

/// The sample workload shows every scene, and leaves nothing when it is stopped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sample_workload_contends_and_leaves_nothing() {
    let server = zookeeper().await;
    let observed = Observed::start(&server.address(), &["/"]);
    observed.until_live().await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let address = server.address();
    let workload = tokio::spawn(async move { server::demo::workload::run_workload(&address, stopped).await });
    let busy = |believed: &Believed| {
        let queued = |directory: &str, count: usize| believed.tree.keys().filter(|path| path.starts_with(directory)).count() > count;
        queued("/reports/nightly/x-", 11)
            && queued("/payments/curator/_c_", 1)
            && queued("/inventory/kazoo/", 1)
            && queued("/order/lock-", 1)
            && believed.tree.contains_key("/exclusive_lock/lock")
            && believed.tree.contains_key("/idle")
    };
    observed.until("all scenes busy at once", busy).await;
    let is_labelled = |believed: &Believed| {
        let reports = believed.tree.iter().filter(|(path, _)| path.starts_with("/reports/nightly/x-"));
        let mut payloads = reports.filter_map(|(_, node)| node.facts.as_ref()?.payload.as_deref());
        payloads.any(|payload| payload.starts_with(b"report-"))
    };
    // A contender is seen before it is read.
    observed.until("a report says who it is", is_labelled).await;
    stop.send(true).unwrap();
    tokio::time::timeout(Duration::from_secs(10), workload).await.expect("the workload stops").unwrap().unwrap();
    observed
        .until("nothing held or waiting", |believed| {
            believed.tree.values().all(|node| node.facts.as_ref().is_some_and(|facts| facts.owner.is_none()))
        })
        .await;
    observed.stop().await;
}
