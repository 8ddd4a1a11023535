//! Requests of a root to a session and their replies; sends them. Knows no state of a root.

use std::sync::Arc;

use futures_util::future::{self, BoxFuture, FutureExt};
use lockscope_core::znode::Facts;
use zookeeper_client::{AddWatchMode, Client, Error, MultiReadResult, PersistentWatcher, Stat};

use super::request_counts::Kind;
use super::stat_counters::{Check, Missed, Version};
use super::translate::{WatchFailure, facts, watch_failure};

/// RequestCounts starts over of a root; replies of an earlier one are ignored.
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
    Recheck(Missed),
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
    Check(Vec<Check>),
}

impl Request {
    /// Its kind, and how many requests of ZooKeeper's it takes.
    pub(super) fn cost(&self) -> (Kind, usize) {
        match self {
            Self::Watch => (Kind::Watch, 1),
            Self::Read(_) => (Kind::Read, 1),
            Self::Stat(paths) => (Kind::Stat, paths.len()),
            Self::List(_) => (Kind::List, 1),
            Self::Check(checks) => {
                let alone = checks.iter().filter(|check| check.by_stat).count();
                (Kind::Check, alone + usize::from(alone < checks.len()))
            }
        }
    }
}

/// What a read of one znode gives.
#[derive(Debug)]
pub(super) enum NodeReply {
    Facts {
        facts: Box<Facts>,
        unreadable: bool,
    },
    Missing,
    /// Its data may not be read; its Stat perhaps.
    Denied,
    /// Its Stat may not be read either.
    StatDenied,
    Failed,
}

/// What a list of one directory gives.
#[derive(Debug)]
pub(super) enum ListReply {
    Names(Vec<String>),
    /// Missing or denied by now: its own read or event shows it.
    Nothing,
    Failed,
}

/// What a comparison gives.
#[derive(Debug)]
pub(super) enum CheckReply {
    Facts(Box<Facts>),
    Missing,
    /// Its data may not be read; its Stat perhaps.
    Denied,
    /// Its Stat may not be read either.
    StatDenied,
    Failed,
}

/// What comes back.
#[derive(Debug)]
pub(super) enum Reply {
    Watch(Result<PersistentWatcher, WatchFailure>),
    Nodes(Vec<(Arc<str>, NodeReply)>),
    Lists(Vec<(Arc<str>, ListPurpose, ListReply)>),
    Checks(Vec<(Arc<str>, Version, CheckReply)>),
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
            Self::Checks(checks) => checks.iter().any(|(.., reply)| matches!(reply, CheckReply::Failed)),
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
            async move {
                Reply::Watch(
                    client.watch(&root, AddWatchMode::PersistentRecursive).await.map_err(|error| watch_failure(&error)),
                )
            }
            .boxed()
        }
        Request::Read(paths) => async move { read(&client, paths).await.unwrap_or(Reply::Failed) }.boxed(),
        Request::Stat(paths) => async move { stat(&client, paths).await }.boxed(),
        Request::List(directories) => async move { list(&client, directories).await.unwrap_or(Reply::Failed) }.boxed(),
        Request::Check(checks) => async move { check(&client, checks).await.unwrap_or(Reply::Failed) }.boxed(),
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

/// `exists` needs no right before ZooKeeper 3.8.4 and 3.9.2, so this works there where a read is denied
/// (ZOOKEEPER-2590).
async fn stat(client: &Client, paths: Vec<Arc<str>>) -> Reply {
    let stats = future::join_all(paths.iter().map(|path| client.check_stat(path))).await;
    let reply = |stat: Result<Option<Stat>, Error>| match stat {
        Ok(Some(stat)) => NodeReply::Facts { facts: facts(&stat, None), unreadable: true },
        Ok(None) => NodeReply::Missing,
        Err(Error::NoAuth) => NodeReply::StatDenied,
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
    let lists =
        directories.into_iter().zip(results).map(|((directory, purpose), result)| (directory, purpose, reply(result)));
    Ok(Reply::Lists(lists.collect()))
}

/// All in one request, but for those of which only the Stat may or should be asked for.
async fn check(client: &Client, checks: Vec<Check>) -> Result<Reply, Error> {
    let (alone, together): (Vec<Check>, Vec<Check>) = checks.into_iter().partition(|check| check.by_stat);
    let mut reader = client.new_multi_reader();
    for check in &together {
        reader.add_get_data(&check.directory)?;
    }
    let read = async { if together.is_empty() { Ok(Vec::new()) } else { reader.commit().await } };
    let stats = future::join_all(alone.iter().map(|check| client.check_stat(&check.directory)));
    let (results, stats) = future::join(read, stats).await;
    let results = results?;
    if results.len() != together.len() {
        return Ok(Reply::Failed);
    }
    let by_data = together.into_iter().zip(results).map(|(check, result)| {
        let reply = match result {
            MultiReadResult::Data { stat, .. } => CheckReply::Facts(facts(&stat, None)),
            MultiReadResult::Error { err: Error::NoNode } => CheckReply::Missing,
            MultiReadResult::Error { err: Error::NoAuth } => CheckReply::Denied,
            _ => CheckReply::Failed,
        };
        (check.directory, check.stamp, reply)
    });
    let by_stat = alone.into_iter().zip(stats).map(|(check, stat)| {
        let reply = match stat {
            Ok(Some(stat)) => CheckReply::Facts(facts(&stat, None)),
            Ok(None) => CheckReply::Missing,
            Err(Error::NoAuth) => CheckReply::StatDenied,
            Err(_) => CheckReply::Failed,
        };
        (check.directory, check.stamp, reply)
    });
    Ok(Reply::Checks(by_data.chain(by_stat).collect()))
}
