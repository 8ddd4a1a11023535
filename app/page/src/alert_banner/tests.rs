//! The line of alerts: what it names, and that names stay text.

use super::*;
use lockscope_view::{Acknowledgement, AlertState, Severity};

fn alert(lock: &str, severity: Severity) -> Alert {
    Alert {
        key: format!("key of {lock}"),
        rule: "stuck".to_owned(),
        ensemble: "prod".to_owned(),
        lock: lock.to_owned(),
        severity,
        state: AlertState::Firing,
        since_at_ms: 1_000,
        fired_at_ms: Some(2_000),
        resolved_at_ms: None,
        unknown_since_ms: None,
        sentence: "held too long".to_owned(),
        link: "/lock?path=x".to_owned(),
        silenced_by: None,
        acked_by: None,
    }
}

fn looked_at(by: &str, alert: Alert) -> Alert {
    let acked_by = Some(Acknowledgement { by: by.to_owned(), at_ms: 61_000, reason: "on it".to_owned() });
    Alert { acked_by, ..alert }
}

fn html(firing: &[Alert]) -> String {
    alert_banner(firing, 241_000).into_markup()
}

#[test]
fn without_alerts_there_is_no_line() {
    assert_eq!(html(&[]), "");
}

#[test]
fn what_nobody_looks_at_comes_before_what_somebody_does() {
    let all = [looked_at("ada", alert("/a", Severity::Critical)), alert("/b", Severity::Warning)];
    let both = html(&all);
    assert!(both.contains("2 alerts fire") && both.contains("and 1 more"), "{both}");
    assert!(both.contains("path=/b") && !both.contains("ada has looked"), "{both}");
    assert!(both.contains("aria-label=\"Alerts that fire\"") && both.contains(" data-severity=\"warning\""), "{both}");
    let only = html(&all[..1]);
    assert!(only.contains("1 alert fires") && only.contains("ada has looked at it for"), "{only}");
    assert!(only.contains(">3 min 00 s</span>"), "{only}");
    assert!(!only.contains("and ") && !only.contains("alert-bar\" data-severity"), "{only}");
}

#[test]
fn however_many_fire_the_line_has_the_keys_of_the_newest() {
    let fired = |at_ms: i64| Alert { fired_at_ms: Some(at_ms), ..alert(&format!("/{at_ms}"), Severity::Warning) };
    let shown = html(&(0..1_000).map(fired).collect::<Vec<_>>());
    assert!(shown.contains("data-number=\"1000\"") && shown.contains("data-whole-after=\"968\""), "{shown}");
    assert!(shown.contains("999 key of /999") && shown.contains("968 key of /968"), "{shown}");
    assert!(!shown.contains("key of /967") && shown.len() < 4_000, "{} bytes", shown.len());
    // Those that a browser may tell of are those that are new.
    assert!(shown.contains("<data hidden value=\"key of /999\""), "{shown}");
    let few = html(&(0..32).map(fired).collect::<Vec<_>>());
    assert!(!few.contains("data-whole-after") && few.contains("0 key of /0"), "{few}");
}

#[test]
fn what_is_not_seen_any_more_is_said_to_be_so() {
    let unseen = Alert { unknown_since_ms: Some(181_000), ..alert("/a", Severity::Critical) };
    assert!(html(&[unseen]).contains("Not seen for"));
}

#[test]
fn names_are_text_and_many_alerts_are_a_number() {
    let hostile = Alert { sentence: "\"><script>x()</script>".to_owned(), ..alert("/<b>&\"x", Severity::Critical) };
    let shown = html(&vec![looked_at("<i>eve</i>", hostile); 1_000]);
    let text = shown.replace("title=\"/<b>&amp;&quot;x\"", "");
    assert!(!text.contains("<script") && !text.contains("<b>") && !text.contains("<i>"), "{text}");
    assert!(shown.contains(&words::fire(1_000)) && shown.matches("<data").count() == CARRIED_MAX);
}
