//! The real program beside real clients: one ZooKeeper for all tests, a Lockscope of its own for each, asked over HTTP.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use lockscope_demo::PrivateZooKeeper;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::OnceCell;

use super::host::{Client, Library};
use crate::harness::{DEADLINE, Truth, zookeeper};

/// How often Lockscope is asked until it agrees.
const ASK_STEP: Duration = Duration::from_millis(20);

/// A running Lockscope.
pub(crate) struct Lockscope {
    address: String,
    process: Child,
}

/// A private ZooKeeper, a folder of this test's own in it, and a Lockscope that watches the folder.
pub(super) struct Scene {
    server: &'static PrivateZooKeeper,
    pub(super) zk: String,
    pub(super) root: String,
    pub(super) truth: Truth,
    pub(super) lockscope: Lockscope,
}

/// One server for all: a Java process a test would take most of the time. It ends with our process.
pub(crate) async fn shared_zookeeper() -> &'static PrivateZooKeeper {
    static SERVER: OnceCell<PrivateZooKeeper> = OnceCell::const_new();
    SERVER.get_or_init(zookeeper).await
}

impl Lockscope {
    async fn start(zk: &str, root: &str) -> Self {
        Self::start_with(zk, root, &[]).await
    }

    pub(super) async fn start_with(zk: &str, root: &str, more: &[&str]) -> Self {
        Self::run(&[&["--zk", zk, "--root", root], more].concat()).await
    }

    /// One with these settings.
    pub(crate) async fn run(settings: &[&str]) -> Self {
        let lockscope = Self::unready(settings).await;
        crate::served::until(async || lockscope.ask("/readyz").await.0 == 200).await;
        lockscope
    }

    /// The same, as soon as it serves pages.
    pub(crate) async fn unready(settings: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lockscope"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(settings);
        for name in [
            "ZK",
            "NAME",
            "COLOR",
            "ROOT",
            "LISTEN",
            "CONFIG",
            "DATA_DIR",
            "CONNECT_TIMEOUT",
            "SESSION_TIMEOUT_MS",
            "EVIDENCE",
            "ADMIN_URL",
        ] {
            command.env_remove(format!("LOCKSCOPE_{name}"));
        }
        if !settings.contains(&"--data-dir") {
            command.env("LOCKSCOPE_HISTORY", "off");
        }
        command
            .env("LOCKSCOPE_LOG", "warn,lockscope::commands::accounts=error,zookeeper_client=error")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut lockscope = command.spawn().expect("lockscope starts");
        let mut lines = BufReader::new(lockscope.stdout.take().unwrap()).lines();
        let line = tokio::time::timeout(DEADLINE, lines.next_line())
            .await
            .expect("lockscope says where it listens")
            .unwrap()
            .unwrap();
        let address = line.strip_prefix("lockscope listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { address, process: lockscope }
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id().expect("it runs")
    }

    /// Asks it to end, so that it closes its sessions.
    pub(crate) fn end(&self) {
        crate::harness::signal(self.id(), rustix::process::Signal::TERM);
    }

    /// Where it is.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The text at an address that can't fail.
    pub(crate) async fn text(&self, target: &str) -> String {
        let answer = reqwest::get(format!("{}{target}", self.address)).await.expect("lockscope answers");
        assert!(answer.status().is_success(), "{target}: {}", answer.status());
        answer.text().await.unwrap()
    }

    /// Status and body of an answer.
    pub(crate) async fn ask(&self, target: &str) -> (u16, Value) {
        let answer = reqwest::get(format!("{}{target}", self.address)).await.expect("lockscope answers");
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
    }
}

impl Scene {
    /// `name` is the test's.
    pub(super) async fn new(name: &str) -> Self {
        let server = shared_zookeeper().await;
        let zk = server.address();
        let root = format!("/clients/{name}");
        let truth = Truth::new(&zk).await;
        truth.make(&root).await;
        let lockscope = Lockscope::start(&zk, &root).await;
        Self { server, zk, root, truth, lockscope }
    }

    /// The address of the server's AdminServer.
    pub(super) fn admin_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.admin_port())
    }

    /// What the server says to a four-letter word.
    pub(super) async fn word(&self, word: &str) -> String {
        self.server.four_letter(word).await.expect("the server answers")
    }

    /// One that never saw how all came to be.
    pub(super) async fn newcomer(&self) -> Lockscope {
        Lockscope::start(&self.zk, &self.root).await
    }

    /// The path of a lock of this test.
    pub(super) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.root)
    }

    /// Clients of one recipe, in the process that tests share.
    pub(super) async fn clients<const COUNT: usize>(&self, library: Library, recipe: &str) -> [Client; COUNT] {
        let mut clients = Vec::with_capacity(COUNT);
        for _ in 0..COUNT {
            clients.push(library.client(&self.zk, recipe).await);
        }
        clients.try_into().unwrap_or_else(|_| unreachable!("as many as were pushed"))
    }

    /// Waits until nothing is wrong any more; `wrong` says what still is.
    pub(super) async fn until(&self, what: &str, wrong: impl AsyncFn() -> Option<String>) {
        let begin = Instant::now();
        while let Some(wrong) = wrong().await {
            if begin.elapsed() > DEADLINE {
                panic!("{what}: not within {DEADLINE:?}\n{wrong}\nreally there is\n{}", self.tree().await);
            }
            tokio::time::sleep(ASK_STEP).await;
        }
    }

    /// Whether a session watches a znode's data or existence, as the server tells.
    pub(super) async fn is_watching(&self, session: &str, path: &str) -> bool {
        let watches = self.server.four_letter("wchp").await.expect("the server tells who watches what");
        let mut sessions =
            watches.lines().skip_while(|line| *line != path).skip(1).take_while(|line| line.starts_with('\t'));
        sessions.any(|line| line.trim() == session)
    }

    /// What is really there, for people.
    async fn tree(&self) -> String {
        let mut text = String::new();
        for (path, (stat, data)) in self.truth.trees(std::slice::from_ref(&self.root)).await {
            let _ = writeln!(
                text,
                "  {path} owner {:#x} czxid {:#x} {:?}",
                stat.ephemeral_owner,
                stat.czxid,
                String::from_utf8_lossy(&data)
            );
        }
        text
    }
}
