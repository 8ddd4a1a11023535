//! Faults among releases: no room for the audit log, a killed Lockscope, races with owners, and lost links.

use std::time::Duration;

use futures_util::future::join_all;
use rand::RngExt as _;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use tokio::time::sleep;
use zookeeper_client::{Acls, Client, CreateMode};

use super::Form;
use crate::capture::now_ms;
use crate::relay::{Flow, Link};
use crate::releases::execute;
use crate::scene::{Scene, make};

/// Releases that are asked for at once.
const AT_ONCE: usize = 3;

/// A lock with a holder and a waiter of this session's; gives the holder's path.
async fn held(client: &Client, number: usize) -> String {
    let lock = super::path(&format!("release-{number}"));
    make(client, &lock).await;
    let prefix = format!("{lock}/0123456789abcdef0123456789abcdef__lock__");
    let mode = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let (_, first) = client.create(&prefix, b"host", &mode).await.expect("create");
    client.create(&prefix, b"host", &mode).await.expect("create");
    format!("{prefix}{first}")
}

fn limit_files(scene: &Scene, bytes: Option<u64>) {
    let pid = scene.lockscope.pid().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).expect("the process is ours");
}

/// Files of Lockscope may not grow: what a full disk is to the audit log. Nothing may be deleted, and viewing goes on.
pub(super) async fn full_disk(scene: &mut Scene) {
    let client = scene.direct().await;
    let mut nodes = Vec::new();
    for number in 0..6 {
        nodes.push(held(&client, number).await);
    }
    sleep(Duration::from_millis(1_000)).await;
    let mut record = scene.record.take().expect("a record is kept");
    let before = record.release(&scene.lockscope, &nodes[0]).await;
    if before.as_ref().is_none_or(|answer| answer.outcome != "released") {
        scene.wrong.push(format!("a release before the disk was full: {before:?}"));
    }
    let size = std::fs::metadata(record.place().join("audit.log")).map_or(0, |file| file.len());
    limit_files(scene, Some(size));
    for node in &nodes[1..5] {
        let answer = record.release(&scene.lockscope, node).await;
        let is_there = client.check_stat(node).await.expect("a read").is_some();
        if !is_there || answer.as_ref().is_some_and(|answer| answer.status == 200) {
            scene.wrong.push(format!(
                "without room for the audit log: {answer:?}, the znode is {}",
                if is_there { "there" } else { "gone" }
            ));
        }
    }
    limit_files(scene, None);
    sleep(Duration::from_millis(500)).await;
    let after = record.release(&scene.lockscope, &nodes[5]).await;
    if after.as_ref().is_none_or(|answer| answer.outcome != "released") {
        scene.wrong.push(format!("a release when there was room again: {after:?} ({})", record.why_no_plan));
    }
    scene.record = Some(record);
    scene.kept.push(client);
}

/// Nothing reaches the disk while releases are asked for: none may be carried out before its record is safe, and viewing
/// goes on.
pub(super) async fn hung_disk(scene: &mut Scene, form: Form) {
    let client = scene.direct().await;
    let mut record = scene.record.take().expect("a record is kept");
    let disk = scene.disk.clone().expect("it may hang");
    let mut nodes = Vec::new();
    for number in 0..=AT_ONCE {
        nodes.push(held(&client, number).await);
    }
    sleep(Duration::from_millis(1_000)).await;
    let mut orders = Vec::new();
    for node in &nodes[..AT_ONCE] {
        if let Some((token, plan)) = record.plan(&scene.lockscope, node).await {
            orders.push((token, record.order(&plan)));
        }
    }
    let lasts = scene.rng.random_range(4_000..form.of(15_000, 6_000));
    disk.hang();
    let hung = async {
        sleep(Duration::from_millis(lasts)).await;
        let mut gone = 0;
        for node in &nodes {
            gone += usize::from(client.check_stat(node).await.expect("a read").is_none());
        }
        scene.until_live("the disk hung", now_ms() - 1_000).await;
        disk.free();
        gone
    };
    let ordered = join_all(orders.iter().map(|(token, order)| execute(&scene.lockscope, token, order)));
    let (answers, gone) = tokio::join!(ordered, hung);
    if gone > 0 {
        scene.wrong.push(format!("{gone} znodes were released while the disk hung: {answers:?}"));
    }
    scene.notes.push(format!(
        "{lasts} ms; then {}",
        answers.iter().map(|answer| format!("{} {}", answer.status, answer.outcome)).collect::<Vec<_>>().join(", ")
    ));
    sleep(Duration::from_millis(500)).await;
    let after = record.release(&scene.lockscope, &nodes[AT_ONCE]).await;
    if after.as_ref().is_none_or(|answer| answer.outcome != "released") {
        scene.wrong.push(format!("a release when the disk worked again: {after:?} ({})", record.why_no_plan));
    }
    scene.record = Some(record);
    scene.kept.push(client);
}

/// Lockscope is killed at some moment while several releases are carried out, again and again.
pub(super) async fn killed(scene: &mut Scene, form: Form) {
    let client = scene.direct().await;
    let rounds = usize::try_from(form.of(12, 3)).unwrap_or(1);
    let mut record = scene.record.take().expect("a record is kept");
    let mut answered = 0;
    for round in 0..rounds {
        let mut nodes = Vec::new();
        for number in 0..AT_ONCE {
            nodes.push(held(&client, round * AT_ONCE + number).await);
        }
        sleep(Duration::from_millis(700)).await;
        let mut orders = Vec::new();
        for node in &nodes {
            if let Some((token, plan)) = record.plan(&scene.lockscope, node).await {
                orders.push((token, record.order(&plan)));
            }
        }
        let kill_after = Duration::from_micros(scene.rng.random_range(0..80_000));
        let answers = {
            let lockscope = &scene.lockscope;
            let pid = lockscope
                .pid()
                .and_then(|pid| i32::try_from(pid).ok())
                .and_then(Pid::from_raw)
                .expect("lockscope runs");
            let killing = async {
                sleep(kill_after).await;
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("the process is ours");
            };
            tokio::join!(join_all(orders.iter().map(|(token, order)| execute(lockscope, token, order))), killing).0
        };
        answered += answers.iter().filter(|answer| answer.status != 0).count();
        scene.lockscope.kill_minus_9().await;
        scene.lockscope.launch().await;
        scene.lockscope.until_ready().await;
    }
    scene.notes.push(format!("{} orders, {answered} answered before the kill", rounds * AT_ONCE));
    scene.record = Some(record);
    scene.kept.push(client);
}

/// Owners leave, or somebody else comes first, at every moment of a release.
pub(super) async fn races(scene: &mut Scene, form: Form) {
    let client = scene.direct().await;
    let mut record = scene.record.take().expect("a record is kept");
    let mut outcomes = Vec::new();
    for number in 0..usize::try_from(form.of(36, 8)).unwrap_or(1) {
        let node = held(&client, number).await;
        sleep(Duration::from_millis(400)).await;
        let Some((token, plan)) = record.plan(&scene.lockscope, &node).await else { continue };
        let order = record.order(&plan);
        let after = Duration::from_micros(scene.rng.random_range(0..40_000));
        let comes_again = scene.rng.random_bool(0.5);
        let world = async {
            sleep(after).await;
            if client.delete(&node, None).await.is_ok() && comes_again {
                let _ = client.create(&node, b"another", &CreateMode::Ephemeral.with_acls(Acls::anyone_all())).await;
            }
        };
        let (answer, ()) = tokio::join!(execute(&scene.lockscope, &token, &order), world);
        outcomes.push(answer.outcome);
    }
    scene.notes.push(counted(&outcomes));
    scene.record = Some(record);
    scene.kept.push(client);
}

/// The link is lost at some moment around a release.
pub(super) async fn partitions(scene: &mut Scene, form: Form) {
    let client = scene.direct().await;
    let mut record = scene.record.take().expect("a record is kept");
    let mut outcomes = Vec::new();
    for number in 0..usize::try_from(form.of(8, 2)).unwrap_or(1) {
        let node = held(&client, number).await;
        sleep(Duration::from_millis(800)).await;
        let Some((token, plan)) = record.plan(&scene.lockscope, &node).await else { continue };
        let order = record.order(&plan);
        let after = Duration::from_micros(scene.rng.random_range(0..20_000));
        let lasts = Duration::from_millis(scene.rng.random_range(500..5_000));
        let broken = [Link::CUT, Link::both(Flow::Silent), Link { replies: Flow::Silent, ..Link::OPEN }][number % 3];
        let world = async {
            sleep(after).await;
            scene.set_links(broken);
            sleep(lasts).await;
            scene.set_links(Link::OPEN);
        };
        let (answer, ()) = tokio::join!(execute(&scene.lockscope, &token, &order), world);
        outcomes.push(if answer.status == 0 { "no answer".to_owned() } else { answer.outcome });
        scene.mended().await;
    }
    scene.notes.push(counted(&outcomes));
    scene.record = Some(record);
    scene.kept.push(client);
    // Releases whose outcome is still being looked for.
    sleep(Duration::from_secs(3)).await;
}

/// `3 released, 2 already_gone`.
fn counted(words: &[String]) -> String {
    let mut sorted: Vec<&String> = words.iter().collect();
    sorted.sort();
    let groups: Vec<String> =
        sorted.chunk_by(|one, other| one == other).map(|group| format!("{} {}", group.len(), group[0])).collect();
    groups.join(", ")
}
