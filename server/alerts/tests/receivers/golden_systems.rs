//! The bodies that Alertmanager, PagerDuty and webhooks get, word for word.

use lockscope_alerts::notification::Notification;
use lockscope_alerts::route::{Route, RouteKind, outgoing};
use serde_json::json;

use super::{NOW_MS, SECRET, anywhere, body, firing, many, one, resolved};

#[test]
fn alertmanager() {
    let outgoing = one(RouteKind::Alertmanager, &[firing(), resolved()]);
    assert_eq!(outgoing.url.as_str(), "https://hooks.example/canary/api/v2/alerts");
    assert_eq!(outgoing.headers[1], ("authorization", format!("Bearer {SECRET}")));
    let expected = json!([
        {
            "labels": { "alertname": "stalled", "ensemble": "prod", "lock": "/locks/my_job", "severity": "critical" },
            "annotations": {
                "summary": "7 wait for <worker> & nobody moves",
                "link": "https://lockscope.example/prod?at=1",
            },
            "startsAt": "2026-01-02T03:03:05.678Z",
            "endsAt": "2026-01-02T03:09:05.678Z",
            "generatorURL": "https://lockscope.example/prod?at=1",
        },
        {
            "labels": { "alertname": "stalled", "ensemble": "prod", "lock": "/locks/my_job", "severity": "warning" },
            "annotations": { "summary": "7 wait for <worker> & nobody moves" },
            "startsAt": "2026-01-02T03:03:05.678Z",
            "endsAt": "2026-01-02T03:04:04.678Z",
        },
    ]);
    assert_eq!(body(&outgoing), expected);
}

#[test]
fn alertmanager_is_found_at_its_path() {
    for (base, expected) in [
        ("http://localhost:9093", "http://localhost:9093/api/v2/alerts"),
        ("http://localhost:9093/", "http://localhost:9093/api/v2/alerts"),
        ("https://a.example/am/", "https://a.example/am/api/v2/alerts"),
    ] {
        let url = Route::check_url(RouteKind::Alertmanager, base, false).unwrap();
        let route = Route { url, ..anywhere(RouteKind::Alertmanager) };
        assert_eq!(outgoing(&route, &[firing()], NOW_MS)[0].url.as_str(), expected);
    }
}

#[test]
fn what_ended_before_it_began_is_told_as_a_moment() {
    // A clock was set back in between. Alertmanager refuses an end before the start, with all that is in the request.
    let odd = Notification { resolved_at_ms: Some(0), ..firing() };
    let alert = &body(&one(RouteKind::Alertmanager, &[odd]))[0];
    assert_eq!((&alert["startsAt"], &alert["endsAt"]), (&json!("1970-01-01T00:00:00.000Z"), &alert["startsAt"]));
    let ahead = Notification { fired_at_ms: i64::MAX, ..firing() };
    let alert = &body(&one(RouteKind::Alertmanager, &[ahead]))[0];
    assert_eq!(alert["endsAt"], alert["startsAt"]);
}

#[test]
fn a_severity_or_sentence_that_changes() {
    let labels = |notification: Notification| body(&one(RouteKind::Alertmanager, &[notification]))[0]["labels"].clone();
    assert_eq!(labels(firing()), labels(Notification { sentence: "8 wait".to_owned(), ..firing() }));
    assert_eq!(labels(firing()), labels(Notification { resolved_at_ms: Some(NOW_MS), ..firing() }));
}

#[test]
fn locks_that_look_alike_are_two_alerts() {
    let lock = |lock: String| body(&one(RouteKind::Alertmanager, &[Notification { lock, ..firing() }]))[0].clone();
    let long = "/x".repeat(2_000);
    for (one, other) in [
        (format!("{long}1"), format!("{long}2")),
        ("/a\u{200b}".to_owned(), "/a\u{200c}".to_owned()),
        ("/a\u{2425}".to_owned(), "/a\u{200b}".to_owned()),
    ] {
        assert_ne!(lock(one)["labels"], lock(other)["labels"]);
    }
}

#[test]
fn pagerduty() {
    let all = outgoing(&anywhere(RouteKind::PagerDuty), &[firing(), resolved()], NOW_MS);
    assert_eq!(all.len(), 2);
    let expected = json!({
        "routing_key": SECRET,
        "event_action": "trigger",
        "dedup_key": "stalled-1",
        "payload": {
            "summary": "7 wait for <worker> & nobody moves",
            "source": "prod",
            "severity": "critical",
            "timestamp": "2026-01-02T03:03:05.678Z",
            "component": "/locks/my_job",
            "group": "prod",
            "class": "stalled",
        },
        "links": [{ "href": "https://lockscope.example/prod?at=1", "text": "Open in Lockscope" }],
    });
    assert_eq!(body(&all[0]), expected);
    let expected = json!({
        "routing_key": SECRET,
        "event_action": "resolve",
        "dedup_key": "stalled-1",
        "payload": {
            "summary": "7 wait for <worker> & nobody moves",
            "source": "prod",
            "severity": "warning",
            "timestamp": "2026-01-02T03:04:04.678Z",
            "component": "/locks/my_job",
            "group": "prod",
            "class": "stalled",
        },
    });
    assert_eq!(body(&all[1]), expected);
    for outgoing in all {
        assert_eq!(outgoing.url, anywhere(RouteKind::PagerDuty).url);
        assert_eq!(outgoing.headers, [("content-type", "application/json".to_owned())]);
    }
}

#[test]
fn webhook() {
    let outgoing = one(RouteKind::Webhook, &[firing(), resolved()]);
    let expected = json!({
        "version": 1,
        "alerts": [
            {
                "state": "firing",
                "key": "stalled-1",
                "rule": "stalled",
                "ensemble": "prod",
                "lock": "/locks/my_job",
                "severity": "critical",
                "since_ms": NOW_MS - 120_000,
                "fired_at_ms": NOW_MS - 60_000,
                "resolved_at_ms": null,
                "sentence": "7 wait for <worker> & nobody moves",
                "link": "https://lockscope.example/prod?at=1",
            },
            {
                "state": "resolved",
                "key": "stalled-1",
                "rule": "stalled",
                "ensemble": "prod",
                "lock": "/locks/my_job",
                "severity": "warning",
                "since_ms": NOW_MS - 120_000,
                "fired_at_ms": NOW_MS - 60_000,
                "resolved_at_ms": NOW_MS - 1_000,
                "sentence": "7 wait for <worker> & nobody moves",
                "link": null,
            },
        ],
    });
    assert_eq!(body(&outgoing), expected);
}

#[test]
fn systems_are_told_of_every_alert() {
    let alerts = many(1_001);
    let count = |kind, list: fn(&serde_json::Value) -> usize| {
        let all = outgoing(&anywhere(kind), &alerts, NOW_MS);
        let told: usize = all.iter().map(|outgoing| list(&body(outgoing))).sum();
        assert_eq!(told, alerts.len());
        all.len()
    };
    assert_eq!(count(RouteKind::Alertmanager, |body| body.as_array().unwrap().len()), 11);
    assert_eq!(count(RouteKind::Webhook, |body| body["alerts"].as_array().unwrap().len()), 11);
    assert_eq!(count(RouteKind::PagerDuty, |_| 1), 1_001);
}

#[test]
fn nothing_secret_is_shown_of_a_request() {
    for kind in RouteKind::ALL {
        let shown = format!("{:?} {:?}", outgoing(&anywhere(kind), &[firing()], NOW_MS), anywhere(kind));
        assert!(!shown.contains("canary"), "{shown}");
    }
}
