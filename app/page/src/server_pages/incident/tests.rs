//! The page of an invented incident.

use super::*;
use crate::shell::AssetNames;
use lockscope_view::{Person, Role, SignedBy};

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
    let lane = IncidentLane {
        who: hostile.clone(),
        url: None,
        lock: hostile.clone(),
        joined_ms: 0,
        held_ms: Some(5),
        left_ms: None,
        how: "held still",
        is_root: true,
        stands_by: false,
    };
    let fact =
        IncidentFact { at_ms: 1, severity: 2, name: hostile.clone(), lock: hostile.clone(), text: hostile.clone() };
    let what = IncidentActKind::Alert { rule: hostile.clone(), until_ms: None, sentence: hostile.clone() };
    let act = IncidentAct { at_ms: 1, lock: hostile.clone(), what, url: None };
    let of = IncidentView {
        sentence: hostile.clone(),
        worst: Verdict::Stuck,
        finding: None,
        from_ms: 0,
        to_ms: None,
        now_ms: 10,
        locks: vec![(hostile.clone(), "/lock".to_owned())],
        locks_left_out: 0,
        lanes: vec![lane],
        lanes_left_out: 2,
        depth: vec![(0, 1)],
        is_depth_least: true,
        victims: (1, 1),
        waiting_ms: 5,
        facts: vec![fact],
        earlier: vec![IncidentBefore { from_ms: 1, lasted_ms: 2, ended: "let go", url: "/incident?id=1".to_owned() }],
        seen_before: 1,
        again: hostile.clone(),
        alike: Some(IncidentsAlike {
            sentence: hostile.clone(),
            rows: vec![AlikeIncident {
                from_ms: 1,
                lasted_ms: 2,
                lock: hostile.clone(),
                ended: "let go",
                is_likewise: true,
                url: "/incident?id=1".to_owned(),
            }],
        }),
        acts: vec![act],
        ways: Vec::new(),
        list_url: "/incidents".to_owned(),
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
