//! Roots that come late, vanish, return, may not be read, or are everything.

use lockscope_core::observation::RootTrouble;
use zookeeper_client::{Acl, Acls, AuthId, CreateMode, Permission};

use crate::harness::{Observed, RootState, Truth, open, options, started, zookeeper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_root_comes_late_vanishes_and_returns() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    let observed = Observed::start(&server.address(), &["/late/locks", "/there"]);
    truth.make("/there").await;
    let gone = |believed: &crate::harness::Believed| *believed.root(0) == RootState::Trouble(RootTrouble::Gone);
    observed.until("gone", gone).await;

    for _ in 0..3 {
        truth.make("/late/locks/x").await;
        let lock = truth.queue("/late/locks/x/lock-").await;
        observed.until_live().await;
        observed.until_true(&truth).await;
        truth.delete(&lock).await;
        observed.until_true(&truth).await;
        // The child watch must have survived as well: it alone tells of silent children.
        let owner = open(&server.address()).await;
        owner.auth("digest", b"app:secret").await.unwrap();
        let secret = [Acl::new(Permission::ALL, AuthId::authed())];
        owner.create("/late/locks/silent", b"", &CreateMode::Ephemeral.with_acls(Acls::new(&secret))).await.unwrap();
        observed.until("a silent child", |believed| believed.tree.contains_key("/late/locks/silent")).await;
        drop(owner);
        observed.until("it leaves", |believed| !believed.tree.contains_key("/late/locks/silent")).await;
        truth.delete("/late/locks/x").await;
        truth.delete("/late/locks").await;
        observed.until("gone again", gone).await;
    }
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_root_says_so_and_is_read_once_allowed() {
    let server = zookeeper().await;
    let owner = open(&server.address()).await;
    owner.auth("digest", b"app:secret").await.unwrap();
    let secret = [Acl::new(Permission::ALL, AuthId::authed())];
    owner.create("/denied", b"", &CreateMode::Persistent.with_acls(Acls::new(&secret))).await.unwrap();
    owner.create("/denied/x", b"", &CreateMode::Persistent.with_acls(Acls::anyone_all())).await.unwrap();
    let observed = Observed::start(&server.address(), &["/denied"]);
    observed.until("denied", |believed| *believed.root(0) == RootState::Trouble(RootTrouble::Denied)).await;
    owner.set_acl("/denied", &[Acl::new(Permission::ALL, AuthId::anyone())], None).await.unwrap();
    observed.until_live().await;
    observed.until_true(&Truth { client: owner }).await;
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_but_zookeeper_itself_is_discovered() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/a/b/locks").await;
    let observed = Observed::start(&server.address(), &["/"]);
    observed.until_live().await;
    observed.until_true(&truth).await;
    truth.make("/c/locks").await;
    truth.queue("/c/locks/lock-").await;
    truth.queue("/top-").await;
    observed.until_true(&truth).await;
    assert!(observed.look(|believed| believed.tree.keys().all(|path| !path.starts_with("/zookeeper"))));
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chroot_is_where_paths_begin() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/app/locks/a").await;
    let inside = Truth { client: open(&format!("{}/app", server.address())).await };
    let observed = Observed::start(&format!("{}/app", server.address()), &["/locks"]);
    observed.until_live().await;
    inside.queue("/locks/a/lock-").await;
    observed.until_true(&inside).await;
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_refuses_watches_is_read_now_and_then() {
    let manager = "-Dzookeeper.watchManagerName=org.apache.zookeeper.server.watch.WatchManagerOptimized";
    let server = started(options(&[], &[manager])).await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks").await;
    let observed = Observed::start(&server.address(), &["/locks"]);
    let reduced = |believed: &crate::harness::Believed| *believed.root(0) == RootState::Trouble(RootTrouble::Reduced);
    observed.until("reduced", reduced).await;
    truth.queue("/locks/lock-").await;
    observed.until_true(&truth).await;
    observed.until("still reduced", reduced).await;
    observed.stop().await;
}
