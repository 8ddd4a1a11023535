//! Real ZooKeeper servers, one or three, and what their transaction logs say when all is over.

use std::fs;
use std::path::{Path, PathBuf};

use futures_util::future::try_join_all;
use lockscope_demo::{DemoError, Detour, PrivateEnsemble, PrivateZooKeeper, ServerOptions};

use crate::relay::{Link, Relay};

/// Who serves.
#[derive(Debug)]
pub enum Servers {
    One(Box<PrivateZooKeeper>),
    Three(PrivateEnsemble, Vec<Way>),
}

/// In a member's folder: its data, their backup, and the data that were replaced.
const DATA: &str = "version-2";
const BACKUP: &str = "backup";
const REPLACED: &str = "replaced";

/// With what members go on whose data are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// With their backup.
    Backup,
    /// With none.
    Nothing,
}

/// How a member reaches another one, to follow it or to vote with it.
#[derive(Debug)]
pub struct Way {
    from: usize,
    to: usize,
    quorum: Relay,
    election: Relay,
}

async fn three(options: &ServerOptions, has_relays: bool) -> Result<Servers, DemoError> {
    let mut ensemble = PrivateEnsemble::prepare(options)?;
    let ports: Vec<(u16, u16)> = ensemble.voting_ports().collect();
    let (mut ways, mut detours) = (Vec::new(), Vec::new());
    for (from, to) in (0..ports.len()).flat_map(|from| (0..ports.len()).map(move |to| (from, to))) {
        if has_relays && from != to {
            let start = |port: u16| Relay::voting(format!("127.0.0.1:{port}"));
            let (quorum, election) = (start(ports[to].0).await, start(ports[to].1).await);
            detours.push(Detour { from, to, quorum: quorum.port(), election: Some(election.port()) });
            ways.push(Way { from, to, quorum, election });
        }
    }
    ensemble.launch(&detours).await?;
    Ok(Servers::Three(ensemble, ways))
}

/// As the integration tests set them up: long sessions, no waiting for the disk, and a heap for many znodes.
pub fn options() -> ServerOptions {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    ServerOptions {
        heap_mb: 160,
        config: vec![pair("maxSessionTimeout", "60000")],
        java: vec!["-Dzookeeper.forceSync=no".to_owned()],
        ..ServerOptions::default()
    }
}

impl Servers {
    pub async fn start(count: usize, has_relays: bool, options: ServerOptions) -> Self {
        match count {
            1 => Self::One(Box::new(PrivateZooKeeper::start(options).await.unwrap_or_else(|error| panic!("{error}")))),
            _ => three(&options, has_relays).await.unwrap_or_else(|error| panic!("{error}")),
        }
    }

    pub fn members(&self) -> &[PrivateZooKeeper] {
        match self {
            Self::One(server) => std::slice::from_ref(server),
            Self::Three(ensemble, _) => ensemble.members(),
        }
    }

    pub fn members_mut(&mut self) -> &mut [PrivateZooKeeper] {
        match self {
            Self::One(server) => std::slice::from_mut(server),
            Self::Three(ensemble, _) => ensemble.members_mut(),
        }
    }

    /// What becomes of the links between a leader and its followers. Votes go nowhere meanwhile: a follower that still
    /// hears its leader's vote, and the other one's, takes it again.
    pub fn part(&self, leader: usize, link: Link) {
        let Self::Three(_, ways) = self else { return };
        for way in ways.iter().filter(|way| way.from == leader || way.to == leader) {
            way.quorum.set(link);
            way.election.set(if link == Link::OPEN { Link::OPEN } else { Link::CUT });
        }
    }

    /// For clients that connect directly.
    pub fn connect_string(&self) -> String {
        self.members().iter().map(PrivateZooKeeper::address).collect::<Vec<_>>().join(",")
    }

    /// Which member leads.
    pub async fn leader(&self) -> usize {
        for (at, member) in self.members().iter().enumerate() {
            let told = member.four_letter("srvr").await.unwrap_or_default();
            if told.contains("Mode: leader") || told.contains("Mode: standalone") {
                return at;
            }
        }
        panic!("nobody leads")
    }

    /// The newest transaction that any member has.
    pub async fn newest(&self) -> i64 {
        let mut newest = 0;
        for member in self.members() {
            let told = member.four_letter("srvr").await.unwrap_or_default();
            let zxid = told.lines().find_map(|line| line.strip_prefix("Zxid: 0x"));
            newest = newest.max(zxid.and_then(|digits| i64::from_str_radix(digits, 16).ok()).unwrap_or(0));
        }
        newest
    }

    /// Whose connection is where: the member that has most of the connections of these sessions.
    pub async fn member_of(&self, session: i64) -> Option<usize> {
        let sid = format!("sid={session:#x}");
        for (at, member) in self.members().iter().enumerate() {
            if member.four_letter("cons").await.unwrap_or_default().contains(&sid) {
                return Some(at);
            }
        }
        None
    }

    /// Ends all members at once; their data stay.
    pub async fn stop(&mut self) {
        let stops = self.members_mut().iter_mut().map(PrivateZooKeeper::stop);
        try_join_all(stops).await.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Starts all members at once, and waits until each serves.
    pub async fn restart(&mut self) {
        let starts = self.members_mut().iter_mut().map(PrivateZooKeeper::restart);
        try_join_all(starts).await.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Copies the data of members that were stopped.
    pub fn back_up(&self) {
        self.folders("").iter().for_each(|folder| copy(&folder.join(DATA), &folder.join(BACKUP)));
    }

    /// Replaces the data of members that were stopped; gives the folders of the logs that they had.
    pub fn replace(&self, with: Data) -> Vec<PathBuf> {
        for folder in self.folders("") {
            fs::rename(folder.join(DATA), folder.join(REPLACED)).expect("the data are ours");
            if with == Data::Backup {
                copy(&folder.join(BACKUP), &folder.join(DATA));
            }
        }
        self.folders(REPLACED)
    }

    /// Starts a fourth server; gives the line by which a reconfiguration makes it a member.
    pub async fn add(&mut self, options: &ServerOptions) -> String {
        let Self::Three(ensemble, _) = self else { panic!("a single server has no members") };
        ensemble.add(options).await.unwrap_or_else(|error| panic!("{error}"))
    }

    fn folders(&self, below: &str) -> Vec<PathBuf> {
        self.members().iter().map(|member| member.folder().join(below)).collect()
    }

    /// Ends every server, and gives the folders of their logs.
    pub async fn end(&mut self) -> Vec<PathBuf> {
        for member in self.members_mut() {
            let _ = member.resume();
            member.stop().await.unwrap_or_else(|error| panic!("{error}"));
        }
        self.folders(DATA)
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("the folder is ours");
    for file in fs::read_dir(from).expect("there are data") {
        let file = file.expect("there are data");
        fs::copy(file.path(), to.join(file.file_name())).expect("there is room");
    }
}
