//! Every story of the field: what raises a finding, what clears it, and what must not raise it.

use lockscope_core::diagnosis::Severity;

use crate::language::Story;
use crate::recipes::tree;

const A: &str = "_c_00000000-0000-4a4a-8b8b-000000000000-";
const B: &str = "_c_11111111-0000-4a4a-8b8b-000000000000-";
const C: &str = "_c_22222222-0000-4a4a-8b8b-000000000000-";
const X: &str = "0f1e2d3c00004a4a8b8b0123456789ab";
const Y: &str = "1f1e2d3c00004a4a8b8b0123456789ab";

/// Codes found in a lock some time after it was read.
fn codes(story: &mut Story, at: i64, path: &str) -> Vec<String> {
    story.tell(&format!("{at} tick"));
    story.findings(path).lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

fn found(lines: &str, path: &str) -> Vec<String> {
    codes(&mut tree(lines), 1_000, path)
}

#[test]
fn ordinary_traffic_of_every_recipe_is_not_odd() {
    let mut story = tree(&format!(
        "/mutex
        /mutex/{A}lock-0000000000 owner=a data=10.0.0.1
        /mutex/{B}lock-0000000001 owner=b data=10.0.0.1
        /rw
        /rw/{A}__READ__0000000000 owner=a
        /rw/{B}__WRIT__0000000001 owner=b
        /kz
        /kz/{X}__rlock__0000000000 owner=a
        /kz/{Y}__lock__0000000001 owner=b
        /sem
        /sem/leases
        /sem/locks
        /sem/leases/{A}lease-0000000000 owner=a
        /sem/leases/{B}lease-0000000001 owner=a
        /sem/locks/{C}lock-0000000002 owner=c
        /elect
        /elect/{A}latch-0000000000 owner=a
        /elect/{B}latch-0000000001 owner=b
        /x
        /x/lock owner=a
        /q
        /q/entry-100-0000000000
        /party
        /party/{X}__party__0000000000 owner=a
        /party/{Y}__party__0000000001 owner=a"
    ));
    story.tell("1000 tick\n20000 tick");
    for path in ["/mutex", "/rw", "/kz", "/sem", "/elect", "/x", "/q", "/party"] {
        assert_eq!(story.findings(path), "", "{path}");
    }
}

#[test]
fn a_head_that_nobody_works_under_is_an_orphan() {
    let mut story = tree("/l\n/l/lock-0000000000 owner=a data=worker-1\n/l/lock-0000000001 owner=a data=worker-2");
    assert!(!codes(&mut story, 1_000, "/l").contains(&"orphan_contender".to_owned()));
    assert!(codes(&mut story, 301_000, "/l").contains(&"orphan_contender".to_owned()));
    story.tell("301001 - /l/lock-0000000000");
    assert_eq!(codes(&mut story, 302_000, "/l"), [""; 0]);
}

#[test]
fn one_session_twice_is_a_lost_reply_or_threads() {
    let mut story = tree(&format!(
        "/l\n/l/{A}lock-0000000000 owner=a\n/l/{A}lock-0000000001 owner=a\n/l/{B}lock-0000000002 owner=b"
    ));
    assert_eq!(codes(&mut story, 1_000, "/l"), ["duplicate_session"]);
    assert_eq!(story.lock("/l").assessment.findings[0].paths.len(), 2);
    story.tell(&format!("1001 - /l/{A}lock-0000000000"));
    assert_eq!(codes(&mut story, 2_000, "/l"), [""; 0]);
    let threads = "/l\n/l/lock-0000000000 owner=a\n/l/lock-0000000001 owner=a\n/l/lock-0000000002 owner=b";
    let mut story = tree(threads);
    let worst = |story: &Story| story.lock("/l").assessment.findings[0].severity;
    assert_eq!((codes(&mut story, 1_000, "/l"), worst(&story)), (vec!["duplicate_session".into()], Severity::Critical));
    // A znode that nobody knows of is released by nobody.
    story.tell("1001 - /l/lock-0000000000\n1002 + /l/lock-0000000003\n1003 = /l/lock-0000000003 owner=a");
    assert_eq!((codes(&mut story, 2_000, "/l"), worst(&story)), (vec!["duplicate_session".into()], Severity::Info));
    assert!(story.lock("/l").assessment.findings[0].text.contains("threads share it"));
    // It may be one all the same where it holds for too long.
    assert_eq!(codes(&mut story, 400_000, "/l"), ["duplicate_session", "orphan_contender"]);
    assert_eq!(worst(&story), Severity::Critical);
    let by_guid = format!("/l\n/l/{A}lock-0000000000 owner=a\n/l/{A}lock-0000000001 owner=b");
    assert_eq!(found(&by_guid, "/l"), ["duplicate_session"]);
    let downgrade = format!("/l\n/l/{A}__WRIT__0000000000 owner=a\n/l/{B}__READ__0000000001 owner=a");
    assert_eq!(found(&downgrade, "/l"), [""; 0]);
}

/// A lock whose usual hold of 100 ms is known; by when that is, and the next number.
fn usual_is_known() -> (Story, i64, u32) {
    let mut story = tree("/l");
    let mut at = 1_000;
    for number in 0..20 {
        story.tell(&format!(
            "{at} + /l/lock-{number:010}\n{at} = /l/lock-{number:010} owner=b\n{} - /l/lock-{number:010}",
            at + 100
        ));
        at += 1_000;
    }
    (story, at, 20)
}

fn severity(story: &mut Story, at: i64) -> Option<(Severity, String)> {
    // The verdict first, and a while later what follows from it.
    story.tell(&format!("{at} tick\n{} tick", at + 250));
    let all = &story.lock("/l").assessment.findings;
    all.iter()
        .find(|found| found.code.name() == "duplicate_session")
        .map(|found| (found.severity, found.text.to_string()))
}

#[test]
fn threads_that_meet_for_the_first_time_are_not_critical_while_they_hold_as_usual() {
    let (mut story, at, number) = usual_is_known();
    let [first, second] = [number, number + 1].map(|number| format!("/l/lock-{number:010}"));
    story.tell(&format!(
        "{at} + {first}\n{at} = {first} owner=a\n{} + {second}\n{} = {second} owner=a",
        at + 20,
        at + 20
    ));
    assert_eq!(severity(&mut story, at + 30).map(|(severity, _)| severity), Some(Severity::Warning));
    // A znode that is lost is never released, and that is said as soon as the hold is slow.
    assert_eq!(severity(&mut story, at + 600).map(|(severity, _)| severity), Some(Severity::Warning));
    let (severity, text) = severity(&mut story, at + 1_200).unwrap();
    assert_eq!(severity, Severity::Critical, "{text}");
}

#[test]
fn one_protection_guid_twice_is_critical_at_once() {
    let (mut story, at, number) = usual_is_known();
    let [first, second] = [number, number + 1].map(|number| format!("/l/{A}lock-{number:010}"));
    story.tell(&format!(
        "{at} + {first}\n{at} = {first} owner=a\n{} + {second}\n{} = {second} owner=a",
        at + 20,
        at + 20
    ));
    let (severity, text) = severity(&mut story, at + 30).unwrap();
    assert_eq!(severity, Severity::Critical, "{text}");
}

#[test]
fn a_lost_znode_of_a_session_with_threads_is_critical_once_its_hold_is_slow() {
    let (mut story, at, number) = usual_is_known();
    let [held, lost, again] = [number, number + 1, number + 2].map(|number| format!("/l/lock-{number:010}"));
    // One thread holds, the reply to another one's create is lost, and that tries again.
    story.tell(&format!("{at} + {held}\n{at} = {held} owner=a\n{} + {lost}\n{} = {lost} owner=a", at + 10, at + 10));
    story.tell(&format!("{} + {again}\n{} = {again} owner=a\n{} - {held}", at + 20, at + 20, at + 90));
    let (info, text) = severity(&mut story, at + 100).unwrap();
    assert!(info == Severity::Info && text.contains("threads share it"), "{text}");
    let (critical, text) = severity(&mut story, at + 90 + 1_200).unwrap();
    assert!(critical == Severity::Critical && text.contains("waits for its own session"), "{text}");
}

#[test]
fn threads_that_wait_for_another_slow_holder_or_run_out_with_their_session_are_threads() {
    let (mut story, at, number) = usual_is_known();
    let all = [0, 1, 2, 3].map(|more| format!("/l/lock-{:010}", number + more));
    let [held, theirs, one, two] = &all;
    story.tell(&format!("{at} + {held}\n{at} = {held} owner=a\n{} + {theirs}\n{} = {theirs} owner=c", at + 1, at + 1));
    for path in [one, two] {
        story.tell(&format!("{} + {path}\n{} = {path} owner=a", at + 2, at + 2));
    }
    story.tell(&format!("{} - {held}", at + 50));
    assert_eq!(severity(&mut story, at + 60).map(|(severity, _)| severity), Some(Severity::Info));
    let (info, text) = severity(&mut story, at + 2_000).unwrap();
    assert!(info == Severity::Info && text.contains("threads share it"), "{text}");
}

#[test]
fn a_lease_that_nobody_returns_is_a_leak() {
    let mut story = tree(&format!(
        "/s data=2\n/s-__lock__\n/s/{X} owner=a data=old\n/s/{Y} owner=b\n/s-__lock__/{X}__lock__0000000005 owner=c"
    ));
    let fresh = "2f1e2d3c00004a4a8b8b0123456789ab";
    story.tell(&format!("60000 - /s/{Y}\n60001 + /s/{fresh}\n60002 = /s/{fresh} owner=d"));
    assert_eq!(codes(&mut story, 61_000, "/s"), ["lease_leak"]);
    assert!(story.findings("/s").contains("2 of 2 leases are out"));
}

#[test]
fn a_session_that_ends_leaves_a_window_and_comes_back() {
    let mut story = tree(
        "/l\n/m\n/l/lock-0000000000 owner=a data=worker-1\n/m/lock-0000000000 owner=a data=worker-1\n/l/lock-0000000001 owner=b data=worker-2",
    );
    story.tell("100 - /l/lock-0000000000\n100 - /m/lock-0000000000");
    assert_eq!(codes(&mut story, 1_000, "/l"), ["double_owner_window"]);
    story.tell("1100 + /l/lock-0000000002\n1101 = /l/lock-0000000002 owner=c data=worker-1");
    assert_eq!(
        codes(&mut story, 2_000, "/l"),
        ["double_owner_window", "old_owner_connected", "same_client_new_session"]
    );
    story.tell("2100 - /l/lock-0000000001");
    assert_eq!(codes(&mut story, 3_000, "/l"), ["same_client_new_session"]);
}

#[test]
fn a_release_by_hand_leaves_no_window() {
    let mut story = tree("/l\n/m\n/l/lock-0000000000 owner=a\n/m/lock-0000000000 owner=a\n/l/lock-0000000001 owner=b");
    story.tell("100 - /l/lock-0000000000");
    assert_eq!(codes(&mut story, 1_000, "/l"), [""; 0]);
}

const SOLR: &str = "
    /overseer_elect
    /overseer_elect/election
    /overseer_elect/election/72057655109877762-10.0.0.1:8983_solr-n_0000000000 owner=a
    /overseer_elect/election/72057655109877763-10.0.0.2:8983_solr-n_0000000001 owner=b";

#[test]
fn election_and_office_may_disagree() {
    let mut story = tree(&format!("{SOLR}\n/overseer_elect/leader owner=b"));
    assert_eq!(codes(&mut story, 5_000, "/overseer_elect"), ["leader_mismatch"]);
    assert_eq!(found(&format!("{SOLR}\n/overseer_elect/leader owner=a"), "/overseer_elect"), [""; 0]);
    let mut story = tree(SOLR);
    assert_eq!(codes(&mut story, 1_000, "/overseer_elect"), [""; 0], "it may be taking office");
    assert_eq!(codes(&mut story, 3_000, "/overseer_elect"), ["leader_mismatch"]);
}

#[test]
fn a_directory_that_comes_back_was_a_container() {
    let mut story = tree("/l\n/l/lock-0000000000 owner=a");
    story.tell("100 - /l/lock-0000000000\n200 - /l\n300 + /l\n301 = /l\n302 + /l/lock-0000000000\n303 = /l/lock-0000000000 owner=b");
    assert_eq!(codes(&mut story, 1_000, "/l"), ["container_reaped"]);
}

#[test]
fn an_election_whose_directory_is_gone_has_nobody_home() {
    let mut story = tree(&format!("/e\n/e/{A}latch-0000000000 owner=a data=node-1"));
    story.tell(&format!("100 - /e/{A}latch-0000000000\n200 - /e"));
    assert!(story.show().contains("NobodyHome"), "{}", story.show());
    assert_eq!(
        story.sentence("/e"),
        "Nobody home: its directory is gone and nobody made it again. Last held by node-1."
    );
    story.tell(&format!("300 + /e\n301 = /e\n302 + /e/{B}latch-0000000000\n303 = /e/{B}latch-0000000000 owner=b"));
    assert!(story.show().contains("Healthy"), "{}", story.show());
}

#[test]
fn a_client_may_wait_behind_itself() {
    assert_eq!(
        found("/l\n/l/lock-0000000000 owner=a data=worker-1\n/l/lock-0000000001 owner=b data=worker-1", "/l"),
        ["waiting_for_itself"]
    );
    assert_eq!(
        found("/l\n/l/lock-0000000000 owner=a data=10.0.0.1\n/l/lock-0000000001 owner=b data=10.0.0.1", "/l"),
        [""; 0],
        "an address is a host"
    );
    let behind = "/l\n/l/lock-0000000000 owner=a data=other\n/l/lock-0000000001 owner=b data=worker-1\n/l/lock-0000000002 owner=c data=worker-1";
    assert_eq!(found(behind, "/l"), ["waiting_for_itself"], "no holder, but the one it waits for");
    let apart = "/l\n/l/lock-0000000000 owner=a data=other\n/l/lock-0000000001 owner=b data=worker-1\n/l/lock-0000000002 owner=c data=xx\n/l/lock-0000000003 owner=d data=worker-1";
    assert_eq!(found(apart, "/l"), [""; 0], "two processes of one name may queue");
}

#[test]
fn foreign_children_are_told_with_their_effect() {
    let mut story = tree(&format!("/l\n/l/{X}__lock__0000000000 owner=a\n/l/notes"));
    assert_eq!(codes(&mut story, 1_000, "/l"), ["foreign_child"]);
    assert!(story.findings("/l").contains("kazoo ignores it"));
    story.tell("1001 - /l/notes");
    assert_eq!(codes(&mut story, 2_000, "/l"), [""; 0]);
}

#[test]
fn recipes_that_do_not_see_each_other_are_told() {
    let mut story = tree(&format!("/l\n/l/{A}lock-0000000000 owner=a\n/l/{X}__lock__0000000001 owner=b"));
    assert_eq!(codes(&mut story, 1_000, "/l"), ["mixed_recipes"]);
    story.tell(&format!("1001 - /l/{X}__lock__0000000001"));
    assert_eq!(codes(&mut story, 2_000, "/l"), [""; 0]);
}

#[test]
fn numbers_run_out() {
    let mut story = tree(&format!("/l created=1900000000\n/l/{X}__lock__0000000000 owner=a"));
    assert_eq!(codes(&mut story, 1_000, "/l"), ["sequence_overflow"]);
    assert!(story.findings("/l").contains("88 %"));
    let negative = format!("/l\n/l/{X}__lock__2147483646 owner=a\n/l/{Y}__lock__-2147483648 owner=b");
    let mut story = tree(&negative);
    assert_eq!(codes(&mut story, 1_000, "/l"), ["sequence_overflow"]);
    assert!(
        story.show().contains("DoubleOwner"),
        "a newcomer with a negative number believes that it holds: {}",
        story.show()
    );
}

#[test]
fn order_is_checked_against_creation() {
    assert_eq!(
        found("/l\n/l/lock-0000000001 owner=a czxid=9\n/l/lock-0000000002 owner=b czxid=5", "/l"),
        ["order_anomaly"]
    );
}

#[test]
fn a_znode_written_after_its_creation_is_told_apart_from_a_request_to_let_go() {
    assert_eq!(found("/l\n/l/lock-0000000001 owner=a version=1 data=x", "/l"), ["rewritten_node"]);
    let mut story = tree(&format!("/l\n/l/{A}lock-0000000001 owner=a version=1 data=__REVOKE__"));
    assert_eq!(codes(&mut story, 1_000, "/l"), ["rewritten_node"]);
    assert!(story.findings("/l").contains("Info: Somebody asked the holder to let go"));
}

#[test]
fn a_persistent_contender_never_expires() {
    assert_eq!(found(&format!("/l\n/l/{X}__lock__0000000000"), "/l"), ["never_expires"]);
}

#[test]
fn try_lock_loops_are_told_with_who() {
    let mut story = tree("/l\n/l/lock-0000000000 owner=a");
    for round in 1..=30 {
        let (at, name) = (100 * round, format!("/l/lock-{round:010}"));
        story.tell(&format!("{at} + {name}\n{} = {name} owner=b data=poller\n{} - {name}", at + 1, at + 2));
    }
    assert_eq!(codes(&mut story, 4_000, "/l"), ["try_lock_churn"]);
    assert!(story.findings("/l").contains("by poller"));
}

#[test]
fn readers_that_watch_one_writer_are_a_herd() {
    let readers: String =
        (1..=12).map(|at| format!("\n/l/_c_{at:08}-0000-4a4a-8b8b-000000000000-__READ__{at:010} owner={at}")).collect();
    let mut story = tree(&format!("/l\n/l/{A}__WRIT__0000000000 owner=a{readers}"));
    assert_eq!(codes(&mut story, 1_000, "/l"), ["herd"]);
    assert!(story.findings("/l").contains("12 waiters watch one znode"));
}

#[test]
fn a_deadlock_is_a_finding_of_each_of_its_locks() {
    let mut story = tree(
        "/a\n/b\n/a/lock-0000000000 owner=1a\n/b/lock-0000000000 owner=1b\n/a/lock-0000000001 owner=1b\n/b/lock-0000000001 owner=1a",
    );
    assert_eq!(codes(&mut story, 1_000, "/a"), ["deadlock"]);
    assert_eq!(codes(&mut story, 1_000, "/b"), ["deadlock"]);
}

#[test]
fn a_long_queue_is_told() {
    let queue: String = (0..600).map(|at| format!("\n/l/lock-{at:010} owner={:x}", at + 16)).collect();
    assert_eq!(found(&format!("/l{queue}"), "/l"), ["deep_queue"]);
}
