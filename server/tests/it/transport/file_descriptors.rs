//! As many files may be open as there may be connections, whatever a shell allows a program that does not ask.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use lockscope_campaign::lockscope::Lockscope;

/// A program that starts Lockscope with so few files that may be open.
fn limited(dir: &Path, flags: &str) -> std::path::PathBuf {
    let script = dir.join("limited");
    let program = env!("CARGO_BIN_EXE_lockscope");
    std::fs::write(&script, format!("#!/bin/sh\nulimit {flags}\nexec {program} \"$@\"\n")).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    script
}

/// The limits of a process: soft and hard.
fn open_files(pid: u32) -> (u64, u64) {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let mut columns = line.split_whitespace().map(|column| column.parse().unwrap_or(u64::MAX));
    (columns.next().unwrap(), columns.next().unwrap())
}

async fn started(script: &Path, sockets: &str) -> (u64, u64) {
    let args = ["--zk", "127.0.0.1:1", "--evidence", "off", "--sockets-max", sockets].map(str::to_owned);
    let lockscope = Lockscope::start(script, &args).await;
    open_files(lockscope.pid().unwrap())
}

#[tokio::test]
async fn the_soft_limit_is_raised_as_far_as_it_is_needed_and_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let (soft, hard) = started(&limited(dir.path(), "-Sn 256"), "6000").await;
    assert_eq!(soft, hard.min(2 * 6_000 + 1_024));
    let (soft, hard) = started(&limited(dir.path(), "-n 512"), "6000").await;
    assert_eq!((soft, hard), (512, 512), "it serves with what there is");
}
