//! Read/write locks: readers share, writers do not, in the order R R W R W R.

use super::agree::{Lock, Seat};
use super::host::{Client, Library};
use super::lockscope::Scene;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Read,
    Write,
}

const ORDER: [Mode; 6] = [Mode::Read, Mode::Read, Mode::Write, Mode::Read, Mode::Write, Mode::Read];

/// A contender: who, how, and with which znode.
type Contender = (Client, Mode, String);

impl Mode {
    const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// Kazoo has a class for each mode, Curator has both in one object.
fn program(library: Library, mode: Mode) -> &'static str {
    match library {
        Library::Kazoo => mode.word(),
        Library::Curator => "read-write",
    }
}

fn order(library: Library, verb: &str, mode: Mode) -> String {
    match library {
        Library::Kazoo => verb.to_owned(),
        Library::Curator => format!("{verb}-{}", mode.word()),
    }
}

fn is_held(queue: &[Contender], at: usize) -> bool {
    match queue[at].1 {
        Mode::Read => queue[..at].iter().all(|(_, mode, _)| *mode == Mode::Read),
        Mode::Write => at == 0,
    }
}

/// What a waiter watches. Writers watch what is right before them; of the writers before it, a reader of kazoo watches
/// the nearest, one of Curator the first.
fn watched(library: Library, queue: &[Contender], at: usize) -> &str {
    let before = &queue[..at];
    let is_write = |contender: &&Contender| contender.1 == Mode::Write;
    let watched = match (queue[at].1, library) {
        (Mode::Write, _) => before.last(),
        (Mode::Read, Library::Kazoo) => before.iter().rev().find(is_write),
        (Mode::Read, Library::Curator) => before.iter().find(is_write),
    };
    &watched.expect("a waiter waits for somebody").2
}

async fn agrees(library: Library, scene: &Scene, path: &str, queue: &[Contender]) {
    let (mut holders, mut waiters) = (Vec::new(), Vec::new());
    for (at, (client, mode, own)) in queue.iter().enumerate() {
        let seat = Seat::of(client, own, mode.word());
        if is_held(queue, at) {
            holders.push(seat);
        } else {
            waiters.push(seat.behind(&[watched(library, queue, at)]));
        }
    }
    let lock = Lock { path, recipe: "read_write", holders, waiters };
    // Later only writers may be left, and nothing tells a newcomer that there were readers.
    if queue.len() == ORDER.len() {
        lock.agrees_afresh(scene).await;
    } else {
        lock.agrees(scene).await;
    }
}

async fn play(name: &str, library: Library) {
    let scene = Scene::new(name).await;
    let path = scene.path("lock");
    let mut queue: Vec<Contender> = Vec::new();
    for mode in ORDER {
        let client = library.client(&scene.zk, &format!("{} {path}", program(library, mode))).await;
        client.order(&order(library, "acquire", mode));
        let own = client.made().await;
        queue.push((client, mode, own));
        let last = queue.len() - 1;
        if is_held(&queue, last) {
            queue[last].0.says("held").await;
        }
        agrees(library, &scene, &path, &queue).await;
        if queue.len() == 2 {
            let gives_up = library.client(&scene.zk, &format!("{} {path}", program(library, Mode::Write))).await;
            gives_up.does(&format!("{} 300", order(library, "acquire", Mode::Write)), "gave-up").await;
            agrees(library, &scene, &path, &queue).await;
        }
    }
    // The second reader leaves before the first.
    for at in [1, 0, 0, 0, 0, 0] {
        let held = |queue: &[Contender]| (0..queue.len()).filter(|at| is_held(queue, *at)).count();
        let before = held(&queue);
        let (leaver, mode, _) = queue.remove(at);
        leaver.does(&order(library, "release", mode), "released").await;
        let after = held(&queue);
        for (next, _, _) in queue.iter().take(after).skip(before - 1) {
            next.says("held").await;
        }
        agrees(library, &scene, &path, &queue).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kazoo_readers_and_writers() {
    play("kazoo-read-write", Library::Kazoo).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_readers_and_writers() {
    play("curator-read-write", Library::Curator).await;
}

/// A writer that reads too keeps reading when it stops writing; nobody gets in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curator_writer_becomes_a_reader() {
    let scene = Scene::new("curator-downgrade").await;
    let path = &scene.path("lock");
    let program = format!("read-write {path}");
    let [both, reader, writer] = &scene.clients(Library::Curator, &program).await;
    let recipe = "read_write";
    both.does("acquire-write", "held").await;
    let own_write = &both.made().await;
    both.does("acquire-read", "held").await;
    let own_read = &both.made().await;
    reader.order("acquire-read");
    let read = &reader.made().await;
    writer.order("acquire-write");
    let write = &writer.made().await;
    let last = Seat::of(writer, write, "write").behind(&[read]);
    // Since Curator 5.5 both have the same number, and the uuids in their names decide which one is listed first.
    let mut own = [(own_write, "write"), (own_read, "read")];
    own.sort_by_key(|(path, _)| (path[path.len() - 10..].to_owned(), path.to_string()));
    let holders = own.map(|(path, access)| Seat::of(both, path, access)).to_vec();
    let waiters = vec![Seat::of(reader, read, "read").behind(&[own_write]), last.clone()];
    Lock { path, recipe, holders, waiters }.agrees_afresh(&scene).await;
    both.does("release-write", "released").await;
    reader.says("held").await;
    let holders = vec![Seat::of(both, own_read, "read"), Seat::of(reader, read, "read")];
    Lock { path, recipe, holders, waiters: vec![last] }.agrees_afresh(&scene).await;
    both.does("release-read", "released").await;
    reader.does("release-read", "released").await;
    writer.says("held").await;
    Lock { path, recipe, holders: vec![Seat::of(writer, write, "write")], waiters: Vec::new() }
        .agrees_afresh(&scene)
        .await;
}
