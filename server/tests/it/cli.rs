//! The binary as its user meets it: sentences, exit codes, signals. No ZooKeeper runs here.

use std::net::TcpListener;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::harness::DEADLINE;

/// It records nothing unless told to: the directory of who runs the tests is not ours.
pub(crate) fn lockscope(args: &[&str]) -> Command {
    lockscope_by(&[], args)
}

/// The same, started by another program: its words come first.
pub(crate) fn lockscope_by(launcher: &[&str], args: &[&str]) -> Command {
    let words: Vec<&str> = launcher.iter().copied().chain([env!("CARGO_BIN_EXE_lockscope")]).collect();
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    for name in [
        "ZK",
        "ROOT",
        "LISTEN",
        "CONFIG",
        "DATA_DIR",
        "CONNECT_TIMEOUT",
        "SESSION_TIMEOUT_MS",
        "WEBHOOK_URL",
        "WEBHOOK_SECRET",
    ] {
        command.env_remove(format!("LOCKSCOPE_{name}"));
    }
    for name in [
        "LOCKSCOPE_SERVER",
        "LOCKSCOPE_SERVER_CA",
        "LOCKSCOPE_TOKEN",
        "LOCKSCOPE_TOKEN_FILE",
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
    ] {
        command.env_remove(name);
    }
    command.env("LOCKSCOPE_HISTORY", "off");
    command
}

pub(crate) async fn check(args: &[&str], code: i32, sentence: &str) {
    let done = tokio::time::timeout(DEADLINE, lockscope(args).output()).await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(code), "{args:?}: {text}");
    assert!(text.contains(sentence), "{args:?}: {text}");
}

/// A port where nobody listens, nor will: it stays bound.
pub(crate) fn dead_port() -> u16 {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind((std::net::Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    std::mem::forget(socket);
    port
}

#[tokio::test]
async fn secrets_that_others_may_read_are_named() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    for name in ["auth", "secret", "ca"] {
        std::fs::write(path(name), "who:0123456789abcdef0123456789abcdef\n").unwrap();
    }
    let args = [
        "check-config",
        "--zk",
        "a:1",
        "--auth-file",
        &path("auth"),
        "--webhook-url",
        "https://a.example/x",
        "--webhook-secret-file",
        &path("secret"),
    ];
    let warned = async |modes: [u32; 2]| {
        for (name, mode) in ["auth", "secret"].into_iter().zip(modes) {
            std::fs::set_permissions(path(name), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let done = lockscope(&args).output().await.unwrap();
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(0), "{text}");
        let told = |name: &str| text.lines().any(|line| line.ends_with(&format!("run: chmod go= {}", path(name))));
        ["auth", "secret"].map(told)
    };
    assert_eq!(warned([0o600, 0o400]).await, [false, false]);
    assert_eq!(warned([0o604, 0o600]).await, [true, false]);
    assert_eq!(warned([0o600, 0o644]).await, [false, true]);
}

#[tokio::test]
async fn bad_configurations_exit_with_64_and_one_sentence() {
    check(
        &["serve", "--zk", "nowhere"],
        64,
        "lockscope: --zk \"nowhere\" has the server \"nowhere\" without a port; write HOST:PORT",
    )
    .await;
    check(
        &["serve", "--zk", "a:1", "--root", "locks"],
        64,
        "--root \"locks\" does not start with a slash; write /locks",
    )
    .await;
    check(&["serve", "--zk", "a:1", "--frobnicate"], 64, "unexpected argument '--frobnicate'").await;
    check(&["check-config"], 64, "no ZooKeeper is named").await;
    check(
        &["serve", "--zk", "a:1", "--listen", "0.0.0.0:0"],
        64,
        "reaches beyond this machine, and nobody can sign in",
    )
    .await;
    check(&["demo", "--listen", "[::]:0"], 64, "the demo is for this machine only").await;
    check(
        &["check-config", "--zk", "a:1", "--origin", "https://*.example"],
        64,
        "--origin \"https://*.example\" has more than",
    )
    .await;
    check(&["check-config", "--zk", "a:1"], 0, "").await;
    check(&["--version"], 0, "").await;
}

#[tokio::test]
async fn what_can_not_be_reached_exits_with_69() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    check(&["serve", "--zk", "127.0.0.1:1", "--listen", &address], 69, "stop what uses it, or choose another port")
        .await;
    let zk = format!("127.0.0.1:{}", dead_port());
    let args = ["serve", "--zk", &zk, "--listen", "127.0.0.1:0", "--connect-timeout", "300ms"];
    check(&args, 69, "could not be reached within --connect-timeout 300 ms").await;
}

pub(crate) async fn listening(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = tokio::time::timeout(DEADLINE, lines.next_line()).await.unwrap().unwrap().unwrap();
    line.strip_prefix("lockscope listening on ").unwrap_or_else(|| panic!("{line}")).to_owned()
}

#[tokio::test]
async fn it_serves_without_zookeeper_says_so_and_ends_cleanly_on_sigterm() {
    let zk = format!("127.0.0.1:{}", dead_port());
    let mut child = lockscope(&["serve", "--zk", &zk, "--listen", "127.0.0.1:0"]).spawn().unwrap();
    let address = listening(&mut child).await;
    let ready = reqwest::get(format!("{address}/readyz")).await.unwrap();
    assert_eq!(ready.status().as_u16(), 503);
    let status: serde_json::Value =
        reqwest::get(format!("{address}/api/v1/status")).await.unwrap().json().await.unwrap();
    assert_eq!(status["ensembles"][0]["link"], "lost");
    crate::harness::signal(child.id().unwrap(), rustix::process::Signal::TERM);
    let status = tokio::time::timeout(DEADLINE, child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(0));
}

/// A log line that can't be written is lost; it was once a panic, and the line about that another.
#[tokio::test]
async fn a_full_disk_under_the_log_ends_nothing() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let zk = format!("127.0.0.1:{}", dead_port());
    let mut command = lockscope(&["serve", "--zk", &zk, "--listen", "127.0.0.1:0"]);
    let mut process = command.env("LOCKSCOPE_LOG", "debug").stderr(full).spawn().unwrap();
    let server = listening(&mut process).await;
    for _ in 0..20 {
        assert_eq!(reqwest::get(format!("{server}/healthz")).await.unwrap().status(), 200);
    }
    let metrics = reqwest::get(format!("{server}/metrics")).await.unwrap().text().await.unwrap();
    assert!(metrics.contains("\nlockscope_panics_total 0\n"), "{metrics}");
}
