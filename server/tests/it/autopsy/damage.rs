//! Logs that are not whole: what can be read is, and what can't be is named.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{autopsy, copy, text};
use crate::harness::{Truth, zookeeper};

/// The newest log of a data directory.
fn newest(directory: &Path) -> PathBuf {
    let entries = fs::read_dir(directory.join("version-2")).unwrap().map(|entry| entry.unwrap().path());
    let mut logs: Vec<PathBuf> =
        entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("log.")).collect();
    logs.sort();
    logs.pop().unwrap()
}

fn list<'a>(report: &'a Value, what: &str) -> &'a Vec<Value> {
    report["coverage"][what].as_array().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_be_read_is_read_and_the_rest_is_named() {
    let mut server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/order").await;
    let mut queued = Vec::new();
    for _ in 0..20 {
        queued.push(truth.queue("/order/lock-").await);
    }
    for path in &queued {
        truth.delete(path).await;
    }
    server.kill_minus_9().await.unwrap();
    let place = tempfile::tempdir().unwrap();

    let whole = copy(server.folder(), &place.path().join("whole"));
    let (code, report, said) = autopsy(&[text(&whole)]).await;
    assert_eq!((code, report["holds"].as_u64()), (0, Some(20)), "{said}{report:#}");
    let all = report["coverage"]["transactions"].as_u64().unwrap();
    assert!(all >= 42, "{report:#}");
    assert_eq!(report["locks"][0]["path"], "/order", "{report:#}");

    // A window: whoever held before it is known since then.
    let last_ms = report["coverage"]["to_at_ms"].as_i64().unwrap();
    let from = (last_ms - 1).to_string();
    let (code, window, said) = autopsy(&[text(&whole), "--from", &from]).await;
    assert_eq!((code, window["coverage"]["from_at_ms"].as_i64()), (0, Some(last_ms - 1)), "{said}{window:#}");
    let later = (last_ms + 60_000).to_string();
    assert_eq!(autopsy(&[text(&whole), "--from", &later]).await.0, 66);

    // A byte in the midst.
    let damaged = copy(server.folder(), &place.path().join("damaged"));
    let log = newest(&damaged);
    let mut bytes = fs::read(&log).unwrap();
    let name = b"/order/lock-0000000007";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[at] ^= 0xff;
    fs::write(&log, &bytes).unwrap();
    let (code, report, said) = autopsy(&[text(&damaged)]).await;
    assert_eq!(code, 65, "{said}{report:#}");
    let [damage] = &list(&report, "damaged")[..] else { panic!("{report:#}") };
    assert_eq!(damage["file"], text(&log));
    assert!(damage["offset"].as_u64().is_some_and(|offset| offset < at as u64 && offset + 200 > at as u64), "{damage}");
    assert!(damage["why"].as_str().unwrap().contains("checksum"), "{damage}");
    assert_eq!(report["coverage"]["transactions"].as_u64(), Some(all - 1), "the rest is read: {report:#}");
    assert_eq!(list(&report, "missing").len(), 1, "{report:#}");

    // A record that was not written to its end is how logs end.
    let torn = copy(server.folder(), &place.path().join("torn"));
    let log = newest(&torn);
    let name = queued.last().unwrap().as_bytes();
    let end = bytes.windows(name.len()).rposition(|window| window == name).unwrap();
    fs::OpenOptions::new().write(true).open(&log).unwrap().set_len(end as u64 + 3).unwrap();
    let (code, report, said) = autopsy(&[text(&torn)]).await;
    assert_eq!((code, report["coverage"]["transactions"].as_u64()), (0, Some(all - 1)), "{said}{report:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_nothing_is_that_is_said() {
    let place = tempfile::tempdir().unwrap();
    let (code, _, said) = autopsy(&[text(place.path())]).await;
    assert_eq!(code, 66);
    assert!(said.contains("no transaction log") && said.contains("dataDir"), "{said}");
    let (code, _, said) = autopsy(&[text(&place.path().join("missing"))]).await;
    assert!(code == 66 && said.contains("missing") && said.contains("can't be read"), "{said}");
    fs::write(place.path().join("log.1"), b"something else, and long enough to be looked at").unwrap();
    let (code, _, said) = autopsy(&[text(place.path())]).await;
    assert!(code == 66 && said.contains("not a transaction log"), "{code} {said}");
    let (code, _, said) = autopsy(&[text(place.path()), "--from", "yesterday"]).await;
    assert!(code == 64 && said.contains("--from \"yesterday\" is no time"), "{said}");
    let (code, _, said) = autopsy(&[text(place.path()), "--root", "order"]).await;
    assert!(code == 64 && said.contains("write /order"), "{said}");
    let (code, _, said) = autopsy(&[text(place.path()), "--serve", "--listen", "0.0.0.0:0"]).await;
    assert!(code == 64 && said.contains("0.0.0.0"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_without_locks_is_no_fault() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/config/settings").await;
    let (code, report, said) = autopsy(&[text(server.folder())]).await;
    assert_eq!(code, 0, "{said}");
    assert_eq!((report["locks"].as_array().map(Vec::len), report["holds"].as_u64()), (Some(0), Some(0)), "{report:#}");
    assert_eq!(report["incidents"].as_array().map(Vec::len), Some(0));
}
