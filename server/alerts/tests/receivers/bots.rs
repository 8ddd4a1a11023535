//! Bots that answer 200 whatever happens: their signatures, and the codes in their bodies.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lockscope_alerts::route::{RouteKind, SendError, SendErrorKind, Sender};
use reqwest::Url;
use serde_json::Value;

use super::fake::{Answer, Fake, Received, hmac_sha256};
use super::{NOW_MS, SECRET, anywhere, firing, query, route};
use SendErrorKind::{Permanent, Temporary};

const BOTS: [RouteKind; 3] = [RouteKind::Feishu, RouteKind::DingTalk, RouteKind::WeCom];
/// Longer than any of these takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

async fn answered(kind: RouteKind, answer: Answer) -> (Result<(), SendError>, Received) {
    let fake = Fake::start(vec![answer]).await;
    let route = route(kind, &format!("http://{}/canary{}", fake.address, query(kind)));
    let notifications = [firing()];
    let sender = Sender::new(DEADLINE, true).unwrap();
    let sent = tokio::time::timeout(DEADLINE, sender.send(&route, &notifications, NOW_MS)).await.expect("it ends");
    if let Err(error) = &sent {
        assert!(!error.why.contains("canary"), "{error}");
    }
    (sent, fake.received().remove(0))
}

#[tokio::test]
async fn feishu_is_signed_as_it_documents() {
    let (sent, received) =
        answered(RouteKind::Feishu, Answer::ok("{\"code\":0,\"msg\":\"success\",\"data\":{}}")).await;
    sent.unwrap();
    let body: Value = serde_json::from_slice(&received.body).unwrap();
    let at_s = NOW_MS / 1_000;
    assert_eq!(body["timestamp"], at_s.to_string());
    let expected = STANDARD.encode(hmac_sha256(format!("{at_s}\n{SECRET}").as_bytes(), b""));
    assert_eq!(body["sign"], expected);
    // python3: base64(hmac(b"1767323045\n" + secret, b"", sha256))
    assert_eq!(expected, "aqHtyGnCCf4qQLbQuLbGU/KHKee8M8/RKjEQ1nXgKZk=");
}

#[tokio::test]
async fn dingtalk_is_signed_as_it_documents() {
    let (sent, received) = answered(RouteKind::DingTalk, Answer::ok("{\"errcode\":0,\"errmsg\":\"ok\"}")).await;
    sent.unwrap();
    // python3: urllib.parse.quote_plus(base64(hmac(secret, b"1767323045678\n" + secret, sha256)))
    let sign = "km5%2BXWrvo2%2BnFXjUOt%2FkOLVZy6zlaN%2FRFwgnpg%2FQ%2BaI%3D";
    assert_eq!(received.line, format!("POST /canary?access_token=canary&timestamp={NOW_MS}&sign={sign} HTTP/1.1"));
    let url = Url::parse(&format!("http://x{}", received.line.split(' ').nth(1).unwrap())).unwrap();
    let expected = STANDARD.encode(hmac_sha256(SECRET.as_bytes(), format!("{NOW_MS}\n{SECRET}").as_bytes()));
    assert!(url.query_pairs().any(|(key, value)| key == "sign" && value == expected));
}

#[tokio::test]
async fn wecom_is_not_signed_and_keeps_its_key() {
    let (sent, received) = answered(RouteKind::WeCom, Answer::ok("{\"errcode\":0,\"errmsg\":\"ok\"}")).await;
    sent.unwrap();
    assert_eq!(received.line, "POST /canary?key=canary HTTP/1.1");
}

#[test]
fn without_a_secret_nothing_is_signed() {
    for kind in RouteKind::ALL {
        let mut route = anywhere(kind);
        route.secret = None;
        let outgoing = lockscope_alerts::route::outgoing(&route, &[firing()], NOW_MS).remove(0);
        let body = super::body(&outgoing);
        assert!(body.get("sign").is_none() && body.get("timestamp").is_none(), "{body}");
        assert_eq!(outgoing.headers, [("content-type", "application/json".to_owned())]);
        assert_eq!(outgoing.url.query(), route.url.query());
    }
}

#[tokio::test]
async fn codes_in_the_body_are_the_answer() {
    for (kind, status, body, expected) in [
        (RouteKind::Feishu, 200, "{\"code\":9499,\"msg\":\"too many request\"}", Temporary),
        (RouteKind::Feishu, 200, "{\"code\":9499,\"msg\":\"Bad Request\"}", Permanent),
        (RouteKind::Feishu, 200, "{\"code\":11232,\"msg\":\"canary\"}", Temporary),
        // Its gateway says so with 400.
        (RouteKind::Feishu, 400, "{\"code\":11232,\"msg\":\"canary\"}", Temporary),
        (RouteKind::Feishu, 200, "{\"code\":19021,\"msg\":\"sign match fail canary\"}", Permanent),
        (RouteKind::Feishu, 503, "{\"code\":19021}", Temporary),
        (RouteKind::Feishu, 200, "{\"code\":-1}", Permanent),
        (RouteKind::DingTalk, 200, "{\"errcode\":130101,\"errmsg\":\"send too fast\"}", Temporary),
        (RouteKind::DingTalk, 200, "{\"errcode\":-1}", Temporary),
        (RouteKind::DingTalk, 200, "{\"errcode\":310000,\"errmsg\":\"canary\"}", Permanent),
        (RouteKind::DingTalk, 200, "{\"errcode\":45009}", Permanent),
        (RouteKind::WeCom, 200, "{\"errcode\":45009}", Temporary),
        (RouteKind::WeCom, 200, "{\"errcode\":-1}", Temporary),
        (RouteKind::WeCom, 200, "{\"errcode\":93000,\"errmsg\":\"canary\"}", Permanent),
        (RouteKind::WeCom, 200, "{\"errcode\":130101}", Permanent),
        (RouteKind::WeCom, 404, "{\"errcode\":0}", Permanent),
        (RouteKind::WeCom, 500, "{\"errcode\":0}", Temporary),
    ] {
        let error = answered(kind, Answer::status(status, "", body)).await.0.unwrap_err();
        assert_eq!(error.kind, expected, "{body}: {error}");
    }
    let answer = Answer::status(200, "retry-after: 9\r\n", "{\"errcode\":45009}");
    assert_eq!(answered(RouteKind::WeCom, answer).await.0.unwrap_err().retry_after, Some(Duration::from_secs(9)));
}

#[tokio::test]
async fn an_answer_without_a_code_is_none_of_a_bot() {
    for kind in BOTS {
        for body in [
            "",
            "ok",
            "<html>canary</html>",
            "[]",
            "null",
            "0",
            "{}",
            "{\"code\":\"0\",\"errcode\":\"0\"}",
            "{\"code\":null,\"errcode\":null}",
            "{\"code\":0.5,\"errcode\":0.5}",
            "{\"StatusCode\":0}",
            "{\"code\":0,\"errcode\":0",
        ] {
            let error = answered(kind, Answer::ok(body)).await.0.unwrap_err();
            assert_eq!(error.kind, Permanent, "{body}: {error}");
            assert!(error.why.contains("check the address"), "{error}");
        }
    }
}

#[tokio::test]
async fn no_more_is_read_than_a_bot_answers() {
    for kind in BOTS {
        let error = answered(kind, Answer::Flood).await.0.unwrap_err();
        assert_eq!(error.kind, Permanent);
        assert!(error.why.contains("64 KiB"), "{error}");
        // The name of the other's code is none of its own.
        let own = if kind == RouteKind::Feishu { "code" } else { "errcode" };
        let body = |bytes: usize| {
            let start = format!("{{\"{own}\":0,\"x\":\"");
            format!("{start}{}\"}}", "x".repeat(bytes - start.len() - 2))
        };
        answered(kind, Answer::ok(&body(64 * 1_024))).await.0.unwrap();
        answered(kind, Answer::ok(&body(64 * 1_024 + 1))).await.0.unwrap_err();
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_may_be_whole_the_next_time() {
    for kind in BOTS {
        let error = answered(kind, Answer::BreakOff).await.0.unwrap_err();
        assert_eq!(error.kind, Temporary, "{error}");
    }
}
