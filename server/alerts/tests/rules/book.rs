//! The book: keys, who is to be told of what, order and bounds.

use lockscope_alerts::book::{
    BATCH_MAX, Book, BookError, KeptAlert, RESOLVED_MAX, RESOLVED_MS_MAX, YOUNG_MS, rule_shown,
};
use lockscope_alerts::evaluator::{ActiveAlert, AlertEnd, AlertNews};
use lockscope_alerts::notification::Notification;
use lockscope_alerts::rule::Rule;
use lockscope_core::diagnosis::Severity;
use lockscope_core::time::TimeMs;
use lockscope_view::{Acknowledgement, AlertState};

use crate::rule;

/// A book of the rules `bad` (critical) and `odd` (a warning, nobody is told).
pub(crate) fn book() -> Book {
    Book::new(rules().iter().map(rule_shown).collect(), Vec::new(), Vec::new())
}

pub(crate) fn rules() -> [Rule; 2] {
    let odd = rule("odd", &["orphan"], 0);
    [rule("bad", &["stuck"], 0), Rule { severity: Severity::Warning, routes: Vec::new(), ..odd }]
}

/// An alert of the rule `bad` that was found and fired then.
pub(crate) fn fired(lock: &str, at_ms: i64) -> ActiveAlert {
    ActiveAlert {
        rule: "bad".into(),
        lock: lock.into(),
        found_at: TimeMs(at_ms),
        since: TimeMs(at_ms),
        fired_at: Some(TimeMs(at_ms)),
        unknown_since: None,
        over_since: None,
        hold: None,
        sentence: format!("{lock} is stuck.").into(),
    }
}

pub(crate) fn pending(lock: &str, at_ms: i64) -> ActiveAlert {
    ActiveAlert { fired_at: None, ..fired(lock, at_ms) }
}

pub(crate) fn take(book: &mut Book, now_ms: i64, alert: ActiveAlert, end: Option<AlertEnd>) {
    book.take("prod", vec![AlertNews { alert, end }], now_ms, |lock, at_ms| format!("/lock?{lock}&{at_ms}"));
}

pub(crate) fn over(at_ms: i64) -> Option<AlertEnd> {
    Some(AlertEnd::Resolved(TimeMs(at_ms)))
}

/// What the route `team` is to be told now.
pub(crate) fn due(book: &Book, now_ms: i64) -> Vec<Notification> {
    book.to_tell("team", now_ms, None, false, |_| true)
}

/// The same: locks, and whether it is over.
pub(crate) fn due_of(book: &Book, now_ms: i64) -> Vec<(String, bool)> {
    due(book, now_ms).into_iter().map(|one| (one.lock, one.resolved_at_ms.is_some())).collect()
}

fn keys(book: &Book) -> Vec<String> {
    book.alerts(0).into_iter().map(|alert| alert.key).collect()
}

fn is(lock: &str, is_over: bool) -> (String, bool) {
    (lock.to_owned(), is_over)
}

#[test]
fn a_key_is_the_same_for_the_same_alert_of_any_process() {
    let mut book = book();
    take(&mut book, 0, pending("/a", 100), None);
    let key = keys(&book);
    assert_eq!(key.len(), 1);
    assert!(key[0].len() == 24 && key[0].bytes().all(|byte| byte.is_ascii_hexdigit()), "{key:?}");
    // It fires, is unknown and over: nothing of that is in its key.
    let fires = ActiveAlert { fired_at: Some(TimeMs(900)), since: TimeMs(5), ..pending("/a", 100) };
    take(&mut book, 0, ActiveAlert { unknown_since: Some(TimeMs(1_000)), sentence: "x".into(), ..fires.clone() }, None);
    take(&mut book, 0, fires, over(2_000));
    assert_eq!(keys(&book), key);
    assert_eq!(book.alerts(0)[0].state, AlertState::Resolved);
    // Written down, for receivers that know it by this key.
    assert_eq!(key, ["1d931c923194f8f675c45795"]);
    let mut others = self::book();
    for alert in [
        fired("/b", 100),
        fired("/a", 101),
        ActiveAlert { rule: "odd".into(), ..fired("/a", 100) },
        ActiveAlert { rule: "ba".into(), lock: "d/a".into(), ..fired("", 100) },
    ] {
        take(&mut others, 0, alert, None);
    }
    others.take("stage", vec![AlertNews { alert: fired("/a", 100), end: None }], 0, |_, _| String::new());
    let others = keys(&others);
    assert_eq!(others.iter().collect::<std::collections::BTreeSet<_>>().len(), 5);
    assert!(!others.contains(&key[0]));
}

#[test]
fn who_is_told_is_noted_when_it_fires() {
    let mut book = book();
    take(&mut book, 0, pending("/a", 100), None);
    book.advance(200);
    assert_eq!((due_of(&book, 200), book.waiting("team", 200)), (vec![], 0));
    take(&mut book, 300, fired("/a", 100), None);
    assert_eq!((due_of(&book, 300), book.waiting("team", 300)), (vec![is("/a", false)], 1));
    assert_eq!(book.to_tell("others", 300, None, false, |_| true), []);
    book.told("team", &due(&book, 300), 300);
    assert_eq!((due_of(&book, 300), book.waiting("team", 300)), (vec![], 0));
    take(&mut book, 500, fired("/a", 100), over(400));
    assert_eq!(due_of(&book, 500), [is("/a", true)]);
    book.told("team", &due(&book, 500), 500);
    assert_eq!((due_of(&book, 500), book.waiting("team", 500)), (vec![], 0));
    // A rule that tells nobody.
    take(&mut book, 600, ActiveAlert { rule: "odd".into(), ..fired("/a", 600) }, None);
    book.advance(600);
    assert_eq!(due_of(&book, 600), []);
}

#[test]
fn what_never_fired_is_gone_and_nobody_is_told() {
    let mut book = book();
    take(&mut book, 0, pending("/a", 100), None);
    take(&mut book, 0, pending("/a", 100), Some(AlertEnd::NeverFired));
    book.advance(200);
    assert_eq!((book.alerts(200), due(&book, 200)), (vec![], vec![]));
}

#[test]
fn what_was_over_before_anybody_looked_is_told() {
    let mut book = book();
    book.take(
        "prod",
        vec![AlertNews { alert: fired("/a", 100), end: None }, AlertNews { alert: fired("/a", 100), end: over(500) }],
        20_000,
        |_, _| String::new(),
    );
    book.advance(20_000);
    assert_eq!(due_of(&book, 20_000), [is("/a", true)]);
}

#[test]
fn what_is_over_while_it_is_told_is_told_next() {
    let mut book = book();
    take(&mut book, 100, fired("/a", 100), None);
    let message = due(&book, 100);
    take(&mut book, 200, fired("/a", 100), over(150));
    book.told("team", &message, 210);
    assert_eq!(due_of(&book, 210), [is("/a", true)]);
}

#[test]
fn what_still_fires_is_told_again_where_that_is_wanted() {
    let mut book = book();
    take(&mut book, 100, fired("/a", 100), None);
    book.told("team", &due(&book, 100), 1_000);
    let again = |book: &Book, now_ms| book.to_tell("team", now_ms, Some(60_000), false, |_| true).len();
    assert_eq!((again(&book, 60_999), again(&book, 61_000), due(&book, i64::MAX).len()), (0, 1, 0));
    book.told("team", &book.to_tell("team", 61_000, Some(60_000), false, |_| true), 61_000);
    assert_eq!((again(&book, 120_999), again(&book, 121_000)), (0, 1));
    take(&mut book, 130_000, fired("/a", 100), over(130_000));
    book.told("team", &due(&book, 130_000), 130_000);
    assert_eq!(again(&book, i64::MAX), 0, "what is over is told once");
}

#[test]
fn what_is_not_stored_is_not_told_where_it_can_be() {
    let mut book = book();
    take(&mut book, 100, fired("/a", 100), None);
    let stored = |book: &Book| book.to_tell("team", 100, None, true, |_| true).len();
    assert_eq!((stored(&book), due(&book, 100).len()), (0, 1));
    let unsaved = book.take_unsaved();
    assert_eq!(stored(&book), 1);
    book.not_saved(unsaved);
    assert_eq!(stored(&book), 0);
    assert_eq!(book.take_unsaved().alerts.len(), 1);
}

#[test]
fn somebody_looks_at_an_alert_until_it_is_over() {
    let mut book = book();
    take(&mut book, 100, fired("/a", 100), None);
    let key = keys(&book).remove(0);
    let by = Acknowledgement { by: "anna".into(), at_ms: 200, reason: "on it".into() };
    book.acknowledge(&key, by.clone()).unwrap();
    take(&mut book, 300, ActiveAlert { unknown_since: Some(TimeMs(300)), ..fired("/a", 100) }, None);
    assert_eq!(book.alert(&key).unwrap().acked_by, Some(by.clone()));
    assert_eq!(due_of(&book, 300), [is("/a", false)], "it is told all the same");
    take(&mut book, 400, fired("/a", 100), over(400));
    assert_eq!(book.alerts(400)[0].acked_by, Some(by.clone()));
    assert_eq!(book.alert(&key), None);
    assert!(matches!(book.acknowledge(&key, by.clone()), Err(BookError::NoAlert(_))));
    let Err(BookError::NoAlert(told)) = book.acknowledge(&"x".repeat(10_000), by) else { panic!() };
    assert_eq!(told.len(), 80);
}

#[test]
fn the_worst_and_newest_comes_first() {
    let mut book = book();
    let odd = |alert: ActiveAlert| ActiveAlert { rule: "odd".into(), ..alert };
    for (alert, over_at) in
        [(fired("/over-first", 10), 500), (fired("/over-last", 20), 900), (odd(fired("/over-between", 10)), 700)]
    {
        take(&mut book, 0, alert.clone(), None);
        take(&mut book, 0, alert, over(over_at));
    }
    take(&mut book, 0, pending("/pending", 950), None);
    take(&mut book, 0, odd(pending("/pending-odd", 960)), None);
    take(&mut book, 0, odd(fired("/odd", 800)), None);
    take(&mut book, 0, fired("/older", 100), None);
    take(&mut book, 0, fired("/newer", 200), None);
    let locks: Vec<String> = book.alerts(1_000).into_iter().map(|alert| alert.lock).collect();
    assert_eq!(
        locks,
        ["/newer", "/older", "/odd", "/pending", "/pending-odd", "/over-last", "/over-between", "/over-first"]
    );
    // Receivers: what is over first, then oldest first.
    assert_eq!(
        due_of(&book, 1_000),
        [is("/over-first", true), is("/over-last", true), is("/older", false), is("/newer", false)]
    );
}

#[test]
fn a_message_has_so_many_and_leaves_out_what_is_not_wanted() {
    let mut book = book();
    for number in 0..BATCH_MAX as i64 + 10 {
        take(&mut book, 0, fired(&format!("/{number}"), 100 + number), None);
    }
    let first = due(&book, 0);
    assert_eq!(first.len(), BATCH_MAX);
    // None of the first fifty is taken: the others are.
    let others = book.to_tell("team", 0, None, false, |key| first.iter().all(|one| one.key != key));
    assert_eq!(others.len(), 10);
    book.told("team", &first, 0);
    assert_eq!(due(&book, 0), others);
    assert_eq!(book.waiting("team", 0), 10);
}

#[test]
fn what_is_over_is_kept_for_a_while_and_not_too_many_of_it() {
    let mut book = book();
    let count = RESOLVED_MAX as i64 + 50;
    for number in 0..count {
        take(&mut book, number, fired(&format!("/{number}"), number), over(number));
    }
    take(&mut book, 0, fired("/fires", 0), None);
    // All are in the file by then.
    book.take_unsaved();
    book.advance(count);
    let alerts = book.alerts(count);
    assert_eq!(alerts.len(), RESOLVED_MAX + 1);
    assert_eq!((&*alerts[0].lock, alerts.last().unwrap().resolved_at_ms), ("/fires", Some(50)));
    let unsaved = book.take_unsaved();
    assert_eq!(unsaved.alerts.iter().filter(|(_, kept)| kept.is_none()).count(), 50, "they leave the file too");
    book.advance(100 + RESOLVED_MS_MAX);
    assert_eq!(book.alerts(0).last().unwrap().resolved_at_ms, Some(100));
    book.advance(i64::MAX);
    assert_eq!(book.alerts(0).len(), 1, "what fires stays");
}

#[test]
fn hostile_names_are_kept_as_they_are() {
    let names = ["/a\0b", "/\u{202e}\u{fffd}\"'<&>", "", &"/x".repeat(50_000), "/a\nkey", "/%2e%2e/../"];
    let mut book = book();
    for (name, at_ms) in names.iter().zip(1..) {
        let alert = ActiveAlert { sentence: (*name).into(), rule: (*name).into(), ..fired(name, at_ms) };
        book.take(name, vec![AlertNews { alert, end: None }], 0, |_, _| (*name).to_owned());
    }
    let alerts = book.alerts(0);
    assert_eq!(alerts.len(), names.len());
    for alert in &alerts {
        assert!(alert.key.len() == 24 && alert.key.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(names.contains(&&*alert.lock) && alert.lock == alert.ensemble && alert.lock == alert.sentence);
    }
    // They go through the file, and to the next process.
    for (_, kept) in book.take_unsaved().alerts {
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<Option<KeptAlert>>(&text).unwrap(), kept);
    }
    for (name, at_ms) in names.iter().zip(1..) {
        let known = book.active_in(name);
        assert_eq!((known.len(), &*known[0].lock, known[0].found_at), (1, *name, TimeMs(at_ms)));
    }
}

#[test]
fn what_is_pending_is_stored_once_it_has_lasted() {
    let mut book = book();
    book.advance(0);
    take(&mut book, 0, pending("/gone", 0), None);
    take(&mut book, 0, pending("/lasts", 0), None);
    take(&mut book, 0, pending("/seen", 0), None);
    let seen = book.alerts(0).into_iter().find(|alert| alert.lock == "/seen").unwrap().key;
    let by = Acknowledgement { by: "ada".to_owned(), at_ms: 0, reason: "mine".to_owned() };
    book.acknowledge(&seen, by).unwrap();
    let stored = |book: &mut Book| {
        let alerts = book.take_unsaved().alerts;
        alerts.into_iter().map(|(_, kept)| kept.map(|kept| kept.alert.lock)).collect::<Vec<_>>()
    };
    assert_eq!(stored(&mut book), [Some("/seen".to_owned())]);
    take(&mut book, 500, pending("/gone", 0), Some(AlertEnd::NeverFired));
    book.advance(YOUNG_MS);
    assert_eq!(stored(&mut book), [Some("/lasts".to_owned())]);
    take(&mut book, YOUNG_MS, pending("/lasts", 0), Some(AlertEnd::NeverFired));
    assert_eq!(stored(&mut book), [None], "it leaves the file");
}

#[test]
fn what_is_of_an_ensemble_that_is_watched_no_longer_is_over() {
    let mut book = book();
    take(&mut book, 0, fired("/fires", 0), None);
    take(&mut book, 0, pending("/waits", 0), None);
    book.end_elsewhere(|name| name == "prod", 10);
    assert_eq!(book.alerts(0).len(), 2);
    book.end_elsewhere(|name| name == "other", 10);
    let alerts = book.alerts(0);
    assert_eq!((alerts.len(), alerts[0].state, alerts[0].resolved_at_ms), (1, AlertState::Resolved, Some(10)));
    assert_eq!(due_of(&book, 10), [("/fires".to_owned(), true)]);
}
