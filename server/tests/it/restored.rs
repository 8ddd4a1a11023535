//! Data that are put back from a backup, or wiped, while Lockscope watches: names, and often numbers of transactions,
//! come again, and mean somebody else.

use std::path::{Path, PathBuf};

use lockscope_core::observation::{RESTORED, SEPARATE};
use lockscope_demo::PrivateZooKeeper;
use serde_json::Value;

use crate::harness::proxy::{Mode, Proxy};
use crate::harness::{Observed, Truth, zookeeper};
use crate::recipes::lockscope::Lockscope;
use crate::served::until;

/// A server, what it had when it was set up, and a link that can be cut.
struct Scene {
    server: PrivateZooKeeper,
    backup: tempfile::TempDir,
    proxy: Proxy,
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        std::fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
    }
}

impl Scene {
    async fn start() -> Self {
        let mut server = zookeeper().await;
        Truth::new(&server.address()).await.make("/locks/a").await;
        server.stop().await.unwrap();
        let backup = tempfile::tempdir().unwrap();
        copy(&Self::data(&server), backup.path());
        server.restart().await.unwrap();
        let proxy = Proxy::start(server.address()).await;
        Self { server, backup, proxy }
    }

    fn data(server: &PrivateZooKeeper) -> PathBuf {
        server.folder().join("version-2")
    }

    /// The server goes on with its backup, or with nothing; Lockscope can't reach it yet.
    async fn restore(&mut self, is_wiped: bool) -> Truth {
        self.proxy.set(Mode::Cut);
        self.server.stop().await.unwrap();
        std::fs::remove_dir_all(Self::data(&self.server)).unwrap();
        if !is_wiped {
            copy(self.backup.path(), &Self::data(&self.server));
        }
        self.server.restart().await.unwrap();
        Truth::new(&self.server.address()).await
    }
}

/// Who took the lock again has the name of who held it; fewer or more transactions than there were have come since.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_is_read_as_another_history() {
    for (is_wiped, more) in [(false, 0), (false, 40), (true, 0)] {
        let mut scene = Scene::start().await;
        let observed = Observed::start(&scene.proxy.address(), &["/locks"]);
        observed.until_live().await;
        let before = Truth::new(&scene.server.address()).await;
        before.make("/locks/b").await;
        let held = before.queue("/locks/a/lock-").await;
        before.queue("/locks/a/lock-").await;
        observed.until_true(&before).await;

        let truth = scene.restore(is_wiped).await;
        truth.make("/locks/a").await;
        assert_eq!(truth.queue("/locks/a/lock-").await, held, "the same name");
        for _ in 0..more {
            truth.queue("/locks/a/lock-").await;
        }
        scene.proxy.set(Mode::Open);
        observed.until("read as restored", |believed| believed.syncs.last().is_some_and(|why| why == RESTORED)).await;
        observed.until_live().await;
        observed.until_true(&truth).await;
        // Its watch works, and nothing of the other history is found again.
        truth.queue("/locks/a/lock-").await;
        observed.until_true(&truth).await;
        let restores = observed.look(|believed| believed.syncs.iter().filter(|why| *why == RESTORED).count());
        assert_eq!(restores, 1, "wiped {is_wiped}, {more} more");
        observed.stop().await;
    }
}

/// A restart on the same data, with the same names taken again meanwhile, is no restore.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_is_no_restore() {
    let mut scene = Scene::start().await;
    let observed = Observed::start(&scene.proxy.address(), &["/locks"]);
    observed.until_live().await;
    let before = Truth::new(&scene.server.address()).await;
    before.make("/locks/a/x").await;
    observed.until_true(&before).await;
    scene.proxy.set(Mode::Cut);
    scene.server.restart().await.unwrap();
    let truth = Truth::new(&scene.server.address()).await;
    truth.delete("/locks/a/x").await;
    truth.make("/locks/a/x").await;
    scene.proxy.set(Mode::Open);
    observed.until("read again", |believed| believed.syncs.len() > 1).await;
    observed.until_live().await;
    observed.until_true(&truth).await;
    assert!(!observed.look(|believed| believed.syncs.iter().any(|why| why == RESTORED)));
    observed.stop().await;
}

/// Each server goes on where its own data ended: which one is met changes what is there, and no one of them lags.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_work_alone_are_no_ensemble() {
    let (one, other) = (zookeeper().await, zookeeper().await);
    let proxies = [Proxy::start(one.address()).await, Proxy::start(other.address()).await];
    let truths = [Truth::new(&one.address()).await, Truth::new(&other.address()).await];
    truths[0].make("/locks/a").await;
    truths[1].make("/locks/a").await;
    for _ in 0..40 {
        truths[1].queue("/locks/a/lock-").await;
    }
    truths[0].queue("/locks/a/lock-").await;
    let connect = format!("{},{}", proxies[0].address(), proxies[1].address());
    let observed = Observed::start(&connect, &["/locks"]);
    observed.until_live().await;
    // Both are asked how far they are when the session begins, while both can be reached.
    observed.until("some answers more", |believed| believed.synced >= 3).await;
    for at in [1, 0, 1, 0] {
        proxies[1 - at].set(Mode::Cut);
        observed.until_true(&truths[at]).await;
        observed.until_live().await;
        proxies[1 - at].set(Mode::Open);
    }
    let syncs = observed.look(|believed| believed.syncs.clone());
    assert!(syncs.last().is_some_and(|why| why == SEPARATE) && !syncs.iter().any(|why| why == RESTORED), "{syncs:?}");
    observed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restore_is_told_and_is_a_gap() {
    let mut scene = Scene::start().await;
    let data = tempfile::tempdir().unwrap();
    let settings = ["--zk", &scene.proxy.address(), "--root", "/locks", "--data-dir", data.path().to_str().unwrap()]
        .map(str::to_owned);
    let lockscope = Lockscope::run(&settings.each_ref().map(String::as_str)).await;
    let before = Truth::new(&scene.server.address()).await;
    let held = before.queue("/locks/a/lock-").await;
    let lock = async || lockscope.ask("/api/v1/lock?path=/locks/a").await.1;
    until(async || lock().await["holders"][0]["path"] == held.as_str()).await;
    let first = lock().await["holders"][0]["session_id"].clone();

    let truth = scene.restore(false).await;
    assert_eq!(truth.queue("/locks/a/lock-").await, held);
    scene.proxy.set(Mode::Open);
    until(async || {
        let lock = lock().await;
        lock["as_of"]["state"] == "live" && lock["as_of"]["why"] == RESTORED
    })
    .await;
    let after = lock().await;
    assert_eq!(after["holders"][0]["path"], held.as_str(), "{after:#}");
    assert_ne!(after["holders"][0]["session_id"], first, "{after:#}");
    let gaps = async || lockscope.ask("/api/v1/history").await.1["gaps"].as_array().cloned().unwrap_or_default();
    until(async || gaps().await.iter().any(|gap: &Value| gap["why"] == "restored")).await;
    assert_eq!(gaps().await.iter().filter(|gap| gap["why"] == "restored").count(), 1);
}
