//! Real ZooKeeper servers, one or three, and what their transaction logs say when all is over.

use std::path::PathBuf;

use demo::{PrivateEnsemble, PrivateZooKeeper, ServerOptions};

/// Who serves.
#[derive(Debug)]
pub enum Servers {
    One(Box<PrivateZooKeeper>),
    Three(PrivateEnsemble),
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
    pub async fn start(count: usize, options: ServerOptions) -> Self {
        match count {
            1 => Self::One(Box::new(PrivateZooKeeper::start(options).await.unwrap_or_else(|error| panic!("{error}")))),
            _ => Self::Three(PrivateEnsemble::start(options).await.unwrap_or_else(|error| panic!("{error}"))),
        }
    }

    pub fn members(&self) -> &[PrivateZooKeeper] {
        match self {
            Self::One(server) => std::slice::from_ref(server),
            Self::Three(ensemble) => ensemble.members(),
        }
    }

    pub fn members_mut(&mut self) -> &mut [PrivateZooKeeper] {
        match self {
            Self::One(server) => std::slice::from_mut(server),
            Self::Three(ensemble) => ensemble.members_mut(),
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

    /// Ends every server, and gives the folders of their logs.
    pub async fn end(&mut self) -> Vec<PathBuf> {
        for member in self.members_mut() {
            let _ = member.resume();
            member.stop().await.unwrap_or_else(|error| panic!("{error}"));
        }
        self.members().iter().map(|member| member.folder().join("version-2")).collect()
    }
}
