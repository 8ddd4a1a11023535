//! Barriers and groups: places where nobody waits for a place in a queue.

use super::{check, check_none, expand, says, tell, tree};

#[test]
fn a_plain_barrier_is_up_while_it_exists() {
    for name in ["barrier", "deploy-barrier"] {
        let mut story = check(
            &format!("/{name} data=10.0.0.1"),
            &format!(
                "/{name} Barrier Low Healthy: Curator DistributedBarrier or kazoo Barrier
                Up: everybody waits until it is taken down. Waiters can't be counted here.
                Exclusive holds {name}"
            ),
        );
        tell(&mut story, &format!("20 - /{name}"));
        assert_eq!(story.sentence(&format!("/{name}")), "Down: nobody has to wait.");
    }
}

#[test]
fn an_ephemeral_or_parental_znode_is_no_barrier() {
    check_none("/barrier owner=a\n/other-barrier\n/other-barrier/x");
}

#[test]
fn curators_double_barrier_opens() {
    let mut story = check(
        "/start-barrier
        /start-barrier/<a> owner=a data=host-1
        /start-barrier/<b> owner=b",
        "/start-barrier DoubleBarrier Medium Healthy: Curator DistributedDoubleBarrier
        Gathering: 2 wait for the rest.
        Member waits <a>
        Member waits <b>",
    );
    tell(&mut story, "20 + /start-barrier/ready\n21 = /start-barrier/ready");
    says(
        &story,
        "/start-barrier DoubleBarrier High Healthy: Curator DistributedDoubleBarrier
        Open: 2 inside.
        Member holds <a>
        Member holds <b>",
    );
}

#[test]
fn kazoos_double_barrier_is_known_by_its_mark_its_path_or_who_says_host_and_pid() {
    check(
        "/d
        /d/ready owner=a
        /d/{a} owner=a data=host-1-812
        /d/{b} owner=b data=host-2-99",
        "/d DoubleBarrier High Healthy: kazoo DoubleBarrier
        Open: 2 inside.
        Member holds {a}
        Member holds {b}",
    );
    check(
        "/d
        /d/{a} owner=a data=host-1-812",
        "/d DoubleBarrier Medium Healthy: kazoo DoubleBarrier
        Gathering: 1 waits for the rest.
        Member waits {a}",
    );
    check(
        "/double_barrier
        /double_barrier/{a} owner=a",
        "/double_barrier DoubleBarrier Medium Healthy: kazoo DoubleBarrier
        Gathering: 1 waits for the rest.
        Member waits {a}",
    );
}

#[test]
fn members_of_any_name_synchronise() {
    let mut story = check(
        "/synchronizing
        /synchronizing/node-1 owner=a
        /synchronizing/node-2 owner=b",
        "/synchronizing DoubleBarrier Low Healthy: double barrier
        Gathering: 2 wait for the rest.
        Member waits node-1
        Member waits node-2",
    );
    tell(
        &mut story,
        "20 + /synchronizing/node-3\n21 = /synchronizing/node-3 owner=c\n22 + /synchronizing/start\n23 = /synchronizing/start owner=c",
    );
    says(
        &story,
        "/synchronizing DoubleBarrier Medium Healthy: double barrier
        Open: 3 inside.
        Member holds node-1
        Member holds node-2
        Member holds node-3",
    );
    tell(&mut story, "30 - /synchronizing/start\n31 - /synchronizing/node-2");
    assert_eq!(story.show(), "/synchronizing DoubleBarrier Healthy [node-1 node-3] <-");
}

#[test]
fn numbered_members_synchronise_as_well() {
    check(
        "/synchronizing
        /synchronizing/start
        /synchronizing/member_#0 owner=a
        /synchronizing/member_#1 owner=b",
        "/synchronizing DoubleBarrier Medium Healthy: double barrier
        Open: 2 inside.
        Member holds member_#0
        Member holds member_#1",
    );
    check(
        "/synchronizing
        /synchronizing/p-#0 owner=a
        /synchronizing/p-#1 owner=b",
        "/synchronizing DoubleBarrier Low Healthy: double barrier
        Gathering: 2 wait for the rest.
        Member waits p-#0
        Member waits p-#1",
    );
}

#[test]
fn a_synchronisation_is_recognised_as_it_happens() {
    let mut story = tree("/synchronizing");
    tell(
        &mut story,
        "20 + /synchronizing/a\n21 = /synchronizing/a owner=a\n22 + /synchronizing/b\n23 = /synchronizing/b owner=b",
    );
    assert_eq!(story.show(), "/synchronizing DoubleBarrier Healthy [] <- a b");
    tell(&mut story, "30 + /synchronizing/start");
    assert_eq!(story.show(), "/synchronizing DoubleBarrier Healthy [a b] <-");
    tell(&mut story, "40 - /synchronizing/a\n41 - /synchronizing/b");
    assert_eq!(story.sentence("/synchronizing"), "Nobody is at the barrier.");
}

#[test]
fn parties_and_groups_never_wait() {
    check(
        "/party
        /party/{a}__party__#0 owner=a data=w1
        /party/{b}__party__#1 owner=b data=w2",
        "/party Membership High Healthy: kazoo Party
        2 members: w1 and 1 more.
        Member holds {a}__party__#0
        Member holds {b}__party__#1",
    );
    check(
        "/party
        /party/{a}-w1 owner=a",
        "/party Membership High Healthy: kazoo ShallowParty
        1 member: w1.
        Member holds {a}-w1",
    );
    check(
        "/group
        /group/member_#0 owner=a
        /group/member_#1 owner=b
        /group/member_#2 owner=c",
        "/group Membership Medium Healthy: group membership
        3 members: session 0xa and 2 more.
        Member holds member_#0
        Member holds member_#1
        Member holds member_#2",
    );
}

#[test]
fn a_lease_holder_with_a_numeric_parent_is_a_semaphore_and_other_uuids_are_nothing() {
    check_none(&expand("/d\n/d/{a} owner=a data=x\n/e\n/e/<a> owner=a"));
}
