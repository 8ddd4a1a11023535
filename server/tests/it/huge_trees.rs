//! Trees that are larger than there is room for, or strange: what is not read is said, what is shown is true, and the
//! session goes on.

use std::time::Duration;

use futures_util::future::join_all;
use lockscope_core::observation::RootTrouble;
use lockscope_zookeeper::ObserverConfig;
use zookeeper_client::{Acls, CreateMode};

use crate::harness::{Believed, Observed, RootState, Truth, zookeeper};

/// What fits in one answer by ZooKeeper's own default (`jute.maxbuffer`).
const ANSWER_BYTES: usize = 0xf_ffff;

async fn make_all(truth: &Truth, paths: &[String]) {
    let mode = CreateMode::Persistent.with_acls(Acls::anyone_all());
    for some in paths.chunks(500) {
        join_all(some.iter().map(|path| truth.client.create(path, b"", &mode)))
            .await
            .into_iter()
            .for_each(|made| _ = made.unwrap());
    }
}

fn is_partial(believed: &Believed) -> bool {
    *believed.root(0) == RootState::Trouble(RootTrouble::Partial)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_there_is_no_room_for_is_said_and_the_locks_beside_it_are_followed() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/data").await;
    truth.make("/locks/a").await;
    let data: Vec<String> = (0..300).map(|number| format!("/data/x{number}y")).collect();
    make_all(&truth, &data).await;
    let config = ObserverConfig::new(&server.address(), vec!["/".to_owned()], Duration::from_secs(30)).unwrap();
    let observed = Observed::start_as(config.with_znodes_max(200));
    observed.until("partial", is_partial).await;
    let why = observed.look(|believed| believed.why.clone());
    let expected = "the 300 children of /data are not read, for there is room for 200 znodes of this ensemble; name";
    assert!(why.starts_with(expected), "{why}");
    assert!(observed.look(|believed| believed.incomplete.contains("/data") && believed.tree.len() < 10));
    // Locks come and go, and so does what is not looked at.
    for turn in 0..3 {
        make_all(&truth, &[format!("/data/new{turn}"), format!("/data/x1y/deep{turn}")]).await;
        let lock = truth.queue("/locks/a/lock-").await;
        observed.until("it came", |believed| believed.tree.contains_key(&lock)).await;
        truth.delete(&lock).await;
        observed.until("it went", |believed| !believed.tree.contains_key(&lock)).await;
        assert!(observed.look(|believed| !believed.tree.keys().any(|path| path.starts_with("/data/"))));
    }
    let syncs = observed.look(|believed| believed.syncs.len());
    assert_eq!(syncs, 1, "it was read once");
    // What is left out is deleted: everything is read then.
    for turn in 0..3 {
        truth.delete(&format!("/data/x1y/deep{turn}")).await;
        truth.delete(&format!("/data/new{turn}")).await;
    }
    for path in &data {
        truth.delete(path).await;
    }
    truth.delete("/data").await;
    observed.until_live().await;
    observed.until_true(&truth).await;
    // Events bring more than there is room for: it is read anew, in part.
    truth.make("/more").await;
    let more: Vec<String> = (0..300).map(|number| format!("/more/x{number}y")).collect();
    make_all(&truth, &more).await;
    observed.until("partial again", is_partial).await;
    observed.until("left out", |believed| believed.tree.len() < 10 && believed.tree.contains_key("/locks/a")).await;
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_longer_than_clients_of_zookeeper_take_is_read() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks/long").await;
    let name = "n".repeat(120);
    let paths: Vec<String> = (0..9_000).map(|number| format!("/locks/long/{name}-{number:010}")).collect();
    assert!(paths.len() * name.len() > ANSWER_BYTES);
    make_all(&truth, &paths).await;
    let observed = Observed::start(&server.address(), &["/locks"]);
    observed.until_live().await;
    let seen = observed.look(|believed| believed.tree.keys().filter(|path| path.starts_with("/locks/long/")).count());
    assert_eq!(seen, paths.len());
    assert_eq!(observed.look(|believed| believed.syncs.len()), 1, "one session, one read");
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_names_and_deep_trees_are_read_and_followed() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    let long = |number: usize| format!("/locks/{}{number}", "l".repeat(100 * 1024));
    truth.make("/locks").await;
    let before: Vec<String> = (0..4).map(long).collect();
    make_all(&truth, &before).await;
    truth.make(&format!("/locks{}", "/d".repeat(1_000))).await;
    let observed = Observed::start(&server.address(), &["/locks"]);
    observed.until_live().await;
    observed.until_true(&truth).await;
    let after: Vec<String> = (4..8).map(long).collect();
    make_all(&truth, &after).await;
    let lock = truth.queue(&format!("/locks{}/lock-", "/d".repeat(1_000))).await;
    observed.until_true(&truth).await;
    truth.delete(&lock).await;
    observed.until_true(&truth).await;
    assert_eq!(observed.look(|believed| believed.syncs.len()), 1, "one session, one read");
    observed.stop().await;
}
