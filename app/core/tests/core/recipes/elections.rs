//! Who leads.

use lockscope_core::recipe::Recipe;

use super::{check, expand, says, tell, tree, tree_configured};

#[test]
fn curators_latch_wherever_it_is() {
    for path in [
        "/druid/coordinator/_COORDINATOR",
        "/druid/overlord/_OVERLORD",
        "/job/leader/election/latch",
        "/spark/leader_election",
    ] {
        check(
            &format!(
                "{path}
                {path}/_c_<b>-latch-#0 owner=a data=host-1
                {path}/_c_<a>-latch-#1 owner=b data=host-2
                {path}/_c_<c>-latch-#2 owner=c data=host-3"
            ),
            &format!(
                "{path} Election High Healthy: Curator LeaderLatch
                Leader: host-1. 2 standbys.
                Leader holds _c_<b>-latch-#0
                Leader waits _c_<a>-latch-#1 -> _c_<b>-latch-#0
                Leader waits _c_<c>-latch-#2 -> _c_<a>-latch-#1"
            ),
        );
    }
}

#[test]
fn zookeepers_leader_election_support_and_its_documentations_guids() {
    check(
        "/e
        /e/n_#0 owner=a data=host-1
        /e/n_#1 owner=b data=host-2",
        "/e Election Medium Healthy: ZooKeeper recipes LeaderElectionSupport
        Leader: host-1. 1 standby.
        Leader holds n_#0
        Leader waits n_#1 -> n_#0",
    );
    check(
        "/e
        /e/guid7-n_#0 owner=a
        /e/guid3-n_#1 owner=b",
        "/e Election Medium Healthy: sequential election
        Leader: session 0xa. 1 standby.
        Leader holds guid7-n_#0
        Leader waits guid3-n_#1 -> guid7-n_#0",
    );
}

const KAZOO: &str = "/jobs/election
    /jobs/election/{a}__lock__#0 owner=a data=w1
    /jobs/election/{b}__lock__#1 owner=b data=w2";

#[test]
fn kazoos_election_is_told_by_its_path_or_by_the_configuration() {
    check(
        KAZOO,
        "/jobs/election Election Medium Healthy: kazoo Election
        Leader: w1. 1 standby.
        Leader holds {a}__lock__#0
        Leader waits {b}__lock__#1 -> {a}__lock__#0",
    );
    let story = tree_configured(&[("/jobs/*", Recipe::Election)], &KAZOO.replace("/election", "/planner"));
    says(
        &story,
        "/jobs/planner Election High Healthy: kazoo Election
        Leader: w1. 1 standby.
        Leader holds {a}__lock__#0
        Leader waits {b}__lock__#1 -> {a}__lock__#0",
    );
}

#[test]
fn solrs_overseer() {
    let mut story = check(
        "/overseer_elect
        /overseer_elect/election
        /overseer_elect/leader owner=a data={\"id\":\"72057655109877762-10.0.0.1:8983_solr-n_#0\"}
        /overseer_elect/election/72057655109877762-10.0.0.1:8983_solr-n_#0 owner=a
        /overseer_elect/election/72057655109877763-10.0.0.2:8983_solr-n_#1 owner=b
        /overseer_elect/election/72057655109877764-10.0.0.3:8983_solr-n_#1 owner=c",
        "/overseer_elect Election High Healthy: Solr election
        Leader: 10.0.0.1:8983_solr. 2 standbys.
        Leader holds 72057655109877762-10.0.0.1:8983_solr-n_#0
        Leader waits 72057655109877763-10.0.0.2:8983_solr-n_#1 -> 72057655109877762-10.0.0.1:8983_solr-n_#0
        Leader waits 72057655109877764-10.0.0.3:8983_solr-n_#1 -> 72057655109877763-10.0.0.2:8983_solr-n_#1",
    );
    // Joined at the head: an existing number and no sequence; the full name decides.
    let head = "72057655109877761-10.0.0.4:8983_solr-n_#1";
    tell(&mut story, &format!("20 + /overseer_elect/election/{head}\n21 = /overseer_elect/election/{head} owner=d"));
    assert_eq!(
        story.edges("/overseer_elect"),
        expand(
            "72057655109877761-10.0.0.4:8983_solr-n_#1 -> 72057655109877762-10.0.0.1:8983_solr-n_#0\n\
             72057655109877763-10.0.0.2:8983_solr-n_#1 -> 72057655109877761-10.0.0.4:8983_solr-n_#1\n\
             72057655109877764-10.0.0.3:8983_solr-n_#1 -> 72057655109877763-10.0.0.2:8983_solr-n_#1"
        )
    );
}

const SHARD: &str = "
    20 + /collections/c1/leader_elect
    20 + /collections/c1/leader_elect/shard1
    20 + /collections/c1/leader_elect/shard1/election
    20 + /collections/c1/leader_elect/shard1/election/72057655109877762-core_node3-n_#0
    20 = /collections/c1/leader_elect/shard1/election/72057655109877762-core_node3-n_#0 owner=a
    20 + /collections/c1/leader_elect/shard1/election/72057655109877763-core_node5-n_#1
    20 = /collections/c1/leader_elect/shard1/election/72057655109877763-core_node5-n_#1 owner=b";

const OFFICE: &str = "
    20 + /collections/c1/leaders
    20 + /collections/c1/leaders/shard1
    20 + /collections/c1/leaders/shard1/leader
    20 = /collections/c1/leaders/shard1/leader owner=a data={\"core\":\"c1_shard1_replica_n1\",\"node_name\":\"10.0.0.1:8983_solr\"}";

#[test]
fn solrs_shard_leader_is_one_lock_whatever_is_seen_first() {
    for history in [[SHARD, OFFICE], [OFFICE, SHARD]] {
        let mut story = tree("/collections/c1");
        tell(&mut story, &history.concat());
        assert_eq!(story.paths(), ["/collections/c1/leader_elect/shard1"]);
        says(
            &story,
            "/collections/c1/leader_elect/shard1 Election High Healthy: Solr election
            Leader: core_node3. 1 standby.
            Leader holds 72057655109877762-core_node3-n_#0
            Leader waits 72057655109877763-core_node5-n_#1 -> 72057655109877762-core_node3-n_#0",
        );
    }
}

#[test]
fn clickhouses_election() {
    check(
        "/clickhouse/t/leader_election
        /clickhouse/t/leader_election/leader_election-#0 owner=a data=replica-1
        /clickhouse/t/leader_election/leader_election-#1 owner=b data=replica-2",
        "/clickhouse/t/leader_election Election High Healthy: ClickHouse LeaderElection
        Leader: replica-1. 1 standby.
        Leader holds leader_election-#0
        Leader waits leader_election-#1 -> leader_election-#0",
    );
}

const PATRONI: &str = "/service
    /service/main
    /service/main/initialize data=7304617381926134567
    /service/main/config data={}
    /service/main/members
    /service/main/members/pg-1 owner=a data={}
    /service/main/members/pg-2 owner=b data={}
    /service/main/status data={}
    /service/main/leader owner=a data=pg-1";

#[test]
fn patronis_leader() {
    let mut story = check(
        PATRONI,
        "/service/main/leader Election High Healthy: Patroni leader
        Leader: pg-1. Waiters can't be counted here.
        Leader holds leader",
    );
    assert_eq!(story.paths(), ["/service/main/leader"], "members are no contenders");
    tell(&mut story, "20 - /service/main/leader");
    says(
        &story,
        "/service/main/leader Election High Free: Patroni leader
        Nobody leads. Last held by pg-1.",
    );
    tell(&mut story, "30 + /service/main/leader\n31 = /service/main/leader owner=b data=pg-2");
    says(
        &story,
        "/service/main/leader Election High Healthy: Patroni leader
        Leader: pg-2. Waiters can't be counted here.
        Leader holds leader",
    );
}

#[test]
fn a_leader_beside_members_of_something_else_is_not_patronis() {
    let mut story = check(
        "/app\n/app/members\n/app/members/x owner=a\n/app/leader owner=a data=x",
        "/app/leader Election Medium Healthy: leader on one znode
        Leader: x. Waiters can't be counted here.
        Leader holds leader",
    );
    // A cluster that is made while somebody looks: its leader may be seen first.
    tell(
        &mut story,
        "20 + /app/initialize\n21 = /app/initialize\n22 - /app/leader\n23 + /app/leader\n24 = /app/leader owner=a data=x",
    );
    says(
        &story,
        "/app/leader Election High Healthy: Patroni leader
        Leader: x. Waiters can't be counted here.
        Leader holds leader",
    );
}

#[test]
fn a_leader_on_one_znode_with_an_address() {
    let mut story = check(
        "/leader owner=a data=10.0.0.7:2181",
        "/leader Election Medium Healthy: leader on one znode
        Leader: 10.0.0.7:2181. Waiters can't be counted here.
        Leader holds leader",
    );
    tell(&mut story, "20 - /leader");
    says(
        &story,
        "/leader Election Medium Free: leader on one znode
        Nobody leads. Last held by 10.0.0.7:2181.",
    );
}
