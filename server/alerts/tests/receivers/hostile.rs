//! Whatever clients write, it leaves neither its escaping nor its bounds.

use lockscope_alerts::notification::Notification;
use lockscope_alerts::route::{Outgoing, RouteKind, outgoing};
use lockscope_view::{Severity, visible};
use proptest::prelude::*;
use serde_json::Value;

use super::{NOW_MS, anywhere, body};

const LINK: &str = "https://lockscope.example/prod?at=1";

/// What somebody would try who wants to be more than text.
const TRICKS: [&str; 30] = [
    "<!channel>",
    "<!everyone|x>",
    "<@U123>",
    "<https://evil.example|Open in Lockscope>",
    "&lt;",
    "&amp;lt;!channel&amp;gt;",
    "@all",
    "<at user_id=\"all\"></at>",
    "<at id=all></at>",
    "[Open in Lockscope](https://evil.example)",
    "![](https://evil.example/x.png)",
    "https://evil.example",
    "**bold**",
    "_it_",
    "~~gone~~",
    "`code`",
    "```",
    "\n# heading",
    "\r\n> quote",
    "\n\n- list",
    "<font color=\"warning\">",
    "\u{202e}gnol",
    "\u{2066}\u{200b}\u{feff}",
    "\0\u{7}\u{1b}[31m",
    "\u{85}\u{2028}\u{2029}",
    "\",\"x\":\"",
    "\\",
    "锁🔒",
    "e\u{301}",
    "{{x}}|${y}|<%z%>",
];

fn text() -> impl Strategy<Value = String> {
    let piece =
        prop_oneof![prop::sample::select(&TRICKS[..]).prop_map(str::to_owned), any::<char>().prop_map(String::from)];
    let times = prop_oneof![20 => Just(1_usize), 4 => Just(100), 1 => Just(100_000)];
    (prop::collection::vec(piece, 0..12), times).prop_map(|(pieces, times)| pieces.concat().repeat(times))
}

fn notification() -> impl Strategy<Value = Notification> {
    let severity = prop::sample::select(vec![Severity::Critical, Severity::Warning, Severity::Info]);
    let link = prop_oneof![
        Just(None),
        Just(Some(LINK.to_owned())),
        text().prop_map(Some),
        text().prop_map(|text| Some(format!("{LINK}&{text}")))
    ];
    let texts = (text(), text(), text(), text(), text());
    (texts, severity, any::<(i64, i64, Option<i64>)>(), link).prop_map(|(texts, severity, times, link)| Notification {
        key: texts.0,
        rule: texts.1,
        ensemble: texts.2,
        lock: texts.3,
        sentence: texts.4,
        severity,
        since_ms: times.0,
        fired_at_ms: times.1,
        resolved_at_ms: times.2,
        link,
    })
}

/// Every text in a body, with the name of its field.
fn texts<'a>(name: &'a str, value: &'a Value, into: &mut Vec<(&'a str, &'a str)>) {
    match value {
        Value::String(text) => into.push((name, text)),
        Value::Array(all) => all.iter().for_each(|value| texts(name, value, into)),
        Value::Object(all) => all.iter().for_each(|(name, value)| texts(name, value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn check(kind: RouteKind, outgoing: &Outgoing, count: usize) {
    let body = body(outgoing);
    let mut all = Vec::new();
    texts("", &body, &mut all);
    for (name, text) in &all {
        let rest = text.replace('\n', "");
        assert_eq!(visible(&rest), rest);
        assert!(text.len() <= 16_000);
        if matches!(*name, "url" | "href" | "link" | "generatorURL") {
            let url = reqwest::Url::parse(text).unwrap();
            assert!(matches!(url.scheme(), "https" | "http") && text.len() <= 800, "{text}");
            assert!(!text.contains(['<', '>', '(', ')', '|', '*', '`', '"', '\\', ' ']), "{text}");
        }
    }
    let values = |name: &str| all.iter().filter(|(key, _)| *key == name).map(|(_, text)| *text).collect::<Vec<_>>();
    match kind {
        RouteKind::Alertmanager => {
            assert_eq!(body.as_array().unwrap().len(), count);
            for alert in body.as_array().unwrap() {
                assert_eq!(alert["labels"].as_object().unwrap().len(), 4);
                assert!(alert["startsAt"].as_str() <= alert["endsAt"].as_str());
            }
            assert!(all.iter().all(|(_, text)| text.len() <= 4_096) && !outgoing.body.contains(&b'\n'));
        }
        RouteKind::PagerDuty => {
            assert!(values("summary")[0].chars().count() <= 1_024 && values("dedup_key")[0].chars().count() <= 255);
            // 512 KB are taken.
            assert!(outgoing.body.len() <= 20_000);
        }
        RouteKind::Slack => slack(&body, &values("type"), count),
        RouteKind::Teams => {
            assert!(outgoing.body.len() <= 28_000);
            let known = ["AdaptiveCard", "RichTextBlock", "TextRun", "Action.OpenUrl", "message"];
            assert!(values("type").iter().all(|name| known.contains(name)));
        }
        RouteKind::Feishu => {
            assert!(outgoing.body.len() <= 20_000);
            let known = ["div", "plain_text", "action", "button"];
            assert!(values("tag").iter().all(|name| known.contains(name)));
        }
        RouteKind::DingTalk => {
            assert!(outgoing.body.len() <= 20_000);
            markdown(values("text")[0], "  ", count);
        }
        RouteKind::WeCom => {
            assert!(values("content")[0].len() <= 4_096);
            markdown(values("content")[0], "", count);
        }
        RouteKind::Webhook => {
            assert_eq!(body["alerts"].as_array().unwrap().len(), count);
            assert!(all.iter().all(|(_, text)| text.len() <= 4_096));
        }
    }
}

/// Only its notification's line is read as formatting.
fn slack(body: &Value, types: &[&str], count: usize) {
    let line = body["text"].as_str().unwrap();
    assert!(!line.contains(['<', '>', '*', '_', '~', '`', '@']) && line.chars().count() <= 3_000, "{line}");
    let unescaped = line.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "");
    assert!(!unescaped.contains('&'), "{line}");
    let blocks = body["blocks"].as_array().unwrap();
    assert!(blocks.len() <= 50 && blocks.len() >= 2 + usize::from(count > 10));
    for block in blocks {
        let mut all = Vec::new();
        texts("", block, &mut all);
        assert!(all.iter().map(|(_, text)| text.chars().count()).sum::<usize>() <= 3_000);
        assert!(all.iter().all(|(_, text)| !text.is_empty()));
    }
    assert!(types.iter().all(|name| ["rich_text", "rich_text_section", "text", "link"].contains(name)));
}

/// Every line is one that was meant, and nothing in it formats but what was meant.
fn markdown(text: &str, line_end: &str, count: usize) {
    let mut rows = 0;
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        let line = line.strip_suffix(line_end).unwrap_or(line);
        if let Some(address) = line.strip_prefix("[Open in Lockscope](").and_then(|rest| rest.strip_suffix(')')) {
            assert!(!address.contains(['(', ')', '[', ']', '<', '>', '*', '`']), "{line}");
            continue;
        }
        let bold = line.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
        let is_head = bold.is_some_and(|bold| bold.starts_with("Lockscope: "));
        let is_row = bold.is_some_and(|bold| {
            ["Critical: ", "Warning: ", "Info: ", "Resolved: "].iter().any(|state| bold.starts_with(state))
        });
        let is_field = ["What: ", "Where: ", "When: "].iter().any(|name| line.starts_with(name));
        let is_more = line.starts_with("and ") && line.ends_with(" more");
        assert!(is_head || is_row || is_field || is_more, "{line}");
        rows += usize::from(is_row);
        let inside = bold.unwrap_or(line);
        assert!(
            !inside.contains(['[', ']', '(', ')', '<', '>', '*', '`', '#', '@', '!', '~', '|', '\\', '&']),
            "{line}"
        );
        assert!(!inside.contains("://"), "{line}");
    }
    assert!((1..=10.min(count)).contains(&rows), "{rows} of {count}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_leaves_its_escaping_or_its_bounds(
        notifications in prop::collection::vec(notification(), 1..14),
    ) {
        for kind in RouteKind::ALL {
            let all = outgoing(&anywhere(kind), &notifications, NOW_MS);
            prop_assert_eq!(all.len(), if kind == RouteKind::PagerDuty { notifications.len() } else { 1 });
            for outgoing in &all {
                check(kind, outgoing, notifications.len());
            }
        }
    }
}

#[test]
fn each_trick_a_megabyte_long() {
    for trick in TRICKS {
        let text = trick.repeat(1_000_000 / trick.len());
        let notification = Notification {
            key: text.clone(),
            rule: text.clone(),
            ensemble: text.clone(),
            lock: text.clone(),
            sentence: text,
            link: Some(format!("{LINK}&{}", "x".repeat(700))),
            ..super::firing()
        };
        let notifications = vec![notification; 12];
        for kind in RouteKind::ALL {
            for outgoing in outgoing(&anywhere(kind), &notifications, NOW_MS) {
                check(kind, &outgoing, notifications.len());
            }
        }
    }
}
