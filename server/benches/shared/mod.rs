//! What the benchmarks share: how they make znodes, and `lockscope serve` as its users run it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use zookeeper_client::{Acls, CreateMode, CreateOptions};

/// How long anything may take before a benchmark fails.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(60);

pub(crate) fn directory() -> CreateOptions<'static> {
    CreateMode::Persistent.with_acls(Acls::anyone_all())
}

pub(crate) fn contender() -> CreateOptions<'static> {
    CreateMode::EphemeralSequential.with_acls(Acls::anyone_all())
}

/// The next line a child says.
pub(crate) async fn line(child: &mut Child) -> String {
    let mut text = String::new();
    BufReader::with_capacity(1, child.stdout.as_mut().unwrap()).read_line(&mut text).await.unwrap();
    text.trim().to_owned()
}

/// `lockscope serve` in a process of its own; killed when dropped.
pub(crate) struct Lockscope {
    pub(crate) child: Child,
    pub(crate) url: String,
    http: reqwest::Client,
}

impl Lockscope {
    /// Starts it and waits until it has read everything; asked once each `pulse`.
    pub(crate) async fn serve(connect: &str, root: &str, pulse: Duration) -> Self {
        let lockscope = Self::start(&["--zk", connect, "--root", root]).await;
        lockscope.status_until(pulse, |status| status["link"] == "live").await;
        lockscope
    }

    /// Starts it with these settings, and waits until it serves pages.
    pub(crate) async fn start(settings: &[&str]) -> Self {
        let built = || env!("CARGO_BIN_EXE_lockscope").into();
        let mut child = Command::new(std::env::var_os("LOCKSCOPE_BIN").unwrap_or_else(built))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(settings)
            .env("LOCKSCOPE_HISTORY", "off")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let url = line(&mut child).await.rsplit(' ').next().unwrap().to_owned();
        Self { child, url, http: reqwest::Client::new() }
    }

    /// What the API answers; nothing when it refuses.
    pub(crate) async fn get(&self, path: &str) -> Option<serde_json::Value> {
        self.http.get(format!("{}{path}", self.url)).send().await.ok()?.json().await.ok()
    }

    /// Asks for the ensemble's status, once each `pulse`, until it is as wanted.
    pub(crate) async fn status_until(
        &self,
        pulse: Duration,
        done: impl Fn(&serde_json::Value) -> bool,
    ) -> serde_json::Value {
        let deadline = Instant::now() + WAIT_MAX;
        let mut pulse = tokio::time::interval(pulse);
        loop {
            pulse.tick().await;
            if let Some(status) = self.get("/api/v1/status").await
                && done(&status["ensembles"][0])
            {
                return status["ensembles"][0].clone();
            }
            assert!(Instant::now() < deadline, "lockscope did not get there in time");
        }
    }
}
