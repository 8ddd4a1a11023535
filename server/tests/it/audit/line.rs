//! `lockscope audit …` and `serve --data-dir` as their user meets them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use lockscope_audit::verify_dir;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::{append, open};
use crate::cli::{check, dead_port, listening, lockscope};
use crate::harness::DEADLINE;

/// What is told of acts whose outcome is not on record.
const OPEN: &str = "9 requests have no outcome on record (records 2, 3, 4, 5, 6, 7, 8, 9, 10): a server carries them out now, or the next one that \
                    starts here will settle them\n";

async fn run(args: &[&str]) -> (i32, Vec<u8>, String) {
    let done = tokio::time::timeout(DEADLINE, lockscope(args).output()).await.unwrap().unwrap();
    (done.status.code().unwrap(), done.stdout, String::from_utf8(done.stderr).unwrap())
}

async fn filled(dir: &Path) -> String {
    let log = open(dir).await;
    for number in 0..9 {
        append(&log, format!("act {number}")).await;
    }
    log.tip().hash
}

#[tokio::test]
async fn verify_says_that_it_is_whole_or_where_it_breaks() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().to_str().unwrap();
    check(&["audit", "verify", "--data-dir", dir], 69, "there is no audit record in").await;
    let head = filled(place.path()).await;
    let (code, out, _) = run(&["audit", "verify", "--data-dir", dir]).await;
    assert_eq!((code, String::from_utf8(out).unwrap()), (0, format!("10 records, chain whole, head {head}\n{OPEN}")));
    let (code, out, _) = run(&["audit", "verify", "--data-dir", dir, "--head", &head]).await;
    assert_eq!(code, 0);
    assert!(String::from_utf8(out).unwrap().ends_with(&format!("the given hash is that of record 10\n{OPEN}")));
    check(&["audit", "verify", "--data-dir", dir, "--head", "abc"], 64, "--head \"abc\" is not the hash of a record")
        .await;
    check(&["audit", "verify", "--data-dir", dir, "--head", &"ab".repeat(32)], 1, "no record has the hash abab").await;

    let (code, out, _) = run(&["audit", "export", "--data-dir", dir]).await;
    let path = place.path().join("audit.log");
    let text = std::fs::read(&path).unwrap();
    assert_eq!((code, &out), (0, &text));

    std::fs::write(&path, String::from_utf8(text).unwrap().replace("act 3", "act 4")).unwrap();
    let sentence = format!(
        "lockscope: {} is broken at line 5 (record 5 was expected): its hash is not that of its text",
        path.display()
    );
    check(&["audit", "verify", "--data-dir", dir], 1, &sentence).await;
    check(&["audit", "export", "--data-dir", dir], 1, &sentence).await;
}

async fn ask(address: &str, token: &str) -> (u16, String) {
    let answer = reqwest::Client::new().get(format!("{address}/api/v1/audit")).bearer_auth(token).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test]
async fn a_server_keeps_its_record_alone_and_views_go_on_without_one() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().to_str().unwrap();
    let (_, out, _) = run(&["token", "new", "--name", "auditor", "--role", "auditor", "--data-dir", dir]).await;
    let out = String::from_utf8(out).unwrap();
    let token = out.lines().last().unwrap();
    let zk = format!("127.0.0.1:{}", dead_port());
    let args = ["serve", "--zk", &zk, "--listen", "127.0.0.1:0", "--data-dir", dir];
    let mut first = lockscope(&args).spawn().unwrap();
    let address = listening(&mut first).await;
    let (status, text) = ask(&address, token).await;
    assert!(status == 200 && text.contains("record started"), "{text}");
    let mut second = lockscope(&args).spawn().unwrap();
    let (status, text) = ask(&listening(&mut second).await, token).await;
    assert!(status == 503 && text.contains("is written by another Lockscope"), "{text}");
    // It can be verified while it is written.
    check(&["audit", "verify", "--data-dir", dir], 0, "").await;
    crate::harness::signal(first.id().unwrap(), rustix::process::Signal::TERM);
    assert_eq!(tokio::time::timeout(DEADLINE, first.wait()).await.unwrap().unwrap().code(), Some(0));
    assert_eq!(verify_dir(place.path(), None).unwrap().tip.id, 1);
}

#[tokio::test]
async fn the_documents_shell_finds_the_same_head() {
    let place = tempfile::tempdir().unwrap();
    let log = open(place.path()).await;
    for detail in ["a \\ and a \"quote\", an end of a hash: ,\"hash\":\"00\"}", "wörter 主机", "  %s $(x) `y`  "] {
        append(&log, detail).await;
    }
    let document = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/audit-log.md")).unwrap();
    let (from, to) = (document.find("prev=$(printf").unwrap(), document.find("; echo \"$prev\"").unwrap());
    std::fs::copy(place.path().join("audit.log"), place.path().join("acts.ndjson")).unwrap();
    let script = format!("{}; echo \"$prev\"", &document[from..to]);
    let done = std::process::Command::new("sh").args(["-c", &script]).current_dir(place.path()).output().unwrap();
    assert_eq!(String::from_utf8(done.stdout).unwrap().trim(), log.tip().hash);
}

#[tokio::test]
async fn a_data_directory_that_everybody_may_write_to_is_told_of() {
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let (dir, zk) = (place.path().to_str().unwrap(), format!("127.0.0.1:{}", dead_port()));
    let mut child = lockscope(&["serve", "--zk", &zk, "--listen", "127.0.0.1:0", "--data-dir", dir]).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let told = async {
        while !lines
            .next_line()
            .await
            .unwrap()
            .expect("it goes on")
            .contains("everybody on this machine may write to the data directory")
        {}
    };
    tokio::time::timeout(DEADLINE, told).await.expect("it is told");
}
