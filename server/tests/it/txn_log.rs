//! The reader of transaction logs and snapshots against ZooKeeper's own: record by record what its `TxnLogToolkit`
//! prints, and played from the first transaction on the tree that a client reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lockscope_demo::PrivateZooKeeper;
use lockscope_txn_log::{Acl, Change, Create, End, Lifetime, LogReader, Multi, SnapshotReader, Stat, Transaction};
use zookeeper_client::{Acls, AuthId, Client, CreateMode, CreateOptions, Permission};

use crate::harness::{DEADLINE, STEP, Truth, open, options, queue, started};

const PERSISTENT: CreateOptions<'static> = CreateMode::Persistent.with_acls(Acls::anyone_all());
const EPHEMERAL: CreateOptions<'static> = CreateMode::Ephemeral.with_acls(Acls::anyone_all());
const CONTAINER: CreateOptions<'static> = CreateMode::Container.with_acls(Acls::anyone_all());

/// Transactions until a snapshot is taken and the next file begun: at most so many, at least half.
const SNAP_COUNT: &str = "-Dzookeeper.snapCount=20";

pub(crate) async fn server(java: &[&str]) -> PrivateZooKeeper {
    let all = ["-Dzookeeper.extendedTypesEnabled=true", "-Dznode.container.checkIntervalMs=200", SNAP_COUNT];
    started(options(&[], &[&all, java].concat())).await
}

/// A change of each kind.
pub(crate) async fn changes(client: &Client) {
    client.create("/order", b"text, with a comma", &PERSISTENT).await.unwrap();
    client.create("/order/container", b"", &CONTAINER).await.unwrap();
    client.create("/order/container/child", b"", &PERSISTENT).await.unwrap();
    client.delete("/order/container/child", None).await.unwrap();
    client.create("/order/ttl", b"t", &PERSISTENT.clone().with_ttl(Duration::from_millis(1))).await.unwrap();
    client.create("/order/lasting", b"t", &PERSISTENT.clone().with_ttl(Duration::from_hours(1))).await.unwrap();
    client.create("/order/empty", b"", &CONTAINER).await.unwrap();
    client.set_data("/order", b"two", None).await.unwrap();
    client.set_data("/order", b"", Some(1)).await.unwrap();
    let acl = zookeeper_client::Acl::new(Permission::ALL, AuthId::new("world", "anyone"));
    let other = zookeeper_client::Acl::new(Permission::READ, AuthId::new("ip", "127.0.0.1"));
    client.set_acl("/order", &[acl, other], None).await.unwrap();
    client.delete("/nowhere", None).await.unwrap_err();
    client.create("/nowhere/child", b"", &PERSISTENT).await.unwrap_err();
    let mut multi = client.new_multi_writer();
    multi.add_create("/order/a", b"1", &EPHEMERAL).unwrap();
    multi.add_create("/order/b", b"2", &PERSISTENT).unwrap();
    multi.add_check_version("/order/b", 0).unwrap();
    multi.add_set_data("/order/b", b"3", None).unwrap();
    multi.add_delete("/order/a", None).unwrap();
    multi.commit().await.unwrap();
    let mut multi = client.new_multi_writer();
    multi.add_create("/order/c", b"1", &PERSISTENT).unwrap();
    multi.add_check_version("/order/b", 77).unwrap();
    multi.add_delete("/order/b", None).unwrap();
    multi.commit().await.unwrap_err();
}

/// Another session that queues up, and ends; the znode that falls with it.
async fn passer_by(connect: &str) -> String {
    let client = open(connect).await;
    let first = queue(&client, "/order/lock-").await;
    let second = queue(&client, "/order/lock-").await;
    client.delete(&first, None).await.unwrap();
    second
}

/// Znodes that the server removes by itself are gone.
async fn gone(client: &Client, paths: [&str; 3]) {
    let gone = async {
        for path in paths {
            while client.check_stat(path).await.unwrap().is_some() {
                tokio::time::sleep(STEP).await;
            }
        }
    };
    tokio::time::timeout(DEADLINE, gone).await.unwrap();
}

/// Files of a server, by the zxid in their names.
pub(crate) fn files(server: &PrivateZooKeeper, prefix: &str) -> Vec<(i64, PathBuf)> {
    let entries = std::fs::read_dir(server.folder().join("version-2")).unwrap().map(|entry| entry.unwrap().path());
    let zxid = |path: &Path| i64::from_str_radix(path.file_name()?.to_str()?.strip_prefix(prefix)?, 16).ok();
    let mut files: Vec<(i64, PathBuf)> = entries.filter_map(|path| Some((zxid(&path)?, path))).collect();
    files.sort();
    files
}

pub(crate) fn transactions(path: &Path) -> (Vec<Transaction>, End) {
    let read = || {
        let bytes = std::fs::read(path).unwrap();
        let mut reader = LogReader::new(&bytes);
        let found = reader.by_ref().collect::<Result<_, _>>();
        found.map(|found| (found, reader.end().unwrap()))
    };
    // A server that runs may be in the middle of a record.
    let whole = (0..50).find_map(|_| read().inspect_err(|_| std::thread::sleep(STEP)).ok());
    whole.unwrap_or_else(|| read().unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn all(server: &PrivateZooKeeper) -> Vec<Transaction> {
    files(server, "log.").iter().flat_map(|(_, path)| transactions(path).0).collect()
}

/// What the toolkit prints of each record, without line ends.
pub(crate) fn printed(mut toolkit: Command, path: &Path) -> Vec<String> {
    toolkit.env("JAVA_TOOL_OPTIONS", "-Duser.timezone=UTC -Duser.language=en -Duser.country=US -Dfile.encoding=UTF-8");
    let output = toolkit.arg("-d").arg(path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut records: Vec<String> = Vec::new();
    for line in
        text.lines().filter(|line| !line.starts_with("ZooKeeper Transactional Log") && !line.starts_with("EOF reached"))
    {
        match records.last_mut() {
            Some(record) if !line.contains(" session 0x") => record.push_str(line),
            _ => records.push(line.to_owned()),
        }
    }
    records
}

fn acls(acl: &[Acl], between: &str) -> String {
    acl.iter()
        .map(|Acl { permissions, scheme, id }| format!("{permissions},s{{'{scheme},'{id}}}"))
        .collect::<Vec<_>>()
        .join(between)
}

fn text(data: &Option<Vec<u8>>) -> String {
    data.as_deref().map(String::from_utf8_lossy).unwrap_or_default().into_owned()
}

/// The same in the toolkit's words; of a multi only the types, since it prints the bytes of its parts as they are.
fn words(change: &Change) -> String {
    match change {
        Change::Create(Create { path, data, acl, lifetime, parent_cversion }) => {
            let begin = format!("{path},{},[{}]", text(data), acls(acl, ", "));
            match lifetime {
                Lifetime::Persistent => format!("create {begin},false,{parent_cversion}"),
                Lifetime::Ephemeral => format!("create {begin},true,{parent_cversion}"),
                Lifetime::Container => format!("createContainer {begin},{parent_cversion}"),
                Lifetime::Ttl { ttl_ms } => format!("createTtl {begin},{parent_cversion},{ttl_ms}"),
            }
        }
        Change::Delete { path, by_server: false } => format!("delete '{path}"),
        Change::Delete { path, by_server: true } => format!("deleteContainer '{path}"),
        Change::SetData { path, data, version } => format!("setData {path},{},{version}", text(data)),
        Change::SetAcl { path, acl, version } => format!("setACL '{path},v{{s{{{}}}}},{version}", acls(acl, "},s{")),
        Change::Check { path, version } => format!("check '{path},{version}"),
        Change::Multi(Multi::Done(parts)) => {
            format!("multi {}", parts.iter().map(|part| kind(&words(part)).to_owned()).collect::<Vec<_>>().join(" "))
        }
        Change::Multi(Multi::Failed(codes)) => format!("multi {}", codes.len()),
        Change::CreateSession { timeout_ms } => format!("createSession {timeout_ms}"),
        Change::CloseSession { paths: Some(paths) } => {
            format!("closeSession v{{{}}}", paths.iter().map(|path| format!("'{path}")).collect::<Vec<_>>().join(","))
        }
        Change::CloseSession { paths: None } => "closeSession".to_owned(),
        Change::Error { code } => format!("error {code}"),
        Change::Reconfig { .. } | Change::Unknown { .. } => panic!("{change:?}"),
    }
}

fn kind(words: &str) -> &str {
    words.split(' ').next().unwrap_or_default()
}

/// Without what only tells the two numbers of the same type apart.
fn plain(line: &str) -> String {
    line.replace("create2", "create").replace("createTTL", "createTtl").split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn compare(transaction: &Transaction, line: &str) {
    let Transaction { zxid, time_ms, session, cxid, change } = transaction;
    let seconds = time_ms / 1_000 % 86_400;
    let (hour, minute, second) = ((seconds / 3_600 + 11) % 12 + 1, seconds / 60 % 60, seconds % 60);
    let when = format!(", {hour}:{minute:02}:{second:02}");
    let line = plain(line);
    assert!(line.contains(&when), "{when} is not in {line}");
    let head = format!("session 0x{session:x} cxid 0x{:x} zxid 0x{zxid:x} ", i64::from(*cxid));
    let (_, rest) = line.split_once(&head).unwrap_or_else(|| panic!("{head} is not in {line}"));
    let words = plain(&words(change));
    let Change::Multi(multi) = change else {
        assert_eq!(rest.trim(), words.trim(), "{transaction:?}");
        return;
    };
    assert_eq!(kind(rest), "multi");
    let Multi::Done(parts) = multi else {
        assert!(rest.contains("error:"), "{rest}");
        return;
    };
    let mut rest = rest;
    for part in parts {
        let kind = kind(&self::words(part)).to_owned();
        let at = rest.find(&format!("{kind}:")).unwrap_or_else(|| panic!("{kind} is not in {rest}"));
        rest = &rest[at + kind.len()..];
    }
}

/// What a client sees of a znode: czxid, mzxid, times, version, owner, data.
type Seen = (i64, i64, i64, i64, i32, i64, Vec<u8>);

/// The log played: what it leaves behind.
#[derive(Default)]
struct Tree(BTreeMap<String, Seen>);

impl Tree {
    fn apply(&mut self, transaction: &Transaction) {
        match &transaction.change {
            Change::Multi(Multi::Done(parts)) => parts.iter().for_each(|part| self.change(transaction, part)),
            change => self.change(transaction, change),
        }
    }

    fn change(&mut self, Transaction { zxid, time_ms, session, .. }: &Transaction, change: &Change) {
        match change {
            Change::Create(Create { path, data, lifetime, .. }) => {
                let owner = if *lifetime == Lifetime::Ephemeral { *session } else { 0 };
                self.0.insert(
                    path.clone(),
                    (*zxid, *zxid, *time_ms, *time_ms, 0, owner, data.clone().unwrap_or_default()),
                );
            }
            Change::Delete { path, .. } => _ = self.0.remove(path),
            Change::SetData { path, data, version } => {
                let Some(node) = self.0.get_mut(path) else { return };
                (node.1, node.3, node.4, node.6) = (*zxid, *time_ms, *version, data.clone().unwrap_or_default());
            }
            Change::CloseSession { .. } => self.0.retain(|_, node| node.5 != *session),
            _ => {}
        }
    }

    /// From a snapshot on.
    fn of_snapshot(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let nodes = SnapshotReader::new(&bytes).unwrap().map(Result::unwrap);
        let seen = |node: lockscope_txn_log::Node| {
            let Stat { czxid, mzxid, ctime_ms, mtime_ms, version, .. } = node.stat;
            let owner = node.stat.session().unwrap_or_default();
            (node.path, (czxid, mzxid, ctime_ms, mtime_ms, version, owner, node.data.unwrap_or_default()))
        };
        Self(nodes.map(seen).filter(|(path, _)| path != "/" && !path.starts_with("/zookeeper")).collect())
    }
}

async fn real(truth: &Truth) -> BTreeMap<String, Seen> {
    let tree = truth.trees(&["/".to_owned()]).await.into_iter().filter(|(path, _)| path != "/");
    tree.map(|(path, (stat, data))| {
        (path, (stat.czxid, stat.mzxid, stat.ctime, stat.mtime, stat.version, stat.ephemeral_owner, data))
    })
    .collect()
}

/// No snapshot is still being written.
async fn written(server: &PrivateZooKeeper) {
    let is_whole = |path: &Path| {
        let bytes = std::fs::read(path).unwrap();
        SnapshotReader::new(&bytes).is_ok_and(|mut reader| reader.all(|node| node.is_ok()))
    };
    let written = async {
        while !files(server, "snapshot.").iter().all(|(_, path)| is_whole(path)) {
            tokio::time::sleep(STEP).await;
        }
    };
    tokio::time::timeout(DEADLINE, written).await.unwrap();
}

async fn check(java: &[&str], closes_with_paths: bool) {
    let mut server = server(java).await;
    let truth = Truth::new(&server.address()).await;
    for round in 0..2 {
        changes(&truth.client).await;
        let fallen = passer_by(&server.address()).await;
        gone(&truth.client, ["/order/container", "/order/ttl", &fallen]).await;
        truth.make("/kept").await;
        truth.make(&format!("/kept/{round}")).await;
        truth.client.create("/kept/mine", b"m", &EPHEMERAL).await.ok();
        let children = truth.client.list_children("/order").await.unwrap();
        for child in children {
            truth.client.delete(&format!("/order/{child}"), None).await.ok();
        }
        truth.delete("/order").await;
    }
    let kept = real(&truth).await;
    written(&server).await;
    server.stop().await.unwrap();
    let found = all(&server);
    let has = |is: &dyn Fn(&Change) -> bool| assert!(found.iter().any(|transaction| is(&transaction.change)));
    has(&|change| matches!(change, Change::Create(create) if matches!(create.lifetime, Lifetime::Ttl { ttl_ms: 1 })));
    has(&|change| matches!(change, Change::Delete { by_server: true, .. }));
    has(&|change| matches!(change, Change::Multi(Multi::Done(parts)) if parts.len() == 5));
    has(&|change| matches!(change, Change::Multi(Multi::Failed(codes)) if codes.len() == 3));
    has(&|change| matches!(change, Change::CloseSession { paths } if paths.is_some() == closes_with_paths));
    has(&|change| matches!(change, Change::Error { code: -101 }));
    assert!(found.windows(2).all(|pair| pair[0].zxid + 1 == pair[1].zxid), "no hole");
    let logs = files(&server, "log.");
    assert!(logs.len() > 2, "{logs:?}");
    for (first, path) in &logs {
        let (records, end) = transactions(path);
        assert!(matches!(end, End::Zeros { .. } | End::Whole), "{end:?}");
        assert_eq!(records.first().map(|record| record.zxid), Some(*first));
        let lines = printed(server.tool("org.apache.zookeeper.server.persistence.TxnLogToolkit"), path);
        assert_eq!(lines.len(), records.len(), "{lines:#?}");
        records.iter().zip(&lines).for_each(|(record, line)| compare(record, line));
    }
    let mut tree = Tree::default();
    found.iter().for_each(|transaction| tree.apply(transaction));
    assert_eq!(tree.0, kept);
    // Each snapshot and what follows it is the same; the first is of the empty tree.
    for (zxid, path) in files(&server, "snapshot.") {
        let mut tree = Tree::of_snapshot(&path);
        found.iter().filter(|transaction| transaction.zxid > zxid).for_each(|transaction| tree.apply(transaction));
        assert_eq!(tree.0, kept, "from {}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_record_is_what_zookeepers_own_reader_prints() {
    check(&[], true).await;
}

/// Servers may be told to write neither the paths of a session that ends nor digests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_paths_of_sessions_and_digests() {
    check(&["-Dzookeeper.closeSessionTxn.enabled=false", "-Dzookeeper.digest.enabled=false"], false).await;
}

/// What was acknowledged is in the log of a server that was killed, and the log ends as logs do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_midst() {
    let mut server = server(&[]).await;
    let client = open(&server.address()).await;
    client.create("/order", b"", &PERSISTENT).await.unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let writer = tokio::spawn(async move {
        let mut done = Vec::new();
        // Until the server is gone.
        for number in 0.. {
            let path = format!("/order/{number}");
            match client.create(&path, &[b'x'; 900], &PERSISTENT).await {
                Ok((stat, _)) => {
                    done.push((path, stat.czxid));
                    counted.fetch_add(1, Ordering::Relaxed);
                }
                Err(_) => break,
            }
        }
        done
    });
    while count.load(Ordering::Relaxed) < 50 {
        tokio::time::sleep(STEP).await;
    }
    server.kill_minus_9().await.unwrap();
    let done = tokio::time::timeout(DEADLINE, writer).await.unwrap().unwrap();
    let found = all(&server);
    let created: BTreeMap<&str, i64> = found
        .iter()
        .filter_map(|transaction| match &transaction.change {
            Change::Create(create) => Some((create.path.as_str(), transaction.zxid)),
            _ => None,
        })
        .collect();
    assert!(done.iter().all(|(path, czxid)| created.get(path.as_str()) == Some(czxid)));
}
