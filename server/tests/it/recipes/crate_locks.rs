//! The zookeeper-client crate's `lock()`, with each way to name its znodes. These clients live in this process, each
//! with a session of its own.

use tokio::sync::oneshot;
use zookeeper_client::{Acls, Client, LockOptions, LockPrefix};

use super::agree::{Lock, Seat};
use super::lockscope::Scene;
use crate::harness::{DEADLINE, open};

const CLIENTS: usize = 3;

/// How a lock's znodes are named.
#[derive(Clone, Copy)]
enum Naming {
    Curator(&'static str),
    Shared(&'static str),
    /// Unique by the session; what contenders have in common.
    Custom(fn(i64) -> String, &'static str),
}

/// A client that contends, or holds until it is told not to.
struct Contender {
    session: String,
    held: oneshot::Receiver<String>,
    release: oneshot::Sender<()>,
}

impl Naming {
    async fn contend(
        self,
        client: Client,
        directory: String,
        held: oneshot::Sender<String>,
        release: oneshot::Receiver<()>,
    ) {
        let shared = match self {
            Self::Shared(name) => format!("{directory}/{name}"),
            Self::Curator(_) | Self::Custom(..) => String::new(),
        };
        let prefix = match self {
            Self::Curator(name) => LockPrefix::new_curator(&directory, name),
            Self::Shared(_) => LockPrefix::new_shared(&shared),
            Self::Custom(unique, common) => {
                LockPrefix::new_custom(format!("{directory}/{}", unique(client.session_id().0)), common)
            }
        };
        let lock = client.lock(prefix.unwrap(), b"", LockOptions::new(Acls::anyone_all())).await.unwrap();
        held.send(lock.lock_path().to_owned()).unwrap();
        // Dropped when released.
        let _ = release.await;
    }

    async fn start(self, scene: &Scene, directory: &str) -> Contender {
        let client = open(&scene.zk).await;
        let session = format!("{:#x}", client.session_id().0);
        let ((tell, held), (release, told)) = (oneshot::channel(), oneshot::channel());
        tokio::spawn(self.contend(client, directory.to_owned(), tell, told));
        Contender { session, held, release }
    }

    async fn play(self, name: &str, recipe: &'static str, access: &'static str) {
        let scene = Scene::new(name).await;
        let path = &scene.path("lock");
        scene.truth.make(path).await;
        let mut queue = Vec::new();
        for _ in 0..CLIENTS {
            let contender = self.start(&scene, path).await;
            let own = made_by(&scene, path, &contender.session).await;
            queue.push((contender, own));
        }
        while !queue.is_empty() {
            agrees(&scene, path, &queue, recipe, access).await;
            let (holder, own) = queue.remove(0);
            let held = tokio::time::timeout(DEADLINE, holder.held).await.expect("it holds").unwrap();
            assert_eq!(held, own, "the head is who holds");
            for (waiter, _) in &mut queue {
                assert!(waiter.held.try_recv().is_err(), "{} holds too", waiter.session);
            }
            holder.release.send(()).unwrap();
        }
        agrees(&scene, path, &queue, recipe, access).await;
    }
}

/// A client of the crate knows its znode only when it holds; until then the owner tells.
async fn made_by(scene: &Scene, directory: &str, session: &str) -> String {
    let find = async || {
        for (path, (stat, _)) in scene.truth.trees(&[directory.to_owned()]).await {
            if format!("{:#x}", stat.ephemeral_owner) == session {
                return Some(path);
            }
        }
        None
    };
    scene.until("the contender's znode", async || find().await.is_none().then(|| session.to_owned())).await;
    find().await.unwrap()
}

async fn agrees(scene: &Scene, path: &str, queue: &[(Contender, String)], recipe: &'static str, access: &'static str) {
    let seat = |contender: &Contender, own: &str| Seat::unseen(&contender.session, own, access);
    let holders = queue.iter().take(1).map(|(contender, own)| seat(contender, own)).collect();
    let waiters = queue.windows(2).map(|pair| seat(&pair[1].0, &pair[1].1).behind(&[&pair[0].1])).collect();
    Lock { path, recipe, holders, waiters }.agrees(scene).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn named_as_curators_mutex() {
    Naming::Curator("lock-").play("crate-mutex", "sequential_mutex", "exclusive").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn named_as_curators_latch() {
    Naming::Curator("latch-").play("crate-latch", "election", "leader").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn named_by_a_shared_prefix() {
    Naming::Shared("job-").play("crate-shared", "sequential_mutex", "exclusive").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn named_as_zookeepers_write_lock() {
    Naming::Custom(|session| format!("x-{session}-"), "x-").play("crate-custom", "sequential_mutex", "exclusive").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn named_as_kazoos_lock() {
    Naming::Custom(|session| format!("{session:032x}__lock__"), "__lock__")
        .play("crate-kazoo", "sequential_mutex", "exclusive")
        .await;
}
