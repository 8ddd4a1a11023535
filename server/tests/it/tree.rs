//! The believed tree is the real tree: first sync, creates, deletes, changes, sessions that die, storms, denied znodes.

use std::time::Duration;

use futures_util::future::join_all;
use zookeeper_client::{Acl, Acls, AuthId, CreateMode, Error, Permission};

use crate::harness::{Observed, Truth, open, zookeeper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn first_sync_then_follows_creates_changes_and_deletes() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    for path in ["/locks/a/b/c", "/locks/empty", "/other"] {
        truth.make(path).await;
    }
    let first = truth.queue("/locks/a/lock-").await;
    let observed = Observed::start(&server.address(), &["/locks"]);
    observed.until_live().await;
    observed.until_true(&truth).await;
    assert!(observed.look(|believed| !believed.tree.contains_key("/other")));

    let second = truth.queue("/locks/a/lock-").await;
    truth.make("/locks/new/deep/er").await;
    let third = truth.queue("/locks/new/deep/er/x-").await;
    truth.client.set_data(&second, b"worker-3@app-2", None).await.unwrap();
    observed.until_true(&truth).await;

    truth.delete(&first).await;
    truth.delete(&third).await;
    truth.delete("/locks/new/deep/er").await;
    observed.until_true(&truth).await;
    // Directories that came while we watched have counters too: the sweep reads them.
    observed.until("the sweep comes by", |believed| believed.counted.get("/locks/new/deep") == Some(&1)).await;
    assert_eq!(observed.look(|believed| (believed.syncs.len(), believed.missed)), (1, 0));
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_dies_is_seen_as_deletes() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks/a").await;
    let observed = Observed::start(&server.address(), &["/locks"]);
    observed.until_live().await;
    // Detached: dropped without closing its session, as a killed process.
    let connector = zookeeper_client::Client::connector().with_detached().with_session_timeout(Duration::from_secs(8));
    let doomed = connector.connect(&server.address()).await.unwrap();
    let holder = crate::harness::queue(&doomed, "/locks/a/lock-").await;
    let waiter = truth.queue("/locks/a/lock-").await;
    observed.until("both", |believed| believed.tree.contains_key(&holder) && believed.tree.contains_key(&waiter)).await;
    drop(doomed);
    observed.until("the dead holder leaves", |believed| !believed.tree.contains_key(&holder)).await;
    observed.until_true(&truth).await;
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_children() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/wide").await;
    for _ in 0..10 {
        join_all((0..1_000).map(|_| truth.queue("/wide/lock-"))).await;
    }
    let observed = Observed::start(&server.address(), &["/wide"]);
    observed.until_live().await;
    assert_eq!(observed.look(|believed| believed.tree.len()), 10_001);
    truth.queue("/wide/lock-").await;
    observed.until("one more", |believed| believed.tree.len() == 10_002 && believed.unread() == 0).await;
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_loses_nothing() {
    const SESSIONS: usize = 4;
    const ROUNDS: usize = 500;
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    for session in 0..SESSIONS {
        truth.make(&format!("/storm/lock-{session}")).await;
    }
    let observed = Observed::start(&server.address(), &["/storm"]);
    observed.until_live().await;
    let clients = join_all(vec![server.address(); SESSIONS].iter().map(|connect| open(connect))).await;
    join_all(clients.iter().enumerate().map(|(session, client)| async move {
        let prefix = format!("/storm/lock-{session}/n-");
        for _ in 0..ROUNDS {
            let batch = join_all((0..4).map(|_| crate::harness::queue(client, &prefix))).await;
            join_all(batch.iter().map(|path| client.delete(path, None))).await;
        }
    }))
    .await;
    let made = (SESSIONS * ROUNDS * 4) as u64;
    observed
        .until("all creates and deletes", |believed| believed.creates_seen == made && believed.deletes_seen == made)
        .await;
    observed.until_true(&truth).await;
    assert_eq!(observed.look(|believed| (believed.missed, believed.syncs.len())), (0, 1));
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_child_appears_as_unreadable() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks").await;
    let secret = [Acl::new(Permission::ALL, AuthId::authed())];
    let owner = open(&server.address()).await;
    owner.auth("digest", b"app:secret").await.unwrap();
    let options = CreateMode::Ephemeral.with_acls(Acls::new(&secret));
    owner.create("/locks/before", b"", &options).await.unwrap();
    let observed = Observed::start(&server.address(), &["/locks"]);
    observed.until_live().await;
    let unreadable = |path: &'static str| {
        move |believed: &crate::harness::Believed| believed.tree.get(path).is_some_and(|node| node.unreadable)
    };
    observed.until("the one that was there", unreadable("/locks/before")).await;

    owner.create("/locks/after", b"", &options).await.unwrap();
    observed.until("the one that came, of which no recursive event tells", unreadable("/locks/after")).await;
    // ZooKeeper 3.8.4, 3.9.2 and newer give no Stat of what may not be read.
    let is_hidden = matches!(truth.client.check_stat("/locks/after").await, Err(Error::NoAuth));
    let facts = observed.look(|believed| believed.tree["/locks/after"].facts.clone());
    let told = facts.map(|facts| (facts.owner.unwrap().0, facts.payload));
    assert_eq!(told, (!is_hidden).then_some((owner.session_id().0, None)));

    owner.delete("/locks/after", None).await.unwrap();
    observed.until("it leaves", |believed| !believed.tree.contains_key("/locks/after")).await;
    assert_eq!(observed.look(|believed| (believed.missed, believed.syncs.len())), (0, 1));
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rights_that_change_while_we_watch() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks").await;
    let secret = [Acl::new(Permission::ALL, AuthId::authed())];
    let everyone = [Acl::new(Permission::ALL, AuthId::anyone())];
    let owner = open(&server.address()).await;
    owner.auth("digest", b"app:secret").await.unwrap();
    owner.create("/locks/opens", b"hidden", &CreateMode::Ephemeral.with_acls(Acls::new(&secret))).await.unwrap();
    owner.create("/locks/closes", b"", &CreateMode::Ephemeral.with_acls(Acls::anyone_all())).await.unwrap();
    let observed = Observed::start(&server.address(), &["/locks"]);
    observed.until_live().await;
    owner.set_acl("/locks/opens", &everyone, None).await.unwrap();
    owner.set_acl("/locks/closes", &secret, None).await.unwrap();
    observed
        .until("the opened one is read", |believed| {
            believed.tree.get("/locks/opens").is_some_and(|node| !node.unreadable)
        })
        .await;
    // No event tells of this deletion: only the counters do.
    owner.delete("/locks/closes", None).await.unwrap();
    observed.until("the closed one leaves", |believed| !believed.tree.contains_key("/locks/closes")).await;
    observed.until_true(&truth).await;
    observed.stop().await;
}

/// No event tells of them, and none of them is a child of the root: the counters of each directory do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn denied_contenders_of_a_thousand_locks_are_seen_at_once() {
    const LOCKS: usize = 1_000;
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks").await;
    for some in (0..LOCKS).collect::<Vec<_>>().chunks(100) {
        join_all(some.iter().map(|at| {
            let truth = &truth;
            async move { truth.make(&format!("/locks/lock-{at}")).await }
        }))
        .await;
    }
    let observed = Observed::start(&server.address(), &["/locks"]);
    observed.until_live().await;
    let owner = open(&server.address()).await;
    owner.auth("digest", b"app:secret").await.unwrap();
    let secret = [Acl::new(Permission::ALL, AuthId::authed())];
    let options = CreateMode::EphemeralSequential.with_acls(Acls::new(&secret));
    join_all((0..LOCKS).map(|at| {
        let (owner, options) = (&owner, &options);
        async move { owner.create(&format!("/locks/lock-{at}/n-"), b"", options).await.unwrap() }
    }))
    .await;
    let made = std::time::Instant::now();
    observed
        .until("all of them", |believed| believed.tree.values().filter(|node| node.unreadable).count() == LOCKS)
        .await;
    eprintln!("the last of {LOCKS} is seen {} ms after its creation was acknowledged", made.elapsed().as_millis());
    drop(owner);
    observed.until("none of them", |believed| believed.tree.values().all(|node| !node.unreadable)).await;
    assert_eq!(observed.look(|believed| (believed.missed, believed.syncs.len())), (0, 1));
    observed.stop().await;
}
