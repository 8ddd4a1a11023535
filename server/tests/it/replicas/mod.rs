//! Several real servers of one cluster over one real ZooKeeper and one real PostgreSQL: what they keep, release and tell
//! together while they are killed, restarted, and the database fails over.

mod cost;
mod kills;
mod log;
mod patroni;
mod releases;
mod routes;
mod traffic;

use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Child;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::cli::{listening, lockscope};
use crate::harness::{DEADLINE, signal};
use crate::served::until;

/// The sessions of the servers.
const TIMEOUT: Duration = Duration::from_secs(4);

/// A test here starts up to three servers, a database and 500 changes a second: two of them at once measure the
/// machine. Each waits for its turn first and keeps it to its end, after whatever it started is gone; it waits for nothing
/// else before, so that none runs out of time until then.
async fn turn() -> SemaphorePermit<'static> {
    static TURNS: Semaphore = Semaphore::const_new(1);
    TURNS.acquire().await.unwrap()
}

/// A number of the environment, for the long form of a test.
fn long(name: &str, short: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(short)
}

/// One server of a cluster; it can be ended and started again on the same files.
struct Replica {
    place: TempDir,
    program: Option<(Child, String)>,
    http: reqwest::Client,
}

impl Replica {
    /// Starts it. `more`: top-level keys and tables beside those that all have.
    async fn start(zk: &str, id: &str, more: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let evidence = if more.contains("evidence") { "" } else { "evidence = \"off\"\n" };
        let text = format!(
            "zk = \"{zk}\"\nlisten = \"127.0.0.1:0\"\ndata_dir = {:?}\nroot = [\"/a\", \"/lockscope\"]\n\
             {evidence}session_timeout_ms = {}\n{more}\n[cluster]\nroot = \"/lockscope\"\nallow_open_cluster = true\nid = \"{id}\"\n",
            place.path().join("data").display().to_string(),
            TIMEOUT.as_millis()
        );
        std::fs::write(place.path().join("lockscope.toml"), text).unwrap();
        let mut replica = Self { place, program: None, http: reqwest::Client::new() };
        replica.run().await;
        replica
    }

    fn config(&self) -> String {
        self.place.path().join("lockscope.toml").display().to_string()
    }

    /// Starts the program and waits until it is ready.
    async fn run(&mut self) {
        let mut child = lockscope(&["serve", "--config", &self.config()])
            .env_remove("LOCKSCOPE_HISTORY")
            .stderr(std::fs::File::create(self.place.path().join("log")).map_or_else(|_| Stdio::null(), Stdio::from))
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let url = listening(&mut child).await;
        self.program = Some((child, url));
        until(async || self.get("/readyz").await.is_some_and(|(status, _)| status == 200)).await;
    }

    fn pid(&self) -> u32 {
        self.program.as_ref().and_then(|(child, _)| child.id()).expect("it runs")
    }

    fn signal(&self, which: Signal) {
        signal(self.pid(), which);
    }

    /// Ends it, and waits until it is gone.
    async fn end(&mut self, by: Signal) {
        self.signal(by);
        let (mut child, _) = self.program.take().unwrap();
        tokio::time::timeout(DEADLINE, child.wait()).await.unwrap().unwrap();
    }

    /// None of one that does not answer.
    async fn get(&self, target: &str) -> Option<(u16, String)> {
        let (_, url) = self.program.as_ref()?;
        let answer = self.http.get(format!("{url}{target}")).send().await.ok()?;
        Some((answer.status().as_u16(), answer.text().await.ok()?))
    }

    async fn json(&self, target: &str) -> Value {
        let answer = self.get(target).await.map(|(_, text)| text).unwrap_or_default();
        serde_json::from_str(&answer).unwrap_or_default()
    }

    /// Whether it records.
    async fn records(&self) -> bool {
        let metrics = self.get("/metrics").await.map(|(_, text)| text).unwrap_or_default();
        metrics.contains("lockscope_history_recording{ensemble=\"default\"} 1\n")
    }

    /// How many replicas it knows.
    async fn known(&self) -> usize {
        self.json("/api/v1/cluster").await["replicas"].as_array().map_or(0, Vec::len)
    }

    async fn post(&self, token: &str, target: &str, body: &Value) -> (u16, Value) {
        let (_, url) = self.program.as_ref().unwrap();
        let answer = self.http.post(format!("{url}{target}")).bearer_auth(token).json(body).send().await.unwrap();
        (answer.status().as_u16(), serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        // What it logged says why.
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.place.path().join("log")).unwrap_or_default();
            eprintln!("log of {}:\n{log}", self.place.path().display());
        }
    }
}

/// Starts `count` of them that know each other: a, b, c, …
async fn replicas(zk: &str, count: usize, more: &str) -> Vec<Replica> {
    let mut all = Vec::new();
    for id in ["a", "b", "c", "d"].into_iter().take(count) {
        all.push(Replica::start(zk, id, more).await);
    }
    for replica in &all {
        until(async || replica.known().await == count).await;
    }
    all
}

/// Which of them records, where exactly one does.
async fn recorder(all: &[Replica]) -> Option<usize> {
    let mut found = None;
    for (at, replica) in all.iter().enumerate() {
        if replica.program.is_some() && replica.records().await && found.replace(at).is_some() {
            return None;
        }
    }
    found
}
