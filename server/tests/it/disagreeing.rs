//! Members that hold different data for good: a release that one follower lost. Made by changing, while that follower
//! is stopped, the deletion in its transaction log into one of a znode that never was; it starts from that log, is as
//! far as the others by number, and still has the ephemeral. It stands for what ZooKeeper's own defects
//! (ZOOKEEPER-5010) and damaged disks leave behind: a holder that only the clients of one member see.

use std::path::{Path, PathBuf};

use lockscope_demo::{PrivateEnsemble, PrivateZooKeeper};
use serde_json::Value;

use crate::harness::{Truth, options};
use crate::recipes::lockscope::Lockscope;
use crate::served::until;

/// Whose log is changed. The lowest number never leads an ensemble that just began: equals vote for the highest.
const WRONG: usize = 0;
/// Before the entries of a log: magic, version and database.
const LOG_HEAD: usize = 16;
/// Before an entry's bytes: its checksum and its length.
const ENTRY_HEAD: usize = 12;

async fn lock(lockscope: &Lockscope) -> Value {
    lockscope.ask("/api/v1/lock?path=/locks/x").await.1
}

async fn finding(lockscope: &Lockscope) -> Option<Value> {
    lock(lockscope).await["findings"].as_array()?.iter().find(|finding| finding["code"] == "members_disagree").cloned()
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// The checksum of a log's entries.
fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    b << 16 | a
}

/// Changes a path into another of the same length in the last transaction that names it. Gives whether there was one.
fn forge(log: &mut [u8], path: &str, other: &str) -> bool {
    assert_eq!(path.len(), other.len());
    let mut last = None;
    let mut at = LOG_HEAD;
    while let Some(head) = log.get(at..at + ENTRY_HEAD) {
        let length = usize::try_from(u32::from_be_bytes(head[8..].try_into().unwrap())).unwrap();
        if length == 0 {
            break;
        }
        let entry = at + ENTRY_HEAD..at + ENTRY_HEAD + length;
        let is_right = u64::from_be_bytes(head[..8].try_into().unwrap()) == u64::from(adler32(&log[entry.clone()]));
        assert!(is_right, "the log is read as it was written");
        if let Some(inside) = position(&log[entry.clone()], path.as_bytes()) {
            last = Some((at, entry.clone(), inside));
        }
        // An entry ends with one byte of its own.
        at = entry.end + 1;
    }
    let Some((at, entry, inside)) = last else { return false };
    log[entry.start + inside..][..path.len()].copy_from_slice(other.as_bytes());
    let checksum = u64::from(adler32(&log[entry]));
    log[at..at + 8].copy_from_slice(&checksum.to_be_bytes());
    true
}

/// The logs of a member's.
fn logs(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let files = std::fs::read_dir(folder.join("version-2")).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.file_name().unwrap().to_str().unwrap().starts_with("log."))
}

/// In how many places the logs name a path: what made it names it, and what deleted it.
fn times_told(folder: &Path, path: &str) -> usize {
    let is_here = |log: &Vec<u8>| log.windows(path.len()).filter(|window| *window == path.as_bytes()).count();
    logs(folder).map(|file| is_here(&std::fs::read(file).unwrap())).sum()
}

/// Forges the one log of a member's that names the path.
fn forge_log(folder: &Path, path: &str, other: &str) {
    let mut forged = 0;
    for file in logs(folder) {
        let mut log = std::fs::read(&file).unwrap();
        if forge(&mut log, path, other) {
            std::fs::write(&file, log).unwrap();
            forged += 1;
        }
    }
    assert_eq!(forged, 1, "one log tells of the deletion");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_that_only_one_member_has_is_told() {
    // Logs are made as long as this at once, in KiB.
    let mut ensemble = PrivateEnsemble::start(options(&[], &["-Dzookeeper.preAllocSize=64"]))
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<String> = ensemble.members().iter().map(PrivateZooKeeper::address).collect();
    let truth = Truth::new(&names[1]).await;
    truth.make("/locks/x").await;
    let first = truth.queue("/locks/x/lock-").await;
    let second = truth.queue("/locks/x/lock-").await;
    let third = truth.queue("/locks/x/lock-").await;
    truth.delete(&first).await;
    // It must have heard of the release before it is made to forget it.
    until(async || {
        ensemble.members()[WRONG]
            .four_letter("dump")
            .await
            .is_ok_and(|dump| dump.contains(&second) && !dump.contains(&first))
    })
    .await;
    let wrong = &mut ensemble.members_mut()[WRONG];
    // And have it in its log: a member applies what is committed before its own log has it.
    until(async || times_told(wrong.folder(), &first) == 2).await;
    wrong.stop().await.unwrap();
    forge_log(wrong.folder(), &first, "/locks/x/lock-4294967295");
    wrong.restart().await.unwrap();
    assert!(wrong.four_letter("dump").await.unwrap().contains(&first), "it has what was deleted");

    let (right, misled) = (
        Lockscope::run(&["--zk", &names[1], "--root", "/locks"]).await,
        Lockscope::run(&["--zk", &names[WRONG], "--root", "/locks"]).await,
    );
    for lockscope in [&right, &misled] {
        let is_critical = |finding: &Value| finding["severity"] == "critical";
        until(async || finding(lockscope).await.as_ref().is_some_and(is_critical)).await;
        let told = finding(lockscope).await.unwrap();
        assert_eq!(told["paths"], Value::from(vec![first.clone()]), "{told:#}");
        let text = format!(
            "Members disagree: {first} is only on {}. Clients of different members see different holders;",
            names[WRONG]
        );
        assert!(told["text"].as_str().unwrap().starts_with(&text), "{told:#}");
    }
    // Each shows what its own member has, and the one that is misled says where that is from.
    let holder = async |lockscope: &Lockscope| {
        let holder = lock(lockscope).await["holders"][0].clone();
        (holder["path"].clone(), holder["only_on"].clone())
    };
    assert_eq!(holder(&right).await, (second.as_str().into(), Value::Array(Vec::new())));
    assert_eq!(holder(&misled).await, (first.as_str().into(), vec![names[WRONG].clone()].into()));
    let waiters = lock(&right).await["contenders"].clone();
    assert!(
        waiters
            .as_array()
            .unwrap()
            .iter()
            .any(|waiter| waiter["path"] == third.as_str() && waiter["only_on"] == Value::Array(Vec::new()))
    );

    // A restart reads the same wrong log; without its data it has to copy the leader's, as the finding advises.
    let wrong = &mut ensemble.members_mut()[WRONG];
    wrong.restart().await.unwrap();
    assert!(wrong.four_letter("dump").await.unwrap().contains(&first), "a restart alone cures nothing");
    wrong.stop().await.unwrap();
    std::fs::remove_dir_all(wrong.folder().join("version-2")).unwrap();
    wrong.restart().await.unwrap();
    until(async || finding(&right).await.is_none() && finding(&misled).await.is_none()).await;
    until(async || holder(&misled).await.0 == second.as_str()).await;
}
