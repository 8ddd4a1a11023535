//! The release session: a short-lived session of its own, with credentials of its own, that executes one request and is
//! closed. What to do next is decided by [`Act`]; this file only sends and receives.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future;
use lockscope_core::release::{Act, Answer, Back, ChildCounters, End, Input, Seen, Sent, Step, Target, TargetSnapshot};
use lockscope_core::znode::{SessionId, Zxid, split_path};
use tokio::time::{Instant, timeout, timeout_at};
use zookeeper_client::{AddWatchMode, Client, Connector, Error, PersistentWatcher, SessionState, Stat};

use super::acl::{self, Right};
use super::credentials::Credentials;
use super::own_sessions;
use super::translate::{NodeEvent, WatcherEvent, heard};

const CONNECT_MAX: Duration = Duration::from_secs(3);
const LOOK_MAX: Duration = Duration::from_secs(2);
/// Time for the deletion's answer; the client gives a silent connection up earlier.
const SEND_MAX: Duration = Duration::from_secs(4);
/// Time to settle what happened after a break.
const SETTLE_MAX: Duration = Duration::from_secs(8);
/// Pause between two tries within it.
const SETTLE_STEP: Duration = Duration::from_millis(50);
/// Time for the ACL, session included.
const RIGHT_MAX: Duration = Duration::from_secs(2);
const CLOSE_MAX: Duration = Duration::from_secs(1);
/// Time-out asked for: two fifths of it without an answer give a connection up.
const SESSION_TIMEOUT: Duration = Duration::from_secs(6);
/// What Curator's revocable holder listens for (`LockInternals.REVOKE_MESSAGE`).
const REVOKE: &[u8] = b"__REVOKE__";

pub type MakeConnector = Arc<dyn Fn() -> Result<Connector, String> + Send + Sync>;

/// Where to act, and as whom. Cheap to clone.
#[derive(Clone)]
pub struct ReleaseClient {
    connect: Arc<str>,
    make: MakeConnector,
}

impl fmt::Debug for ReleaseClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReleaseClient").field("connect", &self.connect).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevokeOutcome {
    Told,
    /// It was another, or gone, or written to: nothing was sent.
    Differs,
    Denied,
    Unknown,
    /// Nothing was sent: ZooKeeper could not be reached.
    NotLive,
}

/// A session under way, and the watch on the target's name.
struct Session {
    client: Client,
    watcher: Option<PersistentWatcher>,
    deletions_heard: Option<u32>,
}

impl ReleaseClient {
    pub fn new(connect: &str, make: MakeConnector) -> Self {
        Self { connect: connect.into(), make }
    }

    pub fn identified(connect: &str, credentials: Credentials) -> Self {
        let address = credentials.address(connect);
        Self::new(
            &address,
            Arc::new(move || {
                credentials.connector(SESSION_TIMEOUT).map_err(|error| format!("the identity can't be used: {error}"))
            }),
        )
    }

    pub fn anonymous(connect: &str) -> Self {
        Self::identified(connect, Credentials::default())
    }

    /// Whether we may delete children of a directory.
    pub async fn right(&self, directory: &str) -> Right {
        let reading = async {
            match self.open().await {
                Ok(client) => {
                    let right = acl::read(&client, directory).await;
                    close(client).await;
                    right
                }
                Err(why) => Right::unread(&why),
            }
        };
        timeout(RIGHT_MAX, reading).await.unwrap_or_else(|_| Right::unread("ZooKeeper did not answer in time"))
    }

    /// Deletes exactly this, or says what it did instead. Takes a bounded time.
    pub async fn release(&self, target: Target) -> End {
        let mut act = Act::new(target);
        let mut session = None;
        loop {
            let input = match act.step() {
                Step::Look => match self.open().await {
                    Ok(client) => {
                        session
                            .insert(Session { client, watcher: None, deletions_heard: None })
                            .look_first(act.target())
                            .await
                    }
                    Err(_) => None,
                },
                Step::Send => match &mut session {
                    Some(session) => Some(Input::Sent(session.send(act.target()).await)),
                    None => None,
                },
                Step::Settle => timeout(SETTLE_MAX, self.settle(&mut session, act.target())).await.ok(),
                Step::End(end) => {
                    if let Some(session) = session {
                        close(session.client).await;
                    }
                    return end;
                }
            };
            act.take(input.unwrap_or(Input::GaveUp));
        }
    }

    /// Asks a holder to let go by writing what it listens for to its own znode, if it is still this very one.
    pub async fn revoke(&self, target: &Target) -> RevokeOutcome {
        let Ok(client) = self.open().await else { return RevokeOutcome::NotLive };
        let asked = revoke(&client, target).await;
        close(client).await;
        asked
    }

    /// Which incarnation is at each of these paths, in order; None where that could not be read within the time.
    pub async fn there(&self, paths: &[String], within: Duration) -> Vec<Option<Option<Zxid>>> {
        let mut there = Vec::new();
        let looking = async {
            let client = loop {
                match self.open().await {
                    Ok(client) => break client,
                    Err(_) => tokio::time::sleep(SETTLE_STEP).await,
                }
            };
            for path in paths {
                let Ok(Ok(looked)) = timeout(LOOK_MAX, look(&client, path)).await else { break };
                there.push(Some(looked.node.map(|seen| seen.czxid)));
            }
            close(client).await;
        };
        // What was read until then counts.
        let _ = timeout(within, looking).await;
        there.resize(paths.len(), None);
        there
    }

    async fn open(&self) -> Result<Client, String> {
        let connector =
            (self.make)()?.with_session_timeout(SESSION_TIMEOUT).with_connection_timeout(SESSION_TIMEOUT * 2 / 5);
        let connecting = connector.connect(&self.connect);
        let client =
            timeout(CONNECT_MAX, connecting).await.map_err(|_| "ZooKeeper could not be reached in time".to_owned())?;
        let client = client.map_err(|error| format!("no session: {error}"))?;
        own_sessions::note(client.session_id().0);
        Ok(client)
    }

    /// Waits for the connection, for another session if it must be, and looks.
    async fn settle(&self, session: &mut Option<Session>, target: &Target) -> Input {
        let mut back = Back::SameSession;
        loop {
            let state = session.as_ref().map_or(SessionState::Closed, |session| session.client.state());
            if state.is_terminated() {
                back = Back::NewSession;
                *session =
                    self.open().await.ok().map(|client| Session { client, watcher: None, deletions_heard: None });
            }
            if let Some(session) =
                session.as_ref().filter(|session| session.client.state() == SessionState::SyncConnected)
                && let Ok(Ok(looked)) = timeout(LOOK_MAX, look(&session.client, &target.path)).await
            {
                return Input::Settled(back, looked);
            }
            tokio::time::sleep(SETTLE_STEP).await;
        }
    }
}

impl Session {
    /// Watches the name, then looks. Whether every deletion of it would be reported is known only where it may be read.
    async fn look_first(&mut self, target: &Target) -> Option<Input> {
        let (client, path) = (&self.client, &*target.path);
        let watching = client.watch(path, AddWatchMode::PersistentRecursive);
        let looking = look(client, path);
        let reading = client.get_data(path);
        let (watcher, looked, read) = timeout(LOOK_MAX, future::join3(watching, looking, reading)).await.ok()?;
        self.deletions_heard = (watcher.is_ok() && read.is_ok()).then_some(0);
        self.watcher = watcher.ok();
        Some(Input::Looked(looked.ok()?))
    }

    /// Reads, deletes and looks; the requests leave together and are carried out in this order.
    async fn send(&mut self, target: &Target) -> Sent {
        let (client, path) = (&self.client, &*target.path);
        let directory = split_path(path).map_or("/", |(directory, _)| directory);
        let just_before = client.check_stat(path);
        let deletion = client.delete(path, Some(target.version));
        let (counters, after) = (client.check_stat(directory), client.check_stat(path));
        let deadline = Instant::now() + SEND_MAX;
        let mut sent = Sent {
            just_before: timeout_at(deadline, just_before)
                .await
                .ok()
                .and_then(Result::ok)
                .map(|stat| stat.as_ref().map(seen)),
            ..Sent::default()
        };
        sent.answer = timeout_at(deadline, deletion).await.ok().and_then(|answer| answered(&answer));
        let after = timeout_at(deadline, future::join(counters, after)).await.ok();
        sent.after = after.and_then(|(counters, node)| looked(counters.ok()?.as_ref(), node.ok()?.as_ref()));
        sent.deletions_heard = self.hear(path);
        sent
    }

    /// Deletions of the name since the watch was set: every event that came before the answers is here by now.
    fn hear(&mut self, path: &str) -> Option<u32> {
        let mut context = Context::from_waker(std::task::Waker::noop());
        while let Some(watcher) = self.watcher.as_mut() {
            let Poll::Ready(event) = pin!(watcher.changed()).poll(&mut context) else { break };
            match heard(event) {
                WatcherEvent::Node(NodeEvent::Deleted(gone)) if *gone == *path => {
                    self.deletions_heard = self.deletions_heard.map(|heard| heard + 1)
                }
                WatcherEvent::Node(_) | WatcherEvent::Children => {}
                WatcherEvent::Link => self.deletions_heard = None,
                WatcherEvent::Terminal => {
                    // Asking it again would panic.
                    self.watcher = None;
                    self.deletions_heard = None;
                }
            }
        }
        self.deletions_heard
    }
}

/// `sync`, the directory, the znode: in this order.
fn look(client: &Client, path: &str) -> impl Future<Output = Result<TargetSnapshot, Error>> {
    let directory = split_path(path).map_or("/", |(directory, _)| directory);
    let (synced, counters, node) = (client.sync(directory), client.check_stat(directory), client.check_stat(path));
    async move {
        synced.await?;
        let (counters, node) = (counters.await?, node.await?);
        looked(counters.as_ref(), node.as_ref()).ok_or(Error::NoNode)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "reads as a step of a chain where it is used")]
fn looked(counters: Option<&Stat>, node: Option<&Stat>) -> Option<TargetSnapshot> {
    let counted = |stat: &Stat| ChildCounters {
        czxid: Zxid(stat.czxid),
        cversion: stat.cversion,
        children: stat.num_children.max(0).cast_unsigned(),
    };
    Some(TargetSnapshot { directory: counters.map(counted), node: node.map(seen) })
}

fn seen(stat: &Stat) -> Seen {
    Seen {
        czxid: Zxid(stat.czxid),
        owner: (stat.ephemeral_owner != 0).then_some(SessionId(stat.ephemeral_owner)),
        version: stat.version,
        children: stat.num_children.max(0).cast_unsigned(),
    }
}

/// What a deletion's result says; None when it does not say whether it was carried out.
fn answered(result: &Result<(), Error>) -> Option<Answer> {
    match result {
        Ok(()) => Some(Answer::Done),
        Err(Error::NoNode) => Some(Answer::NoNode),
        Err(Error::BadVersion) => Some(Answer::BadVersion),
        Err(Error::NotEmpty) => Some(Answer::NotEmpty),
        Err(Error::NoAuth) => Some(Answer::NoRight),
        Err(
            Error::NotReadOnly
            | Error::Throttled
            | Error::QuotaExceeded
            | Error::BadArguments(_)
            | Error::Unimplemented
            | Error::MarshallingError,
        ) => Some(Answer::Refused),
        Err(_) => None,
    }
}

async fn revoke(client: &Client, target: &Target) -> RevokeOutcome {
    let Ok(Ok(looked)) = timeout(LOOK_MAX, look(client, &target.path)).await else { return RevokeOutcome::NotLive };
    if !looked.node.is_some_and(|seen| target.is(&seen) && seen.version == target.version) {
        return RevokeOutcome::Differs;
    }
    match timeout(SEND_MAX, client.set_data(&target.path, REVOKE, Some(target.version))).await {
        Ok(Ok(_)) => RevokeOutcome::Told,
        Ok(Err(Error::NoNode | Error::BadVersion)) => RevokeOutcome::Differs,
        Ok(Err(Error::NoAuth)) => RevokeOutcome::Denied,
        Ok(Err(_)) | Err(_) => RevokeOutcome::Unknown,
    }
}

/// Closes a session and waits for that, for a while; it would run out by itself.
async fn close(client: Client) {
    let mut states = client.state_watcher();
    drop(client);
    let closing = async { while !states.changed().await.is_terminated() {} };
    if timeout(CLOSE_MAX, closing).await.is_err() {
        tracing::debug!("an acting session did not close in time; it runs out by itself");
    }
}
