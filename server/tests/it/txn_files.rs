//! Snapshots and damaged logs against ZooKeeper's own tools: `SnapshotFormatter` on every snapshot of a run, plain and
//! compressed, and `TxnLogToolkit` on a log in which bytes were changed.

#[path = "../../txn_log/tests/it/printed_snapshot.rs"]
mod printed_snapshot;

use std::path::{Path, PathBuf};

use lockscope_demo::PrivateZooKeeper;
use lockscope_txn_log::{
    Change, End, Lifetime, LogDecoder, LogEntry, Node, Problem, Session, SnapshotDecoder, TolerantLogDecoder,
    Transaction,
};
use zookeeper_client::{Acls, CreateMode, CreateOptions};

use crate::harness::{DEADLINE, STEP, Truth, open, queue};
use crate::txn_log::{changes, compare, files, printed, server, transactions};

const PERSISTENT: CreateOptions<'static> = CreateMode::Persistent.with_acls(Acls::anyone_all());
/// Nearly as much as a server takes in one request.
const LARGE_BYTES: usize = 1_000_000;
/// Names that take more bytes than letters, and that look like something else.
const NAMES: [&str; 5] = ["/鎖-é", "/a b\"c'd", "/<b>&amp;", "/ends with 0000000001", "/\u{5e9}\u{5dc}\u{5d5}\u{5dd}"];

fn snapshot(path: &Path, piece: usize) -> (Vec<Node>, Vec<Session>) {
    let bytes = std::fs::read(path).unwrap();
    let mut decoder = SnapshotDecoder::new();
    let mut nodes = Vec::new();
    for piece in bytes.chunks(piece) {
        decoder.push(piece);
        nodes.extend(std::iter::from_fn(|| decoder.next_node().unwrap()));
    }
    decoder.finish();
    nodes.extend(std::iter::from_fn(|| decoder.next_node().unwrap()));
    assert!(decoder.is_whole(), "{}", path.display());
    assert!(decoder.digest().is_some(), "{}", path.display());
    (nodes, decoder.sessions().to_vec())
}

/// Some of everything, from two sessions, one of which stays.
async fn load(server: &PrivateZooKeeper) -> Truth {
    let truth = Truth::new(&server.address()).await;
    changes(&truth.client).await;
    for name in NAMES {
        truth.client.create(name, name.as_bytes(), &PERSISTENT).await.unwrap();
    }
    truth.client.create("/large", &vec![b'x'; LARGE_BYTES], &PERSISTENT).await.unwrap();
    truth.client.set_data("/large", &vec![b'y'; LARGE_BYTES], None).await.unwrap();
    let passer_by = open(&server.address()).await;
    for _ in 0..20 {
        queue(&passer_by, "/order/lock-").await;
    }
    truth
}

fn snapshots(server: &PrivateZooKeeper) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(server.folder().join("version-2")).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("snapshot.")))
        .collect()
}

/// No snapshot is still being written.
async fn all_whole(server: &PrivateZooKeeper) {
    let is_whole = |path: &PathBuf| {
        let mut decoder = SnapshotDecoder::new();
        decoder.push(&std::fs::read(path).unwrap());
        decoder.finish();
        while let Ok(Some(_)) = decoder.next_node() {}
        decoder.is_whole()
    };
    let whole = async {
        while !snapshots(server).iter().all(is_whole) {
            tokio::time::sleep(STEP).await;
        }
    };
    tokio::time::timeout(DEADLINE, whole).await.unwrap();
}

async fn formatted(method: &str, extension: &str) {
    let mut server = server(&[&format!("-Dzookeeper.snapshot.compression.method={method}")]).await;
    let truth = load(&server).await;
    drop(truth);
    all_whole(&server).await;
    // A server that starts takes a snapshot of what it found.
    server.restart().await.unwrap();
    let truth = Truth::new(&server.address()).await;
    let tree = truth.trees(&["/".to_owned()]).await;
    all_whole(&server).await;
    server.stop().await.unwrap();
    let names = snapshots(&server);
    assert!(names.len() > 2 && names.iter().all(|path| path.to_string_lossy().ends_with(extension)), "{names:?}");
    let mut large = 0;
    for path in &names {
        let mut formatter = server.tool("org.apache.zookeeper.server.SnapshotFormatter");
        formatter.env("JAVA_TOOL_OPTIONS", "-Dfile.encoding=UTF-8 -Dsun.stdout.encoding=UTF-8");
        let output = formatter.arg(path).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{}: {text}", path.display());
        for piece in [1_000, 1 << 20] {
            let (nodes, sessions) = snapshot(path, piece);
            printed_snapshot::compare(&text, &nodes, &sessions);
            large += usize::from(
                nodes.iter().any(|node| node.data.as_ref().is_some_and(|data| data[..] == [b'y'; LARGE_BYTES])),
            );
        }
    }
    assert!(large > 0, "the large znode is in a snapshot");
    assert!(NAMES.iter().all(|name| tree.contains_key(*name)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_znode_is_what_zookeepers_own_formatter_prints() {
    formatted("", "").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_gzip() {
    formatted("gz", ".gz").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_snappy() {
    formatted("snappy", ".snappy").await;
}

fn tolerant(bytes: &[u8]) -> (Vec<Transaction>, Vec<(u64, Problem)>, Option<End>) {
    let mut decoder = TolerantLogDecoder::new();
    let (mut found, mut damaged) = (Vec::new(), Vec::new());
    let mut take = |entry| match entry {
        LogEntry::Transaction(transaction) => found.push(transaction),
        LogEntry::Damage(damage) => damaged.push((damage.offset, damage.problem)),
    };
    for piece in bytes.chunks(64 << 10) {
        decoder.push(piece);
        std::iter::from_fn(|| decoder.next_entry()).for_each(&mut take);
    }
    decoder.finish();
    std::iter::from_fn(|| decoder.next_entry()).for_each(&mut take);
    (found, damaged, decoder.end())
}

/// Names and data of all kinds in a log, and where each record begins.
async fn logged() -> (PrivateZooKeeper, PathBuf, Vec<Transaction>, Vec<u64>) {
    let mut server = server(&["-Dzookeeper.snapCount=10000"]).await;
    drop(load(&server).await);
    server.stop().await.unwrap();
    let (_, path) = files(&server, "log.").into_iter().max_by_key(|(_, path)| path.metadata().unwrap().len()).unwrap();
    let (found, _) = transactions(&path);
    let bytes = std::fs::read(&path).unwrap();
    let mut decoder = LogDecoder::new();
    decoder.push(&bytes);
    let mut begins = vec![decoder.offset().max(16)];
    while decoder.next_transaction().unwrap().is_some() {
        begins.push(decoder.offset());
    }
    begins.truncate(found.len());
    (server, path, found, begins)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_damaged_log_the_same_is_read_as_by_zookeepers_own_reader() {
    let (server, path, written, begins) = logged().await;
    let named = |name: &str| {
        written.iter().any(|transaction| matches!(&transaction.change, Change::Create(create) if create.path == name))
    };
    assert!(NAMES.iter().all(|name| named(name)));
    assert!(
        written
            .iter()
            .any(|one| matches!(&one.change, Change::Create(create) if create.lifetime == Lifetime::Container))
    );
    assert!(
        written
            .iter()
            .any(|one| matches!(&one.change, Change::SetData { data: Some(data), .. } if data.len() == LARGE_BYTES))
    );
    let bytes = std::fs::read(&path).unwrap();
    let hit = written.len() / 2;
    let begin = usize::try_from(begins[hit]).unwrap();

    // A byte of what was recorded: the toolkit prints the records before and behind as well.
    let mut damaged = bytes.clone();
    // The last of the request's number, so that the toolkit still understands the rest.
    damaged[begin + 12 + 11] ^= 0x55;
    let copy = path.with_file_name("log.damaged");
    std::fs::write(&copy, &damaged).unwrap();
    let (found, damages, end) = tolerant(&damaged);
    assert!(matches!(damages[..], [(offset, Problem::Checksum { .. })] if offset == begins[hit]), "{damages:?}");
    assert_eq!(found, [&written[..hit], &written[hit + 1..]].concat());
    assert!(matches!(end, Some(End::Zeros { .. })), "{end:?}");
    let lines = printed(server.tool("org.apache.zookeeper.server.persistence.TxnLogToolkit"), &copy);
    // It prints what it can of the damaged one as well, behind a line that says so.
    let lines: Vec<_> = lines.into_iter().filter(|line| !line.starts_with("CRC ERROR")).collect();
    assert_eq!(lines.len(), written.len(), "{lines:#?}");
    let lines = lines[..hit].iter().chain(&lines[hit + 1..]);
    found.iter().zip(lines).for_each(|(transaction, line)| compare(transaction, line));

    // A length: the toolkit gives up, and this reader finds the next.
    let mut damaged = bytes.clone();
    damaged[begin + 8] = 0x7f;
    let (found, damages, _) = tolerant(&damaged);
    assert!(matches!(damages[..], [(offset, Problem::TooLong { .. })] if offset == begins[hit]), "{damages:?}");
    assert_eq!(found, [&written[..hit], &written[hit + 1..]].concat());

    // A sector of noise, and one of zeros, in the midst of a megabyte.
    let large = written
        .iter()
        .position(|one| matches!(&one.change, Change::SetData { data: Some(data), .. } if data.len() == LARGE_BYTES))
        .unwrap();
    let begin = usize::try_from(begins[large]).unwrap();
    for place in [begin, begin + 4096] {
        for fill in [0, 0xa5] {
            let mut damaged = bytes.clone();
            damaged[place..place + 512].fill(fill);
            let (found, damages, _) = tolerant(&damaged);
            assert_eq!(damages.len(), 1, "{damages:?}");
            assert_eq!(found, [&written[..large], &written[large + 1..]].concat());
        }
    }
}
