//! What is said of other replicas' alerts: of the ensembles that they are asked about alone, and not known when they are
//! gone.

use super::*;
use lockscope_wire::{AlertMatchers, Severity};

fn alert(key: &str, ensemble: &str, state: AlertState) -> Alert {
    Alert {
        key: key.to_owned(),
        rule: "held".to_owned(),
        ensemble: ensemble.to_owned(),
        lock: "/a".to_owned(),
        severity: Severity::Warning,
        state,
        since_at_ms: 1,
        fired_at_ms: Some(2),
        resolved_at_ms: None,
        unknown_since_ms: None,
        sentence: String::new(),
        link: String::new(),
        silenced_by: None,
        acked_by: None,
    }
}

fn silence(id: u64, ensemble: Option<&str>) -> Silence {
    let matchers = AlertMatchers { ensemble: ensemble.map(str::to_owned), ..AlertMatchers::default() };
    Silence { id, matchers, by: String::new(), at_ms: 1, until_at_ms: 9, reason: String::new() }
}

fn replica(id: &str) -> ReplicaAddress {
    ReplicaAddress { id: id.to_owned(), address: format!("http://{id}") }
}

#[test]
fn each_is_listed_once_and_what_is_lost_is_not_known() {
    let told = Alerts {
        alerts: vec![alert("1", "x", AlertState::Firing), alert("2", "y", AlertState::Firing)],
        silences: vec![silence(1, Some("x")), silence(2, Some("y")), silence(3, None)],
        ..Alerts::default()
    };
    let x = heard(replica("a"), vec!["x".to_owned()], told, 50);
    assert_eq!(
        x.alerts.iter().map(|alert| &*alert.key).collect::<Vec<_>>(),
        ["1"],
        "the other is asked of somebody else"
    );
    assert_eq!(x.silences.iter().map(|silence| silence.id).collect::<Vec<_>>(), [1, 3]);

    let gone = lost(Some(replica("b")), vec!["x".to_owned()], "it does not answer", std::slice::from_ref(&x));
    assert_eq!(gone.alerts[0].unknown_since_ms, Some(50));
    let mut own = Alerts {
        alerts: vec![alert("0", "own", AlertState::Pending)],
        silences: vec![silence(3, None)],
        ..Alerts::default()
    };
    merge(&mut own, &[gone]);
    assert_eq!(own.alerts.iter().map(|alert| &*alert.key).collect::<Vec<_>>(), ["1", "0"], "what fires comes first");
    assert_eq!(own.silences.iter().map(|silence| silence.id).collect::<Vec<_>>(), [3, 1]);
    assert_eq!(own.missing, ["of x: it does not answer"]);
    let never = lost(None, vec!["z".to_owned()], "nobody watches it", &[x]);
    assert!(never.alerts.is_empty() && never.silences.is_empty());
}
