//! What a process that begins with nothing can't know, and what nobody saw for too long.

use lockscope_alerts::evaluator::{AlertEnd, UNKNOWN_MS_MAX};
use lockscope_alerts::rule::Rule;
use lockscope_core::time::TimeMs;

use crate::firing::ORPHAN;
use crate::restart::anew;
use crate::watch::Watch;
use crate::{at, rule};

const HOLDER: &str = "/locks/a/lock-0000000000";

/// One has held `/locks/a` for six minutes when the process ends; the next reads what is there.
fn restarted(rules: &[Rule], there: &str) -> Watch {
    let mut before = Watch::new(rules);
    before.tell(&format!("1000 + /locks/a\n1000 + {HOLDER} czxid=102\n1000 = {HOLDER} owner=a czxid=102"));
    before.tell("2000 + /locks/a/lock-0000000001\n2000 = /locks/a/lock-0000000001 owner=b").pass_to(361_000);
    let alert = before.only();
    assert!(alert.fired_at.is_some() && alert.hold.is_some(), "{alert:?}");
    let mut watch = anew(&before, rules, 400_000);
    watch.tell(&format!(
        "400000 sync /locks\n400000 node /locks\n400000 node /locks/a created=2\n{there}400000 link live\n400000 end /locks"
    ));
    watch.said();
    watch
}

const SAME: &str = "400000 node /locks/a/lock-0000000000 czxid=102 ctime=1000 owner=a
    400000 node /locks/a/lock-0000000001 czxid=103 ctime=2000 owner=b\n";
const NEXT: &str = "400000 node /locks/a/lock-0000000001 czxid=103 ctime=2000 owner=b
    400000 node /locks/a/lock-0000000002 czxid=104 ctime=380000 owner=c\n";

fn each(check: impl Fn(&[Rule])) {
    check(&[rule("long", &["held > 5m"], 0)]);
    check(&[rule("blocked", &["stuck", "deadlocked"], 0)]);
}

#[test]
fn a_hold_that_goes_on_over_a_restart_is_as_long_as_it_was() {
    each(|rules| {
        let mut watch = restarted(rules, SAME);
        watch.pass_to(430_000);
        assert_eq!(watch.only().unknown_since, None, "{rules:?}");
        watch.pass_to(1_000_000);
        assert!(watch.news.iter().all(|news| news.end.is_none()), "{:?}", watch.news);
        watch.tell(&format!("1000000 - {HOLDER}")).pass_to(1_020_000);
        assert_eq!(watch.news.last().and_then(|news| news.end), Some(AlertEnd::Resolved(TimeMs(1_000_000))));
    });
}

#[test]
fn another_hold_begins_when_it_is_seen() {
    each(|rules| {
        let mut watch = restarted(rules, NEXT);
        watch.pass_to(430_000);
        let end = watch.news.iter().find_map(|news| news.end);
        assert!(matches!(end, Some(AlertEnd::Resolved(TimeMs(400_000..=401_000)))), "{end:?}");
        assert_eq!(watch.evaluator.active(), []);
    });
}

#[test]
fn what_was_below_a_root_that_is_gone_is_over() {
    let rules = [
        rule("orphans", &["orphan"], 0),
        at("/locks/b", rule("idle", &["not_held > 30s"], 0)),
        rule("blind", &["unseen > 1m"], 0),
    ];
    let mut watch = Watch::new(&rules);
    watch.tell(ORPHAN).tell("5000 gone /locks").pass_to(200_000);
    let mut said = watch.said();
    said.retain(|line| !line.contains("pending"));
    said.sort();
    let [blind, idle, .., over] = said.as_slice() else { panic!("{said:?}") };
    assert!(blind.starts_with("blind /locks: fired "), "{said:?}");
    assert!(idle.starts_with("idle /locks/b: fired "), "{said:?}");
    assert_eq!(over, "orphans /locks/a: over 5000", "{said:?}");
}

#[test]
fn what_nobody_may_read_for_a_day_is_no_longer_followed() {
    let mut watch = Watch::new(&[rule("orphans", &["orphan"], 0)]);
    watch.tell(ORPHAN).tell("5000 denied /locks");
    watch.said();
    watch.pass_to(5_000 + UNKNOWN_MS_MAX - 1_000);
    assert_eq!((watch.said(), watch.only().unknown_since), (vec![], Some(TimeMs(5_000))));
    watch.pass_to(5_000 + UNKNOWN_MS_MAX + 1_000);
    let [ended, ..] = watch.news.as_slice() else { panic!("{:?}", watch.news) };
    assert!(matches!(ended.end, Some(AlertEnd::Resolved(_))), "{ended:?}");
    assert!(ended.alert.sentence.starts_with("Not seen for a day and no longer followed"), "{ended:?}");
    watch.news.clear();
    watch.pass_to(5_000 + UNKNOWN_MS_MAX + 600_000);
    assert!(watch.news.iter().all(|news| news.alert.fired_at.is_none()), "nothing fires unseen: {:?}", watch.news);
}
