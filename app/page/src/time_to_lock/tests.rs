//! What the section draws.

use super::time_to_lock_markup;
use lockscope_view::{
    HoldsSource, NoEstimateReason, RemainingWait, RootState, SessionId, TimeToLock, WaitCalibration, WaitTime,
};

fn wait(place: u32, low_ms: i64) -> WaitTime {
    WaitTime {
        place,
        path: format!("/l/lock-{place:010}"),
        session_id: Some(SessionId(5)),
        label: Some("<b>worker".to_owned()),
        waiting_since_ms: Some(0),
        remaining: Some(RemainingWait { low_ms, middle_ms: 2 * low_ms, high_ms: 3 * low_ms }),
        reason: None,
    }
}

fn told() -> TimeToLock {
    TimeToLock {
        ensemble: "default".to_owned(),
        path: "/l".to_owned(),
        state: RootState::Live,
        at_ms: 1_790_000_000_000,
        waiter_count: 12,
        reason: None,
        waits: vec![wait(1, 1_000), wait(2, 4_000)],
        asked: None,
        last: Some(wait(12, 60_000)),
        hold_count: 256,
        source: HoldsSource::Recording,
        calibration: Some(WaitCalibration { judged: 212, right: 172, sooner: 19, later: 21, unknown: 4, untold: 0 }),
    }
}

#[test]
fn it_says_how_long_for_whom_and_how_often_that_was_right() {
    let html = time_to_lock_markup(&told());
    for part in [
        "The first in line gets it in 1.0 s to 3.0 s; the last, 12th, in 1 min 00 s to 3 min 00 s (80 %, as of 14:13:20 UTC).",
        "right 81 % of 212 waits of the last day: 19 ended sooner, 21 later.",
        "&lt;b&gt;worker",
        "data-explain=\"term-time-to-lock\"",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert_eq!(html.matches("<tr>").count(), 4, "a head, two and the last: {html}");
    assert!(!html.contains("<b>worker"));
}

#[test]
fn a_document_has_room_for_what_is_not_known_yet() {
    let html = |calibration, is_kept| super::time_to_lock_first(&TimeToLock { calibration, ..told() }, is_kept).0;
    assert!(html(None, true).contains("class=\"quiet\">\u{a0}</p>"), "{}", html(None, true));
    assert!(html(None, false).contains("Nothing recorded says"), "nothing will be known");
    let known = html(told().calibration, true);
    assert_eq!(known, time_to_lock_markup(&told()));
    assert_eq!(html(None, true).matches("<tr>").count(), known.matches("<tr>").count());
}

#[test]
fn where_nothing_can_be_told_it_says_why_and_where_nobody_waits_nothing() {
    let deadlocked = TimeToLock {
        reason: Some(NoEstimateReason::Deadlocked),
        waits: vec![WaitTime { remaining: None, reason: Some(NoEstimateReason::Deadlocked), ..wait(1, 0) }],
        ..told()
    };
    let html = time_to_lock_markup(&deadlocked);
    assert!(html.contains("There is no estimate: it is in a deadlock") && !html.contains("<table"), "{html}");
    assert!(time_to_lock_markup(&TimeToLock { waiter_count: 0, ..told() }).is_empty());
}
