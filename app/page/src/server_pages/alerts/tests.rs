//! The markup: hostile text stays text, forms are for those who may act, and every state has its words.

use super::*;
use crate::shell::AssetNames;
use lockscope_view::{
    Acknowledgement, Alert, AlertMatchers, AlertRoute, AlertRule, Alerts, Person, Role, Severity, SignedBy, Silence,
};

const NOW_MS: i64 = 1_700_000_000_000;
const HOSTILE: &str = "</script><script>alert(1)</script>\"\u{202e}";

fn person(can_sign_in: bool) -> Person {
    Person {
        name: "ada".to_owned(),
        role: Role::Operator,
        by: SignedBy::Token,
        may_release: false,
        may_audit: true,
        can_sign_in,
        keeps_history: true,
        has_fleet: false,
    }
}

fn drawn(of: &AlertsView) -> String {
    drawn_with(of, &AssetNames::default(), true)
}

fn drawn_with(of: &AlertsView, assets: &AssetNames, can_sign_in: bool) -> String {
    let tab = crate::document_title::DocumentTitle::default();
    alerts_page(
        &ServerPage {
            assets,
            nonce: "n",
            person: &person(can_sign_in),
            tab,
            alerts: None,
            forms: crate::ports::FormTokens::default(),
        },
        of,
    )
}

fn alert(key: &str, state: AlertState, severity: Severity) -> Alert {
    let fired_at_ms = (state != AlertState::Pending).then_some(NOW_MS - 215_000);
    Alert {
        key: key.to_owned(),
        rule: "stuck".to_owned(),
        ensemble: "default".to_owned(),
        lock: "/app/locks/orders".to_owned(),
        severity,
        state,
        since_at_ms: NOW_MS - 245_000,
        fired_at_ms,
        resolved_at_ms: (state == AlertState::Resolved).then_some(NOW_MS - 60_000),
        unknown_since_ms: None,
        sentence: "app-7 holds the lock for 4 min 05 s; 3 sessions wait for it.".to_owned(),
        link: "/lock?path=/app/locks/orders&at=1699999785000".to_owned(),
        silenced_by: None,
        acked_by: None,
    }
}

fn silence(id: u64, by: &str, reason: &str) -> Silence {
    let matchers = AlertMatchers { rule: Some("stuck".to_owned()), ensemble: None, path: Some("/app/*".to_owned()) };
    let (by, reason) = (by.to_owned(), reason.to_owned());
    Silence { id, matchers, by, at_ms: NOW_MS - 600_000, until_at_ms: NOW_MS + 6_600_000, reason }
}

fn rule(name: &str, when: &[&str], severity: Severity, routes: &[&str]) -> AlertRule {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    AlertRule {
        name: name.to_owned(),
        when: owned(when),
        path: "*".to_owned(),
        ensemble: None,
        for_ms: 30_000,
        severity,
        routes: owned(routes),
        is_built_in: routes.is_empty(),
    }
}

fn route(name: &str, kind: &str, trouble: &str) -> AlertRoute {
    AlertRoute {
        name: name.to_owned(),
        kind: kind.to_owned(),
        url: "https://hooks.example.com/…".to_owned(),
        waiting: if trouble.is_empty() { 0 } else { 1_204 },
        sent_at_ms: trouble.is_empty().then_some(NOW_MS - 200_000),
        trouble: trouble.to_owned(),
    }
}

fn rules() -> Vec<AlertRule> {
    vec![
        rule("deadlock", &["deadlocked"], Severity::Critical, &[]),
        rule("stuck", &["stuck", "nobody_home"], Severity::Critical, &[]),
        rule("double-owner", &["double_owner"], Severity::Critical, &[]),
    ]
}

fn view_of(alerts: Vec<Alert>) -> AlertsView {
    let alerts = Alerts { alerts, rules: rules(), ..Alerts::default() };
    AlertsView { alerts, now_ms: NOW_MS, may_act: true, is_signed_in: true, ..AlertsView::default() }
}

/// One of each state, and of each thing that may be said of one.
fn full() -> AlertsView {
    let acked_by =
        Acknowledgement { by: "ada".to_owned(), at_ms: NOW_MS - 180_000, reason: "restarting the holder".to_owned() };
    let silenced = silence(7, "grace", "planned failover");
    let mut of = view_of(vec![
        Alert { acked_by: Some(acked_by), ..alert("k1", AlertState::Firing, Severity::Critical) },
        Alert {
            ensemble: "eu".to_owned(),
            unknown_since_ms: Some(NOW_MS - 30_000),
            ..alert("k2", AlertState::Firing, Severity::Warning)
        },
        Alert { silenced_by: Some(silenced.clone()), ..alert("k3", AlertState::Firing, Severity::Warning) },
        alert("k4", AlertState::Pending, Severity::Info),
        alert("k5", AlertState::Resolved, Severity::Critical),
    ]);
    of.alerts.silences = vec![silenced];
    of.alerts.rules.push(rule("nightly", &["slow"], Severity::Info, &["ops-slack", "pager"]));
    of.alerts.routes =
        vec![route("ops-slack", "slack", ""), route("pager", "pagerduty", "answered 403 since 4 min 05 s")];
    of
}

fn hostile() -> AlertsView {
    let text = || HOSTILE.to_owned();
    let silenced = silence(1, HOSTILE, HOSTILE);
    let acked_by = Acknowledgement { by: text(), at_ms: NOW_MS, reason: text() };
    let bad = Alert {
        key: text(),
        rule: text(),
        ensemble: text(),
        lock: text(),
        sentence: text(),
        link: format!("/lock?{HOSTILE}"),
        silenced_by: Some(silenced.clone()),
        acked_by: Some(acked_by),
        ..alert("k", AlertState::Firing, Severity::Critical)
    };
    let mut of = view_of(vec![Alert { silenced_by: None, ..bad.clone() }, bad]);
    let matchers = AlertMatchers { rule: Some(text()), ensemble: Some(text()), path: Some(text()) };
    of.alerts.silences = vec![Silence { matchers, ..silenced }];
    let rule = rule(HOSTILE, &[HOSTILE], Severity::Info, &[HOSTILE]);
    of.alerts.rules = vec![AlertRule { path: text(), ensemble: Some(text()), ..rule }];
    of.alerts.routes = vec![AlertRoute { url: text(), ..route(HOSTILE, HOSTILE, HOSTILE) }];
    of.alerts.trouble = text();
    AlertsView { wrong: Some(text()), ..of }
}

#[test]
fn what_others_wrote_stays_text() {
    let html = drawn(&hostile());
    assert_eq!(html.matches("<script").count(), 3, "those of the head and the end of the document alone");
    assert!(!html.contains('\u{202e}'), "{html}");
    assert!(!html.contains("<script>alert"), "{html}");
}

#[test]
fn a_link_leads_to_a_page_of_our_own_or_is_left_out() {
    for link in ["https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)", "/\\elsewhere", ""] {
        let link = link.to_owned();
        let html = drawn(&view_of(vec![Alert { link, ..alert("k", AlertState::Firing, Severity::Info) }]));
        assert!(
            !html.contains("elsewhere") && !html.contains("javascript:") && !html.contains(words::MOMENT),
            "{html}"
        );
    }
}

#[test]
fn every_state_has_its_words() {
    let html = drawn(&full());
    for text in [
        "2 alerts fire (1 of them when ZooKeeper was last seen), besides 1 that is silenced. The worst: ",
        "data-well=\"false\" data-severity=\"critical\" data-testid=\"alerts-summary\"",
        "Firing</a> (3)",
        "Pending, not yet for long enough</a> (1)",
        "Resolved</a> (1)",
        "href=\"/lock?ensemble=eu&amp;path=/app/locks/orders\"",
        "ensemble eu",
        "href=\"/lock?path=/app/locks/orders&amp;at=1699999785000\"",
        "2023-11-14 22:09:15 UTC",
        " (4 min 05 s)",
        " (≥ 3 min 35 s)",
        " (3 min 05 s)",
        "; this is how it was then.",
        "ada looks at it for 3 min 00 s: restarting the holder",
        "Silenced by grace until ",
        " (1 h 50 min left): planned failover",
        "rule stuck, locks /app/*",
        "built in",
        "ops-slack, pager",
        "takes none: answered 403 since 4 min 05 s",
        "1\u{202f}204",
        "<th scope=\"row\">",
    ] {
        assert!(html.contains(text), "{text} is not in {html}");
    }
    let of = AlertsView { done: Some(AlertDone::Silenced), wrong: Some("no such alert".to_owned()), ..full() };
    let html = drawn(&of);
    assert!(html.contains("It is silenced.") && html.contains("Nothing was done: no such alert"), "{html}");
}

#[test]
fn a_filter_lists_what_it_says_and_counts_all() {
    for (filter, listed) in AlertFilter::ALL.into_iter().zip([5, 3, 1, 1, 1]) {
        let html = drawn(&AlertsView { filter, ..full() });
        assert_eq!(html.matches("<li id=\"alert-").count(), listed, "{filter:?}");
        assert_eq!(html.matches("aria-current=\"true\"").count(), 1, "{filter:?}");
        for count in [5, 3, 1] {
            assert!(html.contains(&format!("<span class=\"quiet\">{count}</span></a>")), "{html}");
        }
        assert_eq!(AlertFilter::named(filter.name()), Some(filter));
    }
    assert_eq!(AlertFilter::named("gone"), None);
    for done in [AlertDone::Acknowledged, AlertDone::Silenced, AlertDone::SilenceEnded] {
        assert_eq!(AlertDone::named(done.name()), Some(done));
    }
}

#[test]
fn forms_are_for_those_who_may_act() {
    let html = drawn(&full());
    assert_eq!(html.matches("action=\"/alerts/ack\"").count(), 4, "not for what is over");
    assert_eq!(html.matches("action=\"/alerts/silences\"").count(), 4);
    assert_eq!(html.matches("action=\"/alerts/silences/end\"").count(), 1);
    for text in [
        "name=\"key\" value=\"k1\"",
        "name=\"rule\" value=\"stuck\"",
        "name=\"ensemble\" value=\"default\"",
        "name=\"path\" value=\"/app/locks/orders\"",
        "<option value=\"28800000\">8 h</option>",
        "name=\"id\" value=\"7\"",
    ] {
        assert!(html.contains(text), "{text} is not in {html}");
    }
    let looks = AlertsView { may_act: false, ..full() };
    let html = drawn(&looks);
    assert!(!html.contains("action=\"/alerts") && !html.contains("<th scope=\"col\">End it</th>"), "{html}");
    assert!(html.contains("may only look") && !html.contains("next=%2Falerts"), "{html}");
    let nobody = AlertsView { is_signed_in: false, ..looks };
    assert!(drawn(&nobody).contains("href=\"/sign-in?next=%2Falerts\""));
    let html = drawn_with(&nobody, &AssetNames::default(), false);
    assert!(html.contains("nobody can sign in here") && !html.contains("next=%2Falerts"), "{html}");
}

#[test]
fn nothing_is_said_in_words() {
    let html = drawn(&view_of(Vec::new()));
    for text in [
        "data-well=\"true\"",
        "Nothing fires.",
        "Nothing fires, and nothing did lately.",
        words::NO_SILENCE,
        words::NO_ROUTE,
        "built in",
    ] {
        assert!(html.contains(text), "{text} is not in {html}");
    }
    assert!(!html.contains("alerts-trouble") && !html.contains("data-testid=\"alerts-wrong\""));
    let silenced = Some(silence(1, "ada", "x"));
    let of = view_of(vec![Alert { silenced_by: silenced, ..alert("k", AlertState::Firing, Severity::Critical) }]);
    let html = drawn(&of);
    assert!(html.contains("Nothing fires but 1 alert that is silenced.") && !html.contains("data-well=\"true\""));
}

#[test]
fn the_script_is_small_and_knows_what_is_drawn() {
    assert!(watch::SCRIPT.len() < 2_560, "{}", watch::SCRIPT.len());
    let html = drawn(&full());
    assert!(html.contains("data-keys=\"k1\nk2\"") || html.contains("data-keys=\"k1&#10;k2\""), "{html}");
}

/// Writes pages into a folder, to be looked at: `ALERT_PAGES=/tmp/alerts ALERT_CSS=app.css cargo test -p lockscope-page --features
/// ssr --lib -- --ignored alerts::tests`.
#[test]
#[ignore = "writes files for people"]
fn pages_to_be_looked_at() {
    let folder = std::path::PathBuf::from(std::env::var("ALERT_PAGES").unwrap());
    let assets = AssetNames { css: std::env::var("ALERT_CSS").unwrap(), ..AssetNames::default() };
    let mut long = full();
    for alert in &mut long.alerts.alerts {
        alert.lock = format!("/production/eu-central-1/{}/locks/orders", "very-long-service-name/".repeat(8));
        alert.sentence =
            format!("{} holds the lock for 4 min 05 s.", "app-worker-7.eu-central-1.example.com ".repeat(5));
        alert.rule = "a-rule-with-a-name-that-goes-on-and-on-for-quite-a-while".to_owned();
    }
    for rule in &mut long.alerts.rules {
        rule.path = format!("/production/eu-central-1/{}*", "very-long-service-name/".repeat(4));
    }
    let many = (0..200).map(|number| {
        let state = if number < 150 { AlertState::Firing } else { AlertState::Resolved };
        let lock = format!("/app/locks/order-{number}");
        Alert { lock, ..alert(&format!("k{number}"), state, Severity::ALL[number % 3]) }
    });
    let trouble = "the data directory may not be written".to_owned();
    for (name, of) in [
        ("full", AlertsView { done: Some(AlertDone::Acknowledged), ..full() }),
        ("empty", view_of(Vec::new())),
        ("hostile", hostile()),
        ("viewer", AlertsView { may_act: false, is_signed_in: false, ..full() }),
        ("pending", AlertsView { filter: AlertFilter::Pending, ..full() }),
        ("many", view_of(many.collect())),
        ("long", AlertsView { alerts: Alerts { trouble, ..long.alerts }, ..long }),
    ] {
        std::fs::write(folder.join(format!("{name}.html")), drawn_with(&of, &assets, true)).unwrap();
    }
}
