//! Releases through a replica that watches nothing: carried out by an owner as if it had been asked, once, on record in both
//! logs; and what is said where the owner is killed in the middle, hangs, or is another process than the one that was meant.

use std::time::Duration;

use ::cluster::{Greeting, ReplicaSecret};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Server, secret, three};
use crate::cli::lockscope;
use crate::harness::{Truth, open, queue, zookeeper};
use crate::served::until;

/// Somebody whom all servers know by the same token.
pub(super) async fn same_token(servers: &[&Server], role: &str, name: &str) -> String {
    let [first, others @ ..] = servers else { unreachable!("there is a server") };
    let config = first.place.path().join("lockscope.toml").display().to_string();
    let told =
        lockscope(&["token", "new", "--name", name, "--role", role, "--config", &config]).output().await.unwrap();
    let token = String::from_utf8(told.stdout).unwrap().trim().to_owned();
    let file = |server: &Server| server.place.path().join("data/tokens.json");
    for other in others {
        std::fs::copy(file(first), file(other)).unwrap();
    }
    for server in servers {
        let asked = || reqwest::Client::new().get(format!("{}/api/v1/me", server.url)).bearer_auth(&token).send();
        until(async || asked().await.unwrap().status() == 200).await;
    }
    token
}

pub(super) async fn post(server: &Server, token: &str, target: &str, body: &Value) -> (u16, Value) {
    let asked = reqwest::Client::new().post(format!("{}{target}", server.url)).bearer_auth(token).json(body);
    let answer = asked.send().await.unwrap();
    let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

pub(super) async fn get(server: &Server, token: &str, target: &str) -> (u16, Value) {
    let answer = reqwest::Client::new().get(format!("{}{target}", server.url)).bearer_auth(token).send().await.unwrap();
    let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

pub(super) async fn records(server: &Server, token: &str) -> Vec<Value> {
    get(server, token, "/api/v1/audit").await.1["records"].as_array().cloned().unwrap_or_default()
}

pub(super) fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["kind"] == kind).collect()
}

/// A plan of a znode through a server, once it sees that it holds.
pub(super) async fn plan(server: &Server, token: &str, lock: &str, path: &str) -> Value {
    let target = format!("/api/v1/lock?ensemble=default&path={lock}");
    until(async || get(server, token, &target).await.1["holders"][0]["path"] == path).await;
    let order = json!({ "ensemble": "default", "path": path });
    let (status, plan) = post(server, token, "/api/v1/release/plan", &order).await;
    assert_eq!(status, 200, "{plan:#}");
    plan
}

pub(super) fn order(plan: &Value) -> Value {
    json!({ "plan_id": plan["plan_id"], "confirm": plan["lock"], "reason": "a stuck job" })
}

/// Whether a server has on record that it handed a plan's execution on.
async fn is_handed_on(server: &Server, token: &str, plan: &Value) -> bool {
    let id = plan["plan_id"].as_str().unwrap();
    of_kind(&records(server, token).await, "handed_on")
        .iter()
        .any(|record| record["detail"].as_str().unwrap().contains(id))
}

/// A request as a replica would hand it on to another, signed at an instant; the status at the door, and what is in the
/// first piece.
#[derive(Clone, Copy)]
struct Forger<'a> {
    to: &'a Server,
    secret: &'a [u8],
    process_since_ms: i64,
    nonce: u128,
}

impl Forger<'_> {
    fn signed(&self, body: &str, at_ms: i64) -> String {
        let greeting = Greeting { from: "c".to_owned(), to: self.to.id.to_owned(), at_ms, nonce: self.nonce };
        ReplicaSecret::new(self.secret).unwrap().sign_handed_on(&greeting, &self.to.url, body.as_bytes())
    }

    fn body(&self, target: &str) -> String {
        let who = json!({ "request_id": "1", "process_since_ms": self.process_since_ms, "method": "post", "target": target,
            "content": { "json": "{\"ensemble\":\"default\",\"path\":\"/a/stock\"}" }, "name": "ops", "role": "admin",
            "by": "token", "form_key": "", "address": null, "ensembles": [], "paths": [], "payloads": true });
        who.to_string()
    }

    async fn send(&self, header: &str, body: &str) -> (u16, String) {
        let request = reqwest::Client::new().post(format!("{}/api/v1/cluster/hand-on", self.to.url));
        let request = request.header("authorization", header).header("content-type", "application/json");
        let answer = request.body(body.to_owned()).send().await.unwrap();
        (answer.status().as_u16(), String::from_utf8_lossy(&answer.bytes().await.unwrap()).into_owned())
    }
}

fn now_ms() -> i64 {
    i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

pub(super) const EXECUTE: &str = "/api/v1/release/execute";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_through_a_replica_that_watches_nothing_is_done_once_and_is_on_record_in_both_logs() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    for path in ["/a", "/a/order", "/a/stock", "/a/mail", "/a/post"] {
        truth.make(path).await;
    }
    let client = open(&zookeeper.address()).await;
    let place = tempfile::tempdir().unwrap();
    let [one, two, gateway] = three(&zookeeper, &secret(&place), "").await;
    let all = [&one, &two, &gateway];
    let token = same_token(&all, "operator", "ops").await;

    // From its plan to its outcome.
    let (held, next) = (queue(&client, "/a/order/lock-").await, queue(&client, "/a/order/lock-").await);
    let made = plan(&gateway, &token, "/a/order", &held).await;
    assert_eq!((&made["path"], &made["lock"]), (&json!(held), &json!("/a/order")));
    assert!(made["plan_id"].as_str().unwrap().ends_with(&format!(".{}", one.id)), "its number says who has it");
    let (status, wrong) =
        post(&gateway, &token, EXECUTE, &json!({ "plan_id": made["plan_id"], "confirm": "/a", "reason": "why" })).await;
    assert!(status == 422 && wrong["detail"].as_str().unwrap().contains("/a/order"), "{status} {wrong:#}");
    let (status, done) = post(&gateway, &token, EXECUTE, &order(&made)).await;
    assert!(status == 200 && done["outcome"] == "released" && done["verified"] == true, "{status} {done:#}");
    assert_eq!(done["holders"][0]["path"], json!(next));
    assert!(done["sentence"].as_str().unwrap().contains(&format!("of the replica {}", one.id)), "{done:#}");
    assert!(
        truth.client.check_stat(&held).await.unwrap().is_none()
            && truth.client.check_stat(&next).await.unwrap().is_some()
    );
    // Again, through whichever: the outcome it had.
    for server in all {
        let (status, again) = post(server, &token, EXECUTE, &order(&made)).await;
        assert_eq!((status, &again["outcome"], &again["audit_id"]), (200, &json!("released"), &done["audit_id"]));
    }
    let owners = records(&one, &token).await;
    let [intent] = of_kind(&owners, "release_intent")[..] else { panic!("{owners:#?}") };
    assert_eq!((&intent["actor"], &intent["actor_by"]), (&json!("ops"), &json!("operator by token")));
    assert_eq!((&intent["through"], &intent["address"]), (&json!(gateway.id), &json!("127.0.0.1")));
    let [outcome] = of_kind(&owners, "release_outcome")[..] else { panic!("{owners:#?}") };
    assert_eq!((&outcome["intent"], &outcome["id"]), (&intent["id"], &done["audit_id"]));
    let here = records(&gateway, &token).await;
    let handed_on = of_kind(&here, "handed_on");
    let plan_id = made["plan_id"].as_str().unwrap();
    assert!(
        handed_on.iter().all(|record| record["detail"].as_str().unwrap().contains(plan_id)) && handed_on.len() >= 2
    );
    assert!(
        of_kind(&here, "release_intent").is_empty()
            && of_kind(&records(&two, &token).await, "release_intent").is_empty()
    );

    // Rights are those at the owner as well: somebody whom it does not know, and a path that is not theirs.
    let held = queue(&client, "/a/stock/lock-").await;
    let stranger = gateway.token("admin", &[]).await;
    let stock = json!({ "ensemble": "default", "path": held });
    let (status, refused) = post(&gateway, &stranger, "/api/v1/release/plan", &stock).await;
    assert!(status == 403 && refused["detail"].as_str().unwrap().contains("no token or user"), "{status} {refused:#}");
    assert!(!of_kind(&records(&one, &token).await, "refused").is_empty(), "and that is on record");
    let viewer = same_token(&[&gateway, &one], "viewer", "looks").await;
    assert_eq!(post(&gateway, &viewer, "/api/v1/release/plan", &stock).await.0, 403);
    // A body that nobody reads to its end, and one that is no order.
    let (status, _) =
        post(&gateway, &token, EXECUTE, &json!({ "plan_id": "x".repeat(100 << 10), "confirm": "", "reason": "" }))
            .await;
    assert_eq!(status, 413);
    let nobody = json!({ "plan_id": format!("{:032x}.nobody", 7), "confirm": "/a/stock", "reason": "a stuck job" });
    let (status, gone) = post(&gateway, &token, EXECUTE, &nobody).await;
    assert!(status == 503 && gone["detail"].as_str().unwrap().contains("sent nothing"), "{status} {gone:#}");
    let made_up =
        json!({ "plan_id": format!("{:032x}.{}", 7, one.id), "confirm": "/a/stock", "reason": "a stuck job" });
    assert_eq!(post(&gateway, &token, EXECUTE, &made_up).await.1["outcome"], "plan_expired");

    // What another replica signs is taken once, by the process and at the time it was signed for, and for what is listed.
    let view = get(&one, &token, "/api/v1/cluster").await.1;
    let us = view["replicas"].as_array().unwrap().iter().find(|replica| replica["is_this"] == true).unwrap();
    let process_since_ms = us["since_ms"].as_i64().unwrap();
    let ours = Forger { to: &one, secret: b"0123456789abcdef0123456789abcdef", process_since_ms, nonce: 1 };
    let body = ours.body("/api/v1/release/plan");
    let header = ours.signed(&body, now_ms());
    let (status, first) = ours.send(&header, &body).await;
    assert!(status == 200 && first.contains("\"status\":"), "{status} {first}");
    let (status, used) = ours.send(&header, &body).await;
    assert!(status == 403 && used.contains("used before"), "{status} {used}");
    let refused = async |forger: Forger<'_>, at_ms: i64, change: &str| {
        let body = forger.body("/api/v1/release/plan");
        let (status, told) = forger.send(&forger.signed(&body, at_ms), &(body + change)).await;
        assert_eq!(status, 403, "{told}");
        told
    };
    let other = Forger { secret: b"1123456789abcdef0123456789abcdef", nonce: 2, ..ours };
    assert!(refused(other, now_ms(), "").await.contains("another `secret_file`"));
    assert!(refused(Forger { nonce: 3, ..ours }, now_ms() + 3_600_000, "").await.contains("clocks"));
    refused(Forger { nonce: 4, ..ours }, now_ms(), " ").await;
    let before = Forger { process_since_ms: process_since_ms - 1, nonce: 5, ..ours };
    let body = before.body("/api/v1/release/plan");
    let (status, told) = before.send(&before.signed(&body, now_ms()), &body).await;
    assert!(status == 200 && told.contains("\"status\":503") && told.contains("started anew"), "{status} {told}");
    for (nonce, target) in
        [(6, "/sign-out"), (7, "/api/v1/lab/runs"), (8, "/api/v1/cluster/hand-on"), (9, "/api/v1/preferences")]
    {
        let listed = Forger { nonce, ..ours };
        let body = listed.body(target);
        let (status, told) = listed.send(&listed.signed(&body, now_ms()), &body).await;
        assert!(status == 200 && told.contains("\"status\":400"), "{target}: {status} {told}");
    }

    // Two replicas send the same plan at once: it is executed once, and both hear of it.
    let made = plan(&gateway, &token, "/a/stock", &held).await;
    let same = order(&made);
    let (here, there) = tokio::join!(post(&gateway, &token, EXECUTE, &same), post(&two, &token, EXECUTE, &same));
    assert_eq!([here.0, there.0], [200, 200], "{here:?} {there:?}");
    assert_eq!(here.1["audit_id"], there.1["audit_id"]);

    // The owner that has the plan hangs. It may have been done: nobody says that it failed, and nobody else is asked.
    let held = queue(&client, "/a/mail/lock-").await;
    let made = plan(&gateway, &token, "/a/mail", &held).await;
    let home = if made["plan_id"].as_str().unwrap().ends_with(one.id) { &one } else { &two };
    home.signal(Signal::STOP);
    let killed = async {
        until(async || is_handed_on(&gateway, &token, &made).await).await;
        // Nothing can be seen of a request that waits at a process that stands still.
        tokio::time::sleep(Duration::from_millis(700)).await;
        home.signal(Signal::KILL);
    };
    let same = order(&made);
    let ((status, lost), ()) = tokio::join!(post(&gateway, &token, EXECUTE, &same), killed);
    assert_eq!((status, &lost["outcome"]), (202, &json!("unknown")), "{lost:#}");
    let sentence = lost["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("not known") && sentence.contains(&home.url) && sentence.contains("request "),
        "{sentence}"
    );
    let here = records(&gateway, &token).await;
    let asked = here.iter().find(|record| record["id"] == lost["audit_id"]).unwrap();
    let unknown = here.iter().find(|record| record["intent"] == lost["audit_id"]).unwrap();
    assert_eq!((&asked["kind"], &unknown["outcome"]), (&json!("handed_on"), &json!("unknown")));
    // It was stopped before it came: the znode is there, and stays.
    assert!(truth.client.check_stat(&held).await.unwrap().is_some());
    let other = if home.id == one.id { &two } else { &one };
    assert!(
        of_kind(&records(other, &token).await, "release_intent")
            .iter()
            .all(|intent| intent["plan_id"] != made["plan_id"])
    );
    // The replica that was asked is killed while the owner has the request: that is carried out, or it never came.
    let held = queue(&client, "/a/post/lock-").await;
    let made = plan(&gateway, &token, "/a/post", &held).await;
    assert!(made["plan_id"].as_str().unwrap().ends_with(other.id), "{made:#}");
    other.signal(Signal::STOP);
    let same = order(&made);
    let asked = reqwest::Client::new().post(format!("{}{EXECUTE}", gateway.url)).bearer_auth(&token).json(&same).send();
    let killed = async {
        until(async || is_handed_on(&gateway, &token, &made).await).await;
        gateway.signal(Signal::KILL);
        other.signal(Signal::CONT);
    };
    let (answer, ()) = tokio::join!(asked, killed);
    assert!(answer.is_err(), "{answer:?}");
    let of_plan = async |kind: &str| {
        let all = records(other, &token).await;
        of_kind(&all, kind)
            .into_iter()
            .filter(|record| record["plan_id"] == made["plan_id"])
            .cloned()
            .collect::<Vec<_>>()
    };
    // Whoever sends it again is told what came of it, or it is done now: once either way.
    let mut again = post(other, &token, EXECUTE, &same).await;
    assert_eq!((again.0, again.1["outcome"].take()), (200, json!("released")));
    assert!(truth.client.check_stat(&held).await.unwrap().is_none());
    assert_eq!((of_plan("release_intent").await.len(), of_plan("release_outcome").await.len()), (1, 1));
    // Each has noted how far it saw the logs of the others.
    let logs = [&gateway, &one, &two].map(|server| server.place.path().join("data").display().to_string());
    let verified = lockscope(&["audit", "verify", &logs[0], &logs[1], &logs[2]]).output().await.unwrap();
    assert!(verified.status.success(), "{verified:?}");
    drop(next);
}
