//! A real Alertmanager: an alert fires once however often it is told, and is over when that is told.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests take what they made themselves for granted"
)]

use std::process::Stdio;
use std::time::Duration;

use lockscope_alerts::notification::Notification;
use lockscope_alerts::route::{Route, RouteKind, SendErrorKind, Sender, outgoing};
use lockscope_runtime::clock::Clock;
use lockscope_view::Severity;
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

/// What Debian's package brings; `.ci/need alertmanager` installs it.
const PROGRAM: &str = "/usr/bin/prometheus-alertmanager";
/// Longer than anything here takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(120);
/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Tries to start on a port that was free a moment ago.
const STARTS_MAX: usize = 5;

struct Alertmanager {
    base: String,
    // Killed when it is dropped, before its directory is removed.
    _child: Child,
    _dir: TempDir,
}

impl Alertmanager {
    async fn start() -> Self {
        for _ in 0..STARTS_MAX {
            if let Some(started) = Self::try_start().await {
                return started;
            }
        }
        panic!("Alertmanager did not start");
    }

    /// None where it ended, as when somebody else took the port.
    async fn try_start() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config.yml");
        std::fs::write(&config, "route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let mut child = Command::new(PROGRAM)
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.path={}", dir.path().join("data").display()))
            .arg(format!("--web.listen-address={address}"))
            .arg("--cluster.listen-address=")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("no Alertmanager: run .ci/need alertmanager");
        let base = format!("http://{address}");
        let ready = async {
            loop {
                if child.try_wait().unwrap().is_some() {
                    return false;
                }
                if asked(&format!("{base}/-/ready")).await.is_some() {
                    return true;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        let is_ready = tokio::time::timeout(DEADLINE, ready).await.expect("Alertmanager becomes ready");
        is_ready.then_some(Self { base, _child: child, _dir: dir })
    }

    fn route(&self) -> Route {
        let url = Route::check_url(RouteKind::Alertmanager, &self.base, false).unwrap();
        Route { name: "team".to_owned(), kind: RouteKind::Alertmanager, url, secret: Some(b"ignored".to_vec()) }
    }

    /// What fires, as its interface lists it.
    async fn active(&self) -> Vec<Value> {
        let answer = asked(&format!("{}/api/v2/alerts?active=true", self.base)).await.expect("an answer");
        let Ok(Value::Array(alerts)) = serde_json::from_str(&answer) else { panic!("{answer}") };
        alerts
    }

    /// Waits until what fires is as it should be.
    async fn until(&self, what: &str, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let mut last = Vec::new();
        let seen = tokio::time::timeout(DEADLINE, async {
            loop {
                last = self.active().await;
                if is_so(&last) {
                    return;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        })
        .await;
        assert!(seen.is_ok(), "{what}: {last:?}");
        last
    }
}

/// The body of an answer that is a success.
async fn asked(url: &str) -> Option<String> {
    let client = reqwest::Client::builder().no_proxy().tls_certs_only(std::iter::empty()).build().unwrap();
    let answer = client.get(url).send().await.ok()?;
    if answer.status().is_success() { answer.text().await.ok() } else { None }
}

fn stalled(lock: &str, now_ms: i64) -> Notification {
    Notification {
        key: format!("stalled-{}", lock.len()),
        rule: "stalled".to_owned(),
        ensemble: "prod".to_owned(),
        lock: lock.to_owned(),
        severity: Severity::Critical,
        since_ms: now_ms - 120_000,
        fired_at_ms: now_ms - 60_000,
        resolved_at_ms: None,
        sentence: "7 wait for <worker>".to_owned(),
        link: Some("https://lockscope.example/prod?at=1".to_owned()),
    }
}

#[tokio::test]
async fn an_alert_fires_once_until_it_is_over() {
    let alertmanager = Alertmanager::start().await;
    let (route, sender) = (alertmanager.route(), Sender::new(DEADLINE, true).unwrap());
    let now_ms = || Clock::system().now_ms();
    let fired = stalled("/locks/a", now_ms());

    sender.send(&route, std::slice::from_ref(&fired), now_ms()).await.unwrap();
    let active = alertmanager.until("it fires", |active| active.len() == 1).await;
    let labels = serde_json::json!({
        "alertname": "stalled", "ensemble": "prod", "lock": "/locks/a", "severity": "critical",
    });
    assert_eq!(active[0]["labels"], labels);
    assert_eq!(active[0]["annotations"]["summary"], "7 wait for <worker>");
    assert_eq!(active[0]["generatorURL"], "https://lockscope.example/prod?at=1");
    let ends_at = |alert: &Value| alert["endsAt"].as_str().unwrap().to_owned();
    let first_end = ends_at(&active[0]);

    // Sent again, with another sentence: the same alert, which fires for longer.
    let again = Notification { sentence: "8 wait for <worker>".to_owned(), ..fired.clone() };
    sender.send(&route, std::slice::from_ref(&again), now_ms() + 1).await.unwrap();
    let is_again =
        |active: &[Value]| active.iter().any(|alert| alert["annotations"]["summary"] == "8 wait for <worker>");
    let active = alertmanager.until("it is told again", is_again).await;
    assert_eq!(active.len(), 1, "{active:?}");
    assert!(ends_at(&active[0]) > first_end, "{active:?}");
    let sent: Value = serde_json::from_slice(&outgoing(&route, &[fired], now_ms())[0].body).unwrap();
    assert_eq!(active[0]["startsAt"], sent[0]["startsAt"]);

    // Another lock is another alert, and stays when the first is over.
    sender.send(&route, &[stalled("/locks/other", now_ms())], now_ms()).await.unwrap();
    alertmanager.until("both fire", |active| active.len() == 2).await;
    let over = Notification { resolved_at_ms: Some(now_ms()), ..again };
    sender.send(&route, &[over], now_ms()).await.unwrap();
    let active = alertmanager.until("one is over", |active| active.len() == 1).await;
    assert_eq!(active[0]["labels"]["lock"], "/locks/other");
}

#[tokio::test]
async fn hostile_texts_are_taken_as_they_are() {
    let alertmanager = Alertmanager::start().await;
    let (route, sender) = (alertmanager.route(), Sender::new(DEADLINE, true).unwrap());
    let now_ms = Clock::system().now_ms();
    let texts = ["/\u{0}\u{202e}\n{{ .Labels }}", "/锁\"}\\", "", &"/x".repeat(500_000), "/a\u{200b}", "/a\u{200c}"];
    let all: Vec<_> = texts
        .iter()
        .map(|text| Notification {
            sentence: (*text).to_owned(),
            link: Some((*text).to_owned()),
            ..stalled(text, now_ms)
        })
        .collect();
    sender.send(&route, &all, now_ms).await.unwrap();
    alertmanager.until("each fires", |active| active.len() == texts.len()).await;
    let over: Vec<_> = all.into_iter().map(|fired| Notification { resolved_at_ms: Some(now_ms), ..fired }).collect();
    sender.send(&route, &over, now_ms).await.unwrap();
    alertmanager.until("each is over", <[Value]>::is_empty).await;
}

#[tokio::test]
async fn clocks_that_were_set_back_are_no_refusal() {
    let alertmanager = Alertmanager::start().await;
    let (route, sender) = (alertmanager.route(), Sender::new(DEADLINE, true).unwrap());
    let now_ms = Clock::system().now_ms();
    let ahead = Notification { fired_at_ms: now_ms + 3_600_000, ..stalled("/ahead", now_ms) };
    let over = Notification { resolved_at_ms: Some(now_ms - 3_600_000), ..stalled("/over", now_ms) };
    let fired = stalled("/fired", now_ms);
    sender.send(&route, &[ahead, over, fired], now_ms).await.unwrap();
    let is_there = |active: &[Value]| active.iter().any(|alert| alert["labels"]["lock"] == "/fired");
    alertmanager.until("what is well fires", is_there).await;
    // Its own refusal is one for good: an address that is not the interface.
    let url = Route::check_url(RouteKind::Webhook, &format!("{}/api/v2/alerts", alertmanager.base), false).unwrap();
    let webhook = Route { kind: RouteKind::Webhook, url, ..route };
    let error = sender.send(&webhook, &[stalled("/x", now_ms)], now_ms).await.unwrap_err();
    assert_eq!(error.kind, SendErrorKind::Permanent, "{error}");
}
