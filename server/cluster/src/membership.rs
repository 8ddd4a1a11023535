//! Our own znode among the members, and who else is there.

use std::time::Duration;

use futures_util::future;
use lockscope_view::ClusterState;
use zookeeper_client::{Acls, Client, CreateMode, Error, MultiReadResult};

use crate::cluster::Cluster;
use crate::member::{BYTES_MAX, MEMBERS_MAX, Member, MemberRecord};
use crate::session::Trouble;

/// Added to the time-out of whoever has our id, before it counts as alive: ZooKeeper ends sessions a tick late.
const EXPIRY_MARGIN: Duration = Duration::from_secs(3);
/// Pause between two looks at whoever has our id.
const REFUSED_STEP: Duration = Duration::from_secs(20);
/// Pause after a lost connection.
pub(crate) const STEP: Duration = Duration::from_millis(100);

impl Cluster {
    /// Becomes a member. Waits while another process has our id: it may be one that was killed a moment ago.
    pub(crate) async fn join(&self, client: &Client) -> Result<(), Trouble> {
        let path = self.paths().member(&self.settings().id);
        let acl = self.acl();
        let options = CreateMode::Ephemeral.with_acls(Acls::new(&acl));
        let mut other: Option<(i64, std::time::Instant)> = None;
        loop {
            match client.create(&path, &self.record().to_bytes(), &options).await {
                Ok(_) => return Ok(()),
                Err(Error::ConnectionLoss) => tokio::time::sleep(STEP).await,
                Err(Error::NodeExists) => {
                    let (data, stat, watcher) = match client.get_and_watch_data(&path).await {
                        Ok(found) => found,
                        Err(Error::NoNode) => continue,
                        Err(Error::ConnectionLoss) => {
                            tokio::time::sleep(STEP).await;
                            continue;
                        }
                        Err(error) => return Err(Trouble::of(&error, "READ", &path)),
                    };
                    if stat.ephemeral_owner == client.session_id().0 {
                        return Ok(());
                    }
                    let record = MemberRecord::parse(&data);
                    if record.as_ref().is_some_and(|record| record.process == self.record().process) {
                        // Ours, of a session that we lost and that has not run out.
                        match client.delete(&path, Some(stat.version)).await {
                            Ok(()) | Err(Error::NoNode | Error::BadVersion | Error::ConnectionLoss) => continue,
                            Err(error) => return Err(Trouble::of(&error, "DELETE", &self.paths().members())),
                        }
                    }
                    let since = match other {
                        Some((czxid, since)) if czxid == stat.czxid => since,
                        _ => lockscope_runtime::clock::instant(),
                    };
                    other = Some((stat.czxid, since));
                    let wait = self.note_other(record.as_ref(), since);
                    let _ = tokio::time::timeout(wait, watcher.changed()).await;
                }
                Err(error) => return Err(Trouble::of(&error, "CREATE", &self.paths().members())),
            }
        }
    }

    /// Says that our id is taken. How long to wait before it is looked at again.
    fn note_other(&self, record: Option<&MemberRecord>, since: std::time::Instant) -> Duration {
        let timeout = record.map_or(self.settings().session_timeout, |record| {
            Duration::from_millis(record.session_timeout_ms.clamp(500, 3_600_000))
        });
        let (id, patience) = (&self.settings().id, timeout + EXPIRY_MARGIN);
        let whose = record.map_or_else(
            || "a znode that is no replica's".to_owned(),
            |record| format!("the replica at {}", record.address),
        );
        self.heard();
        let left = patience.saturating_sub(since.elapsed());
        if left.is_zero() {
            self.set_state(
                ClusterState::Refused,
                format!("the id {id} is taken by {whose}, which is alive; give each replica an id of its own with `id` in [cluster]"),
            );
            // Looked at again long before this server would count as cut off.
            return patience.min(REFUSED_STEP);
        }
        self.set_state(
            ClusterState::Waiting,
            format!(
                "the id {id} is that of {whose}; if that was killed, its session ends within {} s, else give each replica an id of its own",
                patience.as_secs()
            ),
        );
        left.min(REFUSED_STEP)
    }

    pub(crate) async fn follow_members(&self, client: &Client) -> Trouble {
        let path = self.paths().members();
        loop {
            let (names, watcher) = match client.list_and_watch_children(&path).await {
                Ok(found) => found,
                Err(Error::ConnectionLoss) => {
                    tokio::time::sleep(STEP).await;
                    continue;
                }
                Err(error) => return Trouble::of(&error, "READ", &path),
            };
            match self.read_members(client, names).await {
                Ok((members, strangers)) => self.note_members(members, strangers),
                Err(Error::ConnectionLoss) => {
                    tokio::time::sleep(STEP).await;
                    continue;
                }
                Err(error) => return Trouble::of(&error, "READ", &path),
            }
            watcher.changed().await;
        }
    }

    async fn read_members(&self, client: &Client, mut names: Vec<String>) -> Result<(Vec<Member>, usize), Error> {
        names.sort_unstable();
        let mut strangers = names.len().saturating_sub(MEMBERS_MAX);
        names.truncate(MEMBERS_MAX);
        // What a stranger put there may be large, and is not read.
        let stats: Vec<_> = names.iter().map(|name| self.paths().member(name)).collect();
        let stats = future::join_all(stats.iter().map(|path| client.check_stat(path))).await;
        let mut small = Vec::with_capacity(names.len());
        for (name, stat) in names.into_iter().zip(stats) {
            match stat? {
                Some(stat) if usize::try_from(stat.data_length).is_ok_and(|bytes| bytes <= BYTES_MAX) => {
                    small.push(name)
                }
                Some(_) => strangers += 1,
                None => {}
            }
        }
        let mut members = Vec::with_capacity(small.len());
        let mut reader = client.new_multi_reader();
        for name in &small {
            reader.add_get_data(&self.paths().member(name))?;
        }
        for (id, read) in small.into_iter().zip(reader.commit().await?) {
            match read {
                MultiReadResult::Data { data, stat } if stat.ephemeral_owner != 0 => match MemberRecord::parse(&data) {
                    Some(record) => members.push(Member { id, record }),
                    None => strangers += 1,
                },
                // It went meanwhile: the watch says so.
                MultiReadResult::Error { err: Error::NoNode } => {}
                _ => strangers += 1,
            }
        }
        Ok((members, strangers))
    }
}
