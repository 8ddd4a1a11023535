//! A warning of lock orders is silenced by an operator, over a kill, until somebody ends it.

use rustix::process::Signal;
use serde_json::{Value, json};
use zookeeper_client::Client;

use crate::harness::{open, queue};
use crate::history::{Recorded, now_ms};
use crate::served::until;

const SNOOZE: &str = "/api/v1/orders/snooze";

async fn send(recorded: &Recorded, verb: &str, token: &str, path: &str, body: &Value) -> (u16, Value) {
    let verb = reqwest::Method::from_bytes(verb.as_bytes()).unwrap();
    let request = reqwest::Client::new().request(verb, recorded.url(path)).bearer_auth(token);
    let answer = request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap();
    let status = answer.status().as_u16();
    (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
}

async fn orders(recorded: &Recorded) -> Value {
    recorded.json("/api/v1/orders").await.1
}

/// Whether a lock has the finding.
async fn is_warned(recorded: &Recorded, lock: &str) -> bool {
    recorded.json(&format!("/api/v1/lock?path={lock}")).await.1.to_string().contains("\"lock_order\"")
}

/// Takes one lock inside another, and lets go of both.
async fn nest(recorded: &Recorded, client: &Client, locks: [&str; 2]) {
    let mut nodes = Vec::new();
    for lock in locks {
        nodes.push(queue(client, &format!("{lock}/lock-")).await);
        let known = nodes.len();
        until(async || recorded.json(&format!("/api/v1/lock?path={lock}")).await.1["holders"].is_array() && known > 0)
            .await;
    }
    for node in nodes.iter().rev() {
        recorded.truth.delete(node).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snooze_is_of_one_warning_and_outlives_a_kill() {
    let mut recorded = Recorded::start("").await;
    let (viewer, operator) = (recorded.token("viewer", "/a").await, recorded.token("operator", "/a").await);
    let (half, far) = (recorded.token("operator", "/a/x").await, recorded.token("viewer", "/b").await);
    recorded.truth.make("/a/x").await;
    recorded.truth.make("/a/y").await;
    let (one, other) = (open(&recorded.zookeeper.address()).await, open(&recorded.zookeeper.address()).await);
    nest(&recorded, &one, ["/a/x", "/a/y"]).await;
    nest(&recorded, &other, ["/a/y", "/a/x"]).await;
    until(async || is_warned(&recorded, "/a/x").await && is_warned(&recorded, "/a/y").await).await;
    let before = now_ms();
    recorded.until_kept(before).await;

    let order = |extra: Value| {
        let mut body = json!({ "classes": ["/a/y", "/a/x"], "reason": "mended in May" });
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        body
    };
    let good = order(json!({ "for_good": true }));
    assert_eq!(send(&recorded, "POST", &viewer, SNOOZE, &good).await.0, 403);
    // Of one of the two classes nothing may be seen: there is no such warning.
    assert_eq!(send(&recorded, "POST", &half, SNOOZE, &good).await.0, 404);
    for wrong in
        [json!({}), json!({ "for_ms": 0 }), json!({ "for_ms": 1_000, "for_good": true }), json!({ "for_ms": i64::MAX })]
    {
        assert_eq!(send(&recorded, "POST", &operator, SNOOZE, &order(wrong.clone())).await.0, 422, "{wrong}");
    }
    let mute = order(json!({ "for_good": true, "reason": " " }));
    assert_eq!(send(&recorded, "POST", &operator, SNOOZE, &mute).await.0, 422);
    let unknown = order(json!({ "for_good": true, "classes": ["/a/x"] }));
    assert_eq!(send(&recorded, "POST", &operator, SNOOZE, &unknown).await.0, 404);

    let (status, made) = send(&recorded, "POST", &operator, SNOOZE, &good).await;
    assert_eq!(
        (status, &made["classes"], &made["until_at_ms"]),
        (201, &json!(["/a/x", "/a/y"]), &Value::Null),
        "{made}"
    );
    // What is answered is seen by whoever asks next.
    let seen = orders(&recorded).await;
    assert_eq!((&seen["snoozes"][0], &seen["warnings"][0]["snoozed_by"]), (&made, &made), "{seen}");
    assert_eq!(send(&recorded, "POST", &operator, SNOOZE, &good).await.0, 409);
    until(async || !is_warned(&recorded, "/a/x").await && !is_warned(&recorded, "/a/y").await).await;
    let hidden = recorded.text_as(&far, "/api/v1/orders").await.1;
    assert!(!hidden.contains("mended") && !hidden.contains("/a/x"), "{hidden}");
    let page = recorded.text_as(&viewer, "/waits").await.1;
    assert!(page.contains("mended in May") && !page.contains("/waits/orders/snooze"), "{page}");
    assert!(recorded.text_as(&operator, "/waits").await.1.contains("/waits/orders/snooze/end"));
    // The past is as it was.
    let past = recorded.json(&format!("/api/v1/orders?at={before}")).await.1;
    assert_eq!((past["warnings"][0]["snoozed_by"].is_null(), &past["snoozes"]), (true, &json!([])), "{past}");

    recorded.end(Signal::KILL).await;
    recorded.run().await;
    until(async || orders(&recorded).await["snoozes"][0] == made).await;
    nest(&recorded, &one, ["/a/x", "/a/y"]).await;
    assert!(!is_warned(&recorded, "/a/x").await);

    let own = format!("{SNOOZE}/{}", made["id"]);
    assert_eq!(send(&recorded, "DELETE", &viewer, &own, &Value::Null).await.0, 403);
    assert_eq!(send(&recorded, "DELETE", &half, &own, &Value::Null).await.0, 404);
    assert_eq!(send(&recorded, "DELETE", &operator, &own, &Value::Null).await.0, 200);
    assert_eq!(send(&recorded, "DELETE", &operator, &own, &Value::Null).await.0, 404);
    assert_eq!(orders(&recorded).await["snoozes"], json!([]));
    until(async || is_warned(&recorded, "/a/x").await).await;

    // By a form, for a while that is soon over.
    let form = "ensemble=default&class=%2Fa%2Fx&class=%2Fa%2Fy&for_ms=1500&reason=for+a+moment";
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let request = client.post(recorded.url("/waits/orders/snooze")).bearer_auth(&operator);
    let typed = request.header("content-type", "application/x-www-form-urlencoded").body(form);
    assert_eq!(typed.send().await.unwrap().status().as_u16(), 303);
    until(async || !is_warned(&recorded, "/a/x").await).await;
    until(async || is_warned(&recorded, "/a/x").await && orders(&recorded).await["snoozes"] == json!([])).await;

    let everywhere = recorded.token("admin", "/").await;
    let (status, log) = recorded.text_as(&everywhere, "/api/v1/audit").await;
    assert_eq!(status, 200);
    for part in ["order_snoozed", "order_snooze_ended", "mended in May"] {
        assert!(log.contains(part), "{part} is not in {log}");
    }
}
