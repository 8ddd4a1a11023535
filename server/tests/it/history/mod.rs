//! The past of a real ensemble, recorded by the program and asked for over HTTP.

mod bundle;
mod equality;
mod events;
mod lives;
mod moments;
mod restarts;
mod scopes;
mod socket;

use std::path::PathBuf;
use std::process::Stdio;

use demo::PrivateZooKeeper;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Child;

use crate::cli::{listening, lockscope};
use crate::harness::{DEADLINE, Truth, signal, zookeeper};
use crate::served::until;

/// A ZooKeeper, a data directory, and the program over both when it runs.
struct Recorded {
    zookeeper: PrivateZooKeeper,
    truth: Truth,
    place: TempDir,
    /// Settings beside those that all have.
    more: &'static str,
    program: Option<(Child, String)>,
}

impl Recorded {
    async fn start(more: &'static str) -> Self {
        let zookeeper = zookeeper().await;
        let truth = Truth::new(&zookeeper.address()).await;
        let mut recorded = Self { zookeeper, truth, place: tempfile::tempdir().unwrap(), more, program: None };
        recorded.run().await;
        recorded
    }

    fn config(&self, zk: &str) -> String {
        let file = self.place.path().join("lockscope.toml");
        let data = self.place.path().join("data");
        let text = format!(
            "zk = \"{zk}\"\nlisten = \"127.0.0.1:0\"\ndata_dir = {:?}\nroot = [\"/a\", \"/b\"]\nevidence = \"off\"\n{}",
            data.display().to_string(),
            self.more
        );
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    }

    /// Starts the program and waits until it is ready.
    async fn run(&mut self) {
        for root in ["/a", "/b"] {
            self.truth.make(root).await;
        }
        self.run_over(&self.zookeeper.address()).await;
        until(async || self.get("/readyz").await.0 == 200).await;
    }

    /// Starts it over any address.
    async fn run_over(&mut self, zk: &str) {
        let config = self.config(zk);
        let mut child = lockscope(&["serve", "--config", &config])
            .env_remove("LOCKSCOPE_HISTORY")
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let address = listening(&mut child).await;
        self.program = Some((child, address));
    }

    /// Ends it, and waits until it is gone.
    async fn end(&mut self, by: Signal) {
        let (mut child, _) = self.program.take().unwrap();
        signal(child.id().unwrap(), by);
        tokio::time::timeout(DEADLINE, child.wait()).await.unwrap().unwrap();
    }

    fn url(&self, target: &str) -> String {
        format!("{}{target}", self.program.as_ref().unwrap().1)
    }

    async fn token(&self, role: &str, path: &str) -> String {
        let config = self.place.path().join("lockscope.toml").display().to_string();
        let name = format!("t{}", path.len());
        let args = ["token", "new", "--name", &name, "--role", role, "--path", path, "--config", &config];
        let made = lockscope(&args).output().await.unwrap();
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    }

    async fn get(&self, target: &str) -> (u16, String) {
        let answer = reqwest::get(self.url(target)).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    async fn text_as(&self, token: &str, target: &str) -> (u16, String) {
        let answer = reqwest::Client::new().get(self.url(target)).bearer_auth(token).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    async fn json(&self, target: &str) -> (u16, Value) {
        let (status, text) = self.get(target).await;
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    /// A lock as it is, or was.
    async fn lock(&self, path: &str, at: &str) -> Value {
        let at = if at.is_empty() { String::new() } else { format!("&at={at}") };
        self.json(&format!("/api/v1/lock?path={path}{at}")).await.1
    }

    /// Waits until a znode holds a lock, and gives an instant at which it does.
    async fn until_holds(&self, path: &str, node: &str) -> i64 {
        until(async || holder(&self.lock(path, "").await) == node).await;
        now_ms()
    }

    /// Waits until what was up to an instant is stored.
    async fn until_kept(&self, at_ms: i64) {
        let newest = async || self.json("/api/v1/history").await.1["to_at_ms"].as_i64();
        until(async || newest().await.is_some_and(|newest| newest >= at_ms)).await;
    }

    /// Where the history is.
    fn history(&self) -> PathBuf {
        self.place.path().join("data/history")
    }
}

/// The server's clock is this machine's.
fn now_ms() -> i64 {
    runtime::clock::Clock::system().now_ms()
}

/// Path of the first holder of a lock.
fn holder(lock: &Value) -> &str {
    let contenders = lock["contenders"].as_array().map(Vec::as_slice).unwrap_or_default();
    contenders.iter().find(|row| row["role"] == "holder").and_then(|row| row["path"].as_str()).unwrap_or_default()
}
