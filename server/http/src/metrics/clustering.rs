//! The numbers of the cluster as samples. Pure.

use ::cluster::Counts;
use lockscope_wire::{Cluster, ClusterState, SharedMemory};

use super::catalogue::Family;
use super::text::Exposition;
use crate::handed_on_counts::HandedOnNumbers;
use feed::ForeignCounts;

/// Writes everything of it.
pub(super) fn tell(
    cluster: &Cluster,
    counts: Counts,
    foreign: Option<ForeignCounts>,
    (sent, taken): &HandedOnNumbers,
    out: &mut Exposition,
) {
    for state in ClusterState::ALL {
        out.count(Family::ClusterState, &[state.name()], (cluster.state == state).into());
    }
    let owned = cluster.replicas.iter().find(|replica| replica.is_this).map_or(0, |own| own.ensembles.len());
    let differing = cluster.replicas.iter().filter(|replica| !replica.watches_same).count();
    let is_well = |memory: &SharedMemory| memory.exchanged_at_ms.is_some() && memory.failing_since_ms.is_none();
    let shared = cluster.shared_memory.as_ref().is_some_and(is_well);
    for (family, value) in [
        (Family::ClusterReplicas, cluster.replicas.len() as u64),
        (Family::ClusterLeading, cluster.is_leader.into()),
        (Family::ClusterHasLeader, cluster.leader.is_some().into()),
        (Family::ClusterOwned, owned as u64),
        (Family::ClusterDiffering, differing as u64),
        (Family::ClusterShared, shared.into()),
        (Family::ClusterJoins, counts.joins),
        (Family::ClusterLeaderships, counts.leaderships),
        (Family::ClusterMutexes, counts.mutexes),
        (Family::ClusterMutexesRefused, counts.mutexes_refused),
    ] {
        out.count(family, &[], value);
    }
    sent.iter().for_each(|(labels, count)| out.count(Family::ClusterHandedOn, labels, *count));
    taken.iter().for_each(|(kind, count)| out.count(Family::ClusterTaken, &[kind], *count));
    let Some(foreign) = foreign else { return };
    for (family, value) in [
        (Family::ClusterForeign, foreign.ensembles),
        (Family::ClusterOwners, foreign.owners),
        (Family::ClusterOwnersUp, foreign.owners_up),
        (Family::ClusterForeignViews, foreign.views),
    ] {
        out.count(family, &[], value as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_that_is_no_member_says_so() {
        let mut out = Exposition::default();
        let cluster = Cluster { state: ClusterState::Refused, ..Cluster::default() };
        tell(
            &cluster,
            Counts { joins: 3, ..Counts::default() },
            Some(ForeignCounts { views: 2, ..ForeignCounts::default() }),
            &(vec![(["act", "no_answer"], 4)], vec![("file", 5)]),
            &mut out,
        );
        let text = out.finish();
        for line in [
            "lockscope_cluster_state{state=\"refused\"} 1\n",
            "lockscope_cluster_state{state=\"member\"} 0\n",
            "lockscope_cluster_leading 0\n",
            "lockscope_cluster_joins_total 3\n",
            "lockscope_cluster_foreign_views 2\n",
            "lockscope_cluster_handed_on_total{kind=\"act\",result=\"no_answer\"} 4\n",
            "lockscope_cluster_taken_total{kind=\"file\"} 5\n",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
    }
}
