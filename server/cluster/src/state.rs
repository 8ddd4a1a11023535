//! What a replica knows of its cluster at an instant, and how it is shown. Pure: instants are arguments.

use std::time::Instant;

use lockscope_view::{Cluster as ClusterView, ClusterState, Replica, SharedMemory};

use crate::lease::Lease;
use crate::member::Member;
use crate::settings::Settings;

#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) state: ClusterState,
    /// Why it is no member; empty of one.
    pub(crate) why: String,
    pub(crate) members: Vec<Member>,
    /// The database by which replicas share; None where there is none.
    pub(crate) shared_memory: Option<SharedMemory>,
    /// Znodes among the members that are none, or too many.
    pub(crate) strangers: usize,
    /// Who is first at the latch.
    pub(crate) first: Option<String>,
    /// When members were read last, ms since the epoch.
    pub(crate) seen_at_ms: Option<i64>,
    /// Our own znode at the latch, once it is the first.
    pub(crate) latch: Option<String>,
    pub(crate) lease: Lease,
    pub(crate) counts: Counts,
    /// When ZooKeeper answered last.
    pub(crate) heard_at: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub joins: u64,
    pub leaderships: u64,
    pub mutexes: u64,
    pub mutexes_refused: u64,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            state: ClusterState::Joining,
            why: "no session with ZooKeeper yet".to_owned(),
            members: Vec::new(),
            strangers: 0,
            shared_memory: None,
            first: None,
            seen_at_ms: None,
            latch: None,
            lease: Lease::default(),
            counts: Counts::default(),
            heard_at: None,
        }
    }
}

impl Known {
    /// Whether this replica leads at an instant: it is first at the latch, and its session can't have ended yet.
    pub(crate) fn leads_at(&self, now: Instant) -> bool {
        self.state == ClusterState::Member && self.latch.is_some() && self.lease.holds_at(now)
    }

    /// The place of a replica among the members at an instant, from 0; its session can't have ended yet.
    pub(crate) fn rank_at(&self, id: &str, now: Instant) -> Option<usize> {
        let is_sure = self.state == ClusterState::Member && self.lease.holds_at(now);
        self.members.iter().position(|member| member.id == id).filter(|_| is_sure)
    }

    pub(crate) fn view(&self, settings: &Settings, own_watches: &str, now: Instant) -> ClusterView {
        let is_leader = self.leads_at(now);
        // Who is first and has lost its lease does not lead, and nobody else does yet.
        let leader = self.first.as_deref().filter(|id| *id != settings.id || is_leader);
        let replica = |member: &Member| Replica {
            id: member.id.clone(),
            address: member.record.address.clone(),
            version: member.record.version.clone(),
            since_ms: member.record.since_ms,
            is_leader: leader == Some(&*member.id),
            is_this: member.id == settings.id && self.state.is_member(),
            watches_same: member.record.watches == own_watches,
        };
        let replicas: Vec<Replica> = self.members.iter().map(replica).collect();
        ClusterView {
            state: self.state,
            why: self.why.clone(),
            id: Some(settings.id.clone()),
            root: Some(settings.root.clone()),
            ensemble: Some(settings.ensemble.clone()),
            is_leader,
            leader: leader.map(str::to_owned),
            is_alone: self.state.is_member() && replicas.len() < 2,
            seen_at_ms: self.seen_at_ms,
            strangers: self.strangers as u64,
            shared_memory: self.shared_memory.clone(),
            replicas,
        }
    }
}
