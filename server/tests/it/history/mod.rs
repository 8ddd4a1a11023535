//! The past of a real ensemble, recorded by the program and asked for over HTTP.

mod blame;
mod blame_ensembles;
mod bundle;
mod calibration;
mod clocks;
mod damage;
mod differs;
mod disks;
mod equality;
mod events;
mod forced;
mod frozen;
mod generated;
mod hindsight;
mod incidents;
mod kills;
mod lives;
mod matrix;
mod moments;
mod over_time;
mod postgres;
mod real_clients;
mod restarts;
mod retention;
mod scopes;
mod session_timeout;
mod socket;
mod time_to_lock;
mod unanswered;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use lockscope_demo::PrivateZooKeeper;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Child;

use crate::cli::{listening, lockscope, lockscope_by};
use crate::harness::{DEADLINE, Truth, signal, zookeeper};
use crate::served::until;

/// A ZooKeeper, a data directory, and the program over both when it runs.
pub(crate) struct Recorded {
    pub(crate) zookeeper: PrivateZooKeeper,
    pub(crate) truth: Truth,
    place: TempDir,
    /// Settings beside those that all have.
    more: &'static str,
    launcher: Launcher,
    program: Option<(Child, String)>,
}

/// What starts the program, and what is in its environment.
#[derive(Default)]
struct Launcher {
    words: Vec<String>,
    environment: Vec<(&'static str, String)>,
}

impl Recorded {
    pub(crate) async fn start(more: &'static str) -> Self {
        Self::start_by(more, |_| Launcher::default()).await
    }

    /// The same by a launcher, which is told the place.
    async fn start_by(more: &'static str, launcher: impl FnOnce(&Path) -> Launcher) -> Self {
        let zookeeper = zookeeper().await;
        let truth = Truth::new(&zookeeper.address()).await;
        let place = tempfile::tempdir().unwrap();
        let launcher = launcher(place.path());
        let mut recorded = Self { zookeeper, truth, place, more, launcher, program: None };
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
    pub(crate) async fn run(&mut self) {
        for root in ["/a", "/b"] {
            self.truth.make(root).await;
        }
        self.run_over(&self.zookeeper.address()).await;
        until(async || self.get("/readyz").await.0 == 200).await;
    }

    /// Starts it over any address.
    async fn run_over(&mut self, zk: &str) {
        let config = self.config(zk);
        let launcher: Vec<&str> = self.launcher.words.iter().map(String::as_str).collect();
        let mut child = lockscope_by(&launcher, &["serve", "--config", &config])
            .env_remove("LOCKSCOPE_HISTORY")
            .envs(self.launcher.environment.iter().map(|(name, value)| (name, value)))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let address = listening(&mut child).await;
        self.program = Some((child, address));
    }

    /// Ends it, and waits until it is gone.
    pub(crate) async fn end(&mut self, by: Signal) {
        let (mut child, _) = self.program.take().unwrap();
        signal(child.id().unwrap(), by);
        tokio::time::timeout(DEADLINE, child.wait()).await.unwrap().unwrap();
    }

    /// Has other text in its file in place of some, and has it read again.
    pub(crate) fn reload(&self, before: &str, after: &str) {
        let file = self.place.path().join("lockscope.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace(before, after)).unwrap();
        signal(self.program.as_ref().unwrap().0.id().unwrap(), Signal::HUP);
    }

    /// The place of its files.
    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    pub(crate) fn url(&self, target: &str) -> String {
        format!("{}{target}", self.program.as_ref().unwrap().1)
    }

    pub(crate) async fn token(&self, role: &str, path: &str) -> String {
        let config = self.place.path().join("lockscope.toml").display().to_string();
        let name = format!("{role}{}", path.len());
        let args = ["token", "new", "--name", &name, "--role", role, "--path", path, "--config", &config];
        let made = lockscope(&args).output().await.unwrap();
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    }

    async fn get(&self, target: &str) -> (u16, String) {
        let answer = reqwest::get(self.url(target)).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    pub(crate) async fn text_as(&self, token: &str, target: &str) -> (u16, String) {
        let answer = reqwest::Client::new().get(self.url(target)).bearer_auth(token).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    pub(crate) async fn json(&self, target: &str) -> (u16, Value) {
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
    pub(crate) async fn until_kept(&self, at_ms: i64) {
        let newest = async || self.json("/api/v1/history").await.1["to_at_ms"].as_i64();
        until(async || newest().await.is_some_and(|newest| newest >= at_ms)).await;
    }

    /// A figure of the recording.
    async fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics").await.1;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}{{ensemble=\"default\"}} ")));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }

    /// Waits until every place says that nothing is kept now, and why: API, status, its page, and metric.
    async fn until_told(&self, why: &str) {
        until(async || {
            let history = self.json("/api/v1/history").await.1;
            let status = self.json("/api/v1/status").await.1;
            let page = self.get("/status").await.1;
            [&history["why"], &status["ensembles"][0]["history"]["why"]]
                .iter()
                .all(|told| told.as_str().is_some_and(|told| told.contains(why)))
                && page.contains("data-testid=\"history-trouble\"")
                && self.metric("lockscope_history_recording").await == 0.0
        })
        .await;
    }

    /// Waits until every place says that all is well.
    async fn until_recorded(&self) {
        until(async || {
            let history = self.json("/api/v1/history").await.1;
            let status = self.json("/api/v1/status").await.1;
            let page = self.get("/status").await.1;
            [&history["why"], &status["ensembles"][0]["history"]["why"]].iter().all(|told| **told == "")
                && !page.contains("data-testid=\"history-trouble\"")
                && self.metric("lockscope_history_recording").await == 1.0
        })
        .await;
    }

    /// Where the history is.
    fn history(&self) -> PathBuf {
        self.place.path().join("data/history")
    }
}

/// The server's clock is this machine's.
pub(crate) fn now_ms() -> i64 {
    lockscope_runtime::clock::Clock::system().now_ms()
}

/// Path of the first holder of a lock.
fn holder(lock: &Value) -> &str {
    let contenders = lock["contenders"].as_array().map(Vec::as_slice).unwrap_or_default();
    contenders.iter().find(|row| row["role"] == "holder").and_then(|row| row["path"].as_str()).unwrap_or_default()
}

/// The file of chunks of the newest day.
fn day_file(folder: &Path) -> PathBuf {
    let is_day = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.len() == "2026-11-25.db".len() && name.ends_with(".db")
    };
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(is_day).max().expect("a day")
}
