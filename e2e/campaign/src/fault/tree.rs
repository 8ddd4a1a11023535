//! Faults of the tree: what is watched goes and comes, changes hands under one name, or may not be read.

use std::time::{Duration, Instant};

use rand::RngExt as _;
use tokio::task::JoinSet;
use tokio::time::sleep;
use zookeeper_client::{Acl, Acls, AuthId, Client, CreateMode, Error, Permission};

use super::Form;
use crate::ROOT;
use crate::capture::now_ms;
use crate::scene::{Scene, make, open};

/// Locks whose contenders may not be read.
const VEILED: usize = 200;
/// How their names begin.
pub(super) const VEILED_NAME: &str = "veiled-";
/// Requests under way at once.
const AT_ONCE: usize = 50;

fn anyone(mode: CreateMode) -> zookeeper_client::CreateOptions<'static> {
    mode.with_acls(Acls::anyone_all())
}

/// Deletes a znode with all below it, whoever makes more meanwhile.
async fn delete_all(client: &Client, path: &str) {
    loop {
        match client.delete(path, None).await {
            Ok(()) | Err(Error::NoNode) => return,
            Err(Error::NotEmpty) => {
                for name in client.list_children(path).await.unwrap_or_default() {
                    Box::pin(delete_all(client, &format!("{path}/{name}"))).await;
                }
            }
            Err(error) => panic!("{path}: {error}"),
        }
    }
}

pub(super) async fn root_recreated(scene: &mut Scene) {
    let client = scene.direct().await;
    for _ in 0..3 {
        delete_all(&client, ROOT).await;
        let gone_ms = scene.rng.random_range(0..1_500);
        sleep(Duration::from_millis(gone_ms)).await;
        let made_at_ms = now_ms();
        make(&client, ROOT).await;
        // Those who queue come again by themselves.
        sleep(Duration::from_millis(300)).await;
        scene.until_live("the root came again", made_at_ms).await;
        scene.back_ms = scene.back_ms.max(Some(now_ms() - made_at_ms - 300));
    }
}

pub(super) async fn directory_recreated(scene: &mut Scene, form: Form) {
    let client = scene.direct().await;
    let end = Instant::now() + Duration::from_millis(form.of(10_000, 4_000));
    while Instant::now() < end {
        let path = super::path(&format!("again-{}", scene.rng.random_range(0..3)));
        delete_all(&client, &path).await;
        pause(scene, 40).await;
        make(&client, &path).await;
        // Numbers begin anew, so names come again.
        for _ in 0..scene.rng.random_range(0..4) {
            super::queue(&client, &path).await;
            pause(scene, 30).await;
        }
        pause(scene, 120).await;
    }
}

async fn pause(scene: &mut Scene, up_to_ms: u64) {
    let ms = scene.rng.random_range(0..up_to_ms);
    sleep(Duration::from_millis(ms)).await;
}

/// Several sessions make and delete the same few names as fast as they can.
pub(super) async fn aba_storm(scene: &mut Scene, form: Form) {
    let connect = scene.servers.connect_string();
    let mut sessions = JoinSet::new();
    let end = Instant::now() + Duration::from_millis(form.of(10_000, 3_000));
    for session in 0..3 {
        let client = open(&connect).await;
        sessions.spawn(async move {
            let mut count = 0_u64;
            while Instant::now() < end {
                for lock in 0..3 {
                    let path = super::path(&format!("aba-{lock}"));
                    let node = format!("{path}/0123456789abcdef0123456789abcdef__lock__{:010}", (session + count) % 3);
                    match client.create(&node, b"host", &anyone(CreateMode::Ephemeral)).await {
                        Ok(_) | Err(Error::NodeExists) => {}
                        Err(Error::NoNode) => make(&client, &path).await,
                        Err(error) => panic!("{error}"),
                    }
                    let _ = client.delete(&node, None).await;
                    count += 1;
                }
            }
            count
        });
    }
    let count: u64 = sessions.join_all().await.into_iter().sum();
    scene.notes.push(format!("{count} incarnations"));
}

/// Whoever made them may read them: nobody that is here.
fn veil() -> [Acl; 1] {
    [Acl::new(Permission::ALL, AuthId::new("digest", "nobody:AAAAAAAAAAAAAAAAAAAAAAAAAAA="))]
}

/// Lock directories two levels below the root, whose contenders only show in the list of children.
pub(super) async fn unreadable(scene: &mut Scene, form: Form) {
    let client = scene.direct().await;
    let paths: Vec<String> = (0..VEILED).map(|number| super::path(&format!("{VEILED_NAME}{number}"))).collect();
    for chunk in paths.chunks(AT_ONCE) {
        futures_util::future::join_all(chunk.iter().map(|path| make(&client, path))).await;
    }
    // Each was a lock once, so it is known as one.
    for path in &paths {
        let prefix = format!("{path}/0123456789abcdef0123456789abcdef__lock__");
        let (_, number) =
            client.create(&prefix, b"host", &anyone(CreateMode::EphemeralSequential)).await.expect("create");
        client.delete(&format!("{prefix}{number}"), None).await.expect("delete");
    }
    sleep(Duration::from_millis(1_500)).await;
    let veil = veil();
    let mode = CreateMode::EphemeralSequential.with_acls(Acls::new(&veil));
    for _ in 0..form.of(3, 1) {
        let holder = open(&scene.servers.connect_string()).await;
        for path in &paths {
            holder
                .create(&format!("{path}/fedcba9876543210fedcba9876543210__lock__"), b"host", &mode)
                .await
                .expect("create");
        }
        sleep(Duration::from_millis(form.of(6_000, 4_000))).await;
        // All go in one transaction.
        drop(holder);
        sleep(Duration::from_millis(1_500)).await;
    }
}
