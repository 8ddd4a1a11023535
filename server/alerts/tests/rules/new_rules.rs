//! Other rules while everything goes on: what stays, what ends, what begins.

use lockscope_alerts::book::rule_shown;
use lockscope_alerts::rule::Rule;
use lockscope_core::diagnosis::Severity;
use lockscope_core::time::TimeMs;

use crate::book::{book, due, due_of, fired, over, rules, take};
use crate::firing::ORPHAN;
use crate::watch::Watch;
use crate::{at, rule};

fn taken(watch: &mut Watch, rules: &[Rule]) {
    let now = TimeMs(watch.story.now);
    watch.evaluator.take_rules("prod", rules, now);
    watch.news.clear();
    watch.news.extend(watch.evaluator.take_news());
}

#[test]
fn a_rule_that_stayed_keeps_its_alert_and_one_that_went_ends_it() {
    let before = [rule("orphans", &["orphan"], 5_000), rule("deep", &["orphan"], 6_000)];
    let mut watch = Watch::new(&before);
    watch.tell(ORPHAN).pass_to(10_000);
    assert_eq!(watch.evaluator.active().len(), 2);
    // It has another place in the list, and is about fewer locks.
    taken(&mut watch, &[rule("other", &["stuck"], 0), at("/locks/*", rule("orphans", &["orphan"], 60_000))]);
    assert_eq!(watch.said(), ["deep /locks/a: over 10000"]);
    watch.pass_to(200_000);
    let alert = watch.only();
    assert_eq!((&*alert.rule, alert.fired_at), ("orphans", Some(TimeMs(6_000))), "it fired, whatever `for` says now");
}

#[test]
fn an_alert_ends_when_its_rule_asks_for_something_else() {
    let mut watch = Watch::new(&[rule("orphans", &["orphan"], 5_000)]);
    watch.tell(ORPHAN).pass_to(10_000);
    taken(&mut watch, &[rule("orphans", &["deadlocked"], 5_000)]);
    assert_eq!(watch.said(), [""; 0]);
    watch.pass_to(30_000);
    assert_eq!(watch.said(), ["orphans /locks/a: over 10250"], "as of the first look by the new rule");
    taken(&mut watch, &[at("/elsewhere/*", rule("orphans", &["orphan"], 5_000))]);
    watch.pass_to(60_000);
    assert_eq!(watch.said(), [""; 0]);
}

#[test]
fn what_was_so_before_the_rule_fires_from_now_on() {
    let mut watch = Watch::new(&[rule("orphans", &["orphan"], 600_000)]);
    watch.tell(ORPHAN).pass_to(100_000);
    assert_eq!(watch.only().fired_at, None);
    taken(&mut watch, &[rule("orphans", &["orphan"], 5_000), rule("new", &["orphan"], 5_000)]);
    watch.pass_to(101_000);
    let fired: Vec<_> = watch.evaluator.active().into_iter().map(|alert| (alert.rule, alert.fired_at)).collect();
    let [(pending, at), (new, none)] = fired.as_slice() else { panic!("{fired:?}") };
    assert_eq!((&**pending, *at), ("orphans", Some(TimeMs(100_000))));
    assert_eq!((&**new, *none), ("new", None), "an orphan is one since the first look");
    watch.pass_to(110_000);
    assert!(watch.evaluator.active().iter().all(|alert| alert.fired_at.is_some()));
}

#[test]
fn what_nobody_holds_is_counted_on() {
    let not_held = |name: &str| at("/locks/b", rule(name, &["not_held > 60s"], 0));
    let mut watch = Watch::new(&[not_held("b")]);
    watch.pass_to(40_000);
    taken(&mut watch, &[rule("other", &["stuck"], 0), not_held("b")]);
    watch.pass_to(62_000);
    let fired_at = watch.only().fired_at.unwrap().0;
    assert!((60_000..61_000).contains(&fired_at), "{fired_at}: nobody holds it since the first look");
}

#[test]
fn without_rules_everything_ends() {
    let mut watch = Watch::new(&[rule("orphans", &["orphan"], 5_000)]);
    watch.tell(ORPHAN).pass_to(10_000);
    taken(&mut watch, &[]);
    assert_eq!(watch.said(), ["orphans /locks/a: over 10000"]);
    watch.pass_to(20_000);
    assert!(watch.evaluator.active().is_empty());
}

#[test]
fn receivers_of_a_rule_that_went_are_told_that_it_is_over() {
    let mut book = book();
    take(&mut book, 100, fired("/a", 100), None);
    let told = due(&book, 100);
    book.told("team", &told, 110);
    let [_, odd] = rules();
    book.take_rules(vec![rule_shown(&odd)]);
    take(&mut book, 200, fired("/a", 100), over(200));
    assert_eq!(due_of(&book, 200), [("/a".to_owned(), true)]);
}

#[test]
fn severity_and_routes_of_what_fires_are_those_of_the_rule_as_it_is_now() {
    let mut book = book();
    take(&mut book, 100, fired("/a", 100), None);
    let [bad, _] = rules();
    let routes = vec!["other".to_owned(), "team".to_owned()];
    book.take_rules(vec![rule_shown(&Rule { severity: Severity::Info, routes, ..bad })]);
    book.advance(200);
    let [alert] = book.alerts(200).try_into().unwrap();
    assert_eq!(alert.severity, lockscope_view::Severity::Info);
    assert_eq!(book.to_tell("other", 200, None, false, |_| true).len(), 1);
}

#[test]
fn a_route_that_leads_elsewhere_is_told_anew_and_one_that_went_is_counted() {
    let mut book = book();
    take(&mut book, 100, fired("/a", 100), None);
    let told = due(&book, 100);
    book.told("team", &told, 110);
    assert_eq!(due_of(&book, 120), []);
    assert_eq!((book.left_untold(&["team"].into()), book.left_untold(&[].into())), (0, 1));
    book.begin_anew("team");
    book.advance(130);
    assert_eq!(due_of(&book, 130), [("/a".to_owned(), false)]);
}
