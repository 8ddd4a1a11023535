//! Barriers: one znode that everybody waits to see go, and the double barrier that lets its members in and out
//! together.

use super::agree::{Lock, Seat};
use super::host::Library;
use super::lockscope::Scene;

async fn barrier(name: &str, library: Library) {
    let scene = Scene::new(name).await;
    let path = &scene.path("barrier");
    let [keeper, first, second] = &scene.clients(library, &format!("barrier {path}")).await;
    let agrees =
        async |holders| Lock { path, recipe: "barrier", holders, waiters: Vec::new() }.agrees_afresh(&scene).await;
    keeper.does("create", "created").await;
    first.order("wait");
    second.order("wait");
    for waiter in [first, second] {
        let watches = async || (!scene.is_watching(&waiter.session, path).await).then(|| waiter.session.clone());
        scene.until("who waits at a barrier watches it", watches).await;
    }
    agrees(vec![Seat::persistent(path, "exclusive")]).await;
    let lock = async || scene.lockscope.ask(&format!("/api/v1/lock?path={path}")).await.1;
    let counted = async || {
        let lock = lock().await;
        let waiters = (lock["waiter_count"].as_u64(), lock["hidden_waiter_count"].as_u64());
        (waiters != (Some(2), Some(2))).then(|| format!("{lock:#}"))
    };
    scene.until("both are counted, although they have no znode", counted).await;
    assert!(first.is_silent() && second.is_silent(), "the barrier is up");
    keeper.does("remove", "removed").await;
    first.says("passed").await;
    second.says("passed").await;
    agrees(vec![]).await;
    let lock = lock().await;
    assert!(lock["hidden_waiter_count"].as_u64().unwrap_or(0) == 0, "whoever passed waits no longer: {lock:#}");
}

async fn double_barrier(name: &str, library: Library) {
    let scene = Scene::new(name).await;
    let path = &scene.path("meeting");
    let members = &scene.clients::<3>(library, &format!("double-barrier {path} 3")).await;
    let agrees =
        async |holders, waiters| Lock { path, recipe: "double_barrier", holders, waiters }.agrees_afresh(&scene).await;
    let mut seats = Vec::new();
    for (count, member) in (1..).zip(members) {
        member.order("enter");
        seats.push(Seat::of(member, &member.made().await, "member"));
        if count < members.len() {
            agrees(vec![], seats.clone()).await;
        }
    }
    for member in members {
        member.says("held").await;
    }
    agrees(seats, vec![]).await;
    for member in members {
        member.order("leave");
    }
    for member in members {
        member.says("released").await;
    }
    agrees(vec![], vec![]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_barrier() {
    barrier("kazoo-barrier", Library::Kazoo).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_barrier() {
    barrier("curator-barrier", Library::Curator).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_double_barrier() {
    double_barrier("kazoo-double-barrier", Library::Kazoo).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_double_barrier() {
    double_barrier("curator-double-barrier", Library::Curator).await;
}
