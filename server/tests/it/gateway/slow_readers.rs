//! Viewers that never read at a replica that watches nothing, and such a replica that stands still: neither holds back
//! whoever reads, there or at the owner, and neither makes a process grow.

use std::collections::VecDeque;

use rustix::process::Signal;
use serde_json::json;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::acts::same_token;
use super::{RECORDED, Server, Viewer, secret, three};
use crate::harness::{Truth, open, queue, zookeeper};
use crate::served::until;

const DEAF: u64 = 8;
const CONTENDERS: usize = 300;
/// What a process may grow by while others do not read, in KiB.
const GROWTH_KIB_MAX: u64 = 64 * 1024;
/// The same while a file is read slowly, which is larger by far.
const FILE_GROWTH_KIB_MAX: u64 = 16 * 1024;

async fn metric(server: &Server, name: &str) -> u64 {
    let text = server.get("/metrics").await.1;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).unwrap_or("0");
    line.parse().unwrap()
}

fn resident_kib(server: &Server) -> u64 {
    memory_kib(server, "VmRSS:")
}

/// A line of what the kernel says of a process's memory.
fn memory_kib(server: &Server, which: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id().unwrap())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(which)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// A file that is read through another replica by somebody who takes little at a time: it stays where it is made, and comes
/// whole in the end. `GATEWAY_LIVES` makes it larger: each of them is some six thousand bytes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_read_slowly_through_another_replica_is_kept_by_neither() {
    let lives: usize = std::env::var("GATEWAY_LIVES").ok().and_then(|text| text.parse().ok()).unwrap_or(5_000);
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    // Names are long, so that few lives make a large file.
    let (mut lock, step) = ("/a".to_owned(), format!("/{}", "x".repeat(200)));
    truth.make(&lock).await;
    for _ in 0..14 {
        lock += &step;
        truth.make(&lock).await;
    }
    let client = open(&zookeeper.address()).await;
    let place = tempfile::tempdir().unwrap();
    let [one, two, gateway] = three(&zookeeper, &secret(&place), RECORDED).await;
    let token = same_token(&[&one, &two, &gateway], "operator", "ops").await;
    let prefix = format!("{lock}/lock-");
    let mut last = String::new();
    for _ in 0..lives.div_ceil(100) {
        let line = futures_util::future::join_all((0..100).map(|_| queue(&client, &prefix))).await;
        futures_util::future::join_all(line.iter().map(|node| truth.client.delete(node, None))).await;
        last.clone_from(line.iter().max().unwrap());
    }
    let name = last.rsplit('/').next().unwrap();
    let http = reqwest::Client::new();
    let lives_of = async |server: &Server| {
        let target = format!("{}/api/v1/history/holds?ensemble=default&limit=200", server.url);
        http.get(target).bearer_auth(&token).send().await.unwrap().text().await.unwrap()
    };
    until(async || lives_of(&one).await.contains(name) && lives_of(&two).await.contains(name)).await;

    let before = [&gateway, &one].map(resident_kib);
    let address = gateway.url.strip_prefix("http://").unwrap();
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(16 * 1024).unwrap();
    let mut reader = socket.connect(address.parse().unwrap()).await.unwrap();
    let request = format!(
        "GET /api/v1/history/export?ensemble=default&format=csv HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
    );
    reader.write_all(request.as_bytes()).await.unwrap();
    let (mut piece, mut read, mut tail, mut most) = (vec![0; 16 * 1024], 0, Vec::new(), [0_u64; 2]);
    loop {
        let count = reader.read(&mut piece).await.unwrap();
        if count == 0 {
            break;
        }
        if read == 0 {
            let head = String::from_utf8_lossy(&piece[..count]).to_lowercase();
            assert!(head.starts_with("http/1.1 200") && head.contains("chunked"), "{head}");
        }
        read += count;
        tail = [&tail[tail.len().saturating_sub(16)..], &piece[..count]].concat();
        // Whoever asks for something else in between is answered; that is what makes it slow.
        if read % (64 * 16 * 1024) < count {
            assert_eq!(gateway.get("/healthz").await.0, 200);
            for (most, server) in most.iter_mut().zip([&gateway, &one]) {
                *most = (*most).max(resident_kib(server));
            }
        }
    }
    assert!(tail.ends_with(b"0\r\n\r\n"), "it is whole");
    assert!(read > lives * 5_000, "{read}");
    let grown: Vec<u64> = most.iter().zip(before).map(|(most, before)| most.saturating_sub(before)).collect();
    eprintln!("a file of {} KiB, read 16 KiB at a time: the gateway and the owner grew by {grown:?} KiB", read / 1024);
    assert!(grown.iter().all(|kib| *kib <= FILE_GROWTH_KIB_MAX), "{grown:?}");
    assert_eq!(metric(&gateway, "lockscope_cluster_handed_on_total{kind=\"file\",result=\"answered\"}").await, 1);
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
