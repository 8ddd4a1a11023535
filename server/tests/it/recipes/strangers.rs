//! What no client is told: others in its directory that it does not see, and an operator who deletes its znode.

use super::agree::{Lock, Seat};
use super::host::Library;
use super::lockscope::Scene;

/// Curator's mutex and kazoo's lock in one directory: neither looks at names of the other, so two hold at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_and_kazoo_hold_at_once() {
    let scene = Scene::new("strangers").await;
    let path = &scene.path("lock");
    let [curator, curators_next] = &scene.clients(Library::Curator, &format!("mutex {path}")).await;
    let [kazoo, kazoos_next] = &scene.clients(Library::Kazoo, &format!("lock {path}")).await;
    let mut paths = Vec::new();
    for first in [curator, kazoo] {
        first.does("acquire", "held").await;
        paths.push(first.made().await);
    }
    for next in [curators_next, kazoos_next] {
        next.order("acquire");
        paths.push(next.made().await);
    }
    let seat = |client, at: usize| Seat::of(client, &paths[at], "exclusive");
    let holders = vec![seat(curator, 0), seat(kazoo, 1)];
    let waiters = vec![seat(curators_next, 2).behind(&[&paths[0]]), seat(kazoos_next, 3).behind(&[&paths[1]])];
    Lock { path, recipe: "sequential_mutex", holders, waiters }.agrees_afresh(&scene).await;
    kazoo.does("release", "released").await;
    kazoos_next.says("held").await;
    let holders = vec![seat(curator, 0), seat(kazoos_next, 3)];
    let waiters = vec![seat(curators_next, 2).behind(&[&paths[0]])];
    Lock { path, recipe: "sequential_mutex", holders, waiters }.agrees_afresh(&scene).await;
}

/// The next holds at once; who held is not told.
async fn deleted_under_the_holder(name: &str, library: Library, program: &str) {
    let scene = Scene::new(name).await;
    let path = &scene.path("lock");
    let [holder, next, last] = &scene.clients(library, &format!("{program} {path}")).await;
    let mut paths = Vec::new();
    for client in [holder, next, last] {
        client.order("acquire");
        paths.push(client.made().await);
    }
    holder.says("held").await;
    let seat = |client, at: usize| Seat::of(client, &paths[at], "exclusive");
    let waiters = vec![seat(next, 1).behind(&[&paths[0]]), seat(last, 2).behind(&[&paths[1]])];
    Lock { path, recipe: "sequential_mutex", holders: vec![seat(holder, 0)], waiters }.agrees(&scene).await;
    scene.truth.delete(&paths[0]).await;
    next.says("held").await;
    let waiters = vec![seat(last, 2).behind(&[&paths[1]])];
    Lock { path, recipe: "sequential_mutex", holders: vec![seat(next, 1)], waiters }.agrees(&scene).await;
    assert!(holder.is_silent(), "the first still believes that it holds");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleted_under_kazoo() {
    deleted_under_the_holder("kazoo-deleted", Library::Kazoo, "lock").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleted_under_curator() {
    deleted_under_the_holder("curator-deleted", Library::Curator, "mutex").await;
}
