//! A session of the cluster: opened with the credentials for acts, and the znodes that must be there. What is created
//! belongs to that identity, and everybody may read it, so that the board shows it. What others created is taken over.

use std::time::Duration;

use lockscope_zookeeper::Credentials;
use zookeeper_client::{Acl, Acls, AuthId, Client, CreateMode, Error, Permission};

use crate::paths::Paths;
use crate::settings::Settings;

/// Znodes below the root whose ACLs are checked; a cluster has a few hundred.
const ZNODES_MAX: usize = 10_000;
/// No ACL was changed so often: with it a server says whether we may, and changes nothing.
const NO_VERSION: Option<i32> = Some(i32::MAX);
const CLOSE_MAX: Duration = Duration::from_secs(1);

/// Why a session is of no use any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("no session with ZooKeeper: {0}")]
    NoSession(String),
    #[error("the session with ZooKeeper ended")]
    Ended,
    #[error(
        "ZooKeeper denies us {what} at {path}; give the identity for releases that right, or create {path} with an ACL that has it"
    )]
    Denied {
        /// Which right.
        what: &'static str,
        path: String,
    },
    #[error(
        "the ACL of {0} is not ours to change, so others could forge who leads, what was released and whose turn it is; delete {0}, or give the identity for releases ADMIN there, or name another `root` in [cluster]"
    )]
    Foreign(String),
    /// Somebody took our znode away.
    #[error("somebody deleted {0}, the znode of this replica")]
    Deleted(String),
    #[error("ZooKeeper answered {why} at {path}")]
    Other { why: String, path: String },
}

impl Trouble {
    /// What an error means where we make a znode ours alone.
    fn foreign(error: &Error, path: &str) -> Self {
        match error {
            Error::NoAuth => Self::Foreign(path.to_owned()),
            error => Self::of(error, "ADMIN", path),
        }
    }

    pub(crate) fn of(error: &Error, what: &'static str, path: &str) -> Self {
        match error {
            Error::NoAuth => Self::Denied { what, path: path.to_owned() },
            Error::SessionExpired | Error::ClientClosed | Error::SessionMoved => Self::Ended,
            other => Self::Other { why: other.to_string(), path: path.to_owned() },
        }
    }
}

/// The access list of what we create.
fn acl(credentials: &Credentials) -> Vec<Acl> {
    if credentials.is_somebody() {
        return vec![Acl::new(Permission::ALL, AuthId::authed()), Acl::new(Permission::READ, AuthId::anyone())];
    }
    vec![Acl::new(Permission::ALL, AuthId::anyone())]
}

pub(crate) async fn open(settings: &Settings) -> Result<Client, Trouble> {
    let credentials = &settings.credentials;
    let no_session = |error: Error| Trouble::NoSession(error.to_string());
    let connector = credentials.connector(settings.session_timeout).map_err(no_session)?;
    let opening = credentials.open_ours(connector, &settings.connect);
    let opened = tokio::time::timeout(settings.session_timeout * 2, opening).await;
    opened.map_err(|_| Trouble::NoSession("no server answered in time".to_owned()))?.map_err(no_session)
}

/// Creates what is missing of the directories, and makes all of it ours alone. The ACL of what is created from now on.
pub(crate) async fn prepare(client: &Client, settings: &Settings, paths: &Paths) -> Result<Vec<Acl>, Trouble> {
    let mut acl = acl(&settings.credentials);
    if settings.credentials.is_somebody() {
        acl = as_known(client, paths.root(), &acl).await?;
        claim(client, paths, &acl, None).await?;
    }
    let options = CreateMode::Persistent.with_acls(Acls::new(&acl));
    for path in [paths.members(), paths.latch()] {
        client.mkdir(&path, &options).await.map_err(|error| Trouble::of(&error, "CREATE", &path))?;
    }
    Ok(acl)
}

/// Takes from everybody else the right to write below the root: what is there may have been created before us, by a
/// trial without an identity or by a stranger. Each directory is closed before its children are listed, so nothing is
/// added meanwhile, and has the ACL that it keeps only in the end: what was begun and not ended is begun again. Members
/// and contenders in a directory that was open may be forged and are deleted; replicas that live notice, and come back.
/// `version` of ACLs: None, or [`NO_VERSION`] to ask whether it can be done.
async fn claim(client: &Client, paths: &Paths, ours: &[Acl], version: Option<i32>) -> Result<(), Trouble> {
    let closed: Vec<Acl> = ours.iter().filter(|entry| entry.permission() == Permission::ALL).cloned().collect();
    let (mut znodes, mut claimed, mut number) = (vec![(paths.root().to_owned(), false, false)], Vec::new(), 1);
    while let Some((path, was_open, is_forged)) = znodes.pop() {
        let Some((found, _)) = known(client.get_acl(&path).await, &path)? else { continue };
        let is_open = found.len() != ours.len() || found.iter().any(|entry| !ours.contains(entry));
        if is_open {
            set(client, &path, &closed, version).await?;
        }
        let (was_open, is_line) = (was_open || is_open, paths.is_contended(&path));
        let names = known(client.list_children(&path).await, &path)?.unwrap_or_default();
        number += names.len();
        if number > ZNODES_MAX {
            return Err(Trouble::Foreign(path));
        }
        znodes.extend(names.into_iter().map(|name| (format!("{path}/{name}"), was_open, was_open && is_line)));
        if is_open || is_forged {
            claimed.push((path, is_forged && version.is_none()));
        }
    }
    // Children come after their parents.
    for (path, is_forged) in claimed.iter().rev() {
        if *is_forged {
            tracing::warn!("deleting {path}: others could write there, so it may be forged");
            known(client.delete(path, None).await, path)?;
        } else {
            set(client, path, ours, version).await?;
        }
    }
    Ok(())
}

/// The ACL as the server has it for us, which a znode of our own shows. The root is created where it is missing.
async fn as_known(client: &Client, root: &str, acl: &[Acl]) -> Result<Vec<Acl>, Trouble> {
    let denied = |error: Error| Trouble::of(&error, "CREATE", root);
    if client.check_stat(root).await.map_err(denied)?.is_none() {
        client.mkdir(root, &CreateMode::Persistent.with_acls(Acls::new(acl))).await.map_err(denied)?;
    }
    let own = format!("{root}/joining-{:016x}", rand::random::<u64>());
    let foreign = |error: Error| Trouble::foreign(&error, root);
    client.create(&own, b"", &CreateMode::Ephemeral.with_acls(Acls::new(acl))).await.map_err(foreign)?;
    let (mut ours, stat) = client.get_acl(&own).await.map_err(foreign)?;
    let is_ours = stat.ephemeral_owner == client.session_id().0;
    known(client.delete(&own, None).await, &own)?;
    // Each replica may have a certificate of its own: what all share is a login, where there is one.
    if ours.iter().any(|entry| matches!(entry.scheme(), "digest" | "sasl")) {
        ours.retain(|entry| entry.scheme() != "x509");
    }
    if is_ours { Ok(ours) } else { Err(Trouble::Foreign(root.to_owned())) }
}

/// Whether a replica can make all of it ours; changes nothing.
pub(crate) async fn check(settings: &Settings, paths: &Paths) -> Result<(), Trouble> {
    let client = open(settings).await?;
    if settings.credentials.is_somebody() {
        claim(&client, paths, &acl(&settings.credentials), NO_VERSION).await?;
    }
    close(client).await;
    Ok(())
}

async fn set(client: &Client, path: &str, acl: &[Acl], version: Option<i32>) -> Result<(), Trouble> {
    match client.set_acl(path, acl, version).await {
        Err(Error::BadVersion) => Ok(()),
        set => known(set, path).map(drop),
    }
}

/// What was answered about a znode; None: it went meanwhile.
fn known<T>(answer: Result<T, Error>, path: &str) -> Result<Option<T>, Trouble> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Error::NoNode) => Ok(None),
        Err(error) => Err(Trouble::foreign(&error, path)),
    }
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
