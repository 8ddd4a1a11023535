//! Semaphores: a lease each for some, a queue of their own for the rest.

use super::agree::{Lock, Seat};
use super::host::{Client, Library};
use super::lockscope::Scene;

const RECIPE: &str = "semaphore";

fn lease<'a>(client: &'a Client, path: &str) -> Seat<'a> {
    Seat::of(client, path, "lease")
}

/// Two permits, four clients: two hold, one asks for the next lease, one queues behind it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_semaphore() {
    let scene = Scene::new("kazoo-semaphore").await;
    let path = &scene.path("leases");
    let [a, b, gives_up, c, d] = &scene.clients(Library::Kazoo, &format!("semaphore {path} 2")).await;
    let agrees = async |holders, waiters| Lock { path, recipe: RECIPE, holders, waiters }.agrees_afresh(&scene).await;
    let lease_a = &holds(a).await;
    let lease_b = &holds(b).await;
    agrees(vec![lease(a, lease_a), lease(b, lease_b)], vec![]).await;
    gives_up.does("acquire 300", "gave-up").await;
    c.order("acquire");
    let queued_c = &c.made().await;
    d.order("acquire");
    let queued_d = &d.made().await;
    agrees(
        vec![lease(a, lease_a), lease(b, lease_b)],
        vec![lease(c, queued_c), lease(d, queued_d).behind(&[queued_c])],
    )
    .await;
    a.does("release", "released").await;
    c.says("held").await;
    let lease_c = &c.made().await;
    agrees(vec![lease(b, lease_b), lease(c, lease_c)], vec![lease(d, queued_d)]).await;
    b.does("release", "released").await;
    d.says("held").await;
    let lease_d = &d.made().await;
    agrees(vec![lease(c, lease_c), lease(d, lease_d)], vec![]).await;
    c.does("release", "released").await;
    agrees(vec![lease(d, lease_d)], vec![]).await;
    d.does("release", "released").await;
    agrees(vec![], vec![]).await;
}

/// As above. Curator makes a lease before it knows whether there is one to have: such a lease is not held.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_semaphore() {
    let scene = Scene::new("curator-semaphore").await;
    let path = &scene.path("semaphore");
    let [a, b, gives_up, c, d] = &scene.clients(Library::Curator, &format!("semaphore {path} 2")).await;
    let agrees = async |holders, waiters| Lock { path, recipe: RECIPE, holders, waiters }.agrees_afresh(&scene).await;
    let lease_a = &holds(a).await;
    agrees(vec![lease(a, lease_a)], vec![]).await;
    let lease_b = &holds(b).await;
    agrees(vec![lease(a, lease_a), lease(b, lease_b)], vec![]).await;
    gives_up.does("acquire 300", "gave-up").await;
    let (queued_c, lease_c) = &asks(c).await;
    d.order("acquire");
    let queued_d = &d.made().await;
    let waiters = vec![lease(c, queued_c).or(lease_c), lease(d, queued_d).behind(&[queued_c])];
    agrees(vec![lease(a, lease_a), lease(b, lease_b)], waiters).await;
    a.does("release", "released").await;
    c.says("held").await;
    let lease_d = &d.made().await;
    agrees(vec![lease(b, lease_b), lease(c, lease_c)], vec![lease(d, queued_d).or(lease_d)]).await;
    c.does("release", "released").await;
    d.says("held").await;
    agrees(vec![lease(b, lease_b), lease(d, lease_d)], vec![]).await;
    b.does("release", "released").await;
    d.does("release", "released").await;
    agrees(vec![], vec![]).await;
}

/// A semaphore of one permit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_semaphore_mutex() {
    let scene = Scene::new("curator-semaphore-mutex").await;
    let path = &scene.path("mutex");
    let [a, gives_up, b, c] = &scene.clients(Library::Curator, &format!("semaphore-mutex {path}")).await;
    let agrees = async |holders, waiters| Lock { path, recipe: RECIPE, holders, waiters }.agrees_afresh(&scene).await;
    let lease_a = &holds(a).await;
    gives_up.does("acquire 300", "gave-up").await;
    let (queued_b, lease_b) = &asks(b).await;
    c.order("acquire");
    let queued_c = &c.made().await;
    agrees(vec![lease(a, lease_a)], vec![lease(b, queued_b).or(lease_b), lease(c, queued_c).behind(&[queued_b])]).await;
    a.does("release", "released").await;
    b.says("held").await;
    let lease_c = &c.made().await;
    agrees(vec![lease(b, lease_b)], vec![lease(c, queued_c).or(lease_c)]).await;
    b.does("release", "released").await;
    c.says("held").await;
    agrees(vec![lease(c, lease_c)], vec![]).await;
    c.does("release", "released").await;
    agrees(vec![], vec![]).await;
}

/// Acquires at once; gives the lease.
pub(super) async fn holds(client: &Client) -> String {
    let name = client.does("acquire", "held").await;
    let _queued = client.made().await;
    let lease = client.made().await;
    assert!(lease.ends_with(&name), "{name} is not {lease}");
    lease
}

/// Acquires in vain; gives its place in the queue and the lease that it will have.
async fn asks(client: &Client) -> (String, String) {
    client.order("acquire");
    (client.made().await, client.made().await)
}
