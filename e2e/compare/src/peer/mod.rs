//! Those that watch a tree: each in a process of its own, which says `ready`, counts what is created and deleted until
//! the znode that ends the load, says how many there were, and stays until its input closes, so that its CPU time can
//! be read.

mod bare;
pub(crate) mod broadcast;
mod poll;
mod raw;

use std::process::{Command as StdCommand, ExitCode, Stdio};
use std::time::Duration;

use clap::ValueEnum;
use lockscope_campaign::clients::{curator_program, python};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

const CURATOR_CACHE: &str = include_str!("CacheWatcher.java");
const KAZOO_TREE: &str = include_str!("kazoo_watcher.py");
/// How long a peer may take to start, or to get to the end of a load.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// Who watches beside Lockscope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Peer {
    /// One socket with a recursive watch, and no library.
    Raw,
    /// The same, and created znodes are read, all that came within 4 ms in one request.
    RawRead,
    /// The recursive watch of zookeeper-client, and nothing else.
    Bare,
    /// The same, and each created znode is read: what Lockscope has to do.
    BareRead,
    /// Lists every lock each second, and reads what is new: what viewers of a tree do.
    Poll,
    /// Curator's `CuratorCache`.
    Curator,
    /// kazoo's `TreeCache`.
    Kazoo,
}

impl Peer {
    pub(crate) const ALL: &[Self] =
        &[Self::Raw, Self::RawRead, Self::Bare, Self::BareRead, Self::Poll, Self::Curator, Self::Kazoo];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::RawRead => "raw+read",
            Self::Bare => "bare",
            Self::BareRead => "bare+read",
            Self::Poll => "polling",
            Self::Curator => "CuratorCache",
            Self::Kazoo => "kazoo",
        }
    }

    fn command(self, connect: &str, root: &str) -> StdCommand {
        let mut command = match self {
            Self::Raw | Self::RawRead | Self::Bare | Self::BareRead | Self::Poll => {
                let mut command = StdCommand::new(std::env::current_exe().unwrap());
                command.arg("watch").arg(self.to_possible_value().unwrap().get_name());
                command
            }
            Self::Curator => curator_program("CacheWatcher", CURATOR_CACHE),
            Self::Kazoo => {
                let mut command = StdCommand::new(python());
                command.arg("-c").arg(KAZOO_TREE);
                command
            }
        };
        command.arg(connect).arg(root);
        command
    }
}

/// Watches as this peer, in this process, until standard input closes.
pub(crate) fn watch(peer: Peer, connect: &str, root: &str) -> ExitCode {
    match peer {
        Peer::Raw => raw::watch(connect, root, false),
        Peer::RawRead => raw::watch(connect, root, true),
        Peer::Bare => bare::watch(connect, root, false),
        Peer::BareRead => bare::watch(connect, root, true),
        Peer::Poll => poll::watch(connect, root),
        Peer::Curator | Peer::Kazoo => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

/// Says how much was seen, and stays, with its connection, until its CPU time and its requests were counted.
fn end(seen: impl std::fmt::Display) {
    println!("{seen}");
    let _ = std::io::read_to_string(std::io::stdin());
}

/// A peer that watches.
pub(crate) struct Watcher {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watcher {
    /// Starts it, and waits until it watches.
    pub(crate) async fn start(peer: Peer, connect: &str, root: &str) -> Self {
        let mut command = Command::from(peer.command(connect, root));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut watcher = Self { child, lines };
        assert_eq!(watcher.line().await.as_deref(), Some("ready"), "{} does not start", peer.name());
        watcher
    }

    async fn line(&mut self) -> Option<String> {
        timeout(WAIT_MAX, self.lines.next_line()).await.ok()?.unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// How many changes it saw, the last one among them; None when it never got there.
    pub(crate) async fn seen(&mut self) -> Option<u64> {
        self.line().await?.parse().ok()
    }
}
