//! Stories that are worth knowing and hurt nobody by themselves: a finding says them, and there is no incident.

use super::Play;
use crate::members::{Member, member};

const A: &str = "_c_00000000-0000-4a4a-8b8b-000000000000-";
const X: &str = "0f1e2d3c00004a4a8b8b0123456789ab";
const NONE: [&str; 0] = [];

/// F4: the head went with its session.
#[test]
fn f04_a_head_that_vanished_with_its_session() {
    let mut play =
        Play::of("/l\n/m\n/l/lock-0000000000 owner=a\n/m/lock-0000000000 owner=a\n/l/lock-0000000001 owner=b");
    play.tell("100 - /l/lock-0000000000\n100 - /m/lock-0000000000\n1000 tick\n5000 tick");
    assert!(play.story.findings("/l").contains("double_owner_window Info"), "{}", play.story.findings("/l"));
    assert_eq!(play.incidents(), NONE);
}

/// F7: the server deleted an empty container, and a client made it again.
#[test]
fn f07_a_container_that_was_reaped() {
    let mut play = Play::of("/l\n/l/lock-0000000000 owner=a");
    play.tell("100 - /l/lock-0000000000\n200 - /l\n300 + /l\n301 = /l");
    play.tell("302 + /l/lock-0000000000\n303 = /l/lock-0000000000 owner=b\n1000 tick");
    assert!(play.story.findings("/l").contains("container_reaped Info"), "{}", play.story.findings("/l"));
    assert_eq!(play.incidents(), NONE);
}

/// F13: a new process took over the znode of its predecessor, which will vanish. That nobody waits for it yet is no harm.
#[test]
fn f13_a_znode_written_by_another() {
    let mut play = Play::of("/l\n/l/lock-0000000001 owner=a version=1 data=x");
    play.tell("1000 tick\n5000 tick");
    assert!(play.story.findings("/l").contains("rewritten_node Warning"), "{}", play.story.findings("/l"));
    assert_eq!(play.incidents(), NONE);
}

/// F15: a member lags behind, and so lacks a contender.
#[test]
fn f15_a_member_that_lags() {
    use lockscope_core::evidence::{Health, MemberAnswer};
    use lockscope_core::znode::Zxid;
    let mut play = Play::at(1_000_000, &format!("/l\n/l/{A}lock-0000000000 owner=a"));
    let path = format!("/l/{A}lock-0000000000");
    for (at, applied) in [(1_005_000, [50, 40]), (1_010_000, [60, 45])] {
        let mut members: Vec<Member> = vec![
            member("m1", at).connected(&[(10, 0)]).sessions(&[(10, 6_000, &path)]),
            member("m2", at).connected(&[]).sessions(&[]),
        ];
        for (member, zxid) in members.iter_mut().zip(applied) {
            let value = Health { zxid: Some(Zxid(zxid)), ..Health::default() };
            member.report.health = MemberAnswer::Ok { asked_at: lockscope_core::time::TimeMs(at), value };
        }
        play.ask(at, members).tell(&format!("{} tick", at + 900));
    }
    assert!(play.story.findings("/l").contains("members_disagree Warning"), "{}", play.story.findings("/l"));
    assert_eq!(play.incidents(), NONE);
}

/// F16: a client lost its locks with its session and came back with another.
#[test]
fn f16_the_same_client_with_a_new_session() {
    let mut play = Play::of(
        "/l\n/m\n/l/lock-0000000000 owner=a data=worker-1\n/m/lock-0000000000 owner=a data=worker-1\n/l/lock-0000000001 owner=b data=worker-2",
    );
    play.tell("100 - /l/lock-0000000000\n100 - /m/lock-0000000000\n1000 tick");
    play.tell(
        "1100 + /l/lock-0000000002\n1101 = /l/lock-0000000002 owner=c data=worker-1\n1400 tick\n1500 - /l/lock-0000000001\n2000 tick",
    );
    assert!(play.story.findings("/l").contains("same_client_new_session Info"), "{}", play.story.findings("/l"));
    assert_eq!(play.incidents(), NONE);
}

/// F19: a thousand directories that nobody uses.
#[test]
fn f19_empty_locks() {
    let directories: String = (0..1_100).map(|at| format!("/locks/{at} created=3\n")).collect();
    let mut play = Play::of(&format!("/locks\n{directories}"));
    play.tell("1000 tick\n5000 tick");
    assert_eq!(play.incidents(), NONE);
}

/// F20: a client that tries again and again.
#[test]
fn f20_try_lock_loops() {
    let mut play = Play::of("/l\n/l/lock-0000000000 owner=a");
    for round in 1..=30 {
        let (at, name) = (100 * round, format!("/l/lock-{round:010}"));
        play.tell(&format!("{at} + {name}\n{} = {name} owner=b data=poller\n{} - {name}", at + 1, at + 2));
    }
    play.tell("4000 tick");
    assert!(play.story.findings("/l").contains("try_lock_churn Info"), "{}", play.story.findings("/l"));
    assert_eq!(play.incidents(), NONE);
}

/// F21: each release wakes everybody.
#[test]
fn f21_a_herd() {
    let readers: String =
        (1..=12).map(|at| format!("\n/l/_c_{at:08}-0000-4a4a-8b8b-000000000000-__READ__{at:010} owner={at}")).collect();
    let mut play = Play::of(&format!("/l\n/l/{A}__WRIT__0000000000 owner=a{readers}"));
    play.tell("1000 tick\n5000 tick");
    assert!(play.story.findings("/l").contains("herd Info"), "{}", play.story.findings("/l"));
    assert_eq!(play.incidents(), NONE);
}

/// F23: a queue of hundreds, which each acquire reads.
#[test]
fn f23_a_deep_queue() {
    let queue: String = (0..600).map(|at| format!("\n/l/lock-{at:010} owner={:x}", at + 16)).collect();
    let mut play = Play::of(&format!("/l{queue}"));
    play.tell("1000 tick\n5000 tick");
    assert!(play.story.findings("/l").contains("deep_queue Info"), "{}", play.story.findings("/l"));
    assert_eq!(play.incidents(), NONE);
}

/// What hurts those who wait is no incident while nobody does.
#[test]
fn a_warning_by_which_nobody_waits_is_none() {
    let mut play = Play::of(&format!("/l created=1900000000\n/l/{X}__lock__0000000000 owner=a"));
    play.tell("1000 tick\n5000 tick");
    assert!(play.story.findings("/l").contains("sequence_overflow Warning"), "{}", play.story.findings("/l"));
    assert_eq!(play.incidents(), NONE);
}
