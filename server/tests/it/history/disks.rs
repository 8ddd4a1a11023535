//! What disks do: they fill up, may not be written, or hang. The live view goes on meanwhile, what is wrong is told, and
//! recording goes on by itself.

use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use futures_util::future::join_all;
use rusqlite::Connection;
use serde_json::Value;
use zookeeper_client::{Acls, CreateMode};

use super::{Launcher, Recorded, day_file, holder, now_ms};
use crate::harness::{open, queue};
use crate::served::until;

/// The history on a small disk of its own, which nobody else sees and which goes with the program.
const ON_A_DISK: &str =
    r#"mkdir -p "$HISTORY" && mount -t tmpfs -o size=96m,mode=700 none "$HISTORY" && exec "$0" "$@""#;
const UNSHARE: [&str; 3] = ["unshare", "--map-root-user", "--mount"];
/// Bytes of a name that makes a large event, and how many are more than is kept in memory for a disk that is full.
const NAME_BYTES: usize = 20_000;
const NAMES: usize = 2_000;
const LANES: usize = 4;

/// Whether this machine lets who runs the tests mount something.
fn may_mount() -> bool {
    let place = tempfile::tempdir().unwrap();
    let mount = ["mount", "-t", "tmpfs", "none"];
    let mut command = Command::new(UNSHARE[0]);
    command.args(&UNSHARE[1..]).args(mount).arg(place.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let may = command.status().is_ok_and(|status| status.success());
    if !may {
        eprintln!("skipped: this machine lets nobody mount a disk in a namespace of their own (unshare --mount)");
    }
    may
}

async fn on_a_disk() -> Recorded {
    Recorded::start_by("", |place| {
        let history = place.join("data/history").display().to_string();
        let words = UNSHARE.into_iter().chain(["sh", "-c", ON_A_DISK]).map(str::to_owned);
        Launcher { words: words.collect(), environment: vec![("HISTORY", history)] }
    })
    .await
}

impl Recorded {
    /// The history as the program sees it.
    fn seen_history(&self) -> PathBuf {
        let pid = self.program.as_ref().unwrap().0.id().unwrap();
        let history = self.history();
        PathBuf::from(format!("/proc/{pid}/root")).join(history.strip_prefix("/").unwrap())
    }

    /// Runs a command where the program sees its disks.
    fn beside(&self, command: &[&str]) {
        let pid = self.program.as_ref().unwrap().0.id().unwrap().to_string();
        let enter = ["-t", &pid, "--user", "--mount", "--preserve-credentials"];
        let done = Command::new("nsenter").args(enter).args(command).output().unwrap();
        assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

/// A lock and three who want it.
struct Queue<'a> {
    recorded: &'a Recorded,
    nodes: Vec<String>,
    _clients: Vec<zookeeper_client::Client>,
}

impl<'a> Queue<'a> {
    async fn new(recorded: &'a Recorded) -> Self {
        recorded.truth.make("/a/order").await;
        let (mut nodes, mut clients) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let client = open(&recorded.zookeeper.address()).await;
            nodes.push(queue(&client, "/a/order/lock-").await);
            clients.push(client);
        }
        Self { recorded, nodes, _clients: clients }
    }

    /// The next one holds, and is shown live; gives an instant at which it does.
    async fn hand_off(&mut self) -> i64 {
        self.recorded.truth.delete(&self.nodes.remove(0)).await;
        self.is_live().await
    }

    async fn is_live(&self) -> i64 {
        until(async || {
            let lock = self.recorded.lock("/a/order", "").await;
            holder(&lock) == self.nodes[0] && lock["as_of"]["state"] == "live"
        })
        .await;
        now_ms()
    }
}

/// The lock at a moment. Whoever is told that no answer was ready in time asks again.
async fn ask_at(recorded: &Recorded, at: i64) -> (u16, Value) {
    let mut answer = (503, Value::Null);
    until(async || {
        answer = recorded.json(&format!("/api/v1/lock?path=/a/order&at={at}")).await;
        answer.0 != 503
    })
    .await;
    answer
}

/// Who held at a moment.
async fn assert_held(recorded: &Recorded, at: i64, node: &str) {
    let lock = ask_at(recorded, at).await.1;
    assert_eq!((holder(&lock), &lock["as_of"]["state"]), (node, &"past".into()), "{lock:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_told_and_nothing_of_what_fits_into_memory_is_lost() {
    if !may_mount() {
        return;
    }
    let recorded = on_a_disk().await;
    let mut queue = Queue::new(&recorded).await;
    let nodes = queue.nodes.clone();
    let before = queue.is_live().await;
    recorded.until_kept(before).await;
    fill(&recorded);
    recorded.until_told("no room is left for the history").await;
    let full = queue.hand_off().await;
    assert_held(&recorded, before, &nodes[0]).await;
    recorded.until_told("no room is left for the history").await;
    std::fs::remove_file(recorded.seen_history().join("filler")).unwrap();
    recorded.until_recorded().await;
    recorded.until_kept(full).await;
    let after = queue.hand_off().await;
    recorded.until_kept(after).await;
    for (at, node) in [(before, &nodes[0]), (full, &nodes[1]), (after, &nodes[2])] {
        assert_held(&recorded, at, node).await;
    }
    let history = recorded.json("/api/v1/history").await.1;
    assert_eq!(history["gaps"], serde_json::json!([]), "{history:#}");
    assert_eq!(recorded.metric("lockscope_history_events_dropped_total").await, 0.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_full_disk_has_no_memory_for_is_a_gap() {
    if !may_mount() {
        return;
    }
    let recorded = on_a_disk().await;
    let mut queue = Queue::new(&recorded).await;
    let nodes = queue.nodes.clone();
    let before = queue.is_live().await;
    recorded.until_kept(before).await;
    fill(&recorded);
    recorded.until_told("no room is left for the history").await;
    flood(&recorded).await;
    until(async || recorded.metric("lockscope_history_events_dropped_total").await > 0.0).await;
    let handed_off = now_ms();
    let full = queue.hand_off().await;
    std::fs::remove_file(recorded.seen_history().join("filler")).unwrap();
    recorded.until_recorded().await;
    let after = queue.hand_off().await;
    recorded.until_kept(after).await;
    let history = recorded.json("/api/v1/history").await.1;
    let gaps = history["gaps"].as_array().unwrap();
    let gap = gaps.iter().find(|gap| gap["why"] == "store_failed").unwrap_or_else(|| panic!("{history:#}"));
    let (from, to) = (gap["from_at_ms"].as_i64().unwrap(), gap["to_at_ms"].as_i64().unwrap());
    assert!(before <= from && from < to && to <= after, "{gap} of {before}..{after}");
    let within = from + (to - from) / 2;
    let (status, problem) = ask_at(&recorded, within).await;
    assert_eq!((status, problem["nearest"]["after_at_ms"].as_i64()), (404, Some(to)), "{problem:#}");
    // A little room may be found meanwhile; then what is kept is right, and there is another gap.
    let (status, lock) = ask_at(&recorded, full).await;
    assert!(status == 404 || holder(&lock) == nodes[1], "{lock:#}");
    until(async || recorded.metric("lockscope_history_gap_seconds").await > 0.0).await;
    assert_held(&recorded, before, &nodes[0]).await;
    // The gap ended before the hand-off, or behind it.
    if !(handed_off..full).contains(&to) {
        assert_held(&recorded, to, &nodes[usize::from(to >= full)]).await;
    }
    assert_held(&recorded, after, &nodes[2]).await;
}

/// Large events: znodes with long names come and go.
async fn flood(recorded: &Recorded) {
    recorded.truth.make("/b/flood").await;
    let options = CreateMode::Persistent.with_acls(Acls::anyone_all());
    let one = async |lane: usize| {
        let client = open(&recorded.zookeeper.address()).await;
        for at in 0..NAMES / LANES {
            let path = format!("/b/flood/{lane}-{at}-{}", "x".repeat(NAME_BYTES));
            client.create(&path, b"", &options).await.unwrap();
            client.delete(&path, None).await.unwrap();
        }
    };
    join_all((0..LANES).map(one)).await;
}

/// Fills the disk to its last byte.
fn fill(recorded: &Recorded) {
    let mut filler = std::fs::File::create(recorded.seen_history().join("filler")).unwrap();
    for bytes in [1 << 20, 4_096, 1] {
        let block = vec![0; bytes];
        let error = loop {
            match filler.write_all(&block) {
                Ok(()) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_may_not_be_written_is_told_and_taken_up_again() {
    if !may_mount() {
        return;
    }
    let recorded = on_a_disk().await;
    let mut queue = Queue::new(&recorded).await;
    let nodes = queue.nodes.clone();
    let before = queue.is_live().await;
    recorded.until_kept(before).await;
    // An empty one lies over it that may only be read, as when a volume is gone.
    let history = recorded.history().join("default").display().to_string();
    recorded.beside(&["mount", "-t", "tmpfs", "-o", "ro", "none", &history]);
    recorded.until_told("the history may not be written or read").await;
    let hidden = queue.hand_off().await;
    recorded.beside(&["umount", &history]);
    recorded.until_recorded().await;
    recorded.until_kept(hidden).await;
    let after = queue.hand_off().await;
    recorded.until_kept(after).await;
    for (at, node) in [(before, &nodes[0]), (hidden, &nodes[1]), (after, &nodes[2])] {
        assert_held(&recorded, at, node).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_begins_with_a_directory_that_may_not_be_written() {
    if !may_mount() {
        return;
    }
    let recorded = Recorded::start_by("", |place| {
        let history = place.join("data/history").display().to_string();
        let script = ON_A_DISK.replace("size=96m", "ro");
        let words = UNSHARE.into_iter().chain(["sh", "-c", &script]).map(str::to_owned);
        Launcher { words: words.collect(), environment: vec![("HISTORY", history)] }
    })
    .await;
    let mut queue = Queue::new(&recorded).await;
    recorded.until_told("the history may not be written or read").await;
    queue.hand_off().await;
    let (status, problem) = recorded.json("/api/v1/locks?at=1000").await;
    assert_eq!(
        (status, problem["detail"].as_str()),
        (503, Some("the history is not open yet, in the ensemble default"))
    );
    recorded.beside(&["mount", "-o", "remount,rw", &recorded.history().display().to_string()]);
    recorded.until_recorded().await;
    let after = queue.hand_off().await;
    recorded.until_kept(after).await;
    assert_held(&recorded, after, &queue.nodes[0]).await;
}

/// Whoever writes waits for a lock that another process has, as for a disk that does not answer; whoever reads what is
/// in memory does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_hangs_delays_nobody_who_looks_at_the_present() {
    let recorded = Recorded::start("").await;
    let mut queue = Queue::new(&recorded).await;
    let nodes = queue.nodes.clone();
    let before = queue.is_live().await;
    recorded.until_kept(before).await;
    let other = Connection::open(day_file(&recorded.history().join("default"))).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    recorded.until_told("the history").await;
    // Many look back meanwhile; each is answered, and what they wait for is nobody else's.
    let back = join_all((0..16).map(|_| recorded.get("/lock?path=/a/order&at=now")));
    let hangs = tokio::join!(back, queue.hand_off()).1;
    assert_held(&recorded, before, &nodes[0]).await;
    recorded.until_told("the history").await;
    other.execute_batch("COMMIT").unwrap();
    recorded.until_recorded().await;
    recorded.until_kept(hangs).await;
    let after = queue.hand_off().await;
    recorded.until_kept(after).await;
    for (at, node) in [(before, &nodes[0]), (hangs, &nodes[1]), (after, &nodes[2])] {
        assert_held(&recorded, at, node).await;
    }
    assert_eq!(recorded.metric("lockscope_history_events_dropped_total").await, 0.0);
}
