//! Real libraries' queues after a release at the head, in the middle and at the tail: whoever is next by the plan gets
//! it, and in the end everybody got it or was told that it won't.

use app::wire::{Outcome, Role};

use super::office::Office;
use crate::harness::{DEADLINE, Truth};
use crate::recipes::host::{Client, Library};
use crate::recipes::lockscope::shared_zookeeper;

/// One contender: who, with which znode, and the order that lets go.
struct Contender {
    client: Client,
    path: String,
    letting_go: &'static str,
}

/// Which contender asks for what.
type Wish = (&'static str, &'static str);

const MUTEX: Wish = ("acquire", "release");
const READ: Wish = ("acquire-read", "release-read");
const WRITE: Wish = ("acquire-write", "release-write");

/// Five queue up; the head, one in the middle and the last are released.
async fn play(name: &str, library: Library, recipes: [&str; 5], wishes: [Wish; 5]) {
    let server = shared_zookeeper().await;
    let zk = server.address();
    let path = format!("/released/{name}");
    Truth::new(&zk).await.make("/released").await;
    let office = Office::open(&zk, "/released").await;
    let mut queue = Vec::new();
    for (recipe, (verb, letting_go)) in recipes.into_iter().zip(wishes) {
        let client = library.client(&zk, &format!("{recipe} {path}")).await;
        client.order(verb);
        let mut own = client.made().await;
        while !own.starts_with(&format!("{path}/")) {
            // ZooKeeper's own recipes make the directory as well.
            own = client.made().await;
        }
        office.knows(&own).await;
        queue.push(Contender { client, path: own, letting_go });
    }
    queue[0].client.says("held").await;

    // The head: who is next by the plan must be who says so.
    let plan = {
        office.rest();
        office.plan(&queue[0].path).await.unwrap()
    };
    assert_eq!(plan.holder.role, Role::Holder, "{plan:?}");
    let done = office.order(&plan).await.unwrap();
    assert_eq!((done.result.outcome, done.result.verified), (Outcome::Released, true), "{done:?}");
    let next: Vec<&str> = plan.next.iter().map(|next| next.path.as_str()).collect();
    let held: Vec<&str> = done.result.holders.iter().map(|holder| holder.path.as_str()).collect();
    assert!(!next.is_empty() && next.iter().all(|path| held.contains(path)), "planned {next:?}, and now {held:?}");
    for path in &next {
        queue.iter().find(|other| other.path == **path).unwrap().client.says("held").await;
    }

    // One in the middle and the last, both waiting.
    for at in [3, 4] {
        let done = office.release(&queue[at].path).await;
        assert_eq!(done.result.outcome, Outcome::Released, "{done:?}");
    }
    let mut holding: Vec<usize> = (0..queue.len()).filter(|at| next.contains(&queue[*at].path.as_str())).collect();
    let mut waiting: Vec<usize> = (1..queue.len()).filter(|at| !holding.contains(at)).collect();
    // Those that hold let go, one after the other, until nobody waits any more.
    let ends = async {
        while !waiting.is_empty() || !holding.is_empty() {
            if let Some(at) = holding.pop() {
                let Contender { client, letting_go, .. } = &queue[at];
                client.order(letting_go);
                // Whatever it says of a znode that is gone, it is done with it.
                crate::served::until(async || client.said().is_some()).await;
            }
            let mut heard = Vec::new();
            waiting.retain(|at| match queue[*at].client.said() {
                Some(said) => {
                    heard.extend(said.starts_with("held").then_some(*at));
                    assert!(said.starts_with("held") || said.starts_with("failed") || said.starts_with("gave-up"), "{name} {at}: {said}");
                    false
                }
                None => true,
            });
            holding.extend(heard);
            tokio::task::yield_now().await;
        }
    };
    let end = tokio::time::timeout(DEADLINE, ends).await;
    assert!(end.is_ok(), "{name}: stranded {:?}", waiting);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_mutex() {
    play("curator-mutex", Library::Curator, ["mutex"; 5], [MUTEX; 5]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_read_write() {
    play("curator-read-write", Library::Curator, ["read-write"; 5], [WRITE, READ, READ, WRITE, READ]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_latch() {
    play("curator-latch", Library::Curator, ["latch"; 5], [MUTEX; 5]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn zookeeper_write_lock() {
    play("write-lock", Library::Curator, ["write-lock"; 5], [MUTEX; 5]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_lock() {
    play("kazoo-lock", Library::Kazoo, ["lock"; 5], [MUTEX; 5]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_read_write() {
    play("kazoo-read-write", Library::Kazoo, ["write", "read", "read", "write", "read"], [MUTEX; 5]).await;
}
