//! The page of an invented incident.

use super::*;
use crate::shell::AssetNames;
use lockscope_view::past::AlikeIncidents;
use lockscope_view::{Person, Role, SignedBy, Verdict};

#[test]
fn bars_stay_within_the_axis() {
    let axis = Axis { from_ms: 1_000, to_ms: 2_000 };
    assert_eq!(axis.bar(0, 1_500), (0, 500));
    assert_eq!(axis.bar(1_250, 9_000), (250, 750));
    assert_eq!(axis.bar(1_300, 1_300), (300, 2));
    assert_eq!(axis.bar(2_000, 2_000), (998, 2));
}

#[test]
fn depth_is_drawn_in_steps_that_stay_until_the_end() {
    let axis = Axis { from_ms: 0, to_ms: 1_000 };
    assert_eq!(steps(&[(100, 1), (250, 2), (900, 0)], 2, axis), "M0 40H100V20H250V0H900V40H1000V40Z");
    assert_eq!(steps(&[(-5, 2)], 2, axis), "M0 40H0V0H1000V40Z", "whoever waited before it began");
}

#[test]
fn what_clients_wrote_stays_text() {
    let hostile = "</script><script>alert(1)</script>\u{202e}".to_owned();
    let life = IncidentLife {
        lock: hostile.clone(),
        label: Some(hostile.clone()),
        held_at_ms: Some(5),
        is_root: true,
        is_waiting: true,
        ..IncidentLife::default()
    };
    let fact = Mark {
        at_ms: 1,
        severity: 2,
        code: hostile.clone(),
        path: Some(hostile.clone()),
        text: hostile.clone(),
        ..Mark::default()
    };
    let alert = IncidentAlert {
        rule: hostile.clone(),
        lock: hostile.clone(),
        sentence: hostile.clone(),
        ..IncidentAlert::default()
    };
    let release = IncidentRelease { lock: hostile.clone(), by: Some(hostile.clone()), ..IncidentRelease::default() };
    let alike = AlikeIncidents {
        count: 1,
        sentence: hostile.clone(),
        incidents: vec![AlikeIncident { root_lock: hostile.clone(), is_likewise: true, ..AlikeIncident::default() }],
        ..AlikeIncidents::default()
    };
    let incident = Incident {
        sentence: hostile.clone(),
        worst: Verdict::Stuck,
        locks: vec![hostile.clone()],
        is_lower_bound: true,
        victims: 1,
        ..Incident::default()
    };
    let incident = OneIncident {
        ensemble: hostile.clone(),
        incident,
        lives: vec![life],
        lives_left_out: 2,
        earlier: vec![EarlierIncident { from_at_ms: 1, lasted_ms: 2, ..EarlierIncident::default() }],
        again: Some(hostile.clone()),
        alike: Some(alike),
        releases: vec![release],
        alerts: vec![alert],
    };
    let of = IncidentView {
        incident,
        facts: vec![fact],
        now_ms: 10,
        ensemble: hostile.clone(),
        url: "/incident?id=".to_owned(),
        ways: Vec::new(),
    };
    let person = Person {
        name: hostile,
        role: Role::Viewer,
        by: SignedBy::Token,
        may_release: false,
        may_audit: false,
        can_sign_in: true,
        keeps_history: true,
        has_fleet: false,
    };
    let assets = AssetNames::default();
    let tab = crate::document_title::DocumentTitle::default();
    let html = incident_page(
        &ServerPage {
            assets: &assets,
            nonce: "n",
            person: &person,
            tab,
            alerts: None,
            forms: crate::ports::FormTokens::default(),
        },
        &of,
    );
    assert_eq!(html.matches("<script").count(), 2, "those of the head and the end of the document alone");
    assert!(!html.contains('\u{202e}') && html.contains("data-lane=\"root\""));
}
