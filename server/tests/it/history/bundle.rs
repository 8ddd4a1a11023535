//! A window of the past as an SQLite database: another server rewinds it, and nobody gets more than they may see.

use std::path::{Path, PathBuf};

use lockscope_history::store::Store as _;
use lockscope_history::store::rows::{FactQuery, MinuteQuery, SpanQuery};
use lockscope_history::store::sqlite::SqliteStore;
use serde_json::Value;

use super::{Recorded, now_ms};
use crate::cli::lockscope;
use crate::served::until;

impl Recorded {
    async fn bundle(&self, token: Option<&str>, query: &str) -> (u16, String, Vec<u8>) {
        let url = self.url(&format!("/api/v1/history/export?format=sqlite{query}"));
        let request = reqwest::Client::new().get(url);
        let request = if let Some(token) = token { request.bearer_auth(token) } else { request };
        let answer = request.send().await.unwrap();
        let named = answer.headers().get("content-disposition").map(|value| value.to_str().unwrap().to_owned());
        let status = answer.status().as_u16();
        (status, named.unwrap_or_default(), answer.bytes().await.unwrap().to_vec())
    }

    fn kept(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.place.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    async fn until_rows(&self, locks: &[&str]) {
        for lock in locks {
            let holds = async || self.json(&format!("/api/v1/history/holds?path={lock}")).await.1["holds"].clone();
            until(async || {
                holds().await.as_array().is_some_and(|holds| holds.iter().any(|hold| hold["how"] != "still"))
            })
            .await;
            let marks = async || self.json(&format!("/api/v1/history/marks?path={lock}")).await.1["buckets"].clone();
            until(async || marks().await.as_array().is_some_and(|buckets| !buckets.is_empty())).await;
        }
    }
}

/// The answer without how old it is.
fn timeless(mut answer: Value) -> Value {
    match &mut answer {
        Value::Object(fields) => {
            fields.remove("age_ms");
            fields.values_mut().for_each(|value| *value = timeless(value.take()));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| *value = timeless(value.take())),
        _ => {}
    }
    answer
}

/// Puts a bundle where the past of a server is.
fn install(bundle: &Path, data: &Path, day: &str) {
    let directory = data.join("history/default");
    std::fs::create_dir_all(&directory).unwrap();
    for name in [format!("{day}.db"), format!("{day}.rows.db")] {
        std::fs::copy(bundle, directory.join(name)).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_rewinds_it_to_the_same() {
    let recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let first = recorded.truth.queue("/a/order/lock-").await;
    let second = recorded.truth.queue("/a/order/lock-").await;
    let both = recorded.until_holds("/a/order", &first).await;
    recorded.truth.delete(&first).await;
    let one = recorded.until_holds("/a/order", &second).await;
    recorded.until_kept(one).await;
    recorded.until_rows(&["/a/order"]).await;
    let (status, name, bytes) = recorded.bundle(None, "").await;
    assert_eq!((status, name.as_str()), (200, "attachment; filename=\"lockscope-history.db\""));
    assert!(bytes.starts_with(b"SQLite format 3\0"));
    let file = recorded.kept("bundle.db", &bytes);
    let store = SqliteStore::open_bundle(&file).unwrap();
    assert!(store.coverage().unwrap().checkpoints > 0 && !store.spans(&SpanQuery::default()).unwrap().is_empty());
    drop(store);
    let day = std::fs::read_dir(recorded.history().join("default")).unwrap();
    let day =
        day.filter_map(|entry| entry.unwrap().file_name().into_string().ok()).find(|name| name.ends_with(".rows.db"));
    let day = day.unwrap().trim_end_matches(".rows.db").to_owned();

    let mut other = Recorded::start("").await;
    other.end(rustix::process::Signal::TERM).await;
    let data = other.place.path().join("data");
    std::fs::remove_dir_all(data.join("history")).unwrap();
    install(&file, &data, &day);
    // No ZooKeeper is there.
    other.run_over("127.0.0.1:1").await;
    for at in [both, one] {
        for read in ["lock?path=/a/order&", "locks?", "waits?", "sessions?"] {
            let target = format!("/api/v1/{read}at={at}");
            until(async || other.json(&target).await.0 == 200).await;
            let (there, here) = (other.json(&target).await.1, recorded.json(&target).await.1);
            assert_eq!(timeless(there), timeless(here), "{target}");
        }
    }
    let holds = "/api/v1/history/holds?path=/a/order";
    let ended = |holds: &Value| -> Vec<Value> {
        holds["holds"].as_array().unwrap().iter().filter(|hold| hold["how"] != "still").cloned().collect()
    };
    assert_eq!(ended(&other.json(holds).await.1), ended(&recorded.json(holds).await.1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_see_everything_gets_rows_alone() {
    let recorded = Recorded::start("payloads = \"operator\"\n").await;
    for directory in ["/a/order", "/b/canary"] {
        recorded.truth.make(directory).await;
        let node = recorded.truth.queue(&format!("{directory}/lock-")).await;
        recorded.until_holds(directory, &node).await;
        recorded.truth.delete(&node).await;
    }
    recorded.until_kept(now_ms()).await;
    recorded.until_rows(&["/a/order", "/b/canary"]).await;
    let (scoped, all) = (recorded.token("viewer", "/a").await, recorded.token("operator", "/").await);
    let mut made = Vec::new();
    for (number, (token, query)) in
        [(Some(&scoped), ""), (None, ""), (Some(&all), "&path=/a/order"), (Some(&all), "")].into_iter().enumerate()
    {
        let (status, name, bytes) = recorded.bundle(token.map(String::as_str), query).await;
        assert_eq!(status, 200, "{query}");
        let store = SqliteStore::open_bundle(&recorded.kept(&format!("{number}.db"), &bytes)).unwrap();
        let has_canary = bytes.windows(6).any(|part| part == b"canary");
        assert!(!store.minutes(&MinuteQuery::default()).unwrap().is_empty());
        store.facts(&FactQuery::default()).unwrap();
        made.push((store.coverage().unwrap().chunks > 0, has_canary, name.contains("rows")));
    }
    // Of /a alone; without payloads; of one lock; all.
    assert_eq!(made, [(false, false, true), (false, true, true), (false, false, true), (true, true, false)]);

    for (query, said) in [
        ("&session=0x1", "can't be cut by `session`"),
        ("&client=a", "can't be cut by `session`"),
        ("&from=2&to=1", "`from` has to be before `to`"),
        ("&ensemble=none", "no ensemble is called"),
    ] {
        let (status, _, bytes) = recorded.bundle(Some(&all), query).await;
        let text = String::from_utf8(bytes).unwrap();
        assert!((400..=404).contains(&status) && text.contains(said), "{query}: {status} {text}");
    }
    let off = Recorded::start("history = \"off\"\n").await;
    assert_eq!(off.bundle(None, "").await.0, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_one_at_a_time_and_a_command_for_it() {
    let recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let node = recorded.truth.queue("/a/order/lock-").await;
    let at = recorded.until_holds("/a/order", &node).await;
    recorded.until_kept(at).await;
    let url = recorded.url("/api/v1/history/export?format=sqlite");
    // As long as one is not read to its end, there is no other.
    let held = reqwest::get(&url).await.unwrap();
    assert_eq!(held.status(), 200);
    let (status, _, text) = recorded.bundle(None, "").await;
    if status != 200 {
        assert!(status == 503 && String::from_utf8(text).unwrap().contains("another SQLite file"), "{status}");
    }
    drop(held.bytes().await.unwrap());
    until(async || recorded.bundle(None, "").await.0 == 200).await;

    let out = recorded.place.path().join("out.db");
    let export = async |more: &[&str]| {
        let server = recorded.url("");
        let args = ["history", "export", "--format", "sqlite", "--server", &server];
        lockscope(&[&args[..], more].concat()).output().await.unwrap()
    };
    let path = out.display().to_string();
    let done = export(&["--out", &path]).await;
    assert!(done.status.success() && done.stdout.is_empty(), "{done:?}");
    assert!(SqliteStore::open_bundle(&out).unwrap().coverage().unwrap().chunks > 0);
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(std::fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
    for (args, said) in [(&["--out", &*path][..], "can't be written"), (&[], "name one with --out FILE")] {
        let refused = export(args).await;
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(64) && text.contains(said), "{text}");
    }
}
