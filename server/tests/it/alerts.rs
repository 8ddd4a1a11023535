//! Alerts of a real ensemble, told to a real Alertmanager and to a receiver of our own.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

use crate::harness::{open, queue};
use crate::history::{Recorded, now_ms};
use crate::served::until;

/// What Debian's package brings; `.ci/need alertmanager` installs it.
const ALERTMANAGER: &str = "/usr/bin/prometheus-alertmanager";

pub(crate) struct Alertmanager {
    url: String,
    _child: Child,
}

impl Alertmanager {
    async fn start(place: &std::path::Path, port: u16) -> Self {
        Self::start_as(place, port, "route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n").await
    }

    /// Starts it with a configuration.
    pub(crate) async fn start_as(place: &std::path::Path, port: u16, text: &str) -> Self {
        let config = place.join("alertmanager.yml");
        std::fs::write(&config, text).unwrap();
        let url = format!("http://127.0.0.1:{port}");
        let child = Command::new(ALERTMANAGER)
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.path={}", place.join("alertmanager").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .arg("--cluster.listen-address=")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("Alertmanager is not there; run .ci/need alertmanager");
        let started = Self { url, _child: child };
        until(async || reqwest::get(format!("{}/-/ready", started.url)).await.is_ok_and(|ready| ready.status() == 200))
            .await;
        started
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The locks of what is active there.
    async fn active(&self) -> Vec<String> {
        let text = reqwest::get(format!("{}/api/v2/alerts", self.url)).await.unwrap().text().await.unwrap();
        let alerts: Vec<Value> = serde_json::from_str(&text).unwrap();
        alerts.iter().map(|alert| alert["labels"]["lock"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) async fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()
}

fn config(port: u16) -> &'static str {
    let text = format!(
        r#"
[[alert]]
name = "held"
when = "held > 1s"
path = "/a/*"
severity = "critical"

[[alert]]
name = "deep"
when = ["depth > 50", "unseen > 20m"]

[[route]]
name = "operators"
kind = "alertmanager"
url = "http://127.0.0.1:{port}"
"#
    );
    Box::leak(text.into_boxed_str())
}

async fn alerts(recorded: &Recorded, state: &str) -> Vec<Value> {
    let answer = recorded.json(&format!("/api/v1/alerts?state={state}")).await.1;
    answer["alerts"].as_array().cloned().unwrap_or_default()
}

async fn send(recorded: &Recorded, verb: &str, token: &str, path: &str, body: &Value) -> (u16, Value) {
    let verb = reqwest::Method::from_bytes(verb.as_bytes()).unwrap();
    let request = reqwest::Client::new().request(verb, recorded.url(path)).bearer_auth(token);
    let answer = request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap();
    let status = answer.status().as_u16();
    (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_is_held_for_long_is_told_once_over_a_kill_and_until_it_is_let_go() {
    let port = free_port().await;
    let mut recorded = Recorded::start(config(port)).await;
    let alertmanager = Alertmanager::start(recorded.place(), port).await;
    recorded.truth.make("/a/order").await;
    let client = open(&recorded.zookeeper.address()).await;
    let node = queue(&client, "/a/order/lock-").await;
    until(async || alerts(&recorded, "firing").await.len() == 1).await;
    let fired = alerts(&recorded, "firing").await.remove(0);
    assert_eq!(
        (&fired["rule"], &fired["lock"], &fired["severity"]),
        (&"held".into(), &"/a/order".into(), &"critical".into())
    );
    let (since, fired_at) = (fired["since_at_ms"].as_i64().unwrap(), fired["fired_at_ms"].as_i64().unwrap());
    assert!((0..=2_000).contains(&(fired_at - since)), "{fired}");
    until(async || alertmanager.active().await == ["/a/order"]).await;

    recorded.until_kept(now_ms()).await;
    recorded.end(Signal::KILL).await;
    recorded.run().await;
    until(async || alerts(&recorded, "firing").await.first().is_some_and(|alert| alert["unknown_since_ms"].is_null()))
        .await;
    let again = alerts(&recorded, "all").await;
    assert_eq!(again.len(), 1, "{again:?}");
    assert_eq!((&again[0]["key"], &again[0]["fired_at_ms"]), (&fired["key"], &fired["fired_at_ms"]));
    assert_eq!(alertmanager.active().await, ["/a/order"]);

    // The same rule over what was recorded says the same.
    let test = json!({ "rule": "held", "from": since - 1_000, "to": now_ms() });
    let viewer = recorded.token("viewer", "/a").await;
    let (status, tested) = send(&recorded, "POST", &viewer, "/api/v1/alerts/test", &test).await;
    assert_eq!(status, 200, "{tested}");
    assert_eq!(tested["firings"][0]["lock"], "/a/order", "{tested}");
    assert_eq!(tested["firings"][0]["from_at_ms"], fired["fired_at_ms"], "{tested}");

    recorded.truth.delete(&node).await;
    until(async || alerts(&recorded, "resolved").await.len() == 1).await;
    until(async || alertmanager.active().await.is_empty()).await;
    assert!(alerts(&recorded, "firing").await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operators_acknowledge_and_silence_what_they_may_act_on_and_all_of_it_is_recorded() {
    let recorded = Recorded::start(config(free_port().await)).await;
    let (viewer, operator) = (recorded.token("viewer", "/a").await, recorded.token("operator", "/a").await);
    let everywhere = recorded.token("admin", "/").await;
    recorded.truth.make("/a/order").await;
    let client = open(&recorded.zookeeper.address()).await;
    queue(&client, "/a/order/lock-").await;
    until(async || alerts(&recorded, "firing").await.len() == 1).await;
    let key = alerts(&recorded, "firing").await[0]["key"].clone();

    let ack = json!({ "key": key, "reason": "looking at it" });
    assert_eq!(send(&recorded, "POST", &viewer, "/api/v1/alerts/ack", &ack).await.0, 403);
    let (status, acked) = send(&recorded, "POST", &operator, "/api/v1/alerts/ack", &ack).await;
    assert_eq!((status, &acked["acked_by"]["reason"]), (200, &"looking at it".into()), "{acked}");
    let none = json!({ "key": "none", "reason": "x" });
    assert_eq!(send(&recorded, "POST", &operator, "/api/v1/alerts/ack", &none).await.0, 404);
    let mute = json!({ "key": key, "reason": " " });
    assert_eq!(send(&recorded, "POST", &operator, "/api/v1/alerts/ack", &mute).await.0, 422);

    let silence = |matchers: Value| json!({ "matchers": matchers, "for_ms": 60_000, "reason": "maintenance" });
    let silences = "/api/v1/alerts/silences";
    let all = silence(json!({ "rule": "held" }));
    assert_eq!(send(&recorded, "POST", &viewer, silences, &all).await.0, 403);
    // Whoever may act on some locks silences those.
    assert_eq!(send(&recorded, "POST", &operator, silences, &all).await.0, 403);
    let elsewhere = silence(json!({ "ensemble": "default", "path": "/b/x" }));
    assert_eq!(send(&recorded, "POST", &operator, silences, &elsewhere).await.0, 403);
    for wrong in [silence(json!({})), json!({ "matchers": { "rule": "held" }, "reason": "x" })] {
        assert_eq!(send(&recorded, "POST", &everywhere, silences, &wrong).await.0, 422, "{wrong}");
    }
    let own = silence(json!({ "ensemble": "default", "path": "/a/order" }));
    let (status, made) = send(&recorded, "POST", &operator, silences, &own).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!(alerts(&recorded, "silenced").await.len(), 1);
    let one = format!("{silences}/{}", made["id"]);
    assert_eq!(send(&recorded, "DELETE", &viewer, &one, &Value::Null).await.0, 403);
    assert_eq!(send(&recorded, "DELETE", &operator, &one, &Value::Null).await.0, 200);
    assert_eq!(send(&recorded, "DELETE", &operator, &one, &Value::Null).await.0, 404);
    assert!(alerts(&recorded, "silenced").await.is_empty());

    let (status, log) = recorded.text_as(&everywhere, "/api/v1/audit").await;
    assert_eq!(status, 200);
    for kind in ["alert_acknowledged", "alerts_silenced", "silence_ended"] {
        assert!(log.contains(kind), "{kind} is not in {log}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_learns_of_alerts_at_locks_that_they_may_not_see() {
    let recorded = Recorded::start(config(free_port().await)).await;
    recorded.truth.make("/a/order").await;
    let client = open(&recorded.zookeeper.address()).await;
    queue(&client, "/a/order/lock-").await;
    until(async || alerts(&recorded, "firing").await.len() == 1).await;
    let (near, far) = (recorded.token("viewer", "/a").await, recorded.token("viewer", "/b/c").await);
    let seen = recorded.text_as(&near, "/api/v1/alerts").await.1;
    assert!(seen.contains("/a/order"), "{seen}");
    for target in ["/api/v1/alerts", "/alerts"] {
        let (status, text) = recorded.text_as(&far, target).await;
        assert_eq!(status, 200, "{text}");
        assert!(!text.contains("/a/order") && !text.contains("127.0.0.1"), "{text}");
    }
    let test = json!({ "rule": { "when": "held > 1s" }, "from": now_ms() - 600_000, "to": now_ms() });
    let (status, tested) = send(&recorded, "POST", &far, "/api/v1/alerts/test", &test).await;
    assert_eq!((status, &tested["firings"]), (200, &json!([])), "{tested}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fires_stands_below_every_page_with_who_looks_at_it() {
    let recorded = Recorded::start(config(free_port().await)).await;
    recorded.truth.make("/a/<order>").await;
    let client = open(&recorded.zookeeper.address()).await;
    queue(&client, "/a/<order>/lock-").await;
    let (operator, far) = (recorded.token("operator", "/a").await, recorded.token("viewer", "/b/c").await);
    let line = async || recorded.text_as(&operator, "/alerts/banner").await.1;
    until(async || line().await.contains("1 alert fires")).await;
    assert!(line().await.contains("<bdi>/a/&lt;order&gt;</bdi>"), "{}", line().await);
    let names_it = async |token: &str, page: &str| {
        let (status, html) = recorded.text_as(token, page).await;
        assert_eq!(status, 200, "{page}: {html}");
        assert!(html.contains("<alert-banner>") || page == "/alerts", "{page}: {html}");
        html.contains("<alert-banner><aside") && html.contains("1 alert fires")
    };
    for page in ["/", "/waits", "/wall", "/status", "/events", "/help"] {
        assert!(names_it(&operator, page).await, "{page} says nothing");
        assert!(!names_it(&far, page).await, "{page} tells of a lock that may not be seen");
    }
    assert!(!names_it(&operator, "/alerts").await, "the page of alerts has them all");
    assert_eq!(recorded.text_as(&far, "/alerts/banner").await, (200, String::new()));

    let key = alerts(&recorded, "firing").await[0]["key"].clone();
    let ack = json!({ "key": key, "reason": "looking at it" });
    assert_eq!(send(&recorded, "POST", &operator, "/api/v1/alerts/ack", &ack).await.0, 200);
    until(async || line().await.contains("has looked at it for")).await;
    let silence =
        json!({ "matchers": { "ensemble": "default", "path": "/a/<order>" }, "for_ms": 60_000, "reason": "x" });
    assert_eq!(send(&recorded, "POST", &operator, "/api/v1/alerts/silences", &silence).await.0, 201);
    until(async || line().await.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_somebody_else_has_is_told_and_keeps_nothing_from_whoever_is_to_be_told() {
    let port = free_port().await;
    let recorded = Recorded::start(config(port)).await;
    let alertmanager = Alertmanager::start(recorded.place(), port).await;
    let other = rusqlite::Connection::open(recorded.place().join("data/alerts.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    recorded.truth.make("/a/order").await;
    let client = open(&recorded.zookeeper.address()).await;
    queue(&client, "/a/order/lock-").await;
    until(async || alertmanager.active().await == ["/a/order"]).await;
    let trouble = async || recorded.json("/api/v1/alerts").await.1["trouble"].as_str().unwrap().to_owned();
    until(async || trouble().await.contains("alerts.db")).await;
    other.execute_batch("COMMIT").unwrap();
    until(async || trouble().await.is_empty()).await;
    assert_eq!(alerts(&recorded, "firing").await.len(), 1);
}
