//! A disk that is full, or read-only, for real: a small file system of our own in a name space of our own.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use lockscope_audit::{Journal as _, Log, PageQuery, Records as _, verify_dir};
use lockscope_runtime::clock::Clock;

use super::{act, append, details, open};

const DIR: &str = "LOCKSCOPE_TEST_DISK";

/// Not a test of its own: the next one runs it where a small disk is mounted.
#[tokio::test]
#[ignore = "needs a small disk; started by the test below"]
async fn on_a_small_disk() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let dir = Path::new(&dir);
    for round in 0..5 {
        fill_and_free(dir, round).await;
    }
    let end = verify_dir(dir, None).unwrap().tip;
    mount(dir, "remount,ro");
    let error = Log::open(dir, Clock::manual(0)).await.unwrap_err().0;
    assert!(error.contains("Read-only file system") && error.contains("make that disk writable"), "{error}");
    assert_eq!(verify_dir(dir, None).unwrap().tip, end);
    mount(dir, "remount,rw");
    assert_eq!(append(&open(dir).await, "again").await, end.id + 2);
}

fn mount(dir: &Path, how: &str) {
    assert!(Command::new("mount").args(["-o", how]).arg(dir).status().unwrap().success());
}

async fn fill_and_free(dir: &Path, round: usize) {
    let filler = dir.join("filler");
    // In some rounds the disk is full before the log is opened, so that its first record has to wait.
    let mut log = None;
    if round.is_multiple_of(2) {
        log = Some(open(dir).await);
    }
    let mut file = std::fs::File::create(&filler).unwrap();
    while file.write_all(&[0; 512]).is_ok() {}
    drop(file);
    let log = match log {
        Some(log) => log,
        None => open(dir).await,
    };
    let mut written = 0;
    let error = loop {
        match log.append(act("x".repeat(700))).await {
            Ok(_) => written += 1,
            Err(error) => break error.0,
        }
        assert!(written < 200, "the disk never was full");
    };
    assert!(
        error.contains("No space left on device")
            && error.contains("make room on that disk")
            && error.contains("audit."),
        "{error}"
    );
    let page = log.page(PageQuery::default()).await.unwrap();
    assert_eq!((page.trouble.as_str(), page.total), (error.as_str(), log.tip().id));
    assert!(log.append(act("still")).await.is_err());
    let before = log.tip().id;
    assert_eq!(verify_dir(dir, None).map(|whole| (whole.tip.id, whole.torn_bytes)).unwrap_or_default(), (before, 0));
    std::fs::remove_file(&filler).unwrap();
    let id = append(&log, "after").await;
    // The record that says the log was opened comes first, if it could not be written before.
    assert!(id == before + 1 || (!round.is_multiple_of(2) && id == before + 2), "{id} {before}");
    assert_eq!(log.trouble(), "");
    assert_eq!(details(&log).await.last(), Some(&(id, "after".to_owned())));
    drop(log);
    assert_eq!(verify_dir(dir, None).unwrap().tip.id, id);
    let opened = details(&open(dir).await)
        .await
        .iter()
        .filter(|(_, detail)| detail.contains("log goes on") || detail.contains("record started"))
        .count();
    assert_eq!(opened, 2 * round + 2);
}

#[test]
#[expect(clippy::print_stderr, reason = "says that it could not be tried")]
fn a_full_or_read_only_disk_refuses_and_goes_on_when_there_is_room() {
    let may = Command::new("unshare").args(["-rm", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"]).output();
    if !may.is_ok_and(|done| done.status.success()) {
        eprintln!("no name space can be made here: full disks are not tried");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=64k none \"$1\" && exec \"$2\" --exact audit::disk::on_a_small_disk --ignored";
    let mut command = Command::new("unshare");
    command
        .args(["-rm", "sh", "-c", script, "sh"])
        .arg(place.path())
        .arg(std::env::current_exe().unwrap())
        .env(DIR, place.path());
    let done = command.output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&done.stderr));
}
