//! Requests of a root to a session and their replies; sends them. Knows no state of a root.

use std::sync::Arc;

use futures_util::future;
use lockscope_core::znode::Facts;
use zookeeper_client::{AddWatchMode, Client, Error, MultiReadResult, PersistentWatcher, Stat};

use super::request_counts::Kind;
use super::stat_counters::{Check, Missed, Version};
use super::translate::{WatchFailure, facts, watch_failure};

/// Reads a request. More is no faster.
pub(super) const READS_A_REQUEST: usize = 100;
/// Lists a request, and names that they may bring together.
pub(super) const LISTS_A_REQUEST: usize = 100;
pub(super) const NAMES_A_REQUEST: usize = 10_000;
/// Directories a comparison. One of this size takes the server about a millisecond.
pub(super) const CHECKS_A_REQUEST: usize = 1_000;
/// Bytes of paths a request; the server cuts connections that send more than about 1 MiB at once.
pub(super) const REQUEST_BYTES_MAX: usize = 256 * 1024;

/// Counts how often a root starts over; replies of an earlier one are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Epoch(pub(super) u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListPurpose {
    Sync,
    /// It was found by a list itself.
    Found,
    /// Its counters differ.
    Recheck(Missed),
    /// Something moved in it in a gap.
    Gap,
    /// Its children are read again at leisure: their data may have changed in a gap.
    Refresh,
}

#[derive(Clone, Debug)]
pub(super) enum Request {
    /// Set the recursive watch of this root, anew after each reconnect.
    Watch(Arc<str>),
    /// Data and Stat.
    Read(Vec<Arc<str>>),
    /// Stat alone, of znodes that may not be read.
    Stat(Vec<Arc<str>>),
    /// Names of children, and about how many there are in all.
    List(Vec<(Arc<str>, ListPurpose)>, usize),
    /// Counters of directories.
    Check(Vec<Check>),
}

impl Request {
    /// Znodes that it names.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Watch(_) => 1,
            Self::Read(paths) | Self::Stat(paths) => paths.len(),
            Self::List(lists, _) => lists.len(),
            Self::Check(checks) => checks.len(),
        }
    }

    fn path_bytes(&self) -> usize {
        match self {
            Self::Watch(root) => root.len(),
            Self::Read(paths) | Self::Stat(paths) => paths.iter().map(|path| path.len()).sum(),
            Self::List(lists, _) => lists.iter().map(|(directory, _)| directory.len()).sum(),
            Self::Check(checks) => checks.iter().map(|check| check.directory.len()).sum(),
        }
    }

    /// Nothing more goes into it. Before, it takes in one of another root, so it gets twice as long at most.
    pub(super) fn is_full(&self) -> bool {
        let is_much = match self {
            Self::Watch(_) => true,
            Self::Read(paths) | Self::Stat(paths) => paths.len() >= READS_A_REQUEST,
            Self::List(lists, names) => lists.len() >= LISTS_A_REQUEST || *names >= NAMES_A_REQUEST,
            Self::Check(checks) => checks.len() >= CHECKS_A_REQUEST,
        };
        is_much || self.path_bytes() >= REQUEST_BYTES_MAX
    }

    /// Both may be sent as one.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    pub(super) fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Read(all), Self::Read(more)) | (Self::Stat(all), Self::Stat(more)) => all.extend(more),
            (Self::List(all, names), Self::List(more, more_names)) => {
                all.extend(more);
                *names = names.saturating_add(more_names);
            }
            (Self::Check(all), Self::Check(more)) => all.extend(more),
            (this, other) => debug_assert!(false, "{this:?} is not like {other:?}"),
        }
    }

    /// Takes out what names its last znodes.
    pub(super) fn take_back(&mut self, count: usize) -> Self {
        match self {
            Self::Watch(root) => Self::Watch(Arc::clone(root)),
            Self::Read(paths) => Self::Read(take_back(paths, count)),
            Self::Stat(paths) => Self::Stat(take_back(paths, count)),
            Self::List(lists, names) => Self::List(take_back(lists, count), *names),
            Self::Check(checks) => Self::Check(take_back(checks, count)),
        }
    }

    /// Its kind, and how many requests of ZooKeeper's it takes.
    pub(super) fn cost(&self) -> (Kind, usize) {
        match self {
            Self::Watch(_) => (Kind::Watch, 1),
            Self::Read(_) => (Kind::Read, 1),
            Self::Stat(paths) => (Kind::Stat, paths.len()),
            Self::List(..) => (Kind::List, 1),
            Self::Check(checks) => {
                let alone = checks.iter().filter(|check| check.by_stat).count();
                (Kind::Check, alone + usize::from(alone < checks.len()))
            }
        }
    }
}

#[derive(Debug)]
pub(super) enum NodeReply {
    Facts {
        facts: Box<Facts>,
        unreadable: bool,
    },
    Missing,
    /// Its data may not be read; its Stat perhaps.
    Denied,
    StatDenied,
    Failed,
}

#[derive(Debug)]
pub(super) enum ListReply {
    Names(Vec<String>),
    /// Missing or denied by now: its own read or event shows it.
    Nothing,
    Failed,
}

#[derive(Debug)]
pub(super) enum Reply {
    Watch(Result<PersistentWatcher, WatchFailure>),
    Nodes(Vec<(Arc<str>, NodeReply)>),
    Lists(Vec<(Arc<str>, ListPurpose, ListReply)>),
    Checks(Vec<(Arc<str>, Version, NodeReply)>),
    /// The request as a whole failed.
    Failed,
}

impl Reply {
    /// Takes out what belongs to the last znodes that were named.
    pub(super) fn take_back(&mut self, count: usize) -> Self {
        match self {
            Self::Watch(_) => std::mem::replace(self, Self::Failed),
            Self::Nodes(nodes) => Self::Nodes(take_back(nodes, count)),
            Self::Lists(lists) => Self::Lists(take_back(lists, count)),
            Self::Checks(checks) => Self::Checks(take_back(checks, count)),
            Self::Failed => Self::Failed,
        }
    }

    /// Whether the request, or some part of it, was not answered.
    pub(super) fn has_failed(&self) -> bool {
        match self {
            Self::Watch(result) => result.is_err(),
            Self::Nodes(nodes) => nodes.iter().any(|(_, reply)| matches!(reply, NodeReply::Failed)),
            Self::Lists(lists) => lists.iter().any(|(.., reply)| matches!(reply, ListReply::Failed)),
            Self::Checks(checks) => checks.iter().any(|(.., reply)| matches!(reply, NodeReply::Failed)),
            Self::Failed => true,
        }
    }
}

/// The last of a list. From the back, for nothing that stays is moved then.
fn take_back<T>(all: &mut Vec<T>, count: usize) -> Vec<T> {
    all.split_off(all.len().saturating_sub(count))
}

pub(super) async fn send(client: &Client, request: Request) -> Reply {
    match request {
        Request::Watch(root) => {
            let watch = client.watch(&root, AddWatchMode::PersistentRecursive).await;
            Reply::Watch(watch.map_err(|error| watch_failure(&error)))
        }
        Request::Read(paths) => read(client, paths).await.unwrap_or(Reply::Failed),
        Request::Stat(paths) => stat(client, paths).await,
        Request::List(directories, _) => list(client, directories).await.unwrap_or(Reply::Failed),
        Request::Check(checks) => check(client, checks).await.unwrap_or(Reply::Failed),
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
    Ok(Reply::Nodes(paths.into_iter().zip(results.into_iter().map(|result| reply_of_data(result, true))).collect()))
}

fn reply_of_data(result: MultiReadResult, keeps_data: bool) -> NodeReply {
    match result {
        MultiReadResult::Data { data, stat } => {
            NodeReply::Facts { facts: facts(&stat, keeps_data.then_some(data)), unreadable: false }
        }
        MultiReadResult::Error { err: Error::NoNode } => NodeReply::Missing,
        MultiReadResult::Error { err: Error::NoAuth } => NodeReply::Denied,
        _ => NodeReply::Failed,
    }
}

/// `exists` needs no right before ZooKeeper 3.8.4 and 3.9.2, so this works there where a read is denied
/// (ZOOKEEPER-2590).
async fn stat(client: &Client, paths: Vec<Arc<str>>) -> Reply {
    let stats = future::join_all(paths.iter().map(|path| client.check_stat(path))).await;
    Reply::Nodes(paths.into_iter().zip(stats.into_iter().map(reply_of_stat)).collect())
}

fn reply_of_stat(stat: Result<Option<Stat>, Error>) -> NodeReply {
    match stat {
        Ok(Some(stat)) => NodeReply::Facts { facts: facts(&stat, None), unreadable: true },
        Ok(None) => NodeReply::Missing,
        Err(Error::NoAuth) => NodeReply::StatDenied,
        Err(_) => NodeReply::Failed,
    }
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

/// All in one request, but for those of which only the Stat may or should be asked for. The replies keep their order.
async fn check(client: &Client, checks: Vec<Check>) -> Result<Reply, Error> {
    let mut reader = client.new_multi_reader();
    for check in checks.iter().filter(|check| !check.by_stat) {
        reader.add_get_data(&check.directory)?;
    }
    let alone = checks.iter().filter(|check| check.by_stat);
    let stats = future::join_all(alone.map(|check| client.check_stat(&check.directory)));
    let together = checks.iter().filter(|check| !check.by_stat).count();
    let read = async { if together == 0 { Ok(Vec::new()) } else { reader.commit().await } };
    let (results, stats) = future::join(read, stats).await;
    let results = results?;
    if results.len() != together {
        return Ok(Reply::Failed);
    }
    let (mut by_data, mut by_stat) = (results.into_iter(), stats.into_iter());
    let replies = checks.into_iter().map(|check| {
        let reply = match check.by_stat {
            true => by_stat.next().map(reply_of_stat),
            false => by_data.next().map(|result| reply_of_data(result, false)),
        };
        (check.directory, check.stamp, reply.unwrap_or(NodeReply::Failed))
    });
    Ok(Reply::Checks(replies.collect()))
}
