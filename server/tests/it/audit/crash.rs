//! A writer that is killed: whatever number it was told is there afterwards.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;

use lockscope_audit::verify_dir;

use super::{append, details, open};

const DIR: &str = "LOCKSCOPE_TEST_AUDIT";
const ROUNDS: usize = 12;

/// Not a test of its own: the victim of the next one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs for ever; started by the test below"]
async fn append_for_ever() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let log = Arc::new(open(dir.as_ref()).await);
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let log = log.clone();
            tokio::spawn(async move {
                for number in 0.. {
                    let detail = format!("{}-{task}-{number}", std::process::id());
                    let id = append(&log, detail.as_str()).await;
                    // One write, so that lines of tasks do not mix.
                    std::io::stderr().write_all(format!("told {id} {detail}\n").as_bytes()).unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn a_killed_writer_loses_nothing_it_was_told() {
    let place = tempfile::tempdir().unwrap();
    let mut told = BTreeMap::<u64, String>::new();
    for round in 0..ROUNDS {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "audit::crash::append_for_ever", "--ignored", "--nocapture"]).env(DIR, place.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut hear = |told: &mut BTreeMap<u64, String>| {
            let Some(line) = lines.next() else { return false };
            let line = line.unwrap();
            if let Some((id, detail)) = line.strip_prefix("told ").and_then(|rest| rest.split_once(' ')) {
                assert_eq!(told.insert(id.parse().unwrap(), detail.to_owned()), None, "{id} was told twice");
            }
            true
        };
        let enough = told.len() + 7 + 13 * round;
        while told.len() < enough {
            assert!(hear(&mut told), "the writer ended by itself");
        }
        // SIGKILL.
        child.kill().unwrap();
        while hear(&mut told) {}
        child.wait().unwrap();
        let whole = verify_dir(place.path(), None).unwrap();
        assert!(whole.tip.id >= *told.keys().next_back().unwrap());
        // What a crash between two writes of the disk leaves.
        if round % 3 == 0 {
            let log = std::fs::OpenOptions::new().append(true).open(place.path().join("audit.log"));
            log.unwrap().write_all(b"{\"id\":7,\"at_ms\":1").unwrap();
        }
    }
    let log = open(place.path()).await;
    let there: BTreeMap<u64, String> = details(&log).await.into_iter().collect();
    for (id, detail) in &told {
        assert_eq!(there.get(id), Some(detail));
    }
    assert!(told.len() > 500, "{}", told.len());
}
