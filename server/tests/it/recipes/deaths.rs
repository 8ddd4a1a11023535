//! A process of clients dies by `kill -9`: what its sessions held moves on when they expire, not before, and what no
//! session holds stays.

use super::agree::{Lock, Seat};
use super::host::Library;
use super::lockscope::Scene;
use super::semaphores::holds;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_clients_die() {
    let scene = Scene::new("kazoo-deaths").await;
    let victim = Library::Kazoo.victim();
    let [lock, queue, stale, leases] = &["lock", "queue", "stale", "leases"].map(|name| scene.path(name));
    let victim_of = async |recipe: &str| victim.client(&scene.zk, recipe).await;
    let survivor_of = async |recipe: &str| Library::Kazoo.client(&scene.zk, recipe).await;

    let holder = victim_of(&format!("lock {lock}")).await;
    holder.does("acquire", "held").await;
    let first_waiter = victim_of(&format!("lock {lock}")).await;
    first_waiter.order("acquire");
    let (held, waited) = (&holder.made().await, &first_waiter.made().await);
    let heir = survivor_of(&format!("lock {lock}")).await;
    heir.order("acquire");
    let inherited = &heir.made().await;

    let taker = victim_of(&format!("locking-queue {queue}")).await;
    taker.does("put job", "put").await;
    let item = &taker.made().await;
    taker.does("get", "got").await;
    let taken = &item.replace("/entries/", "/taken/");

    let careless = victim_of(&format!("persistent-lock {stale}")).await;
    careless.does("acquire", "held").await;
    let left_over = &careless.made().await;
    let stuck = survivor_of(&format!("lock {stale}")).await;
    stuck.order("acquire");
    let stuck_at = &stuck.made().await;

    let lessee = victim_of(&format!("semaphore {leases} 1")).await;
    let lease = &holds(&lessee).await;
    let next = survivor_of(&format!("semaphore {leases} 1")).await;
    next.order("acquire");
    let next_at = &next.made().await;

    let stays = Lock {
        path: stale,
        recipe: "sequential_mutex",
        holders: vec![Seat::persistent(left_over, "exclusive")],
        waiters: vec![Seat::of(&stuck, stuck_at, "exclusive").behind(&[left_over])],
    };
    let [mutex, semaphore, items] = ["sequential_mutex", "semaphore", "queue"];
    let waiters = vec![
        Seat::of(&first_waiter, waited, "exclusive").behind(&[held]),
        Seat::of(&heir, inherited, "exclusive").behind(&[waited]),
    ];
    Lock { path: lock, recipe: mutex, holders: vec![Seat::of(&holder, held, "exclusive")], waiters }
        .agrees(&scene)
        .await;
    let waiters = vec![Seat::of(&next, next_at, "lease")];
    Lock { path: leases, recipe: semaphore, holders: vec![Seat::of(&lessee, lease, "lease")], waiters }
        .agrees(&scene)
        .await;
    Lock { path: queue, recipe: items, holders: vec![Seat::of(&taker, taken, "item").or(item)], waiters: vec![] }
        .agrees(&scene)
        .await;
    stays.agrees(&scene).await;

    victim.kill_minus_9();
    heir.says("held").await;
    Lock { path: lock, recipe: mutex, holders: vec![Seat::of(&heir, inherited, "exclusive")], waiters: vec![] }
        .agrees_afresh(&scene)
        .await;
    next.says("held").await;
    let lease = &next.made().await;
    Lock { path: leases, recipe: semaphore, holders: vec![Seat::of(&next, lease, "lease")], waiters: vec![] }
        .agrees_afresh(&scene)
        .await;
    Lock { path: queue, recipe: items, holders: vec![], waiters: vec![Seat::persistent(item, "item")] }
        .agrees_afresh(&scene)
        .await;
    stays.agrees_afresh(&scene).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_clients_die() {
    let scene = Scene::new("curator-deaths").await;
    let victim = Library::Curator.victim();
    let [modes, latch, permits] = &["modes", "latch", "permits"].map(|name| scene.path(name));
    let victim_of = async |recipe: &str| victim.client(&scene.zk, recipe).await;

    let writer = victim_of(&format!("read-write {modes}")).await;
    writer.does("acquire-write", "held").await;
    let write = &writer.made().await;
    let [one, two] = &scene.clients(Library::Curator, &format!("read-write {modes}")).await;
    let mut reads = Vec::new();
    for reader in [one, two] {
        reader.order("acquire-read");
        reads.push(reader.made().await);
    }

    let leader = victim_of(&format!("latch {latch}")).await;
    leader.does("acquire", "held").await;
    let led = &leader.made().await;
    let [heir] = &scene.clients(Library::Curator, &format!("latch {latch}")).await;
    heir.order("acquire");
    let leads = &heir.made().await;

    let lessee = victim_of(&format!("semaphore {permits} 1")).await;
    let lease = &holds(&lessee).await;
    let [next] = &scene.clients(Library::Curator, &format!("semaphore {permits} 1")).await;
    next.order("acquire");
    let (queued, pending) = (&next.made().await, &next.made().await);

    let read_seats = || [(one, &reads[0]), (two, &reads[1])].map(|(reader, read)| Seat::of(reader, read, "read"));
    let waiters = read_seats().map(|seat| seat.behind(&[write])).to_vec();
    Lock { path: modes, recipe: "read_write", holders: vec![Seat::of(&writer, write, "write")], waiters }
        .agrees(&scene)
        .await;
    let waiters = vec![Seat::of(heir, leads, "leader").behind(&[led])];
    Lock { path: latch, recipe: "election", holders: vec![Seat::of(&leader, led, "leader")], waiters }
        .agrees(&scene)
        .await;
    let waiters = vec![Seat::of(next, queued, "lease").or(pending)];
    Lock { path: permits, recipe: "semaphore", holders: vec![Seat::of(&lessee, lease, "lease")], waiters }
        .agrees(&scene)
        .await;

    victim.kill_minus_9();
    for heir in [one, two, heir, next] {
        heir.says("held").await;
    }
    Lock { path: modes, recipe: "read_write", holders: read_seats().to_vec(), waiters: vec![] }
        .agrees_afresh(&scene)
        .await;
    Lock { path: latch, recipe: "election", holders: vec![Seat::of(heir, leads, "leader")], waiters: vec![] }
        .agrees_afresh(&scene)
        .await;
    Lock { path: permits, recipe: "semaphore", holders: vec![Seat::of(next, pending, "lease")], waiters: vec![] }
        .agrees_afresh(&scene)
        .await;
}
