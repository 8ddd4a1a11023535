//! The same of every recipe of both libraries that has a holder: what clients logged lies inside of what is rebuilt, ends as
//! they ended it, and is what was recorded live.

use std::collections::BTreeSet;

use futures_util::future;
use lockscope_history::store::rows::{Span, SpanEnd};
use lockscope_runtime::clock::Clock;

use super::holds::{Logged, live};
use super::{autopsy, spans, text};
use crate::harness::{Truth, zookeeper};
use crate::recipes::host::{Client, Library};
use crate::recipes::lockscope::Lockscope;
use crate::served::until;

const CLIENTS: usize = 2;

/// What a client runs, and how it is asked.
struct Program {
    library: Library,
    /// With the place of its lock below the root.
    runs: &'static str,
    acquire: &'static str,
    release: &'static str,
    /// Znodes that it makes for one hold; the last is the one that holds.
    znodes: usize,
    /// Holds of each client.
    rounds: usize,
}

const LOCK: Program = Program {
    library: Library::Kazoo,
    runs: "lock /autopsy/k-lock",
    acquire: "acquire",
    release: "release",
    znodes: 1,
    rounds: 3,
};
const CURATOR: Program = Program { library: Library::Curator, runs: "mutex /autopsy/c-mutex", ..LOCK };

const PROGRAMS: [Program; 12] = [
    LOCK,
    Program { runs: "persistent-lock /autopsy/k-persistent", ..LOCK },
    Program { runs: "election /autopsy/k-election", ..LOCK },
    Program { runs: "read /autopsy/k-modes", ..LOCK },
    Program { runs: "write /autopsy/k-modes", ..LOCK },
    Program { runs: "semaphore /autopsy/k-leases 2", znodes: 2, ..LOCK },
    CURATOR,
    // Neither of these is started twice.
    Program { runs: "selector /autopsy/c-selector", rounds: 1, ..CURATOR },
    Program { runs: "latch /autopsy/c-latch", rounds: 1, ..CURATOR },
    Program { runs: "read-write /autopsy/c-modes", acquire: "acquire-read", release: "release-read", ..CURATOR },
    Program { runs: "read-write /autopsy/c-modes", acquire: "acquire-write", release: "release-write", ..CURATOR },
    Program { runs: "semaphore /autopsy/c-leases 2", znodes: 2, ..CURATOR },
];

/// The name of a znode, which has a number that no other has: a lease stands below its lock's directory.
fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

async fn rounds(program: &Program, client: &Client) -> Vec<Logged> {
    let mut logged = Vec::new();
    for _ in 0..program.rounds {
        client.does(program.acquire, "held").await;
        let from_ms = Clock::system().now_ms();
        let mut path = String::new();
        for _ in 0..program.znodes {
            path = client.made().await;
        }
        let to_ms = Clock::system().now_ms();
        client.does(program.release, "released").await;
        logged.push(Logged { path, from_ms, to_ms });
    }
    logged
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_holds_of_every_recipe_lie_inside_of_what_is_rebuilt() {
    let server = zookeeper().await;
    let zk = server.address();
    Truth::new(&zk).await.make("/autopsy").await;
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("live");
    let lockscope = Lockscope::run(&["--zk", &zk, "--root", "/autopsy", "--data-dir", text(&data)]).await;
    until(async || lockscope.ask("/api/v1/history").await.1["why"] == "").await;

    // Kept to the end: with its client a session ends, and some go before their znode does.
    let mut clients = Vec::new();
    for program in &PROGRAMS {
        for _ in 0..CLIENTS {
            clients.push((program, program.library.client(&zk, program.runs).await));
        }
    }
    let under_way = clients.iter().map(|(program, client)| rounds(program, client));
    let logged: Vec<Logged> = future::join_all(under_way).await.into_iter().flatten().collect();
    assert_eq!(logged.len(), CLIENTS * PROGRAMS.iter().map(|program| program.rounds).sum::<usize>());

    // Whoever went before its znode could be read has no life in what was seen live, and is counted instead.
    until(async || {
        let (_, status) = lockscope.ask("/api/v1/status").await;
        let unread = status["ensembles"][0]["owner_unknown"].as_u64().unwrap();
        let recorded = live(&lockscope).await;
        let ended = recorded.values().filter(|hold| hold["how"] != "still");
        let ended: BTreeSet<&str> = ended.map(|hold| name_of(hold["node"].as_str().unwrap())).collect();
        let missing = logged.iter().filter(|logged| !ended.contains(name_of(&logged.path))).count();
        missing as u64 <= unread
    })
    .await;
    let recorded = live(&lockscope).await;

    let in_place = place.path().join("in-place");
    let (code, report, said) = autopsy(&[text(server.folder()), "--root", "/autopsy", "--out", text(&in_place)]).await;
    assert_eq!(code, 0, "{said}{report:#}");
    let rebuilt = spans(&in_place);
    for Logged { path, from_ms, to_ms } in &logged {
        // kazoo's semaphore makes its lease by the same name again.
        let named: Vec<&Span> = rebuilt.values().filter(|span| name_of(&span.node) == name_of(path)).collect();
        let holds =
            |span: &&&Span| span.held_at.is_some_and(|held_at| held_at.0 <= *from_ms) && span.left_at.0 >= *to_ms;
        let span = named.iter().find(holds).unwrap_or_else(|| panic!("{path}: {from_ms} to {to_ms}, {named:#?}"));
        assert_eq!((span.how, span.is_lower_bound), (SpanEnd::Released, false), "{span:?}");
    }
    for (czxid, hold) in &recorded {
        let span = rebuilt.get(czxid).unwrap_or_else(|| panic!("{hold} is not in the log"));
        let seen = |what: &str| hold[what].as_str().unwrap_or_default().to_owned();
        assert_eq!((seen("lock"), seen("node")), (span.lock.to_string(), span.node.to_string()));
        assert_eq!(seen("session_id"), span.session.map(|session| session.to_string()).unwrap_or_default());
        assert_eq!(hold["label"].as_str(), span.label.as_deref(), "{span:?}");
        // A watch can't tell a lease and its place in the queue that are let go within moments from the end of a session.
        if &*span.recipe != "semaphore" {
            assert_eq!(seen("how"), span.how.name(), "{span:?}");
        }
    }
}
