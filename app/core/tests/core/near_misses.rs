//! What must not be told, or must stop being told: ordinary traffic that looks odd at a glance.

use std::fmt::Write as _;

use crate::language::Story;
use crate::recipes::tree;

const A: &str = "_c_00000000-0000-4a4a-8b8b-000000000000-";
const B: &str = "_c_11111111-0000-4a4a-8b8b-000000000000-";
const C: &str = "_c_22222222-0000-4a4a-8b8b-000000000000-";

fn told(story: &mut Story, at: i64, path: &str) -> String {
    story.tell(&format!("{at} tick"));
    story.findings(path)
}

/// A Curator writer of 5.5 and later reads under its own number, so its reader is newer than writers behind it.
#[test]
fn a_writer_that_reads_under_its_own_number_is_in_order() {
    let mut story = tree(&format!(
        "/l\n/l/{A}__WRIT__0000000000 owner=a\n/l/{B}__WRIT__0000000001 owner=b\n/l/{C}__READ__0000000000 owner=a"
    ));
    assert_eq!(told(&mut story, 1_000, "/l"), "");
}

#[test]
fn churn_that_stopped_is_told_no_longer() {
    let mut story = tree("/l\n/l/lock-0000000000 owner=a");
    for round in 1..=30 {
        let (at, name) = (100 * round, format!("/l/lock-{round:010}"));
        story.tell(&format!("{at} + {name}\n{} = {name} owner=b data=poller\n{} - {name}", at + 1, at + 2));
    }
    assert!(told(&mut story, 4_000, "/l").starts_with("try_lock_churn"));
    assert_eq!(told(&mut story, 70_000, "/l"), "");
}

#[test]
fn many_readers_on_threads_of_one_session_do_not_wait_for_themselves() {
    let readers: String = (0..100).fold(String::new(), |mut text, at| {
        let _ = write!(text, "\n/l/_c_{at:08}-0000-4a4a-8b8b-000000000000-__READ__{at:010} owner=a data=worker-1");
        text
    });
    let mut story = tree(&format!("/l{readers}"));
    assert_eq!(told(&mut story, 1_000, "/l"), "");
}

#[test]
fn a_lock_without_numbers_does_not_run_out_of_them() {
    let mut story = tree("/x created=1900000000\n/x/lock owner=a");
    assert_eq!(told(&mut story, 1_000, "/x"), "");
}

#[test]
fn a_contender_with_children_is_told_before_a_stranger() {
    let mut story = tree(&format!("/l\n/l/{A}lock-0000000000\n/l/{A}lock-0000000000/child\n/l/notes"));
    assert!(told(&mut story, 1_000, "/l").contains("has children of its own"), "{}", story.findings("/l"));
}

#[test]
fn one_is_told_in_the_singular() {
    let mut story = tree(&format!("/l\n/l/{A}lock-0000000000"));
    assert!(
        told(&mut story, 1_000, "/l").contains("1 contender belongs to no session: it stays"),
        "{}",
        story.findings("/l")
    );
    let mut story = tree("/l\n/l/lock-0000000001 owner=a czxid=9\n/l/lock-0000000002 owner=b czxid=5");
    assert!(told(&mut story, 1_000, "/l").contains("1 contender stands behind"), "{}", story.findings("/l"));
}

#[test]
fn a_leader_has_time_to_leave_its_office() {
    let one = "72057655109877762-10.0.0.1:8983_solr-n_0000000000";
    let mut story = tree(&format!(
        "/overseer_elect\n/overseer_elect/election\n/overseer_elect/election/{one} owner=a\n/overseer_elect/leader owner=a"
    ));
    assert_eq!(told(&mut story, 5_000, "/overseer_elect"), "");
    story.tell(&format!("6000 - /overseer_elect/election/{one}"));
    assert_eq!(told(&mut story, 6_500, "/overseer_elect"), "");
    assert!(told(&mut story, 9_000, "/overseer_elect").starts_with("leader_mismatch"));
    let mut story = tree(&format!(
        "/overseer_elect\n/overseer_elect/election\n/overseer_elect/election/{one} owner=a\n/overseer_elect/leader owner=a"
    ));
    told(&mut story, 5_000, "/overseer_elect");
    story.tell("6000 - /overseer_elect/leader");
    assert_eq!(told(&mut story, 6_500, "/overseer_elect"), "");
    assert!(told(&mut story, 9_000, "/overseer_elect").starts_with("leader_mismatch"));
}

#[test]
fn a_stranger_among_leases_takes_one() {
    let x = "0f1e2d3c00004a4a8b8b0123456789ab";
    let mut story = tree(&format!("/s data=2\n/s-__lock__\n/s/{x} owner=a\n/s/notes"));
    assert!(told(&mut story, 1_000, "/s").contains("so it takes one"), "{}", story.findings("/s"));
    let mut story = tree("/x\n/x/lock owner=a\n/x/notes");
    assert!(told(&mut story, 1_000, "/x").contains("Who holds does not depend on it."), "{}", story.findings("/x"));
}

#[test]
fn two_ways_to_count_a_crowd_agree() {
    let kinds = ["_c_{}-__READ__", "_c_{}-__WRIT__", "{h}__lock__", "{h}__rlock__", "lock-", "x-99-"];
    let mut seed = 7_u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..300 {
        let count = 2 + next(14);
        let (low, span) = (next(kinds.len() as u64), 1 + next(3));
        let children = (0..count).fold(String::new(), |mut text, at| {
            let kind = kinds[((low + next(span)) % kinds.len() as u64) as usize];
            let stem = kind
                .replace("{}", &format!("{at:08}-0000-4a4a-8b8b-000000000000"))
                .replace("{h}", &format!("{at:032x}"));
            let _ = write!(text, "\n/l/{stem}{at:010} owner={:x}", at + 1);
            text
        });
        let story = tree(&format!("/l{children}"));
        let lock = story.lock("/l");
        let mirror = story.observatory.mirror_of(lock).unwrap();
        let mut crowds = std::collections::BTreeMap::<String, u32>::new();
        let waiters = lock.contenders(mirror).filter(|contender| lock.hold_of(contender).is_none());
        waiters
            .flat_map(|contender| lock.waits_for(mirror, &contender))
            .for_each(|target| *crowds.entry(target.path()).or_default() += 1);
        let most = crowds.values().copied().max().filter(|number| *number > 1);
        assert_eq!(lock.crowd(mirror).map(|(_, number)| number), most, "{children}");
    }
}
