//! Recipes where one holds and the rest queue up: mutexes and elections of every library.

use super::agree::{Lock, Seat};
use super::host::{Client, Library};
use super::lockscope::Scene;

/// Those that do not give up.
const CONTENDERS: usize = 3;

/// What differs from recipe to recipe.
struct Story {
    /// The test's name.
    name: &'static str,
    library: Library,
    /// As the client's program calls it.
    program: &'static str,
    recipe: &'static str,
    access: &'static str,
    /// Whether an acquire can be given a time.
    can_give_up: bool,
    /// Whether the znodes belong to sessions.
    is_ephemeral: bool,
}

impl Story {
    fn seat<'a>(&self, client: &'a Client, path: &str) -> Seat<'a> {
        if self.is_ephemeral { Seat::of(client, path, self.access) } else { Seat::persistent(path, self.access) }
    }

    /// Three clients queue up, a fourth gives up between them; then each holds in turn.
    async fn play(self) {
        let scene = Scene::new(self.name).await;
        let lock = scene.path("lock");
        scene.truth.make(&lock).await;
        let [first, second, gives_up, third] = &scene.clients(self.library, &format!("{} {lock}", self.program)).await;
        let mut queue = Vec::new();
        self.acquires(first, &mut queue).await;
        assert_is(&queue[0].1, &first.says("held").await);
        self.acquires(second, &mut queue).await;
        if self.can_give_up {
            gives_up.does("acquire 300", "gave-up").await;
        }
        self.acquires(third, &mut queue).await;
        while !queue.is_empty() {
            self.agrees(&scene, &lock, &queue).await;
            let (holder, _) = queue.remove(0);
            holder.does("release", "released").await;
            if let Some((next, path)) = queue.first() {
                assert_is(path, &next.says("held").await);
            }
        }
        self.agrees(&scene, &lock, &queue).await;
    }

    async fn acquires<'a>(&self, client: &'a Client, queue: &mut Vec<(&'a Client, String)>) {
        client.order("acquire");
        queue.push((client, client.made().await));
    }

    async fn agrees(&self, scene: &Scene, path: &str, queue: &[(&Client, String)]) {
        let seats = queue.iter().map(|(client, path)| self.seat(client, path));
        let waiters = queue.windows(2).map(|pair| self.seat(pair[1].0, &pair[1].1).behind(&[&pair[0].1]));
        let lock = Lock { path, recipe: self.recipe, holders: seats.take(1).collect(), waiters: waiters.collect() };
        if queue.len() == CONTENDERS {
            lock.agrees_afresh(scene).await;
        } else {
            lock.agrees(scene).await;
        }
    }
}

/// The client names the znode that it made, if it names one.
#[track_caller]
fn assert_is(path: &str, name: &str) {
    assert!(name.is_empty() || path.ends_with(name), "{name} is not {path}");
}

const KAZOO: Story = Story {
    name: "kazoo-lock",
    library: Library::Kazoo,
    program: "lock",
    recipe: "sequential_mutex",
    access: "exclusive",
    can_give_up: true,
    is_ephemeral: true,
};
const CURATOR: Story = Story { name: "curator-mutex", library: Library::Curator, program: "mutex", ..KAZOO };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_lock() {
    KAZOO.play().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_lock_that_outlives_its_session() {
    Story { name: "kazoo-persistent-lock", program: "persistent-lock", is_ephemeral: false, ..KAZOO }.play().await;
}

/// Its znodes are those of `Lock`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_election() {
    let [recipe, access] = ["sequential_mutex|election", "exclusive|leader"];
    Story { name: "kazoo-election", program: "election", recipe, access, can_give_up: false, ..KAZOO }.play().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_mutex() {
    CURATOR.play().await;
}

/// Its znodes are those of `InterProcessMutex`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_leader_selector() {
    let [recipe, access] = ["sequential_mutex|election", "exclusive|leader"];
    Story { name: "curator-selector", program: "selector", recipe, access, can_give_up: false, ..CURATOR }.play().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_leader_latch() {
    Story {
        name: "curator-latch",
        program: "latch",
        recipe: "election",
        access: "leader",
        can_give_up: false,
        ..CURATOR
    }
    .play()
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn zookeeper_write_lock() {
    Story { name: "zookeeper-write-lock", program: "write-lock", can_give_up: false, ..CURATOR }.play().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn zookeeper_leader_election_support() {
    let [recipe, access] = ["election", "leader"];
    Story { name: "zookeeper-election", program: "election-support", recipe, access, can_give_up: false, ..CURATOR }
        .play()
        .await;
}
