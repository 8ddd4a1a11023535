//! Faults of rights: what Lockscope may read is taken from it and given back, live.

use std::time::Duration;

use rand::RngExt as _;
use tokio::time::sleep;
use zookeeper_client::{Acl, Acls, AuthId, Client, CreateMode, Permission};

use super::Form;
use crate::ROOT;
use crate::capture::now_ms;
use crate::relay::Link;
use crate::scene::{Scene, make};

/// How the names begin of locks whose rights change.
pub(super) const GUARDED_NAME: &str = "guarded-";
/// Those with queues.
pub(super) const GUARDED_NAMES: [&str; 3] = ["guarded-0", "guarded-1", "guarded-2"];
/// A lock with a contender that may not be read all the time.
const FIRST_NAME: &str = "guarded-first";
/// Who may always read: the session that makes the change.
const KEEPER: &[u8] = b"campaign:keeper";

/// Everybody may do all but read and administer.
fn closed() -> [Acl; 2] {
    let but_read = Permission::CREATE | Permission::DELETE | Permission::WRITE;
    [Acl::new(but_read, AuthId::anyone()), Acl::new(Permission::ALL, AuthId::authed())]
}

/// Nobody but the keeper may read.
fn veiled() -> [Acl; 1] {
    [Acl::new(Permission::ALL, AuthId::authed())]
}

async fn set(client: &Client, path: &str, acl: &[Acl]) {
    client.set_acl(path, acl, None).await.expect("setACL");
}

/// Directories, their contenders and the root may be read, may not be read, and may be read again, while queues go on.
pub(super) async fn changed(scene: &mut Scene, form: Form) {
    let client = scene.direct().await;
    client.auth("digest", KEEPER).await.expect("auth");
    let open = [Acl::new(Permission::ALL, AuthId::anyone())];
    // The first contender that may not be read may be noticed half a second late, those after it may not.
    veiled_contender(&client, &super::path(FIRST_NAME)).await;
    sleep(Duration::from_millis(1_500)).await;
    let guarded = GUARDED_NAMES.map(super::path);
    for round in 0..form.of(8, 4) {
        let path = guarded[scene.rng.random_range(0..guarded.len())].clone();
        if round % 2 == 0 {
            // A contender that nobody else may read, among those of everybody.
            let node = veiled_contender(&client, &path).await;
            pause(scene, 800).await;
            set(&client, &node, &open).await;
            pause(scene, 800).await;
            client.delete(&node, None).await.expect("delete");
        } else {
            set(&client, &path, &closed()).await;
            pause(scene, 800).await;
            // After a reconnect all is read anew, and this may not be.
            scene.set_links(Link::CUT);
            pause(scene, 400).await;
            scene.set_links(Link::OPEN);
            sleep(Duration::from_millis(1_500)).await;
            set(&client, &path, &open).await;
        }
        pause(scene, 800).await;
    }
    root_closed(scene, &client, &open).await;
    scene.kept.push(client);
}

/// Queues at a lock as somebody whom nobody may read; gives the znode's path.
async fn veiled_contender(client: &Client, path: &str) -> String {
    make(client, path).await;
    let acl = veiled();
    let mode = CreateMode::EphemeralSequential.with_acls(Acls::new(&acl));
    let prefix = format!("{path}/0123456789abcdef0123456789abcdef__lock__");
    let (_, number) = client.create(&prefix, b"host", &mode).await.expect("create");
    format!("{prefix}{number}")
}

/// The root may not be read: nothing below it can be known after a reconnect.
async fn root_closed(scene: &mut Scene, client: &Client, open: &[Acl]) {
    set(client, ROOT, &closed()).await;
    pause(scene, 1_000).await;
    scene.set_links(Link::CUT);
    pause(scene, 400).await;
    scene.set_links(Link::OPEN);
    sleep(Duration::from_millis(3_000)).await;
    set(client, ROOT, open).await;
    let opened_at_ms = now_ms();
    scene.until_live("the root may be read again", opened_at_ms).await;
    scene.back_ms = scene.back_ms.max(Some(now_ms() - opened_at_ms));
}

async fn pause(scene: &mut Scene, up_to_ms: u64) {
    let ms = scene.rng.random_range(0..up_to_ms);
    sleep(Duration::from_millis(ms)).await;
}
