//! A session of the cluster: opened with the credentials for acts, and the znodes that must be there. What is created
//! belongs to that identity, and everybody may read it, so that the board shows it.

use std::time::Duration;

use zookeeper::{Credentials, note_ours};
use zookeeper_client::{Acl, Acls, AuthId, Client, CreateMode, Error, Permission};

use crate::paths::Paths;
use crate::settings::Settings;

/// Time for a session to close.
const CLOSE_MAX: Duration = Duration::from_secs(1);

/// Why a session is of no use any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Trouble {
    /// No session could be made.
    #[error("no session with ZooKeeper: {0}")]
    NoSession(String),
    /// It ended.
    #[error("the session with ZooKeeper ended")]
    Ended,
    /// ZooKeeper denies something.
    #[error(
        "ZooKeeper denies us {what} at {path}; give the identity for releases that right, or create {path} with an ACL that has it"
    )]
    Denied {
        /// Which right.
        what: &'static str,
        /// Where.
        path: String,
    },
    /// Somebody took our znode away.
    #[error("somebody deleted {0}, the znode of this replica")]
    Deleted(String),
    /// Something else.
    #[error("ZooKeeper answered {why} at {path}")]
    Other {
        /// What it answered.
        why: String,
        /// Where.
        path: String,
    },
}

impl Trouble {
    /// What an error at a path means.
    pub(crate) fn of(error: &Error, what: &'static str, path: &str) -> Self {
        match error {
            Error::NoAuth => Self::Denied { what, path: path.to_owned() },
            Error::SessionExpired | Error::ClientClosed | Error::SessionMoved => Self::Ended,
            other => Self::Other { why: other.to_string(), path: path.to_owned() },
        }
    }
}

/// The access list of what we create.
pub(crate) fn acl(credentials: &Credentials) -> Vec<Acl> {
    if credentials.is_somebody() {
        return vec![Acl::new(Permission::ALL, AuthId::authed()), Acl::new(Permission::READ, AuthId::anyone())];
    }
    vec![Acl::new(Permission::ALL, AuthId::anyone())]
}

/// Opens one.
pub(crate) async fn open(settings: &Settings) -> Result<Client, Trouble> {
    let credentials = &settings.credentials;
    let no_session = |error: Error| Trouble::NoSession(error.to_string());
    let connector = credentials.connector(settings.session_timeout).map_err(no_session)?;
    let opening = credentials.open(connector, &settings.connect);
    let opened = tokio::time::timeout(settings.session_timeout * 2, opening).await;
    let client =
        opened.map_err(|_| Trouble::NoSession("no server answered in time".to_owned()))?.map_err(no_session)?;
    note_ours(client.session_id().0);
    Ok(client)
}

/// Creates what is missing of the directories.
pub(crate) async fn prepare(client: &Client, settings: &Settings, paths: &Paths) -> Result<(), Trouble> {
    let acl = acl(&settings.credentials);
    let options = CreateMode::Persistent.with_acls(Acls::new(&acl));
    for path in [paths.members(), paths.latch(), paths.heads()] {
        client.mkdir(&path, &options).await.map_err(|error| Trouble::of(&error, "CREATE", &path))?;
    }
    Ok(())
}

/// Closes one and waits for that, for a while; it would run out by itself.
pub(crate) async fn close(client: Client) {
    let mut states = client.state_watcher();
    drop(client);
    let closing = async { while !states.changed().await.is_terminated() {} };
    if tokio::time::timeout(CLOSE_MAX, closing).await.is_err() {
        tracing::debug!("the cluster's session did not close in time; it runs out by itself");
    }
}
