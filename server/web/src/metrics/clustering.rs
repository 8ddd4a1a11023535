//! The numbers of the cluster as samples. Pure.

use lockscope_cluster::Counts;
use lockscope_view::{Cluster, ClusterState, SharedMemory};

use super::catalogue::Family;
use super::text::Exposition;

pub(super) fn tell(cluster: &Cluster, counts: Counts, out: &mut Exposition) {
    for state in ClusterState::ALL {
        out.count(Family::ClusterState, &[state.name()], (cluster.state == state).into());
    }
    let differing = cluster.replicas.iter().filter(|replica| !replica.watches_same).count();
    let is_well = |memory: &SharedMemory| memory.exchanged_at_ms.is_some() && memory.failing_since_ms.is_none();
    let shared = cluster.shared_memory.as_ref().is_some_and(is_well);
    for (family, value) in [
        (Family::ClusterReplicas, cluster.replicas.len() as u64),
        (Family::ClusterLeading, cluster.is_leader.into()),
        (Family::ClusterHasLeader, cluster.leader.is_some().into()),
        (Family::ClusterDiffering, differing as u64),
        (Family::ClusterShared, shared.into()),
        (Family::ClusterJoins, counts.joins),
        (Family::ClusterLeaderships, counts.leaderships),
        (Family::ClusterMutexes, counts.mutexes),
        (Family::ClusterMutexesRefused, counts.mutexes_refused),
    ] {
        out.count(family, &[], value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_that_is_no_member_says_so() {
        let mut out = Exposition::default();
        let cluster = Cluster { state: ClusterState::Refused, ..Cluster::default() };
        tell(&cluster, Counts { joins: 3, ..Counts::default() }, &mut out);
        let text = out.finish();
        for line in [
            "lockscope_cluster_state{state=\"refused\"} 1\n",
            "lockscope_cluster_state{state=\"member\"} 0\n",
            "lockscope_cluster_leading 0\n",
            "lockscope_cluster_joins_total 3\n",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
    }
}
