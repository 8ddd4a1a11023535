//! Secrets of every kind are put everywhere they may be put; then everything that comes out is searched for them.

use std::process::Stdio;

use rcgen::KeyPair;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::Command;
use zookeeper_client::{Acls, CreateMode};

use super::{Certificates, by_digest, config, is_denied, session, write};
use crate::harness::{DEADLINE, Logs, Observed, zookeeper};
use crate::served::until;

/// Every secret has it.
const CANARY: &str = "CANARY";

/// On one thread, so that everything of every task is heard.
#[tokio::test]
async fn no_secret_is_logged_even_at_the_loudest() {
    let (logs, _guard) = Logs::hear(tracing::Level::TRACE);
    let server = zookeeper().await;
    let owner = session(&by_digest("app:CANARY-app"), &server.address()).await.unwrap();
    owner.create("/locks", b"", &CreateMode::Persistent.with_acls(Acls::creator_all())).await.unwrap();
    let observed = Observed::start_as(config(&server.address(), by_digest("watcher:CANARY-watcher")));
    observed.until("denied", is_denied).await;
    observed.stop().await;
    let text = logs.text();
    assert!(text.contains("sending request") && text.contains("ZooKeeper session made"), "the logs are heard: {text}");
    assert!(!text.contains(CANARY), "{}", text.lines().find(|line| line.contains(CANARY)).unwrap_or_default());
}

fn lockscope(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockscope"));
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null()).kill_on_drop(true);
    command.env("LOCKSCOPE_LOG", "trace").env("LOCKSCOPE_HISTORY", "off");
    command
}

#[tokio::test]
async fn no_secret_is_in_any_sentence_of_the_configuration() {
    let folder = TempDir::new().unwrap();
    let made = Certificates::new();
    let (cert, key) = made.make("watcher");
    let other_key = KeyPair::generate().unwrap().serialize_pem();
    let file = |name: &str, text: &str| write(folder.path(), name, text);
    let (ca, cert, key) = (file("ca.pem", &made.authority), file("cert.pem", &cert), file("key.pem", &key));
    let bad_key = file("other.pem", &other_key);
    let (good, no_colon, two_lines) =
        (file("good", "me:CANARY\n"), file("no-colon", "CANARY\n"), file("two-lines", "me:CANARY\nCANARY\n"));
    let base = ["check-config", "--zk", "a:1"];
    let cases: [(&[&str], i32, &str); 11] = [
        (&["--auth-file", &good, "--act-sasl-file", &good], 0, "watches as         digest as \"me\", unencrypted"),
        (
            &["--ca-file", &ca, "--cert-file", &cert, "--key-file", &key],
            0,
            "releases as        TLS with a certificate of our own",
        ),
        (&["--auth-file", &no_colon], 64, "names no user and password; write one line of the form USER:PASSWORD"),
        (&["--sasl-file", &two_lines], 64, "has more than one line"),
        (&["--auth-file", "/nowhere/CONARY"], 64, "can't be read"),
        (
            &["--ca-file", &ca, "--cert-file", &cert, "--key-file", &bad_key],
            64,
            "is not of its key; name the certificate and the key",
        ),
        (&["--ca-file", &ca, "--cert-file", &cert], 64, "is one of two"),
        (&["--cert-file", &cert, "--key-file", &key], 64, "--cert-file is set and ca_file is not"),
        (&["--ca-file", &key], 64, "has no certificate of an authority"),
        (&["--ca-file", &ca, "--cert-file", &key, "--key-file", &key], 64, "has no certificate; write it in PEM"),
        (&["--tls-cert", &cert, "--tls-key", &bad_key], 64, "does not match tls_cert"),
    ];
    let secrets: Vec<String> = [&key, &bad_key]
        .into_iter()
        .map(|path| std::fs::read_to_string(path).unwrap().lines().nth(1).unwrap().to_owned())
        .collect();
    for (args, code, sentence) in cases {
        let done =
            tokio::time::timeout(DEADLINE, lockscope(&[&base[..], args].concat()).output()).await.unwrap().unwrap();
        let text = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.code() == Some(code) && text.contains(sentence), "{args:?}: {text}");
        assert!(!text.contains(CANARY) && !secrets.iter().any(|secret| text.contains(secret)), "{args:?}: {text}");
    }
    for (name, value, sentence) in [
        ("LOCKSCOPE_ZK_AUTH", "me:CANARY", "watches as         digest as \"me\""),
        ("LOCKSCOPE_ZK_ACT_AUTH", "me:CANARY", "releases as        digest as \"me\""),
        ("LOCKSCOPE_ZK_AUTH", "CANARY", "LOCKSCOPE_ZK_AUTH names no user and password"),
        ("LOCKSCOPE_ZK_AUTH", "a:CANARY\nCANARY", "LOCKSCOPE_ZK_AUTH has more than one line"),
    ] {
        let done = lockscope(&base).env(name, value).output().await.unwrap();
        let text = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(text.contains(sentence) && !text.contains(CANARY), "{name}: {text}");
    }
    let done = lockscope(&[&base[..], &["--auth-file", &good]].concat())
        .env("LOCKSCOPE_ZK_AUTH", "me:CANARY")
        .output()
        .await
        .unwrap();
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        done.status.code() == Some(64) && text.contains("both say who Lockscope is") && !text.contains(CANARY),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_is_served_or_logged_by_the_binary() {
    let server = zookeeper().await;
    let owner = session(&by_digest("watcher:CANARY-watcher"), &server.address()).await.unwrap();
    owner.create("/locks", b"", &CreateMode::Persistent.with_acls(Acls::creator_all())).await.unwrap();
    owner.create("/locks/lock-", b"", &CreateMode::EphemeralSequential.with_acls(Acls::creator_all())).await.unwrap();
    let folder = TempDir::new().unwrap();
    let acting = write(folder.path(), "acting", "operator:CANARY-operator\n");
    let args =
        ["serve", "--zk", &server.address(), "--root", "/locks", "--listen", "127.0.0.1:0", "--act-auth-file", &acting];
    let mut child = lockscope(&args).env("LOCKSCOPE_ZK_AUTH", "watcher:CANARY-watcher").spawn().unwrap();
    let mut log = child.stderr.take().unwrap();
    let logged = tokio::spawn(async move {
        let mut text = String::new();
        log.read_to_string(&mut text).await.unwrap();
        text
    });
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = tokio::time::timeout(DEADLINE, lines.next_line()).await.unwrap().unwrap().unwrap();
    let base = line.strip_prefix("lockscope listening on ").unwrap().to_owned();
    let get = async |path: &str| reqwest::get(format!("{base}{path}")).await.unwrap().text().await.unwrap();
    until(async || get("/api/v1/locks").await.contains("\"/locks\"")).await;
    for path in [
        "/",
        "/lock?path=/locks",
        "/status",
        "/sessions",
        "/api/v1/status",
        "/api/v1/locks",
        "/api/v1/lock?path=/locks",
        "/metrics",
        "/readyz",
    ] {
        let text = get(path).await;
        assert!(!text.is_empty() && !text.contains(CANARY), "{path}");
    }
    child.kill().await.unwrap();
    let text = logged.await.unwrap();
    assert!(
        text.contains("ZooKeeper session made") && !text.contains(CANARY),
        "{}",
        text.lines().find(|line| line.contains(CANARY)).unwrap_or(&text)
    );
}
