//! An owner that is killed between the intent and the delete of a release that was ordered elsewhere: nobody says how it
//! ended, nobody does it again, and the owner's own log says what is there once it is back.

use rustix::process::Signal;
use serde_json::{Value, json};
use zookeeper_client::{Acls, CreateMode};

use super::acts::{EXECUTE, get, of_kind, order, plan, post, records, same_token};
use super::{secret, three};
use crate::harness::{Truth, open, queue, zookeeper};
use crate::served::until;

/// The znode below which replicas take turns at a lock, as `cluster` names it.
fn turns(lock: &str) -> String {
    let bytes = ["default", lock].into_iter().flat_map(|part| part.bytes().chain([0]));
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("/lockscope/acts/default{}.{hash:016x}", lock.replace('/', "."))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_killed_between_intent_and_delete_is_not_repeated_and_says_what_is_there_when_it_is_back() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    for path in ["/a", "/a/order"] {
        truth.make(path).await;
    }
    let client = open(&zookeeper.address()).await;
    let place = tempfile::tempdir().unwrap();
    let [one, two, gateway] = three(&zookeeper, &secret(&place), "").await;
    let token = same_token(&[&one, &two, &gateway], "operator", "ops").await;
    let (held, _next) = (queue(&client, "/a/order/lock-").await, queue(&client, "/a/order/lock-").await);
    let made = plan(&gateway, &token, "/a/order", &held).await;
    let (mut home, other) = if made["plan_id"].as_str().unwrap().ends_with(one.id) { (one, two) } else { (two, one) };

    // Somebody else has the turn, so the owner stands between its intent and the delete.
    let turn = turns("/a/order");
    for path in ["/lockscope/acts", &turn] {
        let _ = truth.client.create(path, b"", &CreateMode::Persistent.with_acls(Acls::anyone_all())).await;
    }
    let ours = format!("{turn}/_c_00000000-0000-0000-0000-000000000000-lock-");
    let mode = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let (_, sequence) = truth.client.create(&ours, b"", &mode).await.unwrap();
    let of_plan = async |server: &super::Server, kind: &str| {
        let all = records(server, &token).await;
        let mut all: Vec<Value> = of_kind(&all, kind).into_iter().cloned().collect();
        all.retain(|record| record["plan_id"] == made["plan_id"]);
        all
    };
    let same = order(&made);
    let killed = async {
        until(async || !of_plan(&home, "release_intent").await.is_empty()).await;
        let waits = async || truth.client.list_children(&turn).await.unwrap().len() == 2;
        until(waits).await;
        home.signal(Signal::KILL);
    };
    let ((status, lost), ()) = tokio::join!(post(&gateway, &token, EXECUTE, &same), killed);
    assert_eq!((status, &lost["outcome"]), (202, &json!("unknown")), "{lost:#}");
    let here = records(&gateway, &token).await;
    let asked = here.iter().find(|record| record["id"] == lost["audit_id"]).unwrap();
    assert!(
        asked["kind"] == "handed_on" && asked["detail"].as_str().unwrap().contains(made["plan_id"].as_str().unwrap())
    );
    truth.client.delete(&format!("{ours}{sequence}"), None).await.unwrap();

    // The turn is free, and it is sent again by a person, who hears that its replica is gone: nothing is sent to another.
    until(async || get(&gateway, &token, "/api/v1/cluster").await.1["replicas"].as_array().unwrap().len() == 2).await;
    let (status, gone) = post(&gateway, &token, EXECUTE, &same).await;
    assert!(status == 503 && gone["detail"].as_str().unwrap().contains("sent nothing"), "{status} {gone:#}");
    assert!(of_plan(&other, "release_intent").await.is_empty());
    assert!(truth.client.check_stat(&held).await.unwrap().is_some(), "nobody deleted it");

    // Back, the owner looks at the znode and puts that on record as the outcome of its intent; once.
    home.child.wait().await.unwrap();
    home.start_again().await;
    until(async || !of_plan(&home, "release_outcome").await.is_empty()).await;
    let ([intent], [outcome]) =
        (&of_plan(&home, "release_intent").await[..], &of_plan(&home, "release_outcome").await[..])
    else {
        panic!("more than one of each")
    };
    assert_eq!((&outcome["intent"], &outcome["outcome"]), (&intent["id"], &json!("unknown")));
    let said = outcome["detail"].as_str().unwrap();
    assert!(said.contains("ended before this outcome") && said.contains("is still there"), "{said}");
    assert_eq!(intent["through"], json!(gateway.id));
    // The same order gets that outcome now, and does nothing.
    let again = async || post(&gateway, &token, EXECUTE, &same).await;
    until(async || again().await.0 == 202).await;
    assert_eq!(again().await.1["outcome"], "unknown");
    assert!(truth.client.check_stat(&held).await.unwrap().is_some());
}
