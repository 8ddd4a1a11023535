//! Scopes and the rule of payloads hold for the past.

use std::path::Path;

use zookeeper_client::{Acls, CreateMode};

use super::Recorded;
use crate::harness::open;

const SECRET: &str = "treasure-in-the-payload";

async fn lock_with_secret(recorded: &Recorded, directory: &str) -> (zookeeper_client::Client, String) {
    recorded.truth.make(directory).await;
    let client = open(&recorded.zookeeper.address()).await;
    let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let payload = format!("{{\"note\":\"{SECRET}\"}}");
    let (_, sequence) = client.create(&format!("{directory}/lock-"), payload.as_bytes(), &options).await.unwrap();
    (client, format!("{directory}/lock-{sequence}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_outside_a_scope_is_shown_of_the_past() {
    let recorded = Recorded::start("payloads = \"operator\"\n").await;
    let (_one, inside) = lock_with_secret(&recorded, "/a/order").await;
    let (_two, outside) = lock_with_secret(&recorded, "/b/canary").await;
    recorded.until_holds("/a/order", &inside).await;
    let at = recorded.until_holds("/b/canary", &outside).await;
    recorded.until_kept(at).await;
    let (viewer, all) = (recorded.token("viewer", "/a").await, recorded.token("operator", "/").await);
    let session = recorded.lock("/b/canary", &at.to_string()).await["contenders"][0]["session_id"].clone();
    let session = session.as_str().unwrap();
    let lists = ["/api/v1/status?", "/api/v1/locks?", "/api/v1/waits?", "/api/v1/sessions?"];
    let pages = ["/?", "/waits?", "/sessions?", "/lock?path=/a/order&", "/api/v1/lock?path=/a/order&"];
    for target in lists.iter().chain(&pages) {
        let (status, told) = recorded.text_as(&viewer, &format!("{target}at={at}")).await;
        assert_eq!(status, 200, "{target}: {told}");
        assert!(!told.contains("canary") && !told.contains(session), "{target}: {told}");
        assert!(!told.contains(SECRET), "{target}: {told}");
    }
    for target in ["/api/v1/lock?path=/b/canary", &format!("/api/v1/session?id={session}")] {
        assert_eq!(recorded.text_as(&viewer, &format!("{target}&at={at}")).await.0, 404, "{target}");
        assert_eq!(recorded.text_as(&all, &format!("{target}&at={at}")).await.0, 200, "{target}");
    }
    let (_, told) = recorded.text_as(&all, &format!("/api/v1/lock?path=/b/canary&at={at}")).await;
    assert!(told.contains(SECRET), "who may see payloads sees those of the past: {told}");
}

fn bytes_below(folder: &Path, found: &mut Vec<Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { bytes_below(&path, found) } else { found.push(std::fs::read(&path).unwrap()) }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_may_see_is_in_no_file() {
    for (more, is_there) in [("payloads = \"operator\"\n", true), ("payloads = \"nobody\"\n", false)] {
        let recorded = Recorded::start(more).await;
        let (_client, held) = lock_with_secret(&recorded, "/a/order").await;
        let at = recorded.until_holds("/a/order", &held).await;
        recorded.until_kept(at).await;
        let mut files = Vec::new();
        bytes_below(&recorded.history(), &mut files);
        let has = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        assert!(!files.is_empty());
        assert_eq!(files.iter().any(|bytes| has(bytes)), is_there, "{more}");
    }
}
