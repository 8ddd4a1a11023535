//! When an alert begins, fires and ends.

use lockscope_alerts::evaluator::{ACTIVE_MAX, AlertEnd, RESOLVE_AFTER_MS};
use lockscope_alerts::rule::Rule;
use lockscope_core::time::TimeMs;

use crate::watch::{TICK_MS, Watch};
use crate::{at, rule};

/// Nobody owns the head of `/locks/a`.
pub(crate) const ORPHAN: &str = "
    1000 + /locks/a
    1000 + /locks/a/6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000000
    1000 = /locks/a/6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000000";
/// Its path.
pub(crate) const HEAD: &str = "/locks/a/6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000000";

/// That is repaired.
pub(crate) fn mended(at_ms: i64) -> String {
    format!("{at_ms} - {HEAD}")
}

/// It is so again.
pub(crate) fn broken(at_ms: i64) -> String {
    format!("{at_ms} + {HEAD}\n{at_ms} = {HEAD}")
}

fn orphans(for_ms: i64) -> Vec<Rule> {
    vec![rule("orphans", &["orphan"], for_ms)]
}

#[test]
fn a_verdict_fires_when_it_lasted_and_not_before() {
    let mut watch = Watch::new(&orphans(30_000));
    watch.tell(ORPHAN);
    assert_eq!(watch.said(), ["orphans /locks/a: pending 1000"]);
    watch.pass_to(30_999);
    assert_eq!((watch.said(), watch.only().fired_at), (vec![], None));
    watch.pass_to(31_000);
    assert_eq!(watch.said(), ["orphans /locks/a: fired 31000"]);
    let alert = watch.only();
    assert_eq!((alert.found_at, alert.since, alert.fired_at), (TimeMs(1_000), TimeMs(1_000), Some(TimeMs(31_000))));
    assert!(alert.sentence.contains("No session owns"), "{}", alert.sentence);
    watch.pass_to(200_000);
    assert_eq!(watch.said(), [""; 0], "it goes on and says nothing new");
}

#[test]
fn it_fired_when_it_had_lasted_however_late_somebody_looks() {
    let mut watch = Watch::new(&orphans(30_000));
    watch.tell(ORPHAN).pass_to(30_900);
    watch.said();
    watch.pass_to(30_900 + TICK_MS);
    assert_eq!(watch.said(), ["orphans /locks/a: fired 31000"]);
}

#[test]
fn a_rule_without_a_time_fires_at_once() {
    let mut watch = Watch::new(&orphans(0));
    watch.tell(ORPHAN);
    assert_eq!(watch.said(), ["orphans /locks/a: fired 1000"]);
}

#[test]
fn what_goes_back_in_time_never_fires() {
    let mut watch = Watch::new(&orphans(30_000));
    watch.tell(ORPHAN).pass_to(30_500).tell(&mended(30_990)).pass_to(200_000);
    assert_eq!(watch.said(), ["orphans /locks/a: pending 1000", "orphans /locks/a: never"]);
    assert_eq!(watch.evaluator.active(), []);
    // Later it is another alert, of its own time.
    watch.tell(&broken(200_100)).pass_to(230_100);
    assert_eq!(watch.said(), ["orphans /locks/a: pending 200100", "orphans /locks/a: fired 230100"]);
}

#[test]
fn what_was_over_for_a_while_was_over_when_that_began() {
    let mut watch = Watch::new(&orphans(0));
    watch.tell(ORPHAN).pass_to(20_000).tell(&mended(20_100));
    watch.said();
    watch.pass_to(20_100 + RESOLVE_AFTER_MS - 1);
    assert_eq!(watch.said(), [""; 0]);
    watch.pass_to(20_100 + RESOLVE_AFTER_MS);
    let end = watch.news[0].end;
    assert_eq!(end, Some(AlertEnd::Resolved(TimeMs(20_100))));
    assert_eq!(watch.said(), ["orphans /locks/a: over 20100"]);
    assert_eq!(watch.evaluator.active(), []);
}

#[test]
fn a_flap_is_one_alert() {
    let mut watch = Watch::new(&orphans(0));
    watch.tell(ORPHAN);
    let mut now = 1_000;
    for _ in 0..5 {
        watch.tell(&mended(now + 1_000)).pass_to(now + RESOLVE_AFTER_MS).tell(&broken(now + RESOLVE_AFTER_MS + 900));
        now += RESOLVE_AFTER_MS + 900;
    }
    assert_eq!(watch.said(), ["orphans /locks/a: fired 1000"]);
    watch.tell(&mended(now + 1)).pass_to(now + 100_000);
    assert_eq!(watch.said(), [format!("orphans /locks/a: over {}", now + 1)]);
}

#[test]
fn after_it_was_over_it_is_another_alert() {
    let mut watch = Watch::new(&orphans(0));
    watch.tell(ORPHAN).tell(&mended(2_000)).pass_to(2_000 + RESOLVE_AFTER_MS).tell(&broken(2_001 + RESOLVE_AFTER_MS));
    assert_eq!(
        watch.said(),
        ["orphans /locks/a: fired 1000", "orphans /locks/a: over 2000", "orphans /locks/a: fired 17001"]
    );
    assert_eq!(watch.only().found_at, TimeMs(17_001));
}

#[test]
fn a_lock_that_vanishes_ends_it() {
    let rules = [rule("soon", &["orphan"], 0), rule("later", &["orphan"], 60_000)];
    let mut watch = Watch::new(&rules);
    watch.tell(ORPHAN);
    watch.said();
    watch.pass_to(5_000).tell(&mended(5_000)).tell("5000 - /locks/a").pass_to(30_000);
    assert_eq!(watch.said(), ["later /locks/a: never", "soon /locks/a: over 5000"]);
    assert_eq!(watch.evaluator.active(), []);
}

#[test]
fn rules_of_others_say_nothing() {
    let of = |ensemble: &str, rule: Rule| Rule { ensemble: Some(ensemble.to_owned()), ..rule };
    let rules = [
        of("stage", rule("stage", &["orphan"], 0)),
        of("prod", rule("prod", &["orphan"], 0)),
        at("/locks/b", rule("other", &["orphan"], 0)),
        at("/locks/*/x", rule("below", &["orphan"], 0)),
        at("/locks/?", rule("no star", &["orphan"], 0)),
        at("/lo*s/*", rule("pattern", &["orphan"], 0)),
        rule("other verdicts", &["stuck", "deadlocked", "double_owner", "nobody_home"], 0),
    ];
    let mut watch = Watch::new(&rules);
    watch.tell(ORPHAN).pass_to(10_000);
    assert_eq!(watch.said(), ["prod /locks/a: fired 1000", "pattern /locks/a: fired 1000"]);
}

#[test]
fn one_of_several_conditions_is_enough() {
    let mut watch = Watch::new(&[rule("any", &["orphan", "depth > 0"], 10_000)]);
    watch.tell(ORPHAN);
    // The head is gone, and another one waits behind it: it goes on as one alert.
    for (at_ms, number) in [(4_000, 1), (5_000, 2)] {
        let path = format!("/locks/a/{number}f1e2d3c00004a4a8b8b0123456789ab__lock__000000000{number}");
        watch.tell(&format!("{at_ms} + {path}\n{at_ms} = {path} owner={number}"));
    }
    watch.tell(&mended(6_000));
    watch.pass_to(11_000);
    assert_eq!(watch.said().last().unwrap(), "any /locks/a: fired 11000");
}

#[test]
fn what_is_there_at_the_beginning_is_found() {
    let mut before = Watch::new(&[]);
    before.tell(ORPHAN).pass_to(50_000);
    let mut watch = Watch::over(before.story, &orphans(10_000), Vec::new());
    watch.pass_to(60_500);
    assert_eq!(watch.said(), ["orphans /locks/a: pending 50250", "orphans /locks/a: fired 60250"]);
}

#[test]
fn no_rules_find_nothing() {
    let mut watch = Watch::new(&[]);
    watch.tell(ORPHAN).pass_to(100_000);
    assert_eq!((watch.said(), watch.evaluator.active()), (vec![], vec![]));
}

#[test]
fn what_there_is_no_room_for_begins_when_others_end() {
    let mut watch = Watch::new(&orphans(0));
    let head = |number: usize| format!("/locks/l{number}/6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000000");
    for number in 0..ACTIVE_MAX + 3 {
        let path = head(number);
        watch.tell(&format!("1000 + /locks/l{number}\n1000 + {path}\n1000 = {path}"));
    }
    assert_eq!(watch.said().len(), ACTIVE_MAX);
    watch.tell(&format!("2000 - {}\n2000 - {}", head(0), head(1))).pass_to(2_000 + RESOLVE_AFTER_MS + 2_000);
    let (over, begun): (Vec<String>, Vec<String>) = watch.said().into_iter().partition(|line| line.contains("over"));
    assert_eq!((over.len(), begun.len(), watch.evaluator.active().len()), (2, 2, ACTIVE_MAX));
}
