//! `lockscope lab` as its user meets it.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::cli::{check, lockscope};
use crate::harness::{DEADLINE, Truth, zookeeper};

#[tokio::test]
async fn mistakes_exit_with_64_and_one_sentence() {
    check(
        &["lab", "--strategies", "herd"],
        64,
        "--strategies has \"herd\", which is none; use predecessor, herd_children",
    )
    .await;
    check(&["lab", "--zk", "nowhere"], 64, "--zk \"nowhere\" has the server \"nowhere\" without a port").await;
    check(&["lab", "--zk", "a:1", "--server", "http://b:1"], 64, "cannot be used").await;
    check(&["lab", "--server", "b:1"], 64, "is neither http nor https").await;
    check(&["lab", "--server", "http://127.0.0.1:1", "--token-file", "/nonexistent"], 64, "can't be read").await;
    check(&["lab", "--server", "http://127.0.0.1:1"], 69, "can't be asked").await;
    check(&["lab", "--zk", "127.0.0.1:1", "--clients", "1"], 64, "clients").await;
}

/// The figures of a line of the table.
fn line(text: &str, name: &str) -> Vec<String> {
    let line =
        text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name:?} in\n{text}"));
    line.split_whitespace().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_clients_cost_1225_events_against_49() {
    let mut command = lockscope(&["lab", "--clients", "50", "--strategies", "predecessor,herd_children"]);
    let done = tokio::time::timeout(DEADLINE * 4, command.output()).await.unwrap().unwrap();
    let (text, told) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert_eq!(done.status.code(), Some(0), "{text}\n{told}");
    assert!(text.contains("one strategy after the other") && text.contains("Median hand-off: "), "{text}");
    assert_eq!(line(&text, "watch events"), ["49", "1,225", "25.0x"], "{text}");
    assert_eq!(line(&text, "lock taken")[..2], ["50", "50"], "{text}");
    assert_eq!(line(&text, "held by two")[..2], ["0", "0"], "{text}");
    assert!(told.contains("starting a private ZooKeeper") && told.contains("finished: "), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupted_it_leaves_nothing() {
    let server = zookeeper().await;
    let address = server.address();
    let truth = Truth::new(&address).await;
    let before = truth.client.list_children("/").await.unwrap();
    let mut child = lockscope(&["lab", "--zk", &address, "--clients", "5", "--hold-ms", "60000"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let began =
        async { while !lines.next_line().await.unwrap().expect("a line of progress").starts_with("running: ") {} };
    tokio::time::timeout(DEADLINE, began).await.unwrap();
    crate::harness::signal(child.id().unwrap(), rustix::process::Signal::INT);
    let mut rest = Vec::new();
    while let Some(line) = tokio::time::timeout(DEADLINE, lines.next_line()).await.unwrap().unwrap() {
        rest.push(line);
    }
    let status = tokio::time::timeout(DEADLINE, child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(130), "{rest:?}");
    let left = truth.client.list_children("/lockscope-lab").await.unwrap_or_default();
    assert_eq!(left, Vec::<String>::new(), "{before:?}");
}
