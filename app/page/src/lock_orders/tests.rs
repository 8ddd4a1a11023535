//! What the section draws.

use super::lock_orders_markup;
use lockscope_wire::{Confidence, LockOrder, LockOrders, OrderSeen, OrderWarning, SessionId};

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
    }
}

#[test]
fn nothing_seen_is_said() {
    let html = lock_orders_markup(&LockOrders::default(), 0);
    assert!(html.contains("No session was seen to ask for a lock while it held another."), "{html}");
    assert!(!html.contains("<table"));
}

#[test]
fn a_warning_says_who_and_how_near_and_escapes_what_comes_from_outside() {
    let orders = LockOrders { edges: vec![order("/a", "/b", 14), order("/b", "/a", 3)], warnings: vec![warning()] };
    let html = lock_orders_markup(&orders, 1_790_000_000_000);
    for part in [
        "Two of them passed each other by 180 ms on",
        "Seen 17 times by 2 sessions. Sure.",
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
    let html = lock_orders_markup(&LockOrders { edges, warnings: Vec::new() }, 0);
    assert!(html.contains("Every order seen: 80") && html.contains("30 more are not shown."));
    assert!(html.contains("/b79") && !html.contains("/b29<"));
}
