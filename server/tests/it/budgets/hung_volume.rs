//! A data directory that does not answer: what is known stays known, and nobody waits for it who needs nothing of it.

use std::path::Path;
use std::process::Command;

use futures_util::future::join_all;
use lockscope_access::{Grant, TOKENS_FILE, new_token};
use lockscope_view::Role;

use super::{PATIENCE, good_client};
use crate::access::{House, PASSWORD, bearer};

/// Puts a pipe in the place of a file: whoever opens it to read waits until somebody writes, as on a volume that hangs.
fn hang(path: &Path) {
    let pipe = path.with_extension("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::fs::rename(&pipe, path).unwrap();
}

/// Lets go whoever waits at the pipe, and puts a file in its place.
fn heal(path: &Path, text: &str) {
    let writer = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    let file = path.with_extension("new");
    std::fs::write(&file, text).unwrap();
    std::fs::rename(&file, path).unwrap();
    drop(writer);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_volume_that_hangs_stops_neither_probes_nor_people() {
    let house = House::plain().await;
    house.user("ann", Role::Operator);
    let token = house.token("ci", Grant::everywhere(Role::Operator), None);
    let by_token = bearer(&token);
    assert_eq!(house.me(&[("authorization", &by_token)]).await, "ci operator token");
    let path = house.path().join(TOKENS_FILE);
    let before = std::fs::read_to_string(&path).unwrap();
    hang(&path);
    let unknown = format!("Bearer lks_0123456789ab_{}", "0".repeat(64));
    let abuse = async {
        house.pass(1_000).await;
        let ask = async || house.me(&[("authorization", &unknown)]).await;
        assert!(join_all((0..50).map(|_| ask())).await.iter().all(|me| me == "401"));
        assert_eq!(house.me(&[("authorization", &by_token)]).await, "ci operator token", "what was read before counts");
        assert_eq!(house.me(&[]).await, "anonymous viewer nobody");
        assert_eq!(house.sign_in("ann", PASSWORD).await.status, 303);
    };
    good_client(&house.served, "/healthz", async {
        tokio::time::timeout(10 * PATIENCE, abuse).await.expect("somebody waits for the volume")
    })
    .await;
    heal(&path, &before);
    house.pass(1_000).await;
    let (_, late) =
        new_token(&house.path(), "late", Grant::everywhere(Role::Viewer), house.clock.now_ms(), None).unwrap();
    assert_eq!(house.me(&[("authorization", &bearer(late.expose()))]).await, "late viewer token");
    std::fs::write(&path, "[]").unwrap();
    house.pass(1_000).await;
    assert_eq!(house.me(&[("authorization", &by_token)]).await, "401", "a token that is gone is gone");
}
