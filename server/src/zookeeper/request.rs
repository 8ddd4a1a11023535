//! What a root asks of a session and what comes back; carries requests out. Knows no state of a root.

use std::sync::Arc;

use app::domain::znode::Facts;
use futures_util::future::{self, BoxFuture, FutureExt};
use zookeeper_client::{AddWatchMode, Client, Error, MultiReadResult, PersistentWatcher, Stat};

use super::counts::Kind;
use super::tally::{Stamp, Unseen};
use super::translate::{WatchFailure, facts, watch_failure};

/// Counts starts over of a root; replies of an earlier one are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Epoch(pub(super) u64);

/// Why a directory is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListPurpose {
    /// Part of a sync.
    Sync,
    /// It was found by a list itself.
    Found,
    /// Its counters differ.
    Recheck(Unseen),
}

/// What a root asks for.
#[derive(Debug)]
pub(super) enum Request {
    /// Set the recursive watch, anew after each reconnect.
    Watch,
    /// Data and Stat.
    Read(Vec<Arc<str>>),
    /// Stat alone, of znodes that may not be read.
    Stat(Vec<Arc<str>>),
    /// Names of children.
    List(Vec<(Arc<str>, ListPurpose)>),
    /// Counters of directories.
    Check(Vec<(Arc<str>, Stamp)>),
}

impl Request {
    /// Its kind, and how many requests of ZooKeeper's it takes.
    pub(super) fn cost(&self) -> (Kind, usize) {
        match self {
            Self::Watch => (Kind::Watch, 1),
            Self::Read(_) => (Kind::Read, 1),
            Self::Stat(paths) => (Kind::Stat, paths.len()),
            Self::List(_) => (Kind::List, 1),
            Self::Check(directories) => (Kind::Check, directories.len()),
        }
    }
}

/// What a read of one znode gives.
#[derive(Debug)]
pub(super) enum NodeReply {
    Facts { facts: Box<Facts>, unreadable: bool },
    Missing,
    Denied,
    Failed,
}

/// What a list of one directory gives.
#[derive(Debug)]
pub(super) enum ListReply {
    Names(Vec<String>),
    /// Missing or denied by now: its own read or event tells.
    Nothing,
    Failed,
}

/// What comes back.
#[derive(Debug)]
pub(super) enum Reply {
    Watch(Result<PersistentWatcher, WatchFailure>),
    Nodes(Vec<(Arc<str>, NodeReply)>),
    Lists(Vec<(Arc<str>, ListPurpose, ListReply)>),
    Checks(Vec<(Arc<str>, Stamp, Option<Box<Facts>>)>),
    /// The request as a whole failed.
    Failed,
}

impl Reply {
    /// Whether the request, or some part of it, was not answered.
    pub(super) fn has_failed(&self) -> bool {
        match self {
            Self::Watch(result) => result.is_err(),
            Self::Nodes(nodes) => nodes.iter().any(|(_, reply)| matches!(reply, NodeReply::Failed)),
            Self::Lists(lists) => lists.iter().any(|(.., reply)| matches!(reply, ListReply::Failed)),
            Self::Checks(_) => false,
            Self::Failed => true,
        }
    }
}

/// Sends a request; the future gives its reply.
pub(super) fn send(client: &Client, root: &str, request: Request) -> BoxFuture<'static, Reply> {
    let client = client.clone();
    match request {
        Request::Watch => {
            let root: Arc<str> = root.into();
            async move { Reply::Watch(client.watch(&root, AddWatchMode::PersistentRecursive).await.map_err(|error| watch_failure(&error))) }.boxed()
        }
        Request::Read(paths) => async move { read(&client, paths).await.unwrap_or(Reply::Failed) }.boxed(),
        Request::Stat(paths) => async move { stat(&client, paths).await }.boxed(),
        Request::List(directories) => async move { list(&client, directories).await.unwrap_or(Reply::Failed) }.boxed(),
        Request::Check(directories) => async move { check(&client, directories).await.unwrap_or(Reply::Failed) }.boxed(),
    }
}

async fn read(client: &Client, paths: Vec<Arc<str>>) -> Result<Reply, Error> {
    let mut reader = client.new_multi_reader();
    for path in &paths {
        reader.add_get_data(path)?;
    }
    let results = reader.commit().await?;
    if results.len() != paths.len() {
        return Ok(Reply::Failed);
    }
    Ok(Reply::Nodes(paths.into_iter().zip(results.into_iter().map(node_reply)).collect()))
}

fn node_reply(result: MultiReadResult) -> NodeReply {
    match result {
        MultiReadResult::Data { data, stat } => NodeReply::Facts { facts: facts(&stat, Some(data)), unreadable: false },
        MultiReadResult::Error { err: Error::NoNode } => NodeReply::Missing,
        MultiReadResult::Error { err: Error::NoAuth } => NodeReply::Denied,
        _ => NodeReply::Failed,
    }
}

/// `exists` needs no right, so this works where a read is denied.
async fn stat(client: &Client, paths: Vec<Arc<str>>) -> Reply {
    let stats = future::join_all(paths.iter().map(|path| client.check_stat(path))).await;
    let reply = |stat: Result<Option<Stat>, Error>| match stat {
        Ok(Some(stat)) => NodeReply::Facts { facts: facts(&stat, None), unreadable: true },
        Ok(None) => NodeReply::Missing,
        Err(_) => NodeReply::Failed,
    };
    Reply::Nodes(paths.into_iter().zip(stats.into_iter().map(reply)).collect())
}

async fn list(client: &Client, directories: Vec<(Arc<str>, ListPurpose)>) -> Result<Reply, Error> {
    let mut reader = client.new_multi_reader();
    for (directory, _) in &directories {
        reader.add_get_children(directory)?;
    }
    let results = reader.commit().await?;
    if results.len() != directories.len() {
        return Ok(Reply::Failed);
    }
    let reply = |result| match result {
        MultiReadResult::Children { children } => ListReply::Names(children),
        MultiReadResult::Error { err: Error::NoNode | Error::NoAuth } => ListReply::Nothing,
        _ => ListReply::Failed,
    };
    let lists = directories.into_iter().zip(results).map(|((directory, purpose), result)| (directory, purpose, reply(result)));
    Ok(Reply::Lists(lists.collect()))
}

async fn check(client: &Client, directories: Vec<(Arc<str>, Stamp)>) -> Result<Reply, Error> {
    let stats = future::try_join_all(directories.iter().map(|(directory, _)| client.check_stat(directory))).await?;
    let checks = directories.into_iter().zip(stats).map(|((directory, stamp), stat)| (directory, stamp, stat.map(|stat| facts(&stat, None))));
    Ok(Reply::Checks(checks.collect()))
}
