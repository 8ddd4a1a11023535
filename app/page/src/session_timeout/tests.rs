//! What the section draws.

use super::session_timeout_markup;
use lockscope_view::{SessionTimeout, TimeoutOutcome, TimeoutUnknownReason};

fn told(outcome: TimeoutOutcome) -> SessionTimeout {
    SessionTimeout {
        at_ms: 1_790_000_000_000,
        timeout_ms: Some(40_000),
        silence_at_least_ms: 12_000,
        silence_at_most_ms: 13_300,
        over_ms: 3_600_000,
        outcome,
    }
}

#[test]
fn a_long_time_out_says_what_would_be_enough_and_what_that_saves() {
    let html = session_timeout_markup(&told(TimeoutOutcome::Long { enough_ms: 10_000 }));
    for part in [
        "The time-out of 40.0 s is longer than it must be: this client was never silent for more than 13.3 s in 1 h 00 min (as of 14:13:20 UTC).",
        "12.0 s to 13.3 s",
        "to 10.0 s (sessionTimeoutMs in Curator",
        "others then get its locks 30.0 s sooner",
        "data-outcome=\"long\"",
        "href=\"/help#finding-long-timeout\"",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert_eq!(html.matches("<dt>").count(), 5, "{html}");
    assert_eq!(html.matches("data-explain=\"number-").count(), 5, "each number has its definition: {html}");
}

#[test]
fn a_short_one_says_how_near_it_was() {
    let near = SessionTimeout { timeout_ms: Some(15_000), ..told(TimeoutOutcome::Short { enough_ms: 24_000 }) };
    let html = session_timeout_markup(&near);
    for part in [
        "once silent for at least 12.0 s of its time-out of 15.0 s, and went on",
        "≤ 3.0 s",
        "If they are to be expected: set the session time-out",
        "garbage collection",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[test]
fn what_suits_needs_nothing_done_and_what_is_not_known_says_why() {
    let html = session_timeout_markup(&told(TimeoutOutcome::Suits { enough_ms: 38_000 }));
    assert!(html.contains("suits this client") && !html.contains("<ol"), "{html}");
    for why in TimeoutUnknownReason::ALL {
        let unknown = SessionTimeout {
            timeout_ms: None,
            silence_at_least_ms: 0,
            silence_at_most_ms: 0,
            ..told(TimeoutOutcome::Unknown(why))
        };
        let html = session_timeout_markup(&unknown);
        assert!(html.contains("is not known: ") && html.contains("not known</dd>"), "{html}");
        assert!(!html.contains("0 ms"), "what is not known is never nought: {html}");
    }
}
