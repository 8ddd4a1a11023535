//! Counters and events in every order that matters.

use super::*;

fn facts(cversion: i32, children: u32) -> Facts {
    Facts {
        czxid: Zxid(1),
        mzxid: Zxid(1),
        pzxid: Zxid(1),
        ctime_ms: 0,
        version: 0,
        cversion,
        children,
        owner: None,
        payload: None,
        payload_bytes: 0,
    }
}

fn ledger() -> (StatCounters, Arc<str>) {
    let (mut ledger, path) = (StatCounters::default(), Arc::from("/d"));
    ledger.read(&path, &facts(10, 4), ChildEvents::default());
    (ledger, path)
}

fn stamp(ledger: &StatCounters) -> Version {
    ledger.check_of(&"/d".into()).unwrap().stamp
}

fn unseen(creates: u32, deletes: u32) -> Comparison {
    Comparison::Missed(Missed { creates, deletes })
}

#[test]
fn what_events_showed_is_no_difference() {
    let (mut ledger, _) = ledger();
    ledger.child_seen("/d", true);
    ledger.child_seen("/d", false);
    let stamp = stamp(&ledger);
    assert_eq!(ledger.check("/d", &facts(12, 4), stamp), Comparison::Complete);
}

#[test]
fn an_unseen_create_is_told_once() {
    let (mut ledger, _) = ledger();
    let before = stamp(&ledger);
    assert_eq!(ledger.check("/d", &facts(11, 5), before), unseen(1, 0));
    let after = stamp(&ledger);
    assert_eq!(ledger.check("/d", &facts(11, 5), after), Comparison::Complete);
    assert_eq!(
        ledger.check("/d", &facts(11, 5), before),
        Comparison::Doubtful,
        "a mark of what was counted before tells nothing"
    );
}

#[test]
fn events_ahead_of_the_counters_are_no_difference() {
    let (mut ledger, _) = ledger();
    let before = stamp(&ledger);
    ledger.child_seen("/d", true);
    assert_eq!(ledger.check("/d", &facts(10, 4), before), Comparison::Complete);
    let before = stamp(&ledger);
    assert_eq!(ledger.check("/d", &facts(11, 5), before), Comparison::Complete);
    let before = stamp(&ledger);
    assert_eq!(ledger.check("/d", &facts(12, 6), before), unseen(1, 0));
}

/// An event that came while the Stat was under way may be in the counters, or hide an unreadable child in them.
#[test]
fn what_an_event_may_hide_is_looked_for_until_it_is_known() {
    let (mut ledger, _) = ledger();
    let quick = |ledger: &mut StatCounters, cversion, children| {
        let before = stamp(ledger);
        ledger.child_seen("/d", true);
        ledger.check("/d", &facts(cversion, children), before)
    };
    assert_eq!(quick(&mut ledger, 11, 5), Comparison::Doubtful);
    assert_eq!(quick(&mut ledger, 12, 6), Comparison::Obscure, "a list is cheap here");
    let before = stamp(&ledger);
    assert_eq!(ledger.check("/d", &facts(12, 6), before), Comparison::Complete);
}

#[test]
fn a_long_queue_is_listed_only_when_nothing_else_tells() {
    let mut ledger = StatCounters::default();
    ledger.read(&"/d".into(), &facts(2_000, 2_000), ChildEvents::default());
    let told: Vec<Comparison> = (1..=8)
        .map(|n| {
            let before = stamp(&ledger);
            ledger.child_seen("/d", true);
            ledger.check("/d", &facts(2_000 + n, 2_000 + n.cast_unsigned()), before)
        })
        .collect();
    assert_eq!(told[..7], [Comparison::Doubtful; 7]);
    assert_eq!(told[7], Comparison::Obscure);
}

#[test]
fn a_new_directory_is_counted_from_its_creation() {
    let (mut ledger, path) = (StatCounters::default(), Arc::from("/d"));
    ledger.created("/d");
    ledger.child_seen("/d", true);
    assert!(ledger.read(&path, &facts(2, 2), ChildEvents::default()), "a child came that no event showed");
    let before = stamp(&ledger);
    assert_eq!(ledger.check("/d", &facts(2, 2), before), unseen(1, 0));
}

#[test]
fn a_child_seen_while_a_new_directory_was_read_may_hide_another() {
    let (mut ledger, path) = (StatCounters::default(), Arc::from("/d"));
    ledger.created("/d");
    ledger.child_seen("/d", true);
    assert!(ledger.read(&path, &facts(1, 1), ChildEvents { creates: 1, deletes: 0 }));
}

#[test]
fn counters_may_wrap() {
    let mut ledger = StatCounters::default();
    let path: Arc<str> = "/d".into();
    ledger.read(&path, &facts(-3, 1), ChildEvents::default());
    for created in [true, false] {
        ledger.child_seen("/d", created);
    }
    let before = stamp(&ledger);
    assert_eq!(ledger.check("/d", &facts(-1, 1), before), Comparison::Complete);
}

#[test]
fn a_round_takes_each_directory_once_and_ends() {
    let mut ledger = StatCounters::default();
    for name in ["/a", "/b", "/c"] {
        ledger.read(&name.into(), &facts(0, 0), ChildEvents::default());
    }
    ledger.begin_round();
    let turns: Vec<usize> = (0..3).map(|_| ledger.next_checks(2, 100).len()).collect();
    assert_eq!(turns, [2, 1, 0]);
    ledger.begin_round();
    assert_eq!((ledger.next_checks(9, 5).len(), ledger.next_checks(9, 1).len()), (2, 1), "bytes count too");
}

#[test]
fn ghosts_explain_as_many_deletions() {
    let (mut ledger, _) = ledger();
    ledger.add_ghosts("/d", 2);
    assert!(ledger.lay_ghosts("/d", 1));
    assert!(!ledger.lay_ghosts("/d", 2));
}
