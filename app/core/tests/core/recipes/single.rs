//! One fixed znode: its creator holds, everybody else has no znode (HBase's other masters apart).

use super::{check, check_none, says, tell, tree};

#[test]
fn home_made_exclusive_locks() {
    let mut story = check(
        "/exclusive_lock
        /exclusive_lock/lock owner=a data=app-1",
        "/exclusive_lock SingleNodeMutex Medium Healthy: exclusive lock on one znode
        app-1 holds it. Waiters can't be counted here.
        Exclusive holds lock",
    );
    tell(&mut story, "20 - /exclusive_lock/lock");
    says(
        &story,
        "/exclusive_lock SingleNodeMutex Medium Free: exclusive lock on one znode
        Free. Last held by app-1.",
    );
    tell(&mut story, "30 + /exclusive_lock/lock\n31 = /exclusive_lock/lock owner=b");
    assert_eq!(story.sentence("/exclusive_lock"), "session 0xb holds it. Waiters can't be counted here.");
}

#[test]
fn hadoops_failover_controllers() {
    check(
        "/hadoop-ha/ns1
        /hadoop-ha/ns1/ActiveBreadCrumb hex=0a036e733112036e6e311a0b6e6e312e6578616d706c6520d43e28b33f
        /hadoop-ha/ns1/ActiveStandbyElectorLock owner=a hex=0a036e733112036e6e311a0b6e6e312e6578616d706c6520d43e28b33f",
        "/hadoop-ha/ns1/ActiveStandbyElectorLock SingleNodeMutex High Healthy: Hadoop ZKFC active/standby election
        Leader: nn1.example. Waiters can't be counted here.
        Exclusive holds ActiveStandbyElectorLock",
    );
}

#[test]
fn hbases_masters() {
    let mut story = check(
        "/hbase
        /hbase/master owner=a hex=ff000000066d6173746572504255460a120a0768626173652d3110807d188080808001
        /hbase/backup-masters
        /hbase/backup-masters/hbase-2,16000,1790000000123 owner=b
        /hbase/backup-masters/hbase-3,16000,1790000000456 owner=c
        /hbase/rs
        /hbase/rs/node-1,16020,1790000000123 owner=d
        /hbase/rs/node-2,16020,1790000000124 owner=e",
        "/hbase/master SingleNodeMutex Medium Healthy: HBase active master, or a master on one znode
        Leader: hbase-1. 2 standbys.
        Exclusive holds master
        Exclusive waits hbase-2,16000,1790000000123 -> master*
        Exclusive waits hbase-3,16000,1790000000456 -> master*",
    );
    tell(&mut story, "20 - /hbase/master");
    assert!(story.show().starts_with("/hbase/master SingleNodeMutex Free [] <- hbase-2"), "{}", story.show());
    tell(
        &mut story,
        "21 + /hbase/master\n22 = /hbase/master owner=b\n23 - /hbase/backup-masters/hbase-2,16000,1790000000123",
    );
    assert_eq!(story.sentence("/hbase/master"), "Leader: session 0xb. 1 standby.");
}

#[test]
fn kafkas_controller() {
    check(
        "/brokers/ids/1 owner=a
        /brokers/ids/2 owner=b
        /controller_epoch data=3
        /controller owner=a data={\"version\":1,\"brokerid\":1,\"timestamp\":\"1700000000000\"}",
        "/controller SingleNodeMutex Medium Healthy: Kafka controller
        Leader: broker 1. Waiters can't be counted here.
        Exclusive holds controller",
    );
}

#[test]
fn helixs_controller() {
    check(
        "/cluster-1/CONTROLLER
        /cluster-1/LIVEINSTANCES/host-1_12000 owner=b
        /cluster-1/CONTROLLER/LEADER owner=a data={\"id\":\"ctl-1\",\"simpleFields\":{\"LIVE_INSTANCE\":\"812@host-1\",\"SESSION_ID\":\"a\"}}",
        "/cluster-1/CONTROLLER/LEADER SingleNodeMutex Medium Healthy: Helix controller leader
        Leader: 812@host-1. Waiters can't be counted here.
        Exclusive holds LEADER",
    );
}

#[test]
fn clickhouses_lock() {
    check(
        "/clickhouse/tables/t1
        /clickhouse/tables/t1/cleanup_lock owner=a data=replica-1
        /clickhouse/tables/t1/replicas/r1/is_active owner=a data=UUID",
        "/clickhouse/tables/t1/cleanup_lock SingleNodeMutex Low Healthy: lock on one znode of its own
        replica-1 holds it. Waiters can't be counted here.
        Exclusive holds cleanup_lock",
    );
}

const LEASE: &str = "/l data=
    /l/lease_holder data={\"version\":1,\"holder\":\"worker-1\",\"end\":\"1970-01-01T00:01:00.000000\"}";

#[test]
fn kazoos_lease_is_free_again_by_the_clock() {
    let mut story = check(
        LEASE,
        "/l SingleNodeMutex High Healthy: kazoo NonBlockingLease
        worker-1 holds it. Nobody waits.
        Lease holds lease_holder",
    );
    tell(&mut story, "59000 tick");
    assert_eq!(story.sentence("/l"), "worker-1 holds it. Nobody waits.");
    tell(&mut story, "60000 tick");
    says(
        &story,
        "/l SingleNodeMutex High Free: kazoo NonBlockingLease
        Free. Last held by worker-1.",
    );
    let next = "{\"version\":1,\"holder\":\"worker-2\",\"end\":\"1970-01-01T00:02:00.000000\"}";
    tell(&mut story, &format!("61000 = /l/lease_holder czxid=102 version=1 data={next}"));
    assert_eq!(story.sentence("/l"), "worker-2 holds it. Nobody waits.");
    tell(&mut story, "120000 tick");
    assert_eq!(story.sentence("/l"), "Free. Last held by worker-2.");
}

/// What is held past the end that its payload names was looked at again and again at the same instant, for ever.
#[test]
fn an_end_in_the_payload_of_what_is_no_lease_ends_nothing() {
    let mut story = tree("/x created=1\n/x/lock owner=a");
    tell(&mut story, "20000 - /x/lock\n21000 + /x/lock\n21000 = /x/lock data={\"end\":\"1970-01-01T00:00:30\"}");
    tell(&mut story, "30000 tick\n31000 tick");
    assert_eq!(story.show(), "/x SingleNodeMutex Orphan [lock] <-");
}

#[test]
fn the_lock_that_guards_the_taking_of_a_lease_is_no_mutex() {
    let mut story = tree(LEASE);
    let next = "{\"version\":1,\"holder\":\"worker-2\",\"end\":\"1970-01-01T00:02:00\"}";
    tell(&mut story, "61000 + /l/{a}__lock__#0\n61001 = /l/{a}__lock__#0 owner=a data=worker-2");
    assert_eq!(story.show(), "/l SingleNodeMutex Free [] <-");
    tell(
        &mut story,
        "61002 - /l/lease_holder\n61002 + /l/{b}__lock__#1\n61003 = /l/{b}__lock__#1 owner=b data=worker-3",
    );
    assert_eq!(story.show(), "/l SingleNodeMutex Free [] <-");
    tell(
        &mut story,
        &format!("61004 + /l/lease_holder\n61005 = /l/lease_holder data={next}\n61006 - /l/{{a}}__lock__#0"),
    );
    says(
        &story,
        "/l SingleNodeMutex High Healthy: kazoo NonBlockingLease
        worker-2 holds it. Nobody waits.
        Lease holds lease_holder",
    );
}

#[test]
fn a_lease_whose_end_cant_be_read_is_no_orphan() {
    check(
        "/l
        /l/lease_holder data=what",
        "/l SingleNodeMutex High Healthy: kazoo NonBlockingLease
        what holds it. Nobody waits.
        Lease holds lease_holder",
    );
}

#[test]
fn kazoos_multi_lease_is_a_lease_a_slot() {
    let story = tree(
        "/l
        /l/0
        /l/1
        /l/0/lease_holder data={\"version\":1,\"holder\":\"w1\",\"end\":\"1970-01-01T00:01:00\"}
        /l/1/lease_holder data={\"version\":1,\"holder\":\"w2\",\"end\":\"1970-01-01T00:00:00\"}",
    );
    assert_eq!(story.paths(), ["/l/0", "/l/1"]);
    assert_eq!(story.sentence("/l/0"), "w1 holds it. Nobody waits.");
    assert!(story.sentence("/l/1").starts_with("Free; "));
}

#[test]
fn persistent_znodes_of_such_names_and_other_ephemerals_are_no_locks() {
    check_none(
        "/app/config/lock
        /app/master
        /app/controller
        /app/LEADER
        /app/orders-lock
        /app/settings/block-size data=3
        /dubbo/org.example.Api/providers/dubbo%3A%2F%2F10.0.0.1%3A20880%2Forg.example.Api%3Fpid%3D7%26timestamp%3D1790000000123 owner=a
        /dubbo/org.example.Api/providers/dubbo%3A%2F%2F10.0.0.2%3A20880%2Forg.example.Api%3Fpid%3D8%26timestamp%3D1790000000456 owner=b
        /services/billing/<a> owner=a data={\"name\":\"billing\",\"address\":\"10.0.0.1\",\"port\":80}
        /services/billing/<b> owner=b data={\"name\":\"billing\",\"address\":\"10.0.0.2\",\"port\":80}
        /services/orders/{a} owner=a data={\"address\":\"10.0.0.1\"}
        /live_nodes/10.0.0.1:8983_solr owner=a
        /app/block owner=a
        /app/wall-clock owner=a
        /app/clock/ticks created=7
        /config/features/dark-mode data=on
        /config/features/beta#1 data=off",
    );
}
