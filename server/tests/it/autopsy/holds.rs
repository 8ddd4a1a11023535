//! Real clients log when they held; the rebuilt holds contain every one of theirs, and end as they ended. The same is
//! recorded live.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use futures_util::future;
use lockscope_history::store::rows::{Span, SpanEnd};
use lockscope_runtime::clock::Clock;
use serde_json::Value;

use super::{autopsy, contents, copy, spans, text};
use crate::harness::{Truth, zookeeper};
use crate::recipes::host::{Client, Library};
use crate::recipes::lockscope::Lockscope;
use crate::served::until;

const ROUNDS: usize = 5;

/// What a client says: its znode, and from when to when it held for sure.
pub(super) struct Logged {
    pub(super) path: String,
    pub(super) from_ms: i64,
    pub(super) to_ms: i64,
}

async fn hold(client: &Client) -> Logged {
    client.does("acquire", "held").await;
    let from_ms = Clock::system().now_ms();
    let path = client.made().await;
    let to_ms = Clock::system().now_ms();
    client.does("release", "released").await;
    Logged { path, from_ms, to_ms }
}

async fn rounds(client: Client) -> Vec<Logged> {
    let mut logged = Vec::new();
    for _ in 0..ROUNDS {
        logged.push(hold(&client).await);
    }
    logged
}

fn path_of(span: &Span) -> String {
    format!("{}/{}", span.lock, span.node)
}

/// What was recorded live, by czxid.
pub(super) async fn live(lockscope: &Lockscope) -> BTreeMap<i64, Value> {
    let (_, all) = lockscope.ask("/api/v1/history/holds?limit=500").await;
    let number = |hold: &Value| i64::from_str_radix(hold["czxid"].as_str()?.strip_prefix("0x")?, 16).ok();
    all["holds"].as_array().unwrap().iter().filter_map(|hold| Some((number(hold)?, hold.clone()))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_clients_logged_lies_inside_of_what_is_rebuilt() {
    let server = zookeeper().await;
    let zk = server.address();
    let truth = Truth::new(&zk).await;
    truth.make("/autopsy").await;
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("live");
    let lockscope = Lockscope::run(&["--zk", &zk, "--root", "/autopsy", "--data-dir", text(&data)]).await;
    until(async || lockscope.ask("/api/v1/history").await.1["why"] == "").await;

    let mut clients = Vec::new();
    for (library, program) in [(Library::Kazoo, "lock /autopsy/kazoo"), (Library::Curator, "mutex /autopsy/curator")] {
        for _ in 0..3 {
            clients.push(library.client(&zk, program).await);
        }
    }
    let logged: Vec<Logged> = future::join_all(clients.into_iter().map(rounds)).await.into_iter().flatten().collect();
    assert_eq!(logged.len(), 6 * ROUNDS);

    // One is killed while it holds: its session ends later, and with it the hold.
    let victims = Library::Kazoo.victim();
    let victim = victims.client(&zk, "lock /autopsy/kazoo").await;
    victim.does("acquire", "held").await;
    let fallen = victim.made().await;
    victims.kill_minus_9();
    let heir = Library::Kazoo.client(&zk, "lock /autopsy/kazoo").await;
    let last = hold(&heir).await;
    // Whoever went before its znode could be read has no life in what was seen live, and is counted instead.
    let unread = async || {
        let (_, status) = lockscope.ask("/api/v1/status").await;
        usize::try_from(status["ensembles"][0]["owner_unknown"].as_u64().unwrap()).unwrap()
    };
    until(async || {
        let ended = live(&lockscope).await.values().filter(|hold| hold["how"] != "still").count();
        ended + unread().await == logged.len() + 2
    })
    .await;
    let recorded = live(&lockscope).await;

    // In place, of a server that runs.
    let in_place = place.path().join("in-place");
    let (code, report, said) = autopsy(&[text(server.folder()), "--root", "/autopsy", "--out", text(&in_place)]).await;
    assert_eq!(code, 0, "{said}{report:#}");
    assert_eq!(report["coverage"]["missing"].as_array().map(Vec::len), Some(0), "{report:#}");
    assert_eq!(report["holds"].as_u64(), Some(logged.len() as u64 + 2), "{report:#}");
    let rebuilt = spans(&in_place);
    let by_path: BTreeMap<String, &Span> = rebuilt.values().map(|span| (path_of(span), span)).collect();
    for Logged { path, from_ms, to_ms } in logged.iter().chain([&last]) {
        let span = by_path.get(path).unwrap_or_else(|| panic!("{path} is not among {:?}", by_path.keys()));
        let held_ms = span.held_at.unwrap().0;
        assert!(held_ms <= *from_ms && span.left_at.0 >= *to_ms, "{path}: {from_ms} to {to_ms}, {span:?}");
        assert_eq!((span.how, span.is_lower_bound), (SpanEnd::Released, false), "{span:?}");
    }
    assert_eq!(by_path[&fallen].how, SpanEnd::SessionEnded, "it was killed");

    // The same as was seen live, but for what a watch can't tell (that a session with one znode ended), what a log can't
    // (where from), and that a watch is told a moment later.
    assert_eq!(recorded.len() + unread().await, rebuilt.len(), "{recorded:#?}");
    assert!(recorded.keys().all(|czxid| rebuilt.contains_key(czxid)), "{recorded:#?}");
    for (czxid, hold) in &recorded {
        let span = &rebuilt[czxid];
        let seen = |what: &str| hold[what].as_str().unwrap_or_default().to_owned();
        assert_eq!((seen("lock"), seen("node")), (span.lock.to_string(), span.node.to_string()));
        assert_eq!(seen("session_id"), span.session.unwrap().to_string());
        assert_eq!(hold["label"].as_str(), span.label.as_deref());
        assert!(span.host.is_none());
        let late_ms = hold["left_at_ms"].as_i64().unwrap() - span.left_at.0;
        assert!((-2_000..30_000).contains(&late_ms), "{hold} {span:?}");
        if path_of(span) != fallen {
            assert_eq!(seen("how"), span.how.name(), "{hold} {span:?}");
        }
    }

    // A copy that may only be read: the same again, and nothing of it is touched.
    let copied = copy(server.folder(), &place.path().join("copy"));
    let below = copied.join("version-2");
    for entry in fs::read_dir(&below).unwrap() {
        fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(0o444)).unwrap();
    }
    fs::set_permissions(&below, fs::Permissions::from_mode(0o555)).unwrap();
    let before = contents(&copied);
    let (code, again, said) = autopsy(&[text(&below), "--root", "/autopsy"]).await;
    assert_eq!((code, &again["holds"]), (0, &report["holds"]), "{said}");
    assert_eq!(contents(&copied), before);
    fs::set_permissions(&below, fs::Permissions::from_mode(0o755)).unwrap();
}
