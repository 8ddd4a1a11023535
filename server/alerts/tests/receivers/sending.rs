//! What answers mean, and what none of them can do.

use std::time::Duration;

use lockscope_alerts::route::{RouteKind, SendError, SendErrorKind, Sender};
use tokio::net::TcpListener;

use super::fake::{Answer, Fake, hmac_sha256};
use super::{NOW_MS, SECRET, firing, many, query, resolved, route};

/// Longer than any of these takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);
/// How long the sender waits where nothing comes.
const SHORT: Duration = Duration::from_millis(200);

async fn sent(kind: RouteKind, fake: &Fake, sender: &Sender) -> Result<(), SendError> {
    let route = route(kind, &format!("http://{}/canary{}", fake.address, query(kind)));
    let notifications = [firing(), resolved()];
    let sending = sender.send(&route, &notifications, NOW_MS);
    let sent = tokio::time::timeout(DEADLINE, sending).await.expect("it ends by itself");
    if let Err(error) = &sent {
        assert!(!error.why.contains("canary"), "{error}");
        assert!(!error.why.contains("127.0.0.1"), "{error}");
    }
    sent
}

async fn answered(kind: RouteKind, answer: Answer) -> Result<(), SendError> {
    let fake = Fake::start(vec![answer]).await;
    sent(kind, &fake, &Sender::new(DEADLINE, true).unwrap()).await
}

fn is_bot(kind: RouteKind) -> bool {
    matches!(kind, RouteKind::Feishu | RouteKind::DingTalk | RouteKind::WeCom)
}

#[tokio::test]
async fn a_webhook_is_signed_as_its_receiver_checks_it() {
    let fake = Fake::start(vec![Answer::status(204, "", "")]).await;
    sent(RouteKind::Webhook, &fake, &Sender::new(DEADLINE, true).unwrap()).await.unwrap();
    let received = fake.received().remove(0);
    assert_eq!(received.line, "POST /canary HTTP/1.1");
    assert_eq!(received.header("content-type"), Some("application/json"));
    assert!(received.header("user-agent").unwrap().starts_with("lockscope/"));
    let signed = [format!("{NOW_MS}.").as_bytes(), &received.body].concat();
    let mac: String = hmac_sha256(SECRET.as_bytes(), &signed).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(received.header("lockscope-signature"), Some(format!("t={NOW_MS},v1={mac}").as_str()));
}

#[tokio::test]
async fn statuses_say_whether_it_helps_to_try_again() {
    for kind in [RouteKind::Alertmanager, RouteKind::Slack, RouteKind::Webhook, RouteKind::Feishu] {
        for (status, is_temporary) in [
            (400, false),
            (401, false),
            (403, false),
            (404, false),
            (408, true),
            (410, false),
            (413, false),
            (429, true),
            (500, true),
            (502, true),
            (503, true),
            (301, false),
            (304, false),
        ] {
            let error = answered(kind, Answer::status(status, "", "canary")).await.unwrap_err();
            assert_eq!(error.kind == SendErrorKind::Temporary, is_temporary, "{status}: {error}");
            assert!(error.why.contains(&status.to_string()), "{error}");
            assert_eq!(error.retry_after, None);
        }
    }
}

#[tokio::test]
async fn every_success_is_one() {
    for kind in RouteKind::ALL.into_iter().filter(|kind| !is_bot(*kind)) {
        for status in [200, 201, 202, 204] {
            answered(kind, Answer::status(status, "", "")).await.unwrap();
        }
        // What its body does is nobody's concern.
        for answer in [Answer::DripBody, Answer::Flood, Answer::BreakOff] {
            answered(kind, answer).await.unwrap();
        }
    }
}

#[tokio::test]
async fn it_waits_as_long_as_it_is_asked_but_not_for_ever() {
    for (asked, waits_s) in [
        ("7", Some(7)),
        ("86400", Some(300)),
        ("Fri, 02 Jan 2026 03:04:36 GMT", Some(30)),
        ("canary", None),
        ("-5", None),
    ] {
        let answer = Answer::status(429, &format!("retry-after: {asked}\r\n"), "");
        let error = answered(RouteKind::PagerDuty, answer).await.unwrap_err();
        assert_eq!(error.kind, SendErrorKind::Temporary);
        assert_eq!(error.retry_after.map(|wait| wait.as_secs_f64().round() as u64), waits_s, "{asked}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Fake::start(vec![Answer::ok("{\"code\":0}")]).await;
    for kind in RouteKind::ALL {
        for status in [301, 302, 303, 307, 308] {
            let location = format!("location: http://{}/canary\r\n", elsewhere.address);
            let error = answered(kind, Answer::status(status, &location, "")).await.unwrap_err();
            assert_eq!(error.kind, SendErrorKind::Permanent);
            assert!(error.why.contains("redirects are not followed"), "{error}");
        }
    }
    assert!(elsewhere.received().is_empty());
}

#[tokio::test]
async fn an_answer_that_never_ends_holds_nothing_up() {
    let sender = Sender::new(SHORT, true).unwrap();
    for kind in RouteKind::ALL {
        for answer in [Answer::Silence, Answer::DripHead] {
            let fake = Fake::start(vec![answer]).await;
            let error = sent(kind, &fake, &sender).await.unwrap_err();
            assert_eq!((error.kind, error.why.as_str()), (SendErrorKind::Temporary, "it did not answer in time"));
        }
    }
    for kind in RouteKind::ALL.into_iter().filter(|kind| is_bot(*kind)) {
        let fake = Fake::start(vec![Answer::DripBody]).await;
        let error = sent(kind, &fake, &sender).await.unwrap_err();
        assert_eq!((error.kind, error.why.as_str()), (SendErrorKind::Temporary, "it did not answer in time"));
    }
}

#[tokio::test]
async fn a_connection_that_is_refused_may_be_taken_later() {
    // An address at which no other test listens.
    let listener = TcpListener::bind("127.9.8.7:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for kind in RouteKind::ALL {
        let route = route(kind, &format!("http://{address}/canary{}", query(kind)));
        let error = Sender::new(DEADLINE, true).unwrap().send(&route, &[firing()], NOW_MS).await.unwrap_err();
        assert_eq!(error.kind, SendErrorKind::Temporary);
        assert!(error.why.contains("refused") && !error.why.contains("canary"), "{error}");
    }
}

#[tokio::test]
async fn what_speaks_no_http_may_later() {
    let error = answered(RouteKind::Slack, Answer::Bytes(b"SSH-2.0-canary\r\n".to_vec())).await.unwrap_err();
    assert_eq!(error.kind, SendErrorKind::Temporary, "{error}");
    let error = answered(RouteKind::Slack, Answer::Bytes(Vec::new())).await.unwrap_err();
    assert_eq!(error.kind, SendErrorKind::Temporary, "{error}");
}

#[tokio::test]
async fn one_that_is_refused_does_not_keep_the_others_from_being_told() {
    let refusal = Answer::status(400, "", "");
    let fake = Fake::start(vec![refusal, Answer::status(202, "", "")]).await;
    let route = route(RouteKind::PagerDuty, &format!("http://{}/", fake.address));
    let error = Sender::new(DEADLINE, true).unwrap().send(&route, &many(3), NOW_MS).await.unwrap_err();
    assert_eq!((error.kind, fake.received().len()), (SendErrorKind::Permanent, 3));
    // Where it is the receiver that is in trouble, the others would fare no better.
    let fake = Fake::start(vec![Answer::status(202, "", ""), Answer::status(503, "", "")]).await;
    let route = super::route(RouteKind::PagerDuty, &format!("http://{}/", fake.address));
    let error = Sender::new(DEADLINE, true).unwrap().send(&route, &many(9), NOW_MS).await.unwrap_err();
    assert_eq!((error.kind, fake.received().len()), (SendErrorKind::Temporary, 2));
}

#[tokio::test]
async fn nothing_is_sent_where_there_is_nothing_to_tell() {
    let fake = Fake::start(vec![Answer::status(500, "", "")]).await;
    for kind in RouteKind::ALL {
        let route = route(kind, &format!("http://{}/{}", fake.address, query(kind)));
        Sender::new(DEADLINE, true).unwrap().send(&route, &[], NOW_MS).await.unwrap();
    }
    assert!(fake.received().is_empty());
}

#[tokio::test]
async fn a_secret_that_can_not_be_sent_is_not_shown() {
    let fake = Fake::start(vec![Answer::ok("")]).await;
    let mut route = route(RouteKind::Alertmanager, &format!("http://{}/", fake.address));
    route.secret = Some(b"canary\r\nx-more: canary".to_vec());
    let error = Sender::new(DEADLINE, true).unwrap().send(&route, &[firing()], NOW_MS).await.unwrap_err();
    assert_eq!(error.kind, SendErrorKind::Permanent);
    assert!(error.why.contains("secret") && !error.why.contains("canary"), "{error}");
    assert!(fake.received().is_empty());
}

#[tokio::test]
async fn a_machine_without_authorities_sends_over_plain_http_alone() {
    let fake = Fake::start(vec![Answer::ok("")]).await;
    let sender = Sender::new(DEADLINE, true).unwrap();
    sent(RouteKind::Slack, &fake, &sender).await.unwrap();
    let error = sender.send(&super::anywhere(RouteKind::Slack), &[firing()], NOW_MS).await.unwrap_err();
    assert!(error.kind == SendErrorKind::Permanent && error.why.contains("https"), "{error}");
}
