//! What can't be seen neither fires nor is over, and is an alert of its own.

use lockscope_core::time::TimeMs;

use crate::firing::{HEAD, ORPHAN, broken, mended};
use crate::watch::Watch;
use crate::{at, rule};

/// The link is live again and everything is read anew; the directory of `/locks/a` is there, and empty.
fn back_without(at_ms: i64) -> String {
    format!(
        "{at_ms} sync /locks\n{at_ms} node /locks\n{at_ms} node /locks/a created=1\n{at_ms} link live\n{at_ms} end /locks"
    )
}

/// The same, and what nobody owns is still there.
fn back_with(at_ms: i64) -> String {
    let node = format!("{HEAD} czxid=102 ctime=1000");
    format!(
        "{at_ms} sync /locks\n{at_ms} node /locks\n{at_ms} node /locks/a created=1\n{at_ms} node {node}\n{at_ms} link live\n{at_ms} end /locks"
    )
}

fn lost(watch: &mut Watch, at_ms: i64) {
    watch.pass_to(at_ms);
    watch.is_answering = false;
    watch.tell(&format!("{at_ms} link lost no answer"));
}

fn back(watch: &mut Watch, text: &str) {
    watch.is_answering = true;
    watch.tell(text);
}

#[test]
fn a_root_that_is_not_seen_for_longer_fires_until_it_is_seen() {
    let mut watch = Watch::new(&[rule("blind", &["unseen > 1m"], 0)]);
    watch.pass_to(10_000);
    lost(&mut watch, 11_000);
    watch.pass_to(71_000);
    assert_eq!(watch.said(), [""; 0], "what was true at 11000 is known");
    watch.pass_to(71_001);
    assert_eq!(watch.said(), ["blind /locks: fired 71001"]);
    assert!(watch.only().sentence.contains("can't be seen (no answer)"), "{}", watch.only().sentence);
    watch.pass_to(100_000);
    back(&mut watch, &back_without(100_000));
    watch.pass_to(114_999);
    assert_eq!(watch.said(), [""; 0]);
    watch.pass_to(115_000);
    assert_eq!(watch.said(), ["blind /locks: over 100000"]);
}

#[test]
fn a_root_that_is_seen_in_time_does_not_fire() {
    let mut watch = Watch::new(&[rule("blind", &["unseen > 1m"], 0)]);
    lost(&mut watch, 11_000);
    watch.pass_to(50_000);
    back(&mut watch, &back_without(50_000));
    watch.pass_to(200_000);
    assert_eq!(watch.said(), [""; 0]);
}

#[test]
fn a_member_that_does_not_answer_is_unseen_too() {
    let mut watch = Watch::new(&[rule("blind", &["unseen > 10s"], 0)]);
    watch.pass_to(10_000);
    watch.is_answering = false;
    watch.pass_to(20_001);
    assert_eq!(watch.said(), ["blind /locks: fired 20001"]);
    watch.is_answering = true;
    watch.pass_to(40_000);
    assert_eq!(watch.said(), ["blind /locks: over 20251"]);
}

#[test]
fn a_first_sync_that_does_not_end_is_unseen() {
    let story = crate::language::Story::new(&["/locks"]);
    let mut watch = Watch::over(story, &[rule("blind", &["unseen > 10s"], 0)], Vec::new());
    watch.tell("10 sync /locks").pass_to(11_000);
    assert_eq!(watch.said(), ["blind /locks: fired 10010"]);
}

#[test]
fn nothing_fires_while_it_is_not_seen_and_then_at_once() {
    let mut watch = Watch::new(&[rule("orphans", &["orphan"], 30_000)]);
    watch.tell(ORPHAN).pass_to(5_000);
    watch.said();
    lost(&mut watch, 5_000);
    assert_eq!(watch.said(), ["orphans /locks/a: unknown 5000"]);
    watch.pass_to(100_000);
    assert_eq!((watch.said(), watch.only().unknown_since), (vec![], Some(TimeMs(5_000))));
    back(&mut watch, &back_with(100_000));
    assert_eq!(watch.said(), ["orphans /locks/a: fired 100000"]);
    assert_eq!((watch.only().unknown_since, watch.only().since), (None, TimeMs(1_000)));
}

#[test]
fn what_is_over_when_it_is_seen_again_never_fired() {
    let mut watch = Watch::new(&[rule("orphans", &["orphan"], 30_000)]);
    watch.tell(ORPHAN);
    lost(&mut watch, 5_000);
    watch.pass_to(100_000);
    back(&mut watch, &back_without(100_000));
    assert_eq!(watch.said().last().unwrap(), "orphans /locks/a: never");
}

#[test]
fn nothing_is_over_while_it_is_not_seen() {
    let mut watch = Watch::new(&[rule("orphans", &["orphan"], 0)]);
    watch.tell(ORPHAN).tell(&mended(4_000));
    lost(&mut watch, 5_000);
    watch.said();
    watch.pass_to(100_000);
    assert_eq!(watch.said(), [""; 0], "it was over for a second, and then nobody saw it");
    assert_eq!(watch.only().unknown_since, Some(TimeMs(5_000)));
    back(&mut watch, &back_without(100_000));
    assert_eq!(watch.said(), ["orphans /locks/a: over 4000"], "at once: it was over long before");
}

#[test]
fn what_fires_goes_on_over_a_loss() {
    let mut watch = Watch::new(&[rule("orphans", &["orphan"], 0)]);
    watch.tell(ORPHAN);
    lost(&mut watch, 5_000);
    watch.pass_to(100_000);
    back(&mut watch, &back_with(100_000));
    watch.pass_to(200_000);
    assert_eq!(
        watch.said(),
        ["orphans /locks/a: fired 1000", "orphans /locks/a: unknown 5000", "orphans /locks/a: fired 1000"]
    );
    assert_eq!(watch.only().found_at, TimeMs(1_000));
}

#[test]
fn a_lock_that_nobody_held_is_not_held_over_a_loss() {
    let mut watch = Watch::new(&[at("/locks/none", rule("idle", &["not_held > 30s"], 0))]);
    watch.pass_to(40_000);
    assert_eq!(watch.said(), ["idle /locks/none: fired 30260"]);
    lost(&mut watch, 41_000);
    watch.pass_to(100_000);
    back(&mut watch, &back_without(100_000));
    watch.pass_to(200_000);
    assert_eq!(watch.said(), ["idle /locks/none: unknown 41000", "idle /locks/none: fired 30260"]);
}

#[test]
fn what_is_due_in_a_moment_that_nobody_confirmed_is_not_forgotten() {
    let mut watch = Watch::new(&[rule("orphans", &["orphan"], 30_000)]);
    // What is shown is a little too old when it is due, and no tick has said so; then it is confirmed.
    watch.tell(ORPHAN).pass_to(28_990).tell_alone("30980 tick\n31000 + /locks/b\n31010 known\n31250 tick");
    assert_eq!(watch.said()[1..], ["orphans /locks/a: unknown 31000"]);
    watch.pass_to(33_000);
    let said = watch.said();
    assert_eq!(watch.only().unknown_since, None, "{said:?}");
    assert!(watch.only().fired_at.is_some(), "{said:?}");
}

#[test]
fn a_rule_may_mean_locks_and_roots() {
    let mut watch = Watch::new(&[rule("any", &["orphan", "unseen > 10s"], 0)]);
    watch.pass_to(10_000);
    lost(&mut watch, 10_500);
    watch.pass_to(30_000);
    assert_eq!(watch.only().lock.as_ref(), "/locks");
    assert!(watch.only().fired_at.is_some());
    back(&mut watch, &back_with(30_000));
    watch.pass_to(60_000);
    assert_eq!(watch.said().last().unwrap(), "any /locks: over 30000");
    assert_eq!((watch.only().lock.as_ref(), watch.only().fired_at), ("/locks/a", Some(TimeMs(30_000))));
}

#[test]
fn several_losses_are_one_alert_each_when_they_are_far_apart() {
    let mut watch = Watch::new(&[rule("blind", &["unseen > 10s"], 0)]);
    for round in 1..4 {
        let at_ms = round * 100_000;
        watch.pass_to(at_ms);
        lost(&mut watch, at_ms);
        watch.pass_to(at_ms + 20_000);
        back(&mut watch, &back_without(at_ms + 20_000));
    }
    watch.pass_to(400_000);
    let said = watch.said();
    let expected = (1..4).flat_map(|round| {
        let at_ms = round * 100_000;
        [format!("blind /locks: fired {}", at_ms + 10_250), format!("blind /locks: over {}", at_ms + 20_000)]
    });
    assert_eq!(said, expected.collect::<Vec<_>>());
}

#[test]
fn a_lock_that_broke_while_nobody_saw_it_is_found_when_it_is_seen() {
    let mut watch = Watch::new(&[rule("orphans", &["orphan"], 5_000)]);
    watch.tell(ORPHAN).tell(&mended(1_100));
    watch.said();
    lost(&mut watch, 5_000);
    watch.pass_to(50_000);
    back(&mut watch, &back_with(50_000));
    watch.pass_to(60_000);
    assert_eq!(watch.only().fired_at, Some(TimeMs(55_000)));
    watch.tell(&mended(60_000)).tell(&broken(60_100)).pass_to(90_000);
    assert_eq!(watch.only().fired_at, Some(TimeMs(55_000)));
}

/// `a` holds and `b` waits for its turn.
const TWO: &str = "
    1000 + /locks/a
    1000 + /locks/a/lock-0000000000
    1000 = /locks/a/lock-0000000000 owner=a
    1000 + /locks/a/lock-0000000001
    1000 = /locks/a/lock-0000000001 owner=b";

#[test]
fn what_may_have_ended_and_is_on_its_way_does_not_fire() {
    let mut watch = Watch::new(&[rule("long", &["held > 1s"], 0)]);
    watch.tell(TWO).pass_to(1_900).is_answering = false;
    watch.pass_to(2_400);
    assert_eq!(watch.said(), [""; 0], "nobody said that it still held");
    // It had let go at 1990, say.
    watch.tell("2400 - /locks/a/lock-0000000000\n2400 known 2390").pass_to(2_800);
    assert_eq!((watch.said(), watch.evaluator.active()), (vec![], vec![]));
    watch.tell("3300 known 3290\n3500 tick\n3900 known 3890").pass_to(4_000);
    assert_eq!(watch.said(), ["long /locks/a: fired 3890"], "when it is known to be so");
}

#[test]
fn what_is_over_stays_so_until_it_is_known_to_be_so_again() {
    let mut watch = Watch::new(&[rule("long", &["held > 1s"], 0)]);
    watch.tell(TWO).tell("10000 - /locks/a/lock-0000000000").pass_to(10_900);
    assert_eq!(watch.said(), ["long /locks/a: fired 2250"]);
    watch.is_answering = false;
    // The next one held for nearly as long.
    watch.tell("11250 - /locks/a/lock-0000000001\n11250 known 11240").is_answering = true;
    watch.pass_to(26_000);
    assert_eq!(watch.said(), ["long /locks/a: over 10000"]);
}
