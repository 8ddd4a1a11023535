//! Viewers that never read at a replica that watches nothing, and such a replica that stands still: neither holds back
//! whoever reads, there or at the owner, and neither makes a process grow.

use std::collections::VecDeque;

use rustix::process::Signal;
use serde_json::json;

use super::{Server, Viewer, secret, three};
use crate::harness::{Truth, open, queue, zookeeper};
use crate::served::until;

const DEAF: u64 = 8;
const CONTENDERS: usize = 300;
/// What a process may grow by while others do not read, in KiB.
const GROWTH_KIB_MAX: u64 = 64 * 1024;

async fn metric(server: &Server, name: &str) -> u64 {
    let text = server.get("/metrics").await.1;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).unwrap_or("0");
    line.parse().unwrap()
}

pub(super) fn resident_kib(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id().unwrap())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_never_reads_at_another_replica_is_closed_and_holds_nobody_back() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    truth.make("/a").await;
    truth.make("/a/order").await;
    let client = open(&zookeeper.address()).await;
    let mut line = VecDeque::new();
    for _ in 0..CONTENDERS {
        line.push_back(queue(&client, "/a/order/lock-").await);
    }
    let place = tempfile::tempdir().unwrap();
    let [one, _two, gateway] = three(&zookeeper, &secret(&place), "").await;
    let lock = json!({ "kind": "lock", "path": "/a/order" });
    let mut viewer = Viewer::open(&gateway, &lock).await;
    viewer.until("live", Viewer::is_live).await;
    let mut direct = Viewer::open(&one, &lock).await;
    direct.until("live", Viewer::is_live).await;
    let before_kib = [&gateway, &one].map(resident_kib);
    let mut deaf = Vec::new();
    for _ in 0..DEAF {
        deaf.push(Viewer::open(&gateway, &lock).await);
    }

    // Each hand-off moves all rows. Whoever reads sees each of them, live, while the others are in the way.
    until(async || {
        let first = line.pop_front().unwrap();
        truth.client.delete(&first, None).await.unwrap();
        line.push_back(queue(&client, "/a/order/lock-").await);
        let next = line[0].rsplit('/').next().unwrap().to_owned();
        let is_seen = |viewer: &Viewer| viewer.is_live() && viewer.body["head"].to_string().contains(&next);
        viewer.until("told of the next holder", is_seen).await;
        direct.until("told of the next holder", is_seen).await;
        metric(&gateway, "lockscope_slow_sockets_closed_total").await == DEAF
    })
    .await;
    assert_eq!(metric(&one, "lockscope_slow_sockets_closed_total").await, 0, "the owner has nobody who does not read");
    let grown: Vec<u64> = [&gateway, &one]
        .iter()
        .zip(before_kib)
        .map(|(server, before)| resident_kib(server).saturating_sub(before))
        .collect();
    assert!(grown.iter().all(|kib| *kib <= GROWTH_KIB_MAX), "the gateway and the owner grew by {grown:?} KiB");

    // The replica itself stands still and reads nothing of its owner: the owner's viewers go on.
    gateway.signal(Signal::STOP);
    for _ in 0..100 {
        truth.client.delete(&line.pop_front().unwrap(), None).await.unwrap();
        line.push_back(queue(&client, "/a/order/lock-").await);
    }
    let next = line[0].rsplit('/').next().unwrap().to_owned();
    let is_seen = |viewer: &Viewer| viewer.is_live() && viewer.body["head"].to_string().contains(&next);
    direct.until("told of the last of a hundred", is_seen).await;
    gateway.signal(Signal::CONT);
    viewer.until("told of the last of a hundred", is_seen).await;
}
