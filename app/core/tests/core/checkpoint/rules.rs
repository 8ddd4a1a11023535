//! Recordings name naming rules by their places, so a rule that moves would be taken for another in what was recorded
//! before. Whoever adds one in the middle, or moves one, has to raise the version of what is stored.

use lockscope_core::recipe::{RuleId, rule};

fn places() -> Vec<String> {
    let ids = (0..=u8::MAX).flat_map(|family| (0..=u8::MAX).map(move |rule| RuleId { family, rule }));
    let known = ids.filter(|id| !rule(*id).label.is_empty());
    known.map(|id| format!("{}.{} {}", id.family, id.rule, rule(id).label)).collect()
}

#[test]
fn rules_stay_at_their_places() {
    let expected: Vec<&str> = PLACES.trim().lines().map(str::trim).collect();
    assert_eq!(places(), expected);
}

const PLACES: &str = "
    0.0 Curator InterProcessReadWriteLock
    0.1 Curator InterProcessReadWriteLock
    0.2 kazoo ReadLock and WriteLock
    0.3 menagerie ReentrantZkReadWriteLock
    0.4 menagerie ReentrantZkReadWriteLock
    0.5 read/write lock of ZooKeeper's documentation
    0.6 read/write lock of ZooKeeper's documentation
    1.0 Curator InterProcessSemaphoreV2 or InterProcessSemaphoreMutex
    1.1 kazoo Semaphore
    2.0 Curator LeaderLatch
    2.1 Solr election
    2.2 ClickHouse LeaderElection
    2.3 ZooKeeper recipes LeaderElectionSupport
    2.4 sequential election
    2.5 leader on one znode
    2.6 Patroni leader
    3.0 kazoo Party
    3.1 kazoo ShallowParty
    3.2 group membership
    4.0 kazoo Queue
    4.1 Curator DistributedQueue
    4.2 ZooKeeper recipes DistributedQueue
    4.3 queue of persistent items
    5.0 Curator DistributedDoubleBarrier
    5.1 Curator DistributedBarrier or kazoo Barrier
    6.0 exclusive lock on one znode
    6.1 kazoo NonBlockingLease
    6.2 Hadoop ZKFC active/standby election
    6.3 HBase active master, or a master on one znode
    6.4 Kafka controller
    6.5 Helix controller leader
    6.6 lock on one znode of its own
    7.0 Curator InterProcessMutex or LeaderSelector
    7.1 go-zookeeper Lock
    7.2 kazoo Lock
    7.3 ZooKeeper recipes WriteLock
    7.4 npm zookeeper-client lock
    7.5 plain sequential lock or menagerie ReentrantZkLock
    7.6 plain sequential lock
";
