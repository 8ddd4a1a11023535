//! Stories by which somebody was hurt: each is one incident.

use super::Play;
use crate::members::member;

const A: &str = "_c_00000000-0000-4a4a-8b8b-000000000000-";
const B: &str = "_c_11111111-0000-4a4a-8b8b-000000000000-";
const X: &str = "0f1e2d3c00004a4a8b8b0123456789ab";
const Y: &str = "1f1e2d3c00004a4a8b8b0123456789ab";
const W: &str = "3f1e2d3c00004a4a8b8b0123456789ab";
const Z: &str = "2f1e2d3c00004a4a8b8b0123456789ab";

/// F1: nobody works under the head, and the same session queues behind it.
#[test]
fn f01_an_orphaned_contender() {
    let mut play = Play::of("/l\n/l/lock-0000000000 owner=a data=worker-1\n/l/lock-0000000001 owner=a data=worker-2");
    play.tell("1000 tick\n301000 tick\n400000 - /l/lock-0000000000\n401000 tick");
    assert_eq!(
        play.incidents(),
        ["stuck [duplicate_session orphan_contender] /l: 0xa at /l, 1 waited 399000 ms, 1000..400000 released"]
    );
}

/// F2: the reply to a create was lost, and its session waits for itself.
#[test]
fn f02_two_znodes_of_one_session() {
    let mut play = Play::of(&format!(
        "/l\n/l/{A}lock-0000000000 owner=a\n/l/{A}lock-0000000001 owner=a\n/l/{B}lock-0000000002 owner=b"
    ));
    play.tell(&format!("1000 tick\n9000 - /l/{A}lock-0000000000\n9900 tick\n9950 - /l/{A}lock-0000000001\n10900 tick"));
    assert_eq!(play.incidents(), ["healthy [duplicate_session] /l: 0xa at /l, 2 waited 16900 ms, 1000..9900 released"]);
}

/// F3: a lease that nobody returns.
#[test]
fn f03_a_lease_leak() {
    let mut play = Play::of(&format!(
        "/s data=2\n/s-__lock__\n/s/{X} owner=a data=old\n/s/{Y} owner=b\n/s-__lock__/{X}__lock__0000000005 owner=c"
    ));
    play.tell(&format!("60000 - /s/{Y}\n60001 + /s/{Z}\n60002 = /s/{Z} owner=d\n61000 tick\n90000 - /s/{X}\n90001 + /s/{W}\n90002 = /s/{W} owner=c\n90003 - /s-__lock__/{X}__lock__0000000005\n91000 tick\n95000 - /s/{W}\n96000 tick"));
    assert_eq!(play.incidents(), ["healthy [lease_leak] /s: 0xa at /s, 1 waited 29001 ms, 61000..91000 released"]);
}

const SOLR: &str = "
    /overseer_elect
    /overseer_elect/election
    /overseer_elect/election/72057655109877762-10.0.0.1:8983_solr-n_0000000000 owner=a
    /overseer_elect/election/72057655109877763-10.0.0.2:8983_solr-n_0000000001 owner=b";

/// F5: the office and the election have different leaders.
#[test]
fn f05_two_leaders() {
    let mut play = Play::of(&format!("{SOLR}\n/overseer_elect/leader owner=b"));
    play.tell("5000 tick\n8000 - /overseer_elect/leader\n8001 + /overseer_elect/leader\n8002 = /overseer_elect/leader owner=a\n9000 tick");
    assert_eq!(
        play.incidents(),
        ["healthy [leader_mismatch] /overseer_elect: 0xa at /overseer_elect, 0 waited 0 ms, 5000..9000 recovered"]
    );
}

/// The same over a restart: what is wrong still goes on, and what is no longer ended when nobody looked.
#[test]
fn what_a_finding_says_goes_on_after_a_restart_if_it_is_so_still() {
    let mut play = Play::of(&format!("{SOLR}\n/overseer_elect/leader owner=b"));
    play.tell("5000 tick").restart(20_000).tell("20000 link live");
    play.tell(&resync(20_010, &format!("{SOLR}\n/overseer_elect/leader owner=b")));
    play.tell("21000 tick\n30000 - /overseer_elect/leader\n30001 + /overseer_elect/leader");
    play.tell("30002 = /overseer_elect/leader owner=a\n31000 tick");
    let one = "healthy [leader_mismatch] /overseer_elect: 0xa at /overseer_elect, 0 waited 0 ms, 5000..31000 recovered";
    assert_eq!(play.incidents(), [one]);

    let mut play = Play::of(&format!("{SOLR}\n/overseer_elect/leader owner=b"));
    play.tell("5000 tick").restart(90_000).tell("90000 link live");
    play.tell(&resync(90_010, &format!("{SOLR}\n/overseer_elect/leader owner=a"))).tell("91000 tick\n92000 tick");
    let found = play.incidents();
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("5000..") && !found[0].ends_with("still"), "{found:?}");
}

fn resync(at: i64, tree: &str) -> String {
    let nodes: Vec<String> =
        tree.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| format!("{at} node {line}")).collect();
    format!("{at} sync /\n{}\n{at} end /", nodes.join("\n"))
}

/// F6: the directory of an election is gone.
#[test]
fn f06_nobody_leads() {
    let mut play = Play::of(&format!("/e\n/e/{A}latch-0000000000 owner=a data=node-1"));
    play.tell(&format!("100 - /e/{A}latch-0000000000\n200 - /e\n5000 + /e\n5001 = /e\n5002 + /e/{B}latch-0000000000"));
    play.tell(&format!("5003 = /e/{B}latch-0000000000 owner=b\n6000 tick"));
    assert_eq!(play.incidents(), ["nobody_home [] /e: nobody, 0 waited 0 ms, 200..5002 recovered"]);
}

/// F8: a client queues behind its own old znode, until that is stuck.
#[test]
fn f08_waiting_for_itself() {
    let mut play = Play::of("/l\n/l/lock-0000000000 owner=a data=worker-1\n/l/lock-0000000001 owner=b data=worker-1");
    play.tell("1000 tick\n300010 tick\n400000 - /l/lock-0000000000\n401000 tick");
    assert_eq!(
        play.incidents(),
        ["stuck [orphan_contender] /l: 0xa at /l, 1 waited 99990 ms, 300010..400000 released"]
    );
}

/// F9: a contender has children, so that it can't be deleted.
#[test]
fn f09_a_contender_with_children() {
    let mut play = Play::of(&format!("/l\n/l/{X}__lock__0000000000\n/l/{X}__lock__0000000000/note"));
    play.tell("1000 tick\n2000 tick");
    assert_eq!(play.incidents(), ["orphan [foreign_child] /l: no session at /l, 0 waited 0 ms, 10.. still"]);
}

/// F10: two libraries that don't see each other.
#[test]
fn f10_mixed_recipes() {
    let mut play = Play::of(&format!("/l\n/l/{A}lock-0000000000 owner=a\n/l/{X}__lock__0000000001 owner=b"));
    play.tell(&format!("1000 tick\n7000 - /l/{X}__lock__0000000001\n8000 tick"));
    assert_eq!(play.incidents(), ["double_owner [mixed_recipes] /l: 0xa at /l, 0 waited 0 ms, 10..7000 released"]);
}

/// F11: a newcomer with a negative number believes that it holds.
#[test]
fn f11_numbers_past_their_end() {
    let mut play = Play::of(&format!("/l\n/l/{X}__lock__2147483646 owner=a\n/l/{Y}__lock__-2147483648 owner=b"));
    play.tell(&format!(
        "1000 tick\n4000 - /l/{X}__lock__2147483646\n5000 tick\n9000 - /l/{Y}__lock__-2147483648\n10000 tick"
    ));
    assert_eq!(play.incidents(), ["double_owner [sequence_overflow] /l: 0xa at /l, 0 waited 0 ms, 10..10000 released"]);
}

/// F12: its client was killed, and the znode stays until the session runs out.
#[test]
fn f12_a_killed_holder() {
    let mut play = Play::at(1_000_000, &format!("/l\n/l/{A}lock-0000000000 owner=a\n/l/{B}lock-0000000001 owner=b"));
    let first = format!("/l/{A}lock-0000000000");
    play.ask(1_005_000, vec![member("m1", 1_005_000).connected(&[(10, 0), (11, 0)])]);
    let dead = member("m1", 1_010_000).connected(&[(11, 0)]).sessions(&[(10, 4_000, &first)]);
    play.ask(1_010_000, vec![dead]).tell(&format!("1014000 - {first}\n1014100 tick\n1015100 tick"));
    assert_eq!(play.incidents(), ["expiring [] /l: 0xa at /l, 1 waited 4000 ms, 1010000..1014000 session_ended"]);
}

/// F14: one member has a contender that the other has not.
#[test]
fn f14_members_that_disagree() {
    let mut play = Play::at(1_000_000, &format!("/l\n/l/{A}lock-0000000000 owner=a\n/l/{B}lock-0000000001 owner=b"));
    let (first, second) = (format!("/l/{A}lock-0000000000"), format!("/l/{B}lock-0000000001"));
    for (at, is_whole) in [(1_005_000, false), (1_010_000, false), (1_015_000, true)] {
        let all = [(10, 6_000, &*first), (11, 6_000, &*second)];
        let other: &[(i64, i64, &str)] = if is_whole { &all } else { &all[1..] };
        let one = member("m1", at).connected(&[(10, 0), (11, 0)]).sessions(&all);
        play.ask(at, vec![one, member("m2", at).connected(&[]).sessions(other)]).tell(&format!("{} tick", at + 900));
    }
    assert_eq!(
        play.incidents(),
        ["healthy [members_disagree] /l: 0xa at /l, 1 waited 5000 ms, 1010900..1015900 recovered"]
    );
}

/// F17: the old owner is back in the queue, and may work still.
#[test]
fn f17_an_owner_that_was_not_told() {
    let mut play = Play::of(
        "/l\n/m\n/l/lock-0000000000 owner=a data=worker-1\n/m/lock-0000000000 owner=a data=worker-1\n/l/lock-0000000001 owner=b data=worker-2",
    );
    play.tell("100 - /l/lock-0000000000\n100 - /m/lock-0000000000\n1000 tick");
    play.tell("1100 + /l/lock-0000000002\n1101 = /l/lock-0000000002 owner=c data=worker-1\n2000 tick");
    play.tell("9000 - /l/lock-0000000001\n10000 tick");
    assert_eq!(
        play.incidents(),
        ["healthy [old_owner_connected] /l: 0xb at /l, 1 waited 7000 ms, 2000..10000 released"]
    );
}

/// F18: no session owns the head.
#[test]
fn f18_a_persistent_head() {
    let mut play = Play::of(&format!("/k\n/k/{X}__lock__0000000000\n/k/{Y}__lock__0000000001 owner=a"));
    play.tell(&format!("1000 tick\n70000 - /k/{X}__lock__0000000000\n71000 tick"));
    assert_eq!(play.incidents(), ["orphan [] /k: no session at /k, 1 waited 69990 ms, 10..70000 released"]);
}

/// F22: two sessions wait for each other.
#[test]
fn f22_a_deadlock() {
    let mut play = Play::of("/a\n/b\n/a/lock-0000000000 owner=1a\n/b/lock-0000000000 owner=1b");
    play.tell("20 + /a/lock-0000000001\n21 = /a/lock-0000000001 owner=1b\n30 + /b/lock-0000000001");
    play.tell("31 = /b/lock-0000000001 owner=1a\n32 tick\n20000 - /b/lock-0000000001\n21000 tick");
    assert_eq!(play.incidents(), ["deadlocked [] /a /b: 0x1a at /a, 2 waited 39936 ms, 32..20000 gave_up"]);
}
