//! The program under test: a process of its own, seen from outside.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::{DEADLINE, STEP};

/// Limit for an answer of a server that may be frozen.
const ANSWER_MAX: Duration = Duration::from_secs(20);

/// A Lockscope that may be killed and started again on the same address.
#[derive(Debug)]
pub struct Lockscope {
    program: PathBuf,
    args: Vec<String>,
    listen: String,
    child: Option<Child>,
    environment: Vec<(&'static str, OsString)>,
    /// How often it was killed.
    pub kills: usize,
    pub http: reqwest::Client,
}

/// The program with these arguments and nothing from our environment; it records only where it is told to.
pub fn command(program: &Path, args: &[String]) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LOCKSCOPE_")) {
        command.env_remove(name);
    }
    if !args.iter().any(|arg| arg == "--data-dir") {
        command.env("LOCKSCOPE_HISTORY", "off");
    }
    command.args(args).env("LOCKSCOPE_LOG", "error").stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// The same, and a file that may not grow is an error to it and not its end, as with a full disk.
fn patient(program: &Path, args: &[String]) -> Command {
    let shell = ["-c".to_owned(), r#"trap "" XFSZ; exec "$0" "$@""#.to_owned(), program.display().to_string()];
    command(Path::new("/bin/sh"), &[&shell, args].concat())
}

impl Lockscope {
    pub async fn start(program: &Path, args: &[String]) -> Self {
        Self::start_with(program, args, Vec::new()).await
    }

    /// The same with more in its environment.
    pub async fn start_with(program: &Path, args: &[String], environment: Vec<(&'static str, OsString)>) -> Self {
        let http = reqwest::Client::builder().timeout(ANSWER_MAX).build().expect("a client");
        let mut lockscope = Self {
            program: program.to_owned(),
            args: args.to_vec(),
            listen: "127.0.0.1:0".to_owned(),
            child: None,
            environment,
            kills: 0,
            http,
        };
        lockscope.launch().await;
        lockscope
    }

    /// Starts the process and waits until it listens.
    pub async fn launch(&mut self) {
        let mut args = vec!["serve".to_owned(), "--listen".to_owned(), self.listen.clone()];
        args.extend(self.args.iter().cloned());
        let mut command = patient(&self.program, &args);
        let mut child =
            command.envs(self.environment.iter().cloned()).stdout(Stdio::piped()).spawn().expect("lockscope starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let line = timeout(DEADLINE, lines.next_line())
            .await
            .expect("lockscope says where it listens")
            .expect("its output")
            .unwrap_or_default();
        let address =
            line.strip_prefix("lockscope listening on http://").unwrap_or_else(|| panic!("lockscope said {line:?}"));
        self.listen = address.to_owned();
        self.child = Some(child);
    }

    /// Waits until every root is read.
    pub async fn until_ready(&self) {
        let ready = async {
            while !self
                .http
                .get(format!("{}/readyz", self.url()))
                .send()
                .await
                .is_ok_and(|answer| answer.status().is_success())
            {
                tokio::time::sleep(STEP).await;
            }
        };
        timeout(DEADLINE, ready).await.expect("lockscope reads its roots");
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.listen)
    }

    pub fn address(&self) -> &str {
        &self.listen
    }

    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().and_then(Child::id)
    }

    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    pub async fn kill_minus_9(&mut self) {
        if let Some(mut child) = self.child.take() {
            self.kills += 1;
            child.kill().await.expect("the process is ours");
        }
    }

    /// Ends it as a service manager does, and waits until it is gone.
    pub async fn end(&mut self) {
        self.signal(Signal::TERM);
        if let Some(mut child) = self.child.take() {
            timeout(DEADLINE, child.wait()).await.expect("lockscope ends").expect("the process is ours");
        }
    }

    /// Asks it to reload its configuration.
    pub fn reload(&self) {
        self.signal(Signal::HUP);
    }

    /// Whether the process is there.
    pub fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// What the kernel says of its memory by this name, such as `VmRSS:`; 0 when it has ended.
    pub fn memory_kb(&self, name: &str) -> u64 {
        let file = self.pid().map(|pid| format!("/proc/{pid}/status"));
        let status = file.and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
    }

    /// What it says of itself.
    pub async fn status(&self) -> Option<Value> {
        self.http.get(format!("{}/api/v1/status", self.url())).send().await.ok()?.json().await.ok()
    }

    /// What it says of a lock.
    pub async fn lock(&self, path: &str) -> Value {
        let asked = self.http.get(format!("{}/api/v1/lock?path={path}", self.url())).send().await;
        let Ok(answer) = asked else { return Value::Null };
        answer.json().await.unwrap_or_default()
    }

    /// The session that its link has.
    pub async fn session(&self) -> Option<i64> {
        let status = self.status().await?;
        let digits = status["ensembles"][0]["session_id"].as_str()?.trim_start_matches("0x").to_owned();
        u64::from_str_radix(&digits, 16).ok().map(u64::cast_signed)
    }

    /// POSTs JSON; gives the status (0: no answer) and the body.
    pub async fn post(&self, target: &str, token: &str, body: &Value) -> (u16, Value) {
        let asked = self.http.post(format!("{}{target}", self.url())).bearer_auth(token).json(body).send().await;
        let Ok(answer) = asked else { return (0, Value::Null) };
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap_or_default())
    }

    fn signal(&self, signal: Signal) {
        let pid = self.pid().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw).expect("lockscope runs");
        kill_process(pid, signal).expect("the process is ours");
    }
}
