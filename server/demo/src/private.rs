//! A real ZooKeeper server of our own: loopback only, free ports, a temporary folder, a small heap; gone when dropped.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::java::{Java, JavaError};
use super::process::GuardedChild;

/// How long a server may take until it answers: many times what one takes, and only what is broken is waited for so
/// long.
const START_MAX: Duration = Duration::from_secs(120);
/// How often it is asked.
const START_STEP: Duration = Duration::from_millis(25);
/// How long one answer is waited for then: a server that just begins may take a question and never answer it.
const START_ANSWER_MAX: Duration = Duration::from_secs(1);
/// Limit for one four-letter word, of a server that serves.
const FOUR_LETTER_MAX: Duration = Duration::from_secs(30);
/// Starts that are tried when ports turn out to be taken.
const START_TRIES: u32 = 3;
/// What a server logs when it gives up by itself; then, how lines begin of a Java that does not get so far.
const GAVE_UP: &str = "Exiting JVM with code";
const NEVER_RAN: &str = "Error";
const PORT_TRIES_MAX: u32 = 200;
/// Ports below the range that outgoing connections use, so that nobody takes one while its server restarts.
const PORTS: std::ops::Range<u16> = 10_240..32_000;
/// Lines of a server's log that an error shows.
const LOG_LINES_MAX: usize = 12;

#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Java heap, MiB.
    pub heap_mb: u32,
    /// ZooKeeper's tick; sessions last 2 to 20 ticks.
    pub tick_ms: u32,
    /// Further lines of the configuration file.
    pub config: Vec<(String, String)>,
    /// Further Java options, such as `-Dname=value`.
    pub java: Vec<String>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self { heap_mb: 64, tick_ms: 500, config: Vec::new(), java: Vec::new() }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error(transparent)]
    Java(#[from] JavaError),
    /// A file, folder, port or process could not be had.
    #[error("could not {doing}: {source}")]
    System { doing: &'static str, source: std::io::Error },
    #[error("found no free TCP port on 127.0.0.1 between {} and {}", PORTS.start, PORTS.end)]
    NoPort,
    #[error("the private ZooKeeper at {address} does not answer (limit {} s); the end of its log:\n{log}", START_MAX.as_secs())]
    Silent {
        address: String,
        /// The last lines it logged.
        log: String,
    },
}

pub(super) fn system(doing: &'static str) -> impl FnOnce(std::io::Error) -> DemoError {
    move |source| DemoError::System { doing, source }
}

/// One real server process with its data.
#[derive(Debug)]
pub struct PrivateZooKeeper {
    java: Java,
    options: ServerOptions,
    client_port: u16,
    admin_port: u16,
    /// Declared before the folder: the process ends first when this value is dropped.
    process: Option<GuardedChild>,
    folder: tempfile::TempDir,
}

impl PrivateZooKeeper {
    /// Starts a standalone server and waits until it answers.
    pub async fn start(options: ServerOptions) -> Result<Self, DemoError> {
        let mut tries_left = START_TRIES;
        loop {
            let mut server = Self::prepare(options.clone())?;
            server.write_config("")?;
            server.launch()?;
            tries_left -= 1;
            match server.wait_until_serving().await {
                Ok(()) => return Ok(server),
                // Somebody else took a port between our look and the server's: take others.
                Err(DemoError::Silent { log, .. }) if tries_left > 0 && log.contains("Address already in use") => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Finds Java, ports and a folder; starts nothing.
    pub(super) fn prepare(options: ServerOptions) -> Result<Self, DemoError> {
        let java = Java::find()?;
        let folder = tempfile::Builder::new()
            .prefix("lockscope-zookeeper-")
            .tempdir()
            .map_err(system("make a temporary folder"))?;
        Ok(Self { java, options, client_port: free_port()?, admin_port: free_port()?, process: None, folder })
    }

    /// Writes zoo.cfg; `members` are its lines about an ensemble.
    pub(super) fn write_config(&self, members: &str) -> Result<(), DemoError> {
        let folder = self.folder.path().display();
        let mut text = format!(
            "tickTime={}\ndataDir={folder}\nmaxClientCnxns=0\n4lw.commands.whitelist=*\n\
             admin.serverAddress=127.0.0.1\nadmin.serverPort={}\n",
            self.options.tick_ms, self.admin_port
        );
        if members.is_empty() {
            let _ = writeln!(text, "clientPortAddress=127.0.0.1\nclientPort={}", self.client_port);
        }
        text.push_str(members);
        for (key, value) in &self.options.config {
            let _ = writeln!(text, "{key}={value}");
        }
        std::fs::write(self.folder.path().join("zoo.cfg"), text).map_err(system("write zoo.cfg"))
    }

    /// Writes the number of this member of an ensemble.
    pub(super) fn write_id(&self, id: usize) -> Result<(), DemoError> {
        std::fs::write(self.folder.path().join("myid"), id.to_string()).map_err(system("write myid"))
    }

    /// Starts the process on the data that is there.
    pub(super) fn launch(&mut self) -> Result<(), DemoError> {
        let heap = format!("-Xmx{}m", self.options.heap_mb);
        let config = self.folder.path().join("zoo.cfg");
        let mut arguments: Vec<&OsStr> =
            [heap.as_str(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true"]
                .map(OsStr::new)
                .to_vec();
        arguments.extend(self.options.java.iter().map(OsStr::new));
        arguments.extend([OsStr::new("-cp"), &self.java.class_path]);
        arguments.push(OsStr::new("org.apache.zookeeper.server.quorum.QuorumPeerMain"));
        arguments.push(config.as_os_str());
        // A fresh log for each start, so that an earlier end is not taken for this one's.
        let _ = std::fs::remove_file(self.log_file());
        let process = GuardedChild::start(self.folder.path(), &self.log_file(), &self.java.program, &arguments)
            .map_err(system("start Java"))?;
        self.process = Some(process);
        Ok(())
    }

    pub(super) async fn wait_until_serving(&self) -> Result<(), DemoError> {
        let deadline = Instant::now() + START_MAX;
        while Instant::now() < deadline && !self.gave_up() {
            // A member without a quorum answers too, but says that it is not serving.
            if self.ask("srvr", START_ANSWER_MAX).await.is_ok_and(|answer| answer.contains("Node count")) {
                return Ok(());
            }
            tokio::time::sleep(START_STEP).await;
        }
        let text = self.log();
        let lines: Vec<&str> = text.lines().collect();
        let log = lines[lines.len().saturating_sub(LOG_LINES_MAX)..].join("\n");
        Err(DemoError::Silent { address: self.address(), log })
    }

    /// `127.0.0.1:port` for clients.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.client_port)
    }

    pub fn client_port(&self) -> u16 {
        self.client_port
    }

    pub fn admin_port(&self) -> u16 {
        self.admin_port
    }

    /// Whether the process has been started and not ended by us.
    pub fn is_running(&self) -> bool {
        self.process.is_some()
    }

    /// Ends the server gracefully; its data stays.
    pub async fn stop(&mut self) -> Result<(), DemoError> {
        self.end(true).await
    }

    /// Ends the server as `kill -9` does; its data stays.
    pub async fn kill_minus_9(&mut self) -> Result<(), DemoError> {
        self.end(false).await
    }

    /// Freezes the server (SIGSTOP): its sockets stay open, nothing answers.
    pub fn pause(&mut self) -> Result<(), DemoError> {
        self.process.as_mut().map_or(Ok(()), |process| process.pause(true)).map_err(system("pause the server"))
    }

    pub fn resume(&mut self) -> Result<(), DemoError> {
        self.process.as_mut().map_or(Ok(()), |process| process.pause(false)).map_err(system("resume the server"))
    }

    /// Starts the server again on the same data and ports, ending it first if it runs.
    pub async fn restart(&mut self) -> Result<(), DemoError> {
        self.end(true).await?;
        self.launch()?;
        self.wait_until_serving().await
    }

    pub async fn four_letter(&self, word: &str) -> Result<String, DemoError> {
        self.ask(word, FOUR_LETTER_MAX).await
    }

    async fn ask(&self, word: &str, limit: Duration) -> Result<String, DemoError> {
        let ask = async {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.client_port)).await?;
            stream.write_all(word.as_bytes()).await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await?;
            Ok(answer)
        };
        let limited = tokio::time::timeout(limit, ask).await;
        limited.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into())).map_err(system("ask the server"))
    }

    async fn end(&mut self, kindly: bool) -> Result<(), DemoError> {
        match self.process.take() {
            Some(process) => process.end(kindly).await.map_err(system("end the server")),
            None => Ok(()),
        }
    }

    /// Where its data lies; gone when this value is.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// One of ZooKeeper's own Java programs, such as its reader of transaction logs, as this server would run it.
    pub fn tool(&self, class: &str) -> std::process::Command {
        let mut command = std::process::Command::new(&self.java.program);
        command.arg("-cp").arg(&self.java.class_path).arg(class);
        command
    }

    fn gave_up(&self) -> bool {
        let log = self.log();
        log.contains(GAVE_UP) || log.lines().any(|line| line.starts_with(NEVER_RAN))
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("server.log")
    }
}

/// A port that nobody listens on right now, and that was not given out before.
///
/// # Errors
/// None is free.
pub fn free_port() -> Result<u16, DemoError> {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut given = GIVEN.lock();
    for _ in 0..PORT_TRIES_MAX {
        let port = rand::random_range(PORTS);
        if !given.contains(&port) && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            given.insert(port);
            return Ok(port);
        }
    }
    Err(DemoError::NoPort)
}
