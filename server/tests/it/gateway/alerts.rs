//! Alerts and lock orders of what others watch, through a replica that watches nothing: it shows what an owner finds, and has
//! an owner carry out what people say of it, on record at both.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::acts::{get, of_kind, post, records, same_token};
use super::{Server, secret, three};
use crate::harness::{Truth, open, queue, zookeeper};
use crate::served::until;

const RULE: &str = "[[alert]]\nname = \"held\"\nwhen = \"held > 1s\"\npath = \"/a/*\"\n";
const SILENCES: &str = "/api/v1/alerts/silences";

async fn delete(server: &Server, token: &str, target: &str) -> (u16, Value) {
    let asked = reqwest::Client::new().delete(format!("{}{target}", server.url)).bearer_auth(token).send();
    let answer = asked.await.unwrap();
    (answer.status().as_u16(), serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
}

/// A form of the page; where it leads to.
async fn typed(server: &Server, token: &str, target: &str, pairs: &[(&str, &str)]) -> (u16, String) {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let body = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&");
    let asked = client.post(format!("{}{target}", server.url)).bearer_auth(token).body(body);
    let asked = asked.header("content-type", "application/x-www-form-urlencoded").send();
    let answer = asked.await.unwrap();
    let to = answer.headers().get("location").map_or("", |value| value.to_str().unwrap()).to_owned();
    (answer.status().as_u16(), to)
}

async fn alerts(server: &Server, token: &str) -> Value {
    get(server, token, "/api/v1/alerts").await.1
}

async fn firing(server: &Server, token: &str, lock: &str) -> Option<Value> {
    let all = alerts(server, token).await;
    let found = all["alerts"].as_array()?.iter().find(|alert| alert["lock"] == lock && alert["state"] == "firing");
    found.cloned()
}

async fn warning(server: &Server, token: &str) -> Option<Value> {
    let orders = get(server, token, "/api/v1/orders?ensemble=default").await.1;
    orders["warnings"].as_array()?.first().cloned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fires_at_an_owner_is_shown_acknowledged_and_silenced_anywhere() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    for path in ["/a", "/a/order", "/a/stock"] {
        truth.make(path).await;
    }
    let client = open(&zookeeper.address()).await;
    let place = tempfile::tempdir().unwrap();
    let [one, two, gateway] = three(&zookeeper, &secret(&place), RULE).await;
    let all = [&one, &two, &gateway];
    let token = same_token(&all, "operator", "ops").await;
    let viewer = same_token(&all, "viewer", "looks").await;
    let _held = queue(&client, "/a/order/lock-").await;
    until(async || firing(&gateway, &token, "/a/order").await.is_some()).await;
    let shown = firing(&gateway, &token, "/a/order").await.unwrap();
    assert_eq!(Some(&shown), firing(&one, &token, "/a/order").await.as_ref(), "it is the owner's own");
    assert_eq!(alerts(&gateway, &token).await["missing"], json!([]));
    for page in ["/alerts", "/alerts/banner", "/"] {
        let asked = async || get(&gateway, &token, page).await.1.as_str().unwrap_or_default().contains("/a/order");
        until(asked).await;
    }

    // Somebody looks at it; whoever may only look can't, and nobody can of what is not there.
    let ack = json!({ "key": shown["key"], "reason": "on it" });
    assert_eq!(post(&gateway, &viewer, "/api/v1/alerts/ack", &ack).await.0, 403);
    assert_eq!(post(&gateway, &token, "/api/v1/alerts/ack", &json!({ "key": "none", "reason": "x" })).await.0, 404);
    let (status, acked) = post(&gateway, &token, "/api/v1/alerts/ack", &ack).await;
    assert!(status == 200 && acked["acked_by"]["by"] == "ops", "{status} {acked:#}");
    assert_eq!(firing(&one, &token, "/a/order").await.unwrap()["acked_by"]["reason"], "on it");
    until(async || firing(&gateway, &token, "/a/order").await.unwrap()["acked_by"]["by"] == "ops").await;

    // A silence, by script and by form; its end.
    let order = json!({ "matchers": { "ensemble": "default", "path": "/a/*" }, "for_ms": 60_000, "reason": "work" });
    assert_eq!(post(&gateway, &viewer, SILENCES, &order).await.0, 403);
    let wrong = json!({ "matchers": {}, "for_ms": 60_000, "reason": "work" });
    assert_eq!(post(&gateway, &token, SILENCES, &wrong).await.0, 422);
    let (status, made) = post(&gateway, &token, SILENCES, &order).await;
    assert_eq!(status, 201, "{made:#}");
    until(async || firing(&gateway, &token, "/a/order").await.unwrap()["silenced_by"]["id"] == made["id"]).await;
    assert_eq!(alerts(&one, &token).await["silences"][0]["by"], "ops");
    let ended = async || delete(&gateway, &token, &format!("{SILENCES}/{}", made["id"])).await;
    assert_eq!(ended().await.0, 200);
    until(async || ended().await.0 == 404).await;
    assert_eq!(alerts(&one, &token).await["silences"], json!([]));
    let form = [("ensemble", "default"), ("path", "/a/order"), ("for_ms", "60000"), ("reason", "typed")];
    let (status, to) = typed(&gateway, &token, "/alerts/silences", &form).await;
    assert!(status == 303 && to.contains("done=silenced"), "{status} {to}");
    let id = alerts(&one, &token).await["silences"][0]["id"].to_string();
    until(async || typed(&gateway, &token, "/alerts/silences/end", &[("id", &id)]).await.0 == 303).await;
    assert_eq!(alerts(&one, &token).await["silences"], json!([]));

    // Two sessions take two locks in opposite orders: the warning is snoozed where it is found.
    let cross = async || {
        for locks in [["/a/order", "/a/stock"], ["/a/stock", "/a/order"]] {
            let session = open(&zookeeper.address()).await;
            let mut nodes = Vec::new();
            for lock in locks {
                nodes.push(queue(&session, &format!("{lock}/lock-")).await);
                let node = nodes.last().unwrap().clone();
                let told = async || get(&one, &token, &format!("/api/v1/lock?path={lock}")).await.1.to_string();
                until(async || told().await.contains(&node)).await;
            }
            for node in nodes {
                session.delete(&node, None).await.unwrap();
            }
        }
        warning(&gateway, &token).await.is_some()
    };
    truth.client.delete(&_held, None).await.unwrap();
    until(cross).await;
    let warned = warning(&gateway, &token).await.unwrap();
    let order =
        json!({ "ensemble": "default", "classes": [warned["a"], warned["b"]], "for_ms": 60_000, "reason": "known" });
    assert_eq!(post(&gateway, &viewer, "/api/v1/orders/snooze", &order).await.0, 403);
    let (status, made) = post(&gateway, &token, "/api/v1/orders/snooze", &order).await;
    assert!(status == 201 && made["by"] == "ops", "{status} {made:#}");
    assert_eq!(warning(&gateway, &token).await.unwrap()["snoozed_by"]["id"], made["id"]);
    let section = get(&gateway, &token, "/waits/orders").await.1;
    assert!(section.as_str().unwrap().contains("order-snoozed"), "{section}");
    let (status, refused) = post(&gateway, &token, "/api/v1/orders/snooze", &order).await;
    assert!(status == 409 && refused["detail"].as_str().unwrap().contains("already"), "{status} {refused:#}");
    let end = [("id", made["id"].to_string()), ("ensemble", "default".to_owned())];
    let end: Vec<(&str, &str)> = end.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(typed(&gateway, &token, "/waits/orders/snooze/end", &end).await.0, 303);
    assert_eq!(warning(&one, &token).await.unwrap()["snoozed_by"], Value::Null);

    // Each is on record at both: as asked for here, and as done there, through whom.
    let (here, there) = (records(&gateway, &token).await, records(&one, &token).await);
    // One more where an end was sent again before it was seen here.
    assert!(of_kind(&here, "handed_on").len() >= 8, "{here:#?}");
    for (kind, count) in [
        ("alert_acknowledged", 1),
        ("alerts_silenced", 2),
        ("silence_ended", 2),
        ("order_snoozed", 1),
        ("order_snooze_ended", 1),
    ] {
        let found = of_kind(&there, kind);
        assert!(found.len() == count && found.iter().all(|one| one["through"] == gateway.id), "{kind}: {found:#?}");
        assert!(of_kind(&here, kind).is_empty(), "{kind}");
    }

    // The owner that was asked hangs: the other one's are shown, and what people say goes there.
    let _held = queue(&client, "/a/order/lock-").await;
    until(async || firing(&gateway, &token, "/a/order").await.is_some()).await;
    until(async || firing(&two, &token, "/a/order").await.is_some()).await;
    one.signal(Signal::STOP);
    let theirs = firing(&two, &token, "/a/order").await.unwrap();
    let of_two = async || firing(&gateway, &token, "/a/order").await.is_some_and(|alert| alert["key"] == theirs["key"]);
    until(of_two).await;
    let ack = json!({ "key": theirs["key"], "reason": "on it as well" });
    assert_eq!(post(&gateway, &token, "/api/v1/alerts/ack", &ack).await.0, 200);
    assert_eq!(firing(&two, &token, "/a/order").await.unwrap()["acked_by"]["reason"], "on it as well");
    // Nobody is left: what fired is not called over, and nothing is said to be done.
    two.signal(Signal::KILL);
    let unknown = async || {
        let all = alerts(&gateway, &token).await;
        let is_unknown = |alert: &Value| alert["lock"] == "/a/order" && !alert["unknown_since_ms"].is_null();
        let missing = all["missing"].as_array().is_some_and(|all| all.len() == 1);
        missing && all["alerts"].as_array().unwrap().iter().any(is_unknown)
    };
    until(unknown).await;
    assert!(get(&gateway, &token, "/alerts").await.1.as_str().unwrap().contains("alerts-missing"));
    let (status, refused) = post(&gateway, &token, "/api/v1/alerts/ack", &ack).await;
    assert_eq!(status, 503, "{refused:#}");
}
