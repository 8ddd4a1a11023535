//! The bodies that chats get, word for word.

use lockscope_alerts::route::RouteKind;
use serde_json::{Value, json};

use super::{body, firing, many, one, resolved};

#[test]
fn slack() {
    let section =
        |parts: Value| json!({ "type": "rich_text", "elements": [{ "type": "rich_text_section", "elements": parts }] });
    let expected = json!({
        "text": "Critical: stalled: 7 wait for &lt;worker&gt; &amp; nobody moves",
        "blocks": [
            section(json!([{ "type": "text", "text": "Lockscope: 1 firing", "style": { "bold": true } }])),
            section(json!([
                { "type": "text", "text": "Critical: stalled", "style": { "bold": true } },
                { "type": "text", "text": "\n7 wait for <worker> & nobody moves\nprod " },
                { "type": "text", "text": "/locks/my_job", "style": { "code": true } },
                { "type": "text", "text": " since 2026-01-02T03:02:05.678Z" },
                { "type": "text", "text": "\n" },
                { "type": "link", "url": "https://lockscope.example/prod?at=1", "text": "Open in Lockscope" },
            ])),
        ],
    });
    assert_eq!(body(&one(RouteKind::Slack, &[firing()])), expected);
    let both = body(&one(RouteKind::Slack, &[firing(), resolved()]));
    assert_eq!(both["text"], "Lockscope: 1 firing, 1 resolved");
    let over = section(json!([
        { "type": "text", "text": "Resolved: stalled", "style": { "bold": true } },
        { "type": "text", "text": "\n7 wait for <worker> & nobody moves\nprod " },
        { "type": "text", "text": "/locks/my_job", "style": { "code": true } },
        { "type": "text", "text": " from 2026-01-02T03:02:05.678Z to 2026-01-02T03:04:04.678Z" },
    ]));
    assert_eq!(both["blocks"][2], over);
}

#[test]
fn teams() {
    let run = |text: &str| json!({ "type": "TextRun", "text": text });
    let bold = |text: &str| json!({ "type": "TextRun", "text": text, "weight": "Bolder" });
    let block = |spacing: &str, run: Value| json!({ "type": "RichTextBlock", "spacing": spacing, "inlines": [run] });
    let card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "msteams": { "width": "Full" },
        "body": [
            block("Small", bold("Lockscope: 1 firing")),
            block("Medium", bold("Critical: stalled")),
            block("Small", run("7 wait for <worker> & nobody moves")),
            block("Small", run("prod /locks/my_job since 2026-01-02T03:02:05.678Z")),
        ],
        "actions": [
            { "type": "Action.OpenUrl", "title": "Open in Lockscope", "url": "https://lockscope.example/prod?at=1" },
        ],
    });
    let expected = json!({
        "type": "message",
        "attachments": [{ "contentType": "application/vnd.microsoft.card.adaptive", "content": card }],
    });
    assert_eq!(body(&one(RouteKind::Teams, &[firing()])), expected);
    let card = &body(&one(RouteKind::Teams, &[resolved()]))["attachments"][0]["content"];
    assert_eq!(card.get("actions"), None);
    let card = &body(&one(RouteKind::Teams, &many(9)))["attachments"][0]["content"];
    assert_eq!(card["actions"].as_array().unwrap().len(), 6);
    assert_eq!(card["actions"][5]["title"], "Open 6");
}

#[test]
fn feishu() {
    let text = |text: &str| json!({ "tag": "plain_text", "content": text });
    let row =
        "Critical: stalled\n7 wait for <worker> & nobody moves\nprod /locks/my_job since 2026-01-02T03:02:05.678Z";
    let expected = json!({
        "timestamp": "1767323045",
        "sign": "aqHtyGnCCf4qQLbQuLbGU/KHKee8M8/RKjEQ1nXgKZk=",
        "msg_type": "interactive",
        "card": {
            "config": { "wide_screen_mode": true },
            "header": { "title": text("Lockscope: 1 firing"), "template": "red" },
            "elements": [
                { "tag": "div", "text": text(row) },
                {
                    "tag": "action",
                    "actions": [{
                        "tag": "button",
                        "text": text("Open in Lockscope"),
                        "type": "default",
                        "url": "https://lockscope.example/prod?at=1",
                    }],
                },
            ],
        },
    });
    assert_eq!(body(&one(RouteKind::Feishu, &[firing()])), expected);
    assert_eq!(body(&one(RouteKind::Feishu, &[resolved()]))["card"]["header"]["template"], "green");
}

#[test]
fn dingtalk() {
    let text = "**Lockscope: 1 firing**\n\n\
        **Critical: stalled**  \n\
        What: 7 wait for ＜worker＞ ＆ nobody moves  \n\
        Where: prod /locks/my_job  \n\
        When: since 2026-01-02T03:02:05.678Z  \n\
        [Open in Lockscope](https://lockscope.example/prod?at=1)";
    let expected = json!({ "msgtype": "markdown", "markdown": { "title": "Lockscope: 1 firing", "text": text } });
    assert_eq!(body(&one(RouteKind::DingTalk, &[firing()])), expected);
}

#[test]
fn wecom() {
    let content = "**Lockscope: 1 firing, 1 resolved**\n\n\
        **Critical: stalled**\n\
        What: 7 wait for ＜worker＞ ＆ nobody moves\n\
        Where: prod /locks/my_job\n\
        When: since 2026-01-02T03:02:05.678Z\n\
        [Open in Lockscope](https://lockscope.example/prod?at=1)\n\n\
        **Resolved: stalled**\n\
        What: 7 wait for ＜worker＞ ＆ nobody moves\n\
        Where: prod /locks/my_job\n\
        When: from 2026-01-02T03:02:05.678Z to 2026-01-02T03:04:04.678Z";
    let expected = json!({ "msgtype": "markdown", "markdown": { "content": content } });
    assert_eq!(body(&one(RouteKind::WeCom, &[firing(), resolved()])), expected);
}

#[test]
fn chats_are_told_of_ten_and_how_many_more() {
    for kind in [RouteKind::Slack, RouteKind::Teams, RouteKind::Feishu, RouteKind::DingTalk, RouteKind::WeCom] {
        let told = |count: usize| String::from_utf8(one(kind, &many(count)).body).unwrap();
        let rows = |text: &str| text.matches("/locks/").count();
        assert_eq!(rows(&told(10)), 10);
        assert!(!told(10).contains(" more"));
        let text = told(10_000);
        assert!(text.contains("Lockscope: 10000 firing"), "{text}");
        assert!(rows(&text) == 10 && text.contains("and 9990 more"), "{text}");
    }
}
