//! What is no lock, or hardly one: queues, memberships, and leases that a clock ends.

use super::agree::{Lock, Seat};
use super::host::Library;
use super::lockscope::Scene;

fn item(path: &str) -> Seat<'static> {
    Seat::persistent(path, "item")
}

async fn queue(name: &str, library: Library) {
    let scene = Scene::new(name).await;
    let path = &scene.path("work");
    scene.truth.make(path).await;
    let [producer, consumer] = &scene.clients(library, &format!("queue {path}")).await;
    let agrees = async |items: &[&str]| {
        let waiters = items.iter().map(|path| item(path)).collect();
        Lock { path, recipe: "queue", holders: Vec::new(), waiters }.agrees_afresh(&scene).await;
    };
    let mut items = Vec::new();
    for value in ["one", "two", "three"] {
        producer.does(&format!("put {value}"), "put").await;
        items.push(producer.made().await);
    }
    let [one, two, three] = &items[..] else { unreachable!() };
    agrees(&[one, two, three]).await;
    assert_eq!(consumer.does("get", "got").await, "one");
    agrees(&[two, three]).await;
    for value in ["two", "three"] {
        assert_eq!(consumer.does("get", "got").await, value);
    }
    agrees(&[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_queue() {
    queue("kazoo-queue", Library::Kazoo).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn zookeeper_distributed_queue() {
    queue("zookeeper-queue", Library::Curator).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_locking_queue() {
    let scene = Scene::new("kazoo-locking-queue").await;
    let path = &scene.path("queue");
    let [producer, first, second] = &scene.clients(Library::Kazoo, &format!("locking-queue {path}")).await;
    let agrees = async |holders, waiters| Lock { path, recipe: "queue", holders, waiters }.agrees_afresh(&scene).await;
    let mut items = Vec::new();
    for value in ["one", "two", "three"] {
        producer.does(&format!("put {value}"), "put").await;
        items.push(producer.made().await);
    }
    let [one, two, three] = &items[..] else { unreachable!() };
    agrees(vec![], vec![item(one), item(two), item(three)]).await;
    let taken = |item: &str| item.replace("/entries/", "/taken/");
    let (taken_one, taken_two) = (&taken(one), &taken(two));
    assert_eq!(first.does("get", "got").await, "one");
    agrees(vec![Seat::of(first, taken_one, "item").or(one)], vec![item(two), item(three)]).await;
    assert_eq!(second.does("get", "got").await, "two");
    agrees(
        vec![Seat::of(first, taken_one, "item").or(one), Seat::of(second, taken_two, "item").or(two)],
        vec![item(three)],
    )
    .await;
    first.does("consume", "consumed").await;
    agrees(vec![Seat::of(second, taken_two, "item").or(two)], vec![item(three)]).await;
    // Given back, not done.
    second.does("release", "released").await;
    agrees(vec![], vec![item(two), item(three)]).await;
}

async fn party(program: &str) {
    let scene = Scene::new(program).await;
    let path = &scene.path("members");
    let members = &scene.clients::<3>(Library::Kazoo, &format!("{program} {path}")).await;
    let agrees =
        async |holders| Lock { path, recipe: "membership", holders, waiters: vec![] }.agrees_afresh(&scene).await;
    let mut seats = Vec::new();
    for member in members {
        member.does("join", "joined").await;
        seats.push(Seat::of(member, &member.made().await, "member"));
        agrees(seats.clone()).await;
    }
    members[1].does("leave", "left").await;
    seats.remove(1);
    agrees(seats).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_party() {
    party("party").await;
}

/// Its names say who the members are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_shallow_party() {
    party("shallow-party").await;
}

/// Held until a time that its payload names; no session has a part in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_lease() {
    let scene = Scene::new("kazoo-lease").await;
    let path = &scene.path("lease");
    let [holder, refused] = &scene.clients(Library::Kazoo, &format!("lease {path}")).await;
    let name = holder.does("acquire", "held").await;
    refused.does("acquire", "gave-up").await;
    let holders = vec![Seat::persistent(&format!("{path}/{name}"), "lease")];
    Lock { path, recipe: "single_node_mutex", holders, waiters: vec![] }.agrees_afresh(&scene).await;
}
