//! Faults of what the machine gives Lockscope: no file descriptors, hardly any memory, a history that can't be written.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lockscope_judge::Fault;
use rand::RngExt as _;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use tokio::time::sleep;

use super::Form;
use crate::capture::{now_ms, open};
use crate::clients::python;
use crate::relay::Link;
use crate::scene::Scene;

/// Viewers that come while no file may be opened.
const VIEWERS: usize = 50;
/// What the program may take beyond what it has.
const MORE_MEMORY: u64 = 8 * 1_024 * 1_024;
/// Holds the write lock of each file until its input ends.
const HOLD_STORE: &str = "
import sqlite3, sys
held = [sqlite3.connect(name, isolation_level=None, timeout=60) for name in sys.argv[1:]]
for one in held:
    one.execute('BEGIN IMMEDIATE')
print('held', flush=True)
sys.stdin.read()
";

/// Sets the soft limit of the running program; gives what it was. The hard one is ours, and stays.
fn limit(scene: &Scene, resource: Resource, current: Option<u64>) -> Option<u64> {
    let pid = scene.lockscope.pid().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    let maximum = getrlimit(resource).maximum;
    prlimit(pid, resource, Rlimit { current, maximum }).expect("the process is ours").current
}

/// No file may be opened, so the link can't come back and viewers are turned away; then there are enough again.
pub(super) async fn no_descriptors(scene: &mut Scene, form: Form) {
    for _ in 0..form.of(3, 1) {
        // What is open stays; a new descriptor would have a higher number than this.
        let was = limit(scene, Resource::Nofile, Some(3));
        let mut turned_away = 0;
        for _ in 0..VIEWERS {
            turned_away += usize::from(open_briefly(scene).await.is_none());
        }
        scene.lost(Fault::LinkLost);
        scene.set_links(Link::CUT);
        sleep(Duration::from_millis(300)).await;
        scene.set_links(Link::OPEN);
        let lasts = scene.rng.random_range(3_000..form.of(6_000, 4_000));
        sleep(Duration::from_millis(lasts)).await;
        limit(scene, Resource::Nofile, was);
        scene.mended().await;
        scene.notes.push(format!("{turned_away} of {VIEWERS} viewers turned away"));
    }
}

async fn open_briefly(scene: &Scene) -> Option<()> {
    let opening = open(scene.lockscope.address());
    tokio::time::timeout(Duration::from_millis(20), opening).await.ok()?.map(drop)
}

/// The program may hardly take more memory than it has while thousands of contenders come. What it can't do then is not
/// promised; where it ends, it is started again as a service manager does.
pub(super) async fn little_memory(scene: &mut Scene, form: Form) {
    let size_kb = scene.lockscope.memory_kb("VmSize:");
    let was = limit(scene, Resource::As, Some(size_kb * 1_024 + MORE_MEMORY));
    super::load::znodes(scene, Form::Short).await;
    sleep(Duration::from_millis(form.of(4_000, 500))).await;
    if scene.lockscope.is_running() {
        scene.notes.push("it lived on".to_owned());
        limit(scene, Resource::As, was);
    } else {
        scene.notes.push("it ended, and was started again".to_owned());
        scene.lockscope.kill_minus_9().await;
        scene.lockscope.launch().await;
        scene.lockscope.until_ready().await;
    }
    let given_at_ms = now_ms();
    scene.until_live("there is memory again", given_at_ms).await;
    scene.back_ms = Some(now_ms() - given_at_ms);
}

/// Somebody else holds the files of the history, so nothing can be written there: each write hangs, then fails.
pub(super) async fn hung_history(scene: &mut Scene, form: Form) {
    let files = store_files(&scene.data_dir());
    if files.is_empty() {
        scene.wrong.push("there is no history to be held up".to_owned());
    }
    let mut holder = hold(&files);
    let lasts = scene.rng.random_range(5_000..form.of(25_000, 7_000));
    sleep(Duration::from_millis(lasts)).await;
    drop(holder.stdin.take());
    holder.wait().expect("it ends with its input");
    sleep(Duration::from_millis(form.of(4_000, 1_000))).await;
    scene.notes.push(format!("{} files held for {lasts} ms", files.len()));
}

fn hold(files: &[PathBuf]) -> Child {
    let mut command = Command::new(python());
    command.arg("-c").arg(HOLD_STORE).args(files).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("Python runs");
    let mut line = String::new();
    let _ = BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line);
    assert_eq!(line.trim(), "held", "the history's files can be locked");
    child
}

/// SQLite's files below a folder.
fn store_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(store_files(&path));
        } else if path.extension().is_some_and(|extension| ["db", "sqlite"].iter().any(|known| extension == *known)) {
            files.push(path);
        }
    }
    files
}
