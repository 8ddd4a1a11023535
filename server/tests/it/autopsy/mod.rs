//! What happened, rebuilt from the logs of real servers: against what clients say they did, and what was recorded live.

mod damage;
mod holds;
mod layouts;
mod members;
mod one_file;
mod recipes;
mod served;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lockscope_history::store::Store as _;
use lockscope_history::store::rows::{Span, SpanQuery};
use lockscope_history::store::sqlite::SqliteStore;
use serde_json::Value;
use tokio::process::Command;

/// The program as it is installed.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockscope"));
    command.env("LOCKSCOPE_LOG", "warn").env_remove("LOCKSCOPE_LISTEN").kill_on_drop(true);
    command
}

/// Runs `lockscope autopsy`; its exit code, its answer, and what it says on standard error.
async fn autopsy(arguments: &[&str]) -> (i32, Value, String) {
    let output = program().arg("autopsy").args(arguments).arg("--json").output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap_or_default(), said)
}

/// The lives that were rebuilt, by czxid.
fn spans(out: &Path) -> BTreeMap<i64, Span> {
    let store = SqliteStore::open(out, "default").unwrap();
    store.spans(&SpanQuery::default()).unwrap().into_iter().map(|span| (span.czxid.0, span)).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A copy of a data directory.
fn copy(from: &Path, to: &Path) -> PathBuf {
    let (from, below) = (from.join("version-2"), to.join("version-2"));
    fs::create_dir_all(&below).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, below.join(path.file_name().unwrap())).unwrap();
    }
    to.to_owned()
}

/// Every file and directory with all that a write would change.
fn contents(directory: &Path) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = fs::metadata(&path).unwrap();
        if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let bytes = if metadata.is_dir() { Vec::new() } else { fs::read(&path).unwrap() };
        all.insert(path, (metadata.modified().unwrap(), bytes));
    }
    all
}
