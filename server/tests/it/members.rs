//! Three members in trouble: what is said of clients stays true, or becomes `unknown`, and never wrongly
//! `disconnected`.

use lockscope_demo::{PrivateEnsemble, PrivateZooKeeper};
use serde_json::Value;
use zookeeper_client::EnsembleUpdate;

use crate::harness::proxy::{Mode, Proxy};
use crate::harness::{Truth, ensemble, options};
use crate::recipes::lockscope::Lockscope;
use crate::served::until;

async fn status(lockscope: &Lockscope) -> Value {
    lockscope.ask("/api/v1/status").await.1["ensembles"][0].clone()
}

/// What is said of the holder's client.
async fn holder(lockscope: &Lockscope) -> Value {
    lockscope.ask("/api/v1/lock?path=/locks/x").await.1["holders"][0].clone()
}

fn index_of(status: &Value, role: &str) -> Option<usize> {
    status["evidence"].as_array()?.iter().position(|member| member["role"] == role)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_called_dead_because_a_member_is() {
    let mut ensemble = ensemble().await;
    let names: Vec<String> = ensemble.members().iter().map(lockscope_demo::PrivateZooKeeper::address).collect();
    let lockscope = Lockscope::run(&["--zk", &ensemble.connect_string(), "--root", "/locks"]).await;
    // Each member is asked by itself, and tells how far it is behind once the leader told where that is.
    until(async || {
        let told = status(&lockscope).await;
        let members = told["evidence"].as_array().unwrap();
        let is_heard =
            |member: &Value| member["connections"] == "ok" && member["sessions"] == "ok" && member["behind"].is_i64();
        members.len() == 3 && members.iter().all(is_heard) && index_of(&told, "leader").is_some()
    })
    .await;
    let told = status(&lockscope).await;
    let members = told["evidence"].as_array().unwrap();

    // The holder lives on a follower, and that follower freezes.
    let follower = index_of(&told, "follower").unwrap();
    let frozen = members[follower]["member"].as_str().unwrap().to_owned();
    let at = names.iter().position(|name| *name == frozen).unwrap();
    let truth = Truth::new(&frozen).await;
    truth.make("/locks/x").await;
    truth.queue("/locks/x/lock-").await;
    until(async || holder(&lockscope).await["liveness"] == "connected").await;
    assert_eq!(holder(&lockscope).await["client"]["server"], frozen.as_str());
    ensemble.members_mut()[at].pause().unwrap();
    until(async || {
        let told = status(&lockscope).await;
        told["evidence"]
            .as_array()
            .unwrap()
            .iter()
            .any(|member| member["member"] == frozen.as_str() && member["connections"] == "error")
    })
    .await;
    let liveness = holder(&lockscope).await["liveness"].clone();
    let may_be = liveness == "unknown" || liveness == "silent" || liveness.is_null();
    assert!(may_be, "it may be alive there, or gone from the tree: {liveness}");
    ensemble.members_mut()[at].resume().unwrap();
    until(async || {
        status(&lockscope).await["evidence"].as_array().unwrap().iter().all(|member| member["connections"] == "ok")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_holder_runs_out_visibly_while_a_member_is_silent() {
    let mut ensemble = ensemble().await;
    let names: Vec<String> = ensemble.members().iter().map(lockscope_demo::PrivateZooKeeper::address).collect();
    let lockscope = Lockscope::run(&["--zk", &ensemble.connect_string(), "--root", "/locks"]).await;
    until(async || index_of(&status(&lockscope).await, "leader").is_some()).await;
    let told = status(&lockscope).await;
    let leader = told["evidence"][index_of(&told, "leader").unwrap()]["member"].as_str().unwrap().to_owned();
    let frozen = names.iter().position(|name| *name != leader).unwrap();
    let living: Vec<String> =
        names.iter().enumerate().filter(|(at, _)| *at != frozen).map(|(_, name)| name.clone()).collect();
    // The holder is a process of its own behind a proxy, at a member that goes on answering.
    let truth = Truth::new(&living.join(",")).await;
    truth.make("/locks/x").await;
    let proxy = Proxy::start(leader.clone()).await;
    let victim = Truth::new(&proxy.address()).await;
    victim.queue("/locks/x/lock-").await;
    until(async || holder(&lockscope).await["liveness"] == "connected").await;
    ensemble.members_mut()[frozen].pause().unwrap();
    until(async || {
        let told = status(&lockscope).await;
        told["evidence"]
            .as_array()
            .unwrap()
            .iter()
            .any(|member| member["member"] == names[frozen].as_str() && member["connections"] == "error")
    })
    .await;
    // Its link is cut for good, and it can't come back.
    proxy.set(Mode::Cut);
    until(async || {
        let told = holder(&lockscope).await;
        assert!(!told.is_null(), "it ran out unseen");
        told["liveness"] == "silent" && told["expires_in_ms"].is_i64()
    })
    .await;
    ensemble.members_mut()[frozen].resume().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_leader_is_found_and_tells_the_ends() {
    let mut ensemble = ensemble().await;
    let names: Vec<String> = ensemble.members().iter().map(lockscope_demo::PrivateZooKeeper::address).collect();
    let lockscope = Lockscope::run(&["--zk", &ensemble.connect_string(), "--root", "/locks"]).await;
    until(async || index_of(&status(&lockscope).await, "leader").is_some()).await;
    let told = status(&lockscope).await;
    let first = told["evidence"][index_of(&told, "leader").unwrap()]["member"].as_str().unwrap().to_owned();
    let truth = Truth::new(&ensemble.connect_string()).await;
    truth.make("/locks/x").await;
    truth.queue("/locks/x/lock-").await;
    until(async || holder(&lockscope).await["liveness"] == "connected").await;

    let at = names.iter().position(|name| *name == first).unwrap();
    ensemble.members_mut()[at].kill_minus_9().await.unwrap();
    until(async || {
        let told = status(&lockscope).await;
        let members = told["evidence"].as_array().unwrap();
        let is_down = members.iter().any(|member| member["member"] == first.as_str() && member["is_down"] == true);
        is_down
            && index_of(&told, "leader")
                .is_some_and(|at| members[at]["member"] != first.as_str() && members[at]["sessions"] == "ok")
    })
    .await;
    // Its client went to another member and goes on holding.
    until(async || {
        let told = holder(&lockscope).await;
        told["liveness"] == "connected" && told["client"]["server"] != first.as_str()
    })
    .await;
}

/// An ensemble that may be reconfigured by anybody.
fn reconfigurable() -> lockscope_demo::ServerOptions {
    options(&[("reconfigEnabled", "true")], &["-Dzookeeper.skipACL=yes"])
}

/// Changes who the members are. A leader that leaves closes its connections before it answers.
async fn reconfigure(by: &Truth, joins: &[&str], leaves: &[&str]) {
    let joinings = joins.iter().copied();
    let update = EnsembleUpdate::Incremental { joinings, leavings: leaves.iter().copied() };
    let told = by.client.update_ensemble(update, None).await;
    assert!(matches!(told, Ok(_) | Err(zookeeper_client::Error::ConnectionLoss)), "{told:?}");
}

fn is_complete(status: &Value, members: usize) -> bool {
    let told = status["evidence"].as_array().unwrap();
    told.len() == members && told.iter().all(|member| member["connections"] == "ok")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_on_a_new_member_is_not_disconnected() {
    let mut ensemble = PrivateEnsemble::start(reconfigurable()).await.unwrap_or_else(|error| panic!("{error}"));
    let lockscope = Lockscope::run(&["--zk", &ensemble.connect_string(), "--root", "/locks"]).await;
    let truth = Truth::new(&ensemble.connect_string()).await;
    truth.make("/locks/x").await;
    until(async || is_complete(&status(&lockscope).await, 3)).await;
    // It follows the leader and serves clients, although it is no member yet.
    let line = ensemble.add(&reconfigurable()).await.unwrap_or_else(|error| panic!("{error}"));
    let joiner = &ensemble.members()[3];
    reconfigure(&truth, &[&line], &[]).await;
    let client = Truth::new(&joiner.address()).await;
    client.queue("/locks/x/lock-").await;
    truth.queue("/locks/x/lock-").await;
    let is_accused = |lock: &Value| lock["verdict"] == "expiring" || lock["holders"][0]["liveness"] == "disconnected";
    until(async || {
        let lock = lockscope.ask("/api/v1/lock?path=/locks/x").await.1;
        assert!(!is_accused(&lock), "{lock:#}");
        let holder = &lock["holders"][0];
        holder["liveness"] == "connected" && holder["client"]["server"] == joiner.address().as_str()
    })
    .await;
    assert!(is_complete(&status(&lockscope).await, 4));

    // It leaves, and its process goes on: it is no member any more.
    reconfigure(&truth, &[], &["4"]).await;
    until(async || is_complete(&status(&lockscope).await, 3)).await;
    assert!(joiner.is_running());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_dead_where_members_are_not_told() {
    let mut ensemble = ensemble().await;
    let names: Vec<String> = ensemble.members().iter().map(PrivateZooKeeper::address).collect();
    // A member that never answered may refuse us alone.
    ensemble.members_mut()[0].stop().await.unwrap();
    let lockscope = Lockscope::run(&["--zk", &names[1..].join(","), "--root", "/locks"]).await;
    let truth = Truth::new(&names[1..].join(",")).await;
    truth.make("/locks/x").await;
    let proxy = Proxy::start(names[1].clone()).await;
    let victim = Truth::new(&proxy.address()).await;
    victim.queue("/locks/x/lock-").await;
    until(async || holder(&lockscope).await["liveness"] == "connected").await;
    proxy.set(Mode::Cut);
    until(async || {
        let lock = lockscope.ask("/api/v1/lock?path=/locks/x").await.1;
        assert_ne!(lock["verdict"], "expiring", "{lock:#}");
        assert_ne!(lock["holders"][0]["liveness"], "disconnected", "{lock:#}");
        lock["holders"][0]["liveness"] == "silent"
    })
    .await;
    let told = status(&lockscope).await;
    let first = told["evidence"].as_array().unwrap().iter().find(|member| member["member"] == names[0].as_str());
    assert_eq!(first.map(|member| &member["is_down"]), Some(&Value::Bool(false)));
}
