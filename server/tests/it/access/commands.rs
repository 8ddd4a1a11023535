//! `lockscope token` and `lockscope user`, as people and scripts use them.

use std::process::{Output, Stdio};

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::harness::DEADLINE;

async fn lockscope(args: &[&str], input: &str, home: &std::path::Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockscope"));
    command
        .args(args)
        .env_clear()
        .env("HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that does not read ends before all is written.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    tokio::time::timeout(DEADLINE, child.wait_with_output()).await.unwrap().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn a_token_is_printed_once_alone_and_kept_in_the_usual_place() {
    let home = tempfile::tempdir().unwrap();
    let made = lockscope(
        &["token", "new", "--name", "ci", "--role", "operator", "--path", "/shop", "--expires", "30d"],
        "",
        home.path(),
    )
    .await;
    let (out, err) = (text(&made.stdout), text(&made.stderr));
    assert!(made.status.success(), "{err}");
    assert!(out.starts_with("lks_") && out.lines().count() == 1 && !err.contains(out.trim()), "{out}{err}");
    assert!(err.contains("has the role operator (/shop); expires in 30 days"), "{err}");
    let file = home.path().join(".local/state/lockscope/tokens.json");
    assert!(file.exists());
    let listed = text(&lockscope(&["token", "list"], "", home.path()).await.stdout);
    assert!(listed.contains("  ci  operator  /shop  expires in ") && !listed.contains("lks_"), "{listed}");
    let again = lockscope(&["token", "new", "--name", "ci", "--role", "viewer"], "", home.path()).await;
    assert_eq!(again.status.code(), Some(64));
    assert!(text(&again.stderr).contains("there is a token named ci"), "{}", text(&again.stderr));
    assert!(lockscope(&["token", "revoke", "--name", "ci"], "", home.path()).await.status.success());
    assert_eq!(lockscope(&["token", "revoke", "--name", "ci"], "", home.path()).await.status.code(), Some(64));
    let root = lockscope(&["token", "new", "--name", "x", "--role", "root"], "", home.path()).await;
    assert!(
        root.status.code() == Some(64) && text(&root.stderr).contains("use one of viewer, operator, auditor, admin"),
        "{}",
        text(&root.stderr)
    );
}

#[tokio::test]
async fn a_user_is_set_with_a_password_from_standard_input() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("data").display().to_string();
    let set = ["user", "set", "--name", "ann", "--role", "auditor", "--data-dir", &dir];
    let short = lockscope(&set, "short\n", home.path()).await;
    assert!(
        short.status.code() == Some(64) && text(&short.stderr).contains("at least 12 characters"),
        "{}",
        text(&short.stderr)
    );
    assert!(!home.path().join("data").exists(), "nothing was to be kept");
    let done = lockscope(&set, "correct horse battery\n", home.path()).await;
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(!text(&done.stderr).contains("horse") && done.stdout.is_empty());
    let listed = text(&lockscope(&["user", "list", "--data-dir", &dir], "", home.path()).await.stdout);
    assert_eq!(listed, "ann  auditor  everywhere\n");
    let file = home.path().join("password").display().to_string();
    let from_file = [&set[..], &["--password-file", &file]].concat();
    let missing = lockscope(&from_file, "", home.path()).await;
    assert!(
        missing.status.code() == Some(64)
            && text(&missing.stderr).contains(&format!("--password-file {file} can't be opened"))
    );
    std::fs::write(&file, "another horse battery\n").unwrap();
    let changed = lockscope(&from_file, "", home.path()).await;
    assert!(changed.status.success() && !text(&changed.stderr).contains("horse"), "{}", text(&changed.stderr));
    assert!(
        lockscope(&["user", "remove", "--name", "ann", "--data-dir", &dir], "", home.path()).await.status.success()
    );
}

#[tokio::test]
async fn without_a_place_it_says_so() {
    let nowhere = lockscope(&["token", "list"], "", std::path::Path::new("")).await;
    assert_eq!(nowhere.status.code(), Some(64));
    assert!(text(&nowhere.stderr).contains("neither --data-dir nor HOME is set"), "{}", text(&nowhere.stderr));
}
