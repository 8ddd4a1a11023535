//! Faults that are too much of what is usual.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::task::JoinSet;
use tokio::time::{interval, sleep};
use zookeeper_client::{Acls, Client, CreateMode};

use super::Form;
use crate::scene::{Scene, make, open};

/// Changes a second.
const STORM_PER_S: u64 = 5_000;
/// Sessions that make them.
const STORM_SESSIONS: u64 = 5;
/// Directories they are made in.
const STORM_LOCKS: u64 = 16;
/// Znodes that come at once.
const ZNODES: usize = 20_000;
/// Directories they come in.
const ZNODE_LOCKS: usize = 200;
/// Contenders in one directory.
const CROWD: usize = 100_000;
/// The lock that they contend for.
pub(super) const CROWD_NAME: &str = "crowd";
/// Locks that come at once.
const LOCKS: usize = 10_000;
/// Requests under way at once.
const AT_ONCE: usize = 500;
/// Contenders that one session has in a storm.
const STANDING: usize = 8;

async fn enqueue(client: &Client, path: &str) -> Option<String> {
    let prefix = format!("{path}/0123456789abcdef0123456789abcdef__lock__");
    let mode = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    client.create(&prefix, b"host", &mode).await.ok().map(|(_, number)| format!("{prefix}{number}"))
}

pub(super) async fn storm(scene: &mut Scene, form: Form) {
    let begin = Instant::now();
    let sessions = storm_for(scene, Duration::from_millis(form.of(15_000, 4_000))).await;
    let changes: u64 = sessions.join_all().await.into_iter().sum();
    scene.notes.push(format!(
        "{} changes/s",
        changes * 1_000 / u64::try_from(begin.elapsed().as_millis()).unwrap_or(1).max(1)
    ));
}

/// A storm of so long from now on; each session says in the end how many changes it made.
pub(super) async fn storm_for(scene: &Scene, lasts: Duration) -> JoinSet<u64> {
    let connect = scene.servers.connect_string();
    let paths: Vec<String> = (0..STORM_LOCKS).map(|number| super::path(&format!("storm-{number}"))).collect();
    let client = scene.direct().await;
    for path in &paths {
        make(&client, path).await;
    }
    let end = Instant::now() + lasts;
    let mut sessions = JoinSet::new();
    for session in 0..STORM_SESSIONS {
        let (client, paths) = (open(&connect).await, paths.clone());
        sessions.spawn(storming(client, paths, session, end));
    }
    sessions
}

/// One session's share: in bursts, each many requests at once.
async fn storming(client: Client, paths: Vec<String>, session: u64, end: Instant) -> u64 {
    let burst = Duration::from_millis(20);
    let half = usize::try_from(STORM_PER_S / STORM_SESSIONS / 50 / 2).unwrap_or(1);
    let mut ticks = interval(burst);
    let (mut standing, mut changes) = (Vec::<String>::new(), 0);
    let mut at = usize::try_from(session).unwrap_or(0);
    while Instant::now() < end {
        ticks.tick().await;
        let targets: Vec<&String> = (0..half).map(|step| &paths[(at + step * 3) % paths.len()]).collect();
        at += 1;
        let going: Vec<String> = standing.drain(..standing.len().saturating_sub(STANDING).min(half)).collect();
        let deleted = join_all(going.iter().map(|path| client.delete(path, None)));
        let (made, deleted) = tokio::join!(join_all(targets.into_iter().map(|path| enqueue(&client, path))), deleted);
        changes += u64::try_from(made.iter().flatten().count() + deleted.iter().flatten().count()).unwrap_or(0);
        standing.extend(made.into_iter().flatten());
    }
    changes
}

pub(super) async fn znodes(scene: &mut Scene, form: Form) {
    let paths: Vec<String> = (0..ZNODE_LOCKS).map(|number| super::path(&format!("many-{number}"))).collect();
    let client = scene.direct().await;
    for path in &paths {
        make(&client, path).await;
    }
    for _ in 0..form.of(2, 1) {
        let owner = open(&scene.servers.connect_string()).await;
        let numbers: Vec<usize> = (0..ZNODES).collect();
        for chunk in numbers.chunks(AT_ONCE) {
            join_all(chunk.iter().map(|number| enqueue(&owner, &paths[number % ZNODE_LOCKS]))).await;
        }
        sleep(Duration::from_millis(1_000)).await;
        // All of them go in one transaction.
        drop(owner);
        sleep(Duration::from_millis(3_000)).await;
    }
}

/// One of ten thousand locks.
pub(super) fn one_of_many(number: usize) -> String {
    super::path(&format!("lock-of-many-{number}"))
}

/// Ten thousand locks, each with two contenders of one session, which ends; then the locks go as well.
pub(super) async fn many_locks(scene: &mut Scene, form: Form) {
    let client = scene.direct().await;
    let numbers: Vec<usize> = (0..LOCKS).collect();
    let persistent = CreateMode::Persistent.with_acls(Acls::anyone_all());
    for _ in 0..form.of(3, 1) {
        let (owner, begin) = (open(&scene.servers.connect_string()).await, Instant::now());
        let mut made = 0;
        for chunk in numbers.chunks(AT_ONCE / 2) {
            let lock = async |number: usize| {
                let path = one_of_many(number);
                let is_made = client.create(&path, b"", &persistent).await.is_ok();
                is_made && enqueue(&owner, &path).await.is_some() && enqueue(&owner, &path).await.is_some()
            };
            made += join_all(chunk.iter().map(|number| lock(*number))).await.into_iter().filter(|made| *made).count();
        }
        scene.notes.push(format!("{made} locks in {} ms", begin.elapsed().as_millis()));
        sleep(Duration::from_millis(1_000)).await;
        // All contenders go in one transaction.
        drop(owner);
        sleep(Duration::from_millis(2_000)).await;
        for chunk in numbers.chunks(AT_ONCE) {
            let delete = async |number: usize| client.delete(&one_of_many(number), None).await;
            join_all(chunk.iter().map(|number| delete(*number))).await;
        }
        sleep(Duration::from_millis(1_000)).await;
    }
}

/// One queue with as many contenders as ZooKeeper's own limits hardly let a client list.
pub(super) async fn many_children(scene: &mut Scene) {
    let path = super::path(CROWD_NAME);
    make(&scene.direct().await, &path).await;
    let owner = open(&scene.servers.connect_string()).await;
    let begin = Instant::now();
    let mut made = 0;
    while made < CROWD {
        made += join_all((0..AT_ONCE).map(|_| enqueue(&owner, &path))).await.iter().flatten().count();
    }
    scene.notes.push(format!("{made} contenders in {} ms", begin.elapsed().as_millis()));
    sleep(Duration::from_millis(2_000)).await;
    // All of them go in one transaction.
    drop(owner);
    sleep(Duration::from_millis(4_000)).await;
}
