//! One session after the other: join, follow the others, contend for the lead, and say at once when the session is in doubt.

use std::time::Duration;

use lockscope_runtime::backoff::Backoff;
use lockscope_runtime::clock;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_view::ClusterState;
use tokio::sync::Notify;
use zookeeper_client::{Client, Error, SessionState};

use crate::cluster::Cluster;
use crate::session::{self, Trouble};

/// Waits after a session that ended, the first and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Heartbeats in one session time-out: two within a quarter of it, with room for late answers.
const BEATS: u32 = 8;

impl Cluster {
    /// Is a replica until `stop`, through as many sessions as it takes.
    pub async fn run(self, stop: CancellationToken) {
        let Ok(mut backoff) = Backoff::new(FIRST_WAIT, LONGEST_WAIT) else { return };
        while let Some(trouble) = stop.run_until_cancelled(self.one_session(&stop)).await {
            if self.has_joined() {
                backoff.reset();
            }
            self.set_latch(None);
            self.set_first(None);
            let is_refused = matches!(trouble, Trouble::Foreign(_));
            self.set_state(if is_refused { ClusterState::Refused } else { ClusterState::Lost }, trouble.to_string());
            let wait = backoff.next(rand::random());
            if stop.run_until_cancelled(tokio::time::sleep(wait)).await.is_none() {
                break;
            }
        }
        self.set_latch(None);
        self.set_state(ClusterState::Lost, "this replica is shutting down".to_owned());
    }

    fn has_joined(&self) -> bool {
        self.view().state.is_member()
    }

    async fn one_session(&self, stop: &CancellationToken) -> Trouble {
        let client = match session::open(self.settings()).await {
            Ok(client) => client,
            Err(trouble) => return trouble,
        };
        let lived = stop.run_until_cancelled(self.live(&client)).await;
        // Nobody begins anything with it any more, and it is closed once those who use it have ended.
        *self.session() = None;
        session::close(client).await;
        lived.unwrap_or(Trouble::Ended)
    }

    async fn live(&self, client: &Client) -> Trouble {
        match session::prepare(client, self.settings(), self.paths()).await {
            Ok(acl) => *self.session() = Some((client.clone(), acl)),
            Err(trouble) => return trouble,
        }
        let again = Notify::new();
        let member = async {
            if let Err(trouble) = self.join(client).await {
                return trouble;
            }
            tokio::select! {
                trouble = self.beat(client, &again) => trouble,
                trouble = self.lead(client) => trouble,
            }
        };
        tokio::select! {
            // In this order: a session that is in doubt is known before anything is done with it.
            biased;
            trouble = self.follow_session(client, &again) => trouble,
            trouble = member => trouble,
            trouble = self.follow_members(client) => trouble,
            trouble = self.follow_leader(client) => trouble,
        }
    }

    /// A connection that is lost ends the lease at once: nobody leads on a session that may have ended.
    async fn follow_session(&self, client: &Client, again: &Notify) -> Trouble {
        let mut states = client.state_watcher();
        loop {
            let state = states.state();
            match state {
                SessionState::Disconnected | SessionState::ConnectedReadOnly if self.view().state.is_member() => {
                    self.set_state(ClusterState::Suspended, "the connection to ZooKeeper is lost".to_owned());
                }
                SessionState::SyncConnected => again.notify_one(),
                state if state.is_terminated() => return Trouble::Ended,
                _ => {}
            }
            states.changed().await;
        }
    }

    /// Proves again and again that session and znodes live, and renews the lease by it.
    async fn beat(&self, client: &Client, again: &Notify) -> Trouble {
        let path = self.paths().member(&self.settings().id);
        let timeout = client.session_timeout();
        let pause = timeout / BEATS;
        loop {
            let sent = clock::instant();
            let latch = self.latch();
            // Answered by the leader; what comes after it is as of then.
            let synced = client.sync(&path);
            let (own, at_latch) = (client.check_stat(&path), latch.as_deref().map(|path| client.check_stat(path)));
            match synced.await.and(own.await) {
                Ok(Some(stat)) if stat.ephemeral_owner == client.session_id().0 => {
                    let is_first = match at_latch {
                        None => true,
                        Some(looked) => !matches!(looked.await, Ok(None)),
                    };
                    if client.state() == SessionState::SyncConnected && is_first {
                        self.renew_as_member(sent, timeout);
                    }
                }
                Ok(_) => return Trouble::Deleted(path),
                Err(Error::ConnectionLoss) => {}
                Err(error) => return Trouble::of(&error, "READ", &path),
            }
            // Sooner where the connection came back.
            let _ = tokio::time::timeout(pause, again.notified()).await;
        }
    }

    fn renew_as_member(&self, sent: std::time::Instant, timeout: Duration) {
        self.set_state(ClusterState::Member, String::new());
        self.renew(sent, timeout);
    }
}
