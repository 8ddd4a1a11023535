//! A data directory that a build of 2026-11-29 wrote opens in full: history, audit log, token, user, silence, alerts, runs of
//! the lab. A replica wrote it, so its audit log has heads of others, and, as replicas of that time did, an act that was handed
//! on to another; beside its run of the lab lies one that replayed an incident. It is never written anew.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Child;

use crate::cli::{listening, lockscope};
use crate::served::until;

/// Of the role admin, of that directory alone.
const TOKEN: &str = "lks_d0653fed7926_6f285319f2fd71c3c82a0e43ed89b74526e7cc97b58879493261cf954b29fdfe";
const PASSWORD: &str = "correct horse battery staple";
/// Two minutes after the last record, so that nothing of it is too old.
const THEN: &str = "@2026-11-29 20:18:00";
/// `hung` holds, `patient` waits.
const HELD_MS: i64 = 1_795_983_230_000;

/// A server of today on a copy of the directory; no ZooKeeper runs.
struct Opened {
    http: reqwest::Client,
    url: String,
    place: TempDir,
    _child: Child,
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = entry.map(|entry| (entry.path(), to.join(entry.file_name()))).unwrap();
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
}

/// Sets the clock of one process; Debian's package faketime.
fn clock() -> PathBuf {
    let folders = fs::read_dir("/usr/lib").unwrap().flatten();
    let mut found = folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1"));
    found.find(|path| path.exists()).expect("Debian's package faketime")
}

impl Opened {
    async fn start() -> Self {
        let place = tempfile::tempdir().unwrap();
        let (data, config) = (place.path().join("data"), place.path().join("lockscope.toml"));
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data_directory"), &data);
        let text = format!(
            "zk = \"127.0.0.1:1\"\nlisten = \"127.0.0.1:0\"\ndata_dir = {:?}\nroot = \"/a\"\nevidence = \"off\"\n\
             [lab]\nensembles = [\"default\"]\n\
             [[alert]]\nname = \"waiting\"\nwhen = [\"waiting > 2s\"]\nfor = \"1s\"\nseverity = \"critical\"\n",
            data.display().to_string()
        );
        fs::write(&config, text).unwrap();
        let mut child = lockscope(&["serve", "--config", &config.display().to_string()])
            .env_remove("LOCKSCOPE_HISTORY")
            .env("LD_PRELOAD", clock())
            .envs([("FAKETIME", THEN), ("TZ", "UTC"), ("FAKETIME_DONT_FAKE_MONOTONIC", "1"), ("NO_FAKE_STAT", "1")])
            .spawn()
            .unwrap();
        let url = listening(&mut child).await;
        let opened = Self { http: reqwest::Client::new(), url, place, _child: child };
        until(async || opened.get("/api/v1/history").await["from_at_ms"].is_i64()).await;
        opened
    }

    async fn get(&self, target: &str) -> Value {
        let request = self.http.get(format!("{}{target}", self.url)).bearer_auth(TOKEN);
        serde_json::from_str(&request.send().await.unwrap().text().await.unwrap()).unwrap()
    }
}

fn texts<'a>(rows: &'a Value, key: &str) -> Vec<&'a str> {
    rows.as_array().unwrap().iter().map(|row| row[key].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn directory_of_a_former_build_opens_in_full() {
    let opened = Opened::start().await;
    // Who may do what.
    let me = opened.get("/api/v1/me").await;
    assert_eq!((&me["name"], &me["role"]), (&json!("fixture"), &json!("admin")));
    let signed_in = opened
        .http
        .post(format!("{}/sign-in", opened.url))
        .header("origin", &opened.url)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("name=ops&password={}", PASSWORD.replace(' ', "+")))
        .send()
        .await
        .unwrap();
    assert_eq!(signed_in.url().path(), "/", "signed in: {signed_in:?}");

    // History: a moment, lives, what stood out, and when nobody looked.
    let lock = opened.get(&format!("/api/v1/lock?path=/a/stuck&at={HELD_MS}")).await;
    assert_eq!((&lock["sentence"], &lock["as_of"]["state"]), (&json!("hung holds it. 1 waits."), &json!("past")));
    let holds = opened.get("/api/v1/history/holds?path=/a/stuck").await;
    assert_eq!(texts(&holds["holds"], "label"), ["patient", "hung"]);
    assert_eq!((&holds["holds"][1]["how"], &holds["holds"][1]["hold_ms"]), (&json!("forced"), &json!(10_166)));
    let incidents = opened.get("/api/v1/incidents").await;
    assert_eq!(texts(&incidents["incidents"], "root_lock"), ["/a/orders"]);
    let history = opened.get("/api/v1/history").await;
    assert_eq!(history["from_at_ms"], json!(1_795_983_164_642_i64));
    assert_eq!(texts(&history["gaps"], "why"), ["not_running"; 5], "{history}");

    // Alerts.
    let alerts = opened.get("/api/v1/alerts").await;
    assert_eq!(alerts["silences"][0]["reason"], "kept as a fixture");
    assert_eq!(
        (texts(&alerts["alerts"], "lock"), texts(&alerts["alerts"], "state")),
        (vec!["/a/orders", "/a/stuck"], vec!["pending", "resolved"])
    );

    // The lab.
    let runs = opened.get("/api/v1/lab/runs").await;
    assert_eq!(texts(&runs["runs"], "id"), ["be56b26c3347b2c0", "897bea301a20434a"]);
    let run = opened.get("/api/v1/lab/runs/be56b26c3347b2c0").await;
    assert_eq!(run["strategies"].as_array().map(Vec::len), Some(2), "{run}");

    // The audit log: all 21 records, and ours.
    let audit = opened.get("/api/v1/audit?limit=50").await;
    let mut kinds = texts(&audit["records"], "kind");
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(audit["records"].as_array().map(Vec::len), Some(22 + 1), "{audit}");
    assert_eq!(
        kinds,
        [
            "alerts_silenced",
            "handed_on",
            "heads_seen",
            "lab_ended",
            "lab_started",
            "release_intent",
            "release_outcome",
            "signed_in",
            "started"
        ]
    );
    let data = opened.place.path().join("data").display().to_string();
    let verified = lockscope(&["audit", "verify", "--data-dir", &data]).output().await.unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}
