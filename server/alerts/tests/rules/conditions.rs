//! When waits, holds, depths and locks that nobody holds count.

use lockscope_core::time::TimeMs;

use crate::watch::Watch;
use crate::{at, rule};

/// One holds `/locks/a` since 1000, another waits since 2000, as read later.
const QUEUE: &str = "
    1000 + /locks/a
    1000 + /locks/a/lock-0000000000
    1000 = /locks/a/lock-0000000000 owner=a
    2000 + /locks/a/lock-0000000001
    2000 = /locks/a/lock-0000000001 owner=b";

#[test]
fn somebody_has_waited_for_longer_than_that() {
    let mut watch = Watch::new(&[rule("slow", &["waiting > 30s"], 0)]);
    watch.tell(QUEUE).pass_to(32_000);
    assert_eq!(watch.said(), [""; 0], "not longer than that yet");
    watch.pass_to(32_001);
    assert_eq!(watch.said(), ["slow /locks/a: fired 32001"]);
    assert_eq!(watch.only().since, TimeMs(32_000), "it is so since then");
    // The one who waited gets it, and nobody waits.
    watch.tell("40000 - /locks/a/lock-0000000000").pass_to(55_000);
    assert_eq!(watch.said(), ["slow /locks/a: over 40000"]);
}

#[test]
fn a_wait_must_last_on_top_of_that_where_the_rule_says_so() {
    let mut watch = Watch::new(&[rule("slow", &["waiting > 30s"], 10_000)]);
    watch.tell(QUEUE).pass_to(41_999);
    assert_eq!(watch.said(), ["slow /locks/a: pending 32000"]);
    watch.pass_to(42_250);
    assert_eq!(watch.said(), ["slow /locks/a: fired 42000"]);
}

#[test]
fn the_next_in_line_waits_as_well() {
    let mut watch = Watch::new(&[rule("slow", &["waiting > 30s"], 0)]);
    watch.tell(QUEUE).tell("20000 + /locks/a/lock-0000000002\n20000 = /locks/a/lock-0000000002 owner=c");
    watch.pass_to(31_000).tell("31000 - /locks/a/lock-0000000001").pass_to(50_000);
    assert_eq!(watch.said(), [""; 0], "the first went a second before");
    watch.pass_to(50_250);
    assert_eq!(watch.said(), ["slow /locks/a: fired 50250"]);
}

#[test]
fn waits_are_told_by_the_clock_of_the_ensemble() {
    // It waited for twenty seconds when it was first seen; the clock of the ensemble is five seconds behind ours.
    let story = crate::language::Story::new(&["/locks"]);
    let mut watch = Watch::over(story, &[rule("slow", &["waiting > 30s"], 0)], Vec::new());
    watch.tell(
        "25000 sync /locks
        25000 node /locks
        25000 node /locks/a/lock-0000000000 owner=a ctime=0
        25000 node /locks/a/lock-0000000001 owner=b ctime=0
        25000 end /locks
        26000 + /locks/b
        26000 = /locks/b ctime=21000",
    );
    watch.pass_to(35_000);
    assert_eq!(watch.said(), [""; 0]);
    watch.pass_to(35_250);
    assert_eq!(watch.said(), ["slow /locks/a: fired 35250"]);
    assert_eq!(watch.only().since, TimeMs(35_000));
}

/// What a backup brings back may have waited for hours in another history.
#[test]
fn a_wait_counts_from_a_restore_on() {
    let told = |is_restored| {
        let mut watch = Watch::new(&[rule("slow", &["waiting > 30s"], 0)]);
        watch.tell(&format!(
            "
            100000 sync /locks {is_restored}
            100000 node /locks
            100000 node /locks/a/lock-0000000000 owner=a ctime=1000
            100000 node /locks/a/lock-0000000001 owner=b ctime=1000
            100000 end /locks"
        ));
        watch.pass_to(120_000);
        let before = watch.said();
        watch.pass_to(140_000);
        (before.is_empty(), watch.said().is_empty())
    };
    assert_eq!((told(""), told("restored")), ((false, true), (true, false)));
}

#[test]
fn standbys_of_an_election_do_not_wait() {
    let mut watch = Watch::new(&[rule("slow", &["waiting > 5s", "depth > 0"], 0)]);
    watch.tell(
        "1000 + /locks/election
        1000 + /locks/election/n_0000000000
        1000 = /locks/election/n_0000000000 owner=a
        1000 + /locks/election/n_0000000001
        1000 = /locks/election/n_0000000001 owner=b",
    );
    let recipe = watch.story.lock("/locks/election").recognition.recipe;
    assert_eq!(recipe, lockscope_core::recipe::Recipe::Election);
    watch.pass_to(100_000);
    assert_eq!(watch.said(), [""; 0]);
}

#[test]
fn a_hold_is_longer_than_that() {
    let mut watch = Watch::new(&[rule("long", &["held > 5m"], 0)]);
    watch.tell(QUEUE).pass_to(301_000);
    assert_eq!(watch.said(), [""; 0]);
    watch.pass_to(301_001);
    assert_eq!(watch.said(), ["long /locks/a: fired 301001"]);
    watch.tell("310000 - /locks/a/lock-0000000000").pass_to(325_000);
    assert_eq!(watch.said(), ["long /locks/a: over 310000"], "another holds it since then");
}

#[test]
fn a_queue_is_deeper_than_that() {
    let mut watch = Watch::new(&[rule("deep", &["depth > 2"], 0)]);
    watch.tell(QUEUE);
    for number in 2..4 {
        let path = format!("/locks/a/lock-{number:010}");
        watch.tell(&format!("{number}000 + {path}\n{number}100 = {path} owner={number}"));
    }
    assert_eq!(watch.said(), ["deep /locks/a: fired 3000"], "the third waits since then");
    watch.tell("9000 - /locks/a/lock-0000000002").pass_to(24_000);
    assert_eq!(watch.said(), ["deep /locks/a: over 9000"]);
}

#[test]
fn nobody_has_held_it_for_longer_than_that() {
    let mut watch = Watch::new(&[at("/locks/a", rule("idle", &["not_held > 30s"], 0))]);
    watch.tell(QUEUE).pass_to(5_000);
    assert_eq!(watch.said(), [""; 0], "it was not there for a second");
    watch.tell("10000 - /locks/a/lock-0000000000\n10000 - /locks/a/lock-0000000001").pass_to(40_000);
    assert_eq!(watch.said(), [""; 0]);
    watch.pass_to(40_001);
    assert_eq!(watch.said(), ["idle /locks/a: fired 40001"]);
    watch.tell("50000 + /locks/a/lock-0000000002\n50000 = /locks/a/lock-0000000002 owner=c").pass_to(65_000);
    assert_eq!(watch.said(), ["idle /locks/a: over 50000"]);
}

#[test]
fn a_named_lock_that_is_not_there_is_held_by_nobody() {
    let rules = [at("/locks/none", rule("named", &["not_held > 30s"], 0)), rule("all", &["not_held > 30s"], 0)];
    let mut watch = Watch::new(&rules);
    watch.pass_to(30_010);
    assert_eq!(watch.said(), [""; 0]);
    watch.pass_to(30_011);
    assert_eq!(watch.said(), ["named /locks/none: fired 30011"], "it is seen since 10");
    assert_eq!(&*watch.only().sentence, "Nobody holds /locks/none: it is not there.");
    watch.tell("40000 + /locks/none\n40000 + /locks/none/lock-0000000000\n40000 = /locks/none/lock-0000000000 owner=a");
    watch.pass_to(60_000);
    assert_eq!(watch.said(), ["named /locks/none: over 40000"]);
    // Its directory goes: that is no lock that anybody holds.
    watch.tell("60000 - /locks/none/lock-0000000000\n60000 - /locks/none").pass_to(90_001);
    assert_eq!(watch.said(), ["named /locks/none: fired 90001"]);
}

#[test]
fn what_must_be_held_and_is_not_fires_within_two_seconds_of_its_threshold() {
    let mut story = crate::language::Story::new(&["/locks"]);
    let must_be_held = vec!["/locks/boss".to_owned()];
    story.said(Vec::new(), lockscope_core::finding::Limits { must_be_held, ..Default::default() });
    let mut watch = Watch::over(story, &[rule("vacant", &["must_be_held"], 0)], Vec::new());
    watch.tell("10 sync /locks\n10 node /locks\n10 end /locks").pass_to(30_000);
    assert_eq!(watch.said(), [""; 0]);
    watch.pass_to(32_000);
    assert_eq!(watch.said().len(), 1);
    assert!(watch.only().sentence.contains("there is no such znode"), "{}", watch.only().sentence);
    watch.tell("40000 + /locks/boss\n40000 = /locks/boss owner=a").pass_to(56_000);
    assert!(watch.said().iter().any(|said| said.starts_with("vacant /locks/boss: over")));
}

#[test]
fn a_named_lock_below_no_root_is_nobodys_business() {
    let mut watch = Watch::new(&[at("/elsewhere/a", rule("named", &["not_held > 1s"], 0))]);
    watch.pass_to(100_000);
    assert_eq!((watch.said(), watch.evaluator.active()), (vec![], vec![]));
}

#[test]
fn a_finding_is_so_since_it_was_found() {
    let mut watch = Watch::new(&[rule("odd", &["never_expires"], 5_000)]);
    watch.tell(QUEUE).tell("3000 + /locks/a/lock-0000000002\n3000 = /locks/a/lock-0000000002").pass_to(20_000);
    let said = watch.said();
    assert_eq!(said.len(), 2, "{said:?}");
    let finding =
        watch.story.lock("/locks/a").assessment.findings.iter().find(|one| one.code.name() == "never_expires");
    let finding = finding.unwrap();
    let alert = watch.only();
    assert_eq!((alert.since, alert.fired_at), (finding.since, Some(finding.since + 5_000)));
    assert_eq!(alert.sentence, finding.text);
    watch.tell("21000 - /locks/a/lock-0000000002").pass_to(60_000);
    assert_eq!(watch.said().len(), 1);
}

#[test]
fn a_hold_that_is_stuck_by_time_alone_fires() {
    let mut watch = Watch::new(&[rule("stuck", &["stuck"], 0)]);
    watch.tell(QUEUE).pass_to(300_999);
    assert_eq!(watch.said(), [""; 0]);
    watch.pass_to(301_000);
    assert_eq!(watch.said(), ["stuck /locks/a: fired 301000"]);
}
