//! What the section draws.

use super::lock_orders_markup;
use crate::ports::FormTokens;
use lockscope_view::{Confidence, LockOrder, LockOrders, OrderSeen, OrderSnooze, OrderWarning, SessionId};

fn order(held: &str, wanted: &str, count: u64) -> LockOrder {
    LockOrder {
        ensemble: "default".to_owned(),
        held: held.to_owned(),
        wanted: wanted.to_owned(),
        count,
        sessions: 2,
        last_at_ms: 1_790_000_000_000,
    }
}

fn warning() -> OrderWarning {
    OrderWarning {
        ensemble: "default".to_owned(),
        a: "/a".to_owned(),
        b: "/b".to_owned(),
        through: Vec::new(),
        count: 17,
        sessions: 2,
        closest_ms: Some(180),
        closest_at_ms: Some(1_790_000_000_000),
        confidence: Confidence::High,
        sentence: "Some held <a>.".to_owned(),
        since_ms: 1_790_000_000_000,
        last: vec![OrderSeen {
            held: "/a".to_owned(),
            wanted: "/b".to_owned(),
            session_id: SessionId(5),
            label: Some("<b>worker".to_owned()),
            count: 14,
            at_ms: 1_790_000_000_000,
        }],
        snoozed_by: None,
    }
}

#[test]
fn nothing_seen_is_said() {
    let html = lock_orders_markup(&LockOrders::default(), 0, Some(FormTokens::default()));
    assert!(html.contains("No session was seen to ask for a lock while it held another."), "{html}");
    assert!(!html.contains("<table"));
}

#[test]
fn a_warning_says_who_and_how_near_and_escapes_what_comes_from_outside() {
    let edges = vec![order("/a", "/b", 14), order("/b", "/a", 3)];
    let orders = LockOrders { edges, warnings: vec![warning()], snoozes: Vec::new() };
    let html = lock_orders_markup(&orders, 1_790_000_000_000, None);
    for part in [
        "Two of them passed each other by 180 ms on",
        "Seen 17 times by 2 sessions. <a href=\"/help#number-confidence\"",
        "How sure</a>: sure.",
        "14 times, last on",
        "&lt;b&gt;worker",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!html.contains("<b>worker") && html.contains("/lock?path=/a\""));
}

#[test]
fn more_orders_than_fit_are_a_number() {
    let edges = (0..80).map(|at| order("/a", &format!("/b{at}"), at)).collect();
    let html = lock_orders_markup(&LockOrders { edges, ..LockOrders::default() }, 0, None);
    assert!(html.contains("Every order seen: 80") && html.contains("30 more are not shown."));
    assert!(html.contains("/b79") && !html.contains("/b29<"));
}

fn snooze(id: u64, until_at_ms: Option<i64>) -> OrderSnooze {
    OrderSnooze {
        id,
        ensemble: "default".to_owned(),
        classes: vec!["/a".to_owned(), "/b".to_owned()],
        by: "<i>ada".to_owned(),
        at_ms: 1_790_000_000_000,
        until_at_ms,
        reason: "<i>mended in May".to_owned(),
    }
}

#[test]
fn only_who_may_act_has_forms() {
    let snoozes = vec![snooze(7, None)];
    let silent = OrderWarning { snoozed_by: Some(snooze(8, Some(1_790_000_000_000))), ..warning() };
    let orders = LockOrders { edges: vec![order("/a", "/b", 14)], warnings: vec![silent, warning()], snoozes };
    let html = lock_orders_markup(&orders, 1_790_000_000_000, Some(FormTokens::default()));
    for part in [
        "<s>Some held &lt;a&gt;.</s>",
        "Snoozed by <bdi>&lt;i&gt;ada</bdi>",
        "&lt;i&gt;mended in May",
        "1 deadlock may come",
        "Snoozed, and not warned of at present: 1",
        "name=\"class\" value=\"/b\"",
        "name=\"id\" value=\"8\"",
        "name=\"id\" value=\"7\"",
        " for good",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(html.find("order-snooze\"").unwrap() < html.find("<s>").unwrap(), "what is silenced comes last: {html}");
    let html = lock_orders_markup(&orders, 1_790_000_000_000, None);
    assert!(!html.contains("<form") && html.contains("order-snoozed"), "{html}");
}

#[test]
fn what_is_silenced_alone_is_said() {
    let silent = OrderWarning { snoozed_by: Some(snooze(8, None)), ..warning() };
    let orders = LockOrders { edges: vec![order("/a", "/b", 14)], warnings: vec![silent], snoozes: Vec::new() };
    let html = lock_orders_markup(&orders, 0, None);
    assert!(html.contains("Nothing to warn of but 1 deadlock that is snoozed."), "{html}");
}
