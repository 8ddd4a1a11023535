//! Warnings of lock orders that somebody silenced.

use std::sync::Arc;

use lockscope_core::lock_order::{OrderSnooze, SNOOZES_MAX};
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;

use crate::lock_order::Sessions;

fn snooze(classes: &[&str], until: Option<i64>) -> OrderSnooze {
    OrderSnooze {
        id: 1,
        classes: classes.iter().map(|class| Arc::from(*class)).collect(),
        by: "ada".into(),
        reason: "mended in May".into(),
        at: TimeMs(1_000),
        until: until.map(TimeMs),
    }
}

fn say(sessions: &mut Sessions, snoozes: &[OrderSnooze]) {
    sessions.apply(Observation::OrdersSnoozed(snoozes.to_vec()));
    sessions.tick(300);
}

/// Warnings that are not silenced.
fn loud(sessions: &Sessions) -> Vec<String> {
    let loud = sessions.orders().warnings().filter(|warning| warning.snooze.is_none());
    loud.map(|warning| warning.snoozed_classes().join(" ")).collect()
}

fn opposite() -> Sessions {
    let mut sessions = Sessions::new();
    sessions.nest(1, &["/a", "/b"]);
    sessions.nest(2, &["/b", "/a"]);
    sessions.tick(300);
    assert_eq!((sessions.findings("/a").len(), sessions.findings("/b").len()), (1, 1));
    sessions
}

#[test]
fn a_snooze_silences_the_finding_and_keeps_the_warning() {
    let mut sessions = opposite();
    say(&mut sessions, &[snooze(&["/a", "/b"], None)]);
    assert!(sessions.findings("/a").is_empty() && sessions.findings("/b").is_empty() && loud(&sessions).is_empty());
    let warning = sessions.orders().warnings().next().unwrap();
    assert_eq!(warning.snooze.map(|snooze| &*snooze.reason), Some("mended in May"));
    // It goes on to be counted, and is silent all the same.
    sessions.nest(3, &["/a", "/b"]);
    sessions.tick(300);
    assert!(sessions.findings("/a").is_empty());
    say(&mut sessions, &[]);
    assert_eq!((sessions.findings("/a").len(), loud(&sessions)), (1, vec!["/a /b".to_owned()]));
}

#[test]
fn a_snooze_ends_by_itself() {
    let mut sessions = opposite();
    let until = sessions.now + 5_000;
    say(&mut sessions, &[snooze(&["/a", "/b"], Some(until))]);
    assert!(sessions.findings("/a").is_empty());
    sessions.tick(until - sessions.now - 1);
    assert!(sessions.findings("/a").is_empty() && sessions.orders().snoozes.len() == 1);
    sessions.tick(1);
    sessions.tick(300);
    assert_eq!((sessions.findings("/a").len(), sessions.orders().snoozes.len()), (1, 0));
    // One that is over when it comes is none.
    say(&mut sessions, &[snooze(&["/a", "/b"], Some(until))]);
    assert_eq!((sessions.findings("/a").len(), sessions.orders().snoozes.len()), (1, 0));
}

#[test]
fn another_warning_of_the_same_locks_is_not_silenced() {
    let mut sessions = opposite();
    say(&mut sessions, &[snooze(&["/a", "/b"], None)]);
    sessions.nest(3, &["/b", "/c"]);
    sessions.nest(4, &["/c", "/b"]);
    sessions.tick(300);
    assert_eq!(loud(&sessions), ["/b /c"]);
    assert_eq!((sessions.findings("/a").len(), sessions.findings("/b").len()), (0, 1));
    for classes in [&["/b", "/a"][..], &["/a"], &["/a", "/b", "/c"], &["/*", "/b"], &[]] {
        say(&mut sessions, &[snooze(classes, None)]);
        assert_eq!(sessions.findings("/a").len(), 1, "{classes:?}");
    }
}

/// A pair stands for every longer circle through both its classes while it is warned of.
#[test]
fn a_longer_circle_behind_the_pair_is_not_silenced_with_it() {
    let longer = |sessions: &mut Sessions| {
        sessions.nest(3, &["/b", "/c"]);
        sessions.nest(4, &["/c", "/a"]);
        sessions.tick(300);
    };
    let mut before = opposite();
    longer(&mut before);
    assert_eq!(loud(&before), ["/a /b"]);
    say(&mut before, &[snooze(&["/a", "/b"], None)]);
    assert_eq!((loud(&before), before.findings("/a").len()), (vec!["/a /b /c".to_owned()], 1));
    let mut after = opposite();
    say(&mut after, &[snooze(&["/a", "/b"], None)]);
    longer(&mut after);
    assert_eq!((loud(&after), after.findings("/a").len()), (vec!["/a /b /c".to_owned()], 1));
}

#[test]
fn no_more_are_taken_in_than_there_is_room_for() {
    let mut sessions = opposite();
    let many: Vec<_> = (0..SNOOZES_MAX + 9).map(|at| snooze(&[&format!("/{at}")], None)).collect();
    say(&mut sessions, &many);
    assert_eq!(sessions.orders().snoozes.len(), SNOOZES_MAX);
}
