//! Servers of the protocol that are no ZooKeeper: one whose recursive watches name the wrong znode, and some that know no
//! persistent watches. Whatever they say, nothing is called live that may be wrong, and what is there is shown soon.

use std::time::{Duration, Instant};

use lockscope_core::observation::{Link, RootTrouble};

use crate::harness::keeper::{Keeper, Kind};
use crate::harness::proxy::{Mode, Proxy};
use crate::harness::{Believed, DEADLINE, Observed, RootState, Truth, zookeeper};

fn is_reduced(believed: &Believed) -> bool {
    *believed.root(0) == RootState::Trouble(RootTrouble::Reduced)
}

/// Makes, releases and changes locks; each change is shown within a few seconds, and the root is never live meanwhile.
async fn follow(observed: &Observed, truth: &Truth) {
    let (lives, begin) = (observed.lives(), Instant::now());
    for turn in 0..6 {
        let (one, other) = (truth.queue("/locks/a/lock-").await, truth.queue("/locks/a/lock-").await);
        observed.until_true(truth).await;
        truth.delete(&one).await;
        observed.until_true(truth).await;
        truth.client.set_data(&other, b"changed", None).await.unwrap();
        observed.until_true(truth).await;
        truth.make(&format!("/locks/new-{turn}")).await;
        truth.queue(&format!("/locks/new-{turn}/lock-")).await;
        observed.until_true(truth).await;
        truth.delete(&other).await;
        observed.until_true(truth).await;
    }
    observed.until("reduced at the end", is_reduced).await;
    assert_eq!(observed.lives(), lives, "never live once it is known");
    assert!(begin.elapsed() < DEADLINE);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_names_the_wrong_znode_is_found_out_by_its_first_event() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks/a").await;
    let relay = Keeper::start(server.address(), Kind::Lies).await;
    let observed = Observed::start(&relay.address(), &["/locks"]);
    observed.until_live().await;
    // Data alone, so that no counter shows that something happened.
    truth.client.set_data("/locks/a", b"changed", None).await.unwrap();
    observed.until("reduced", is_reduced).await;
    assert!(observed.look(|believed| believed.why.contains("name the watched znode")));
    observed.until_true(&truth).await;
    follow(&observed, &truth).await;
    // Nor is the root gone because something in it goes, and it is once it is.
    for path in ["/locks/a", "/locks"] {
        assert!(observed.look(|believed| believed.tree.contains_key(path)));
    }
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_kind_of_first_event_gives_it_away() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks/a").await;
    let relay = Keeper::start(server.address(), Kind::Lies).await;
    for is_deleted in [false, true] {
        let lock = truth.queue("/locks/a/lock-").await;
        let observed = Observed::start(&relay.address(), &["/locks", "/other"]);
        observed.until("live", |believed| believed.is_live(0)).await;
        if is_deleted {
            truth.delete(&lock).await;
        } else {
            truth.queue("/locks/a/lock-").await;
        }
        observed.until("reduced", is_reduced).await;
        observed.until_true(&truth).await;
        // The other root of the ensemble is not believed either, once it is there.
        let gone = |believed: &Believed| *believed.root(1) == RootState::Trouble(RootTrouble::Gone);
        observed.until("the other root is not there", gone).await;
        truth.make("/other").await;
        observed.until("it is not live", |b| *b.root(1) == RootState::Trouble(RootTrouble::Reduced)).await;
        truth.delete("/other").await;
        observed.until("gone again", gone).await;
        observed.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clickhouse_keeper_is_known_beforehand_and_after_a_reconnect() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks/a").await;
    // Behind the relay: the proxy drops what was not passed on when a side closes, and with it an answer to `srvr`.
    let proxy = Proxy::start(server.address()).await;
    let relay = Keeper::start(proxy.address(), Kind::ClickHouse).await;
    let observed = Observed::start_with(&relay.address(), &["/locks"], Duration::from_secs(30));
    observed.until("reduced", is_reduced).await;
    assert!(observed.look(|believed| believed.why.starts_with("the server is ClickHouse Keeper")));
    follow(&observed, &truth).await;
    let lives = observed.lives();
    proxy.set(Mode::Cut);
    observed.until("cut", |believed| believed.link != Some(Link::Live)).await;
    truth.queue("/locks/a/lock-").await;
    proxy.set(Mode::Open);
    observed.until("back", |believed| believed.link == Some(Link::Live)).await;
    observed.until_true(&truth).await;
    observed.until("reduced after it", is_reduced).await;
    assert_eq!(observed.lives(), lives, "what is known of the servers outlives a session");
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_know_no_persistent_watch_are_read_now_and_then() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks/a").await;
    for (kind, why) in [(Kind::Refuses, "refuses persistent watches"), (Kind::Closes, "the connection ends each time")]
    {
        let relay = Keeper::start(server.address(), kind).await;
        let observed = Observed::start(&relay.address(), &["/locks"]);
        observed.until("reduced", is_reduced).await;
        assert!(observed.look(|believed| believed.why.contains(why)), "{}", observed.look(|b| b.why.clone()));
        let lock = truth.queue("/locks/a/lock-").await;
        observed.until_true(&truth).await;
        truth.delete(&lock).await;
        observed.until_true(&truth).await;
        observed.until("still reduced", is_reduced).await;
        assert_eq!(observed.lives(), 0);
        observed.stop().await;
    }
}
