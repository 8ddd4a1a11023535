//! Real libraries' queues after a release at the head, in the middle and at the tail: whoever is next by the plan gets
//! it, and in the end everybody who still has a znode got it or was told that it won't.

use lockscope_view::{ContenderRole, Outcome};

use super::office::Office;
use crate::harness::{DEADLINE, STEP, Truth};
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
    assert_eq!(plan.holder.role, ContenderRole::Holder, "{plan:?}");
    let done = office.order(&plan).await.unwrap();
    assert_eq!((done.result.outcome, done.result.verified), (Outcome::Released, true), "{done:?}");
    let next: Vec<&str> = plan.next.iter().map(|next| next.path.as_str()).collect();
    let held: Vec<&str> = done.result.holders.iter().map(|holder| holder.path.as_str()).collect();
    assert!(!next.is_empty() && next.iter().all(|path| held.contains(path)), "planned {next:?}, and now {held:?}");
    for path in &next {
        queue.iter().find(|other| other.path == **path).unwrap().client.says("held").await;
    }

    // One in the middle and the last, both waiting. What their clients make of it is their library's: WriteLock queues
    // anew where it finds nobody, and waits for nothing for ever where it finds somebody who did so a moment before.
    let released = [3, 4];
    for at in released {
        let done = office.release(&queue[at].path).await;
        assert_eq!(done.result.outcome, Outcome::Released, "{done:?}");
    }
    let mut holding: Vec<usize> = (0..queue.len()).filter(|at| next.contains(&queue[*at].path.as_str())).collect();
    let mut waiting: Vec<usize> = (1..queue.len()).filter(|at| !holding.contains(at)).collect();
    // Those that hold let go, one after the other, until nobody waits any more.
    let ends = async {
        while waiting.iter().any(|at| !released.contains(at)) || !holding.is_empty() {
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
                    assert!(
                        said.starts_with("held") || said.starts_with("failed") || said.starts_with("gave-up"),
                        "{name} {at}: {said}"
                    );
                    false
                }
                None => true,
            });
            holding.extend(heard);
            tokio::time::sleep(STEP).await;
        }
    };
    let end = tokio::time::timeout(DEADLINE, ends).await;
    assert!(end.is_ok(), "{name}: stranded {:?}", waiting);
}

/// A revocable holder is asked, hears it, and lets go; one that is not revocable is never written to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_revocable() {
    let server = shared_zookeeper().await;
    let zk = server.address();
    Truth::new(&zk).await.make("/revoked").await;
    let office = Office::open(&zk, "/revoked").await;
    let mut paths = Vec::new();
    let mut clients = Vec::new();
    for (recipe, lock) in [("revocable", "a"), ("mutex", "a"), ("mutex", "b")] {
        let client = Library::Curator.client(&zk, &format!("{recipe} /revoked/{lock}")).await;
        client.order("acquire");
        let own = client.made().await;
        office.knows(&own).await;
        paths.push(own);
        clients.push(client);
    }
    let revocable = async || {
        office.clock.set_ms(lockscope_runtime::clock::Clock::system().now_ms());
        office.knows(&paths[0]).await;
        office.plan(&paths[0]).await.unwrap().can_revoke
    };
    clients[0].says("held").await;
    // What it watches is learned from the server's table, which is asked for now and then.
    crate::served::until(revocable).await;
    let plan = office.plan(&paths[0]).await.unwrap();
    let lets_go = async {
        clients[0].says("asked").await;
        clients[0].does("release", "released").await;
    };
    let order = super::office::order_of(&plan);
    let (asker, plain) = (super::office::operator(), office.plan(&paths[2]).await.unwrap());
    let (done, ()) = tokio::join!(office.service.revoke(&asker, &order), lets_go);
    let done = done.unwrap();
    assert_eq!((done.result.outcome, done.result.verified), (Outcome::Released, true), "{done:?}");
    assert!(
        done.result.sentence.contains("was let go by its holder; /revoked/a now held by"),
        "{}",
        done.result.sentence
    );
    clients[1].says("held").await;
    let refused = office.service.revoke(&asker, &super::office::order_of(&plain)).await.unwrap_err();
    assert_eq!(refused.status(), 409, "{refused}");
    assert!(!plain.can_revoke);
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
