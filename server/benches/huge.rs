//! Very large trees: how long from the start of `lockscope serve` until all is read, the memory that takes, and how long
//! pages and answers take then.
//!
//! * `locks`: `HUGE_ZNODES` contenders (1,000,000 unless set), 100 to a lock. Goal: ready within 6 s, 400 MB.
//! * `line`: one lock with `HUGE_LINE` contenders (100,000 unless set).
//! * `root`: `HUGE_ZNODES` znodes that are no locks, 1,000 to a directory, and the root `/`: all of it; without them by
//!   `exclude`; and with room for a tenth of them, by `znodes_max`. Goal: bounded.
//!
//! `HUGE_ONLY` names the parts to run (`locks,line`), `LOCKSCOPE_BIN` another binary than the one built beside it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark takes what it made itself for granted"
)]

#[expect(dead_code, reason = "this one waits for a state of its root")]
mod shared;

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use futures_util::stream::{self, StreamExt as _};
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use shared::{Lockscope, contender, directory};
use zookeeper_client::Client;

const ZNODES: usize = 1_000_000;
const LINE: usize = 100_000;
const SESSIONS: usize = 1_000;
const IN_A_LOCK: usize = 100;
const IN_A_DIRECTORY: usize = 1_000;
/// Creations under way.
const AT_ONCE: usize = 512;
/// Of ZooKeeper.
const HEAP_MB: u32 = 3_072;
const LOOK_EVERY: Duration = Duration::from_millis(20);
const STARTS: usize = 3;
const ASKS: usize = 20;
/// Memory is looked at again then: the allocator has given back what was needed for the reading only.
const SETTLED: Duration = Duration::from_secs(5);

fn main() {
    // `cargo test` only wants to know that it builds.
    if std::env::args().any(|arg| arg == "--bench") {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(run());
    }
}

async fn run() {
    let only = std::env::var("HUGE_ONLY").unwrap_or_else(|_| "locks,line,root".to_owned());
    for part in only.split(',') {
        match part {
            "locks" => locks(number("HUGE_ZNODES", ZNODES)).await,
            "line" => line(number("HUGE_LINE", LINE)).await,
            "root" => root(number("HUGE_ZNODES", ZNODES)).await,
            other => panic!("HUGE_ONLY: {other} is none of locks, line, root"),
        }
    }
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |number| number.parse().unwrap())
}

async fn zookeeper() -> PrivateZooKeeper {
    PrivateZooKeeper::start(ServerOptions { heap_mb: HEAP_MB, ..ServerOptions::default() }).await.unwrap()
}

/// Sessions that live for as long as they are needed, whatever else this machine does.
async fn sessions(server: &PrivateZooKeeper) -> Vec<Client> {
    let address = server.address();
    let open =
        (0..SESSIONS).map(|_| Client::connector().with_session_timeout(Duration::from_secs(10)).connect(&address));
    try_join_all(open).await.unwrap()
}

/// Makes this many znodes, each by one of the sessions.
async fn make(sessions: &[Client], paths: impl Iterator<Item = String>, is_contender: bool) {
    let options = if is_contender { contender() } else { directory() };
    let make = async |(number, path): (usize, String)| {
        _ = sessions[number % sessions.len()].create(&path, b"10.1.2.3", &options).await.unwrap();
    };
    stream::iter(paths.enumerate()).for_each_concurrent(AT_ONCE, make).await;
}

async fn locks(znodes: usize) {
    let mut server = zookeeper().await;
    let sessions = sessions(&server).await;
    let locks = znodes.div_ceil(IN_A_LOCK);
    let directories = std::iter::once("/locks".to_owned()).chain((0..locks).map(|lock| format!("/locks/{lock:05}")));
    let directories: Vec<String> = directories.collect();
    make(&sessions[..1], directories.iter().cloned(), false).await;
    // Whoever stands in a lock stands there once.
    let names = (0..znodes).map(|number| format!("/locks/{:05}/lock-", number % locks));
    make(&sessions, names, true).await;
    println!("{znodes} contenders in {locks} locks, {SESSIONS} sessions");
    for _ in 0..STARTS {
        let lockscope = ready(&server, &["--root", "/locks"], "live").await;
        drop(lockscope);
    }
    let lockscope = ready(&server, &["--root", "/locks"], "live").await;
    tokio::time::sleep(SETTLED).await;
    memory(&lockscope, "after a moment");
    for target in [
        "/",
        "/?q=held",
        "/api/v1/locks",
        "/api/v1/locks?q=09999",
        "/lock?path=/locks/00007",
        "/waits",
        "/sessions",
        "/find?q=00123",
    ] {
        ask(&lockscope, target).await;
    }
    memory(&lockscope, "after these");
    drop(lockscope);
    server.stop().await.unwrap();
}

async fn line(contenders: usize) {
    let mut server = zookeeper().await;
    let sessions = sessions(&server).await;
    make(&sessions[..1], ["/locks", "/locks/long"].map(str::to_owned).into_iter(), false).await;
    make(&sessions, (0..contenders).map(|_| "/locks/long/lock-".to_owned()), true).await;
    println!("one lock with {contenders} contenders, {SESSIONS} sessions");
    for _ in 0..STARTS {
        let lockscope = ready(&server, &["--root", "/locks"], "live").await;
        drop(lockscope);
    }
    let lockscope = ready(&server, &["--root", "/locks"], "live").await;
    for target in [
        "/",
        "/lock?path=/locks/long",
        "/api/v1/lock?path=/locks/long",
        "/api/v1/time-to-lock?path=/locks/long",
        "/waits",
        "/sessions",
    ] {
        ask(&lockscope, target).await;
    }
    memory(&lockscope, "after these");
    drop(lockscope);
    server.stop().await.unwrap();
}

async fn root(znodes: usize) {
    let mut server = zookeeper().await;
    let owner = Client::connect(&server.address()).await.unwrap();
    let owner = std::slice::from_ref(&owner);
    make(owner, ["/data", "/locks", "/locks/a"].map(str::to_owned).into_iter(), false).await;
    make(owner, std::iter::once("/locks/a/lock-".to_owned()), true).await;
    let directories: Vec<String> =
        (0..znodes.div_ceil(IN_A_DIRECTORY)).map(|number| format!("/data/{number}")).collect();
    make(owner, directories.iter().cloned(), false).await;
    let paths = (0..znodes).map(|number| format!("/data/{}/znode-{number:010}x", number / IN_A_DIRECTORY));
    make(owner, paths, false).await;
    println!("{znodes} znodes below / that are no locks, beside one lock");
    let dir = tempfile::tempdir().unwrap();
    for (what, more, state) in [
        ("all of it".to_owned(), String::new(), "live"),
        ("exclude = [\"/data/**\"]".to_owned(), "exclude = [\"/data/**\"]\n".to_owned(), "live"),
        (format!("znodes_max = {}", znodes / 10), format!("znodes_max = {}\n", znodes / 10), "partial"),
    ] {
        println!("  {what}:");
        let file = dir.path().join("lockscope.toml");
        std::fs::write(&file, more).unwrap();
        let lockscope = ready(&server, &["--config", file.to_str().unwrap()], state).await;
        tokio::time::sleep(SETTLED).await;
        memory(&lockscope, "after a moment");
        let status = lockscope.get("/api/v1/status").await.unwrap();
        let root = &status["ensembles"][0]["roots"][0];
        println!("    {}: {}", root["state"], root["why"]);
        let locks = lockscope.get("/api/v1/locks").await.unwrap();
        println!("    locks: {}; findings: {}", locks["total"], findings(&status));
        ask(&lockscope, "/").await;
    }
    server.stop().await.unwrap();
}

fn findings(status: &serde_json::Value) -> String {
    let all = status["ensembles"][0]["findings"].as_array().cloned().unwrap_or_default();
    let codes: Vec<String> = all.iter().map(|finding| finding["code"].to_string()).collect();
    if codes.is_empty() { "none".to_owned() } else { codes.join(", ") }
}

/// Starts it, waits until its one root is in this state, and prints how long that took and what it needed.
async fn ready(server: &PrivateZooKeeper, settings: &[&str], state: &str) -> Lockscope {
    let address = server.address();
    let mut all = vec!["--zk", &address];
    all.extend(settings);
    let begun = Instant::now();
    let lockscope = Lockscope::start(&all).await;
    lockscope.status_until(LOOK_EVERY, |status| status["roots"][0]["state"] == state).await;
    println!("    started and {state}: {:.2} s, {:.2} s of CPU", begun.elapsed().as_secs_f64(), cpu_s(&lockscope));
    memory(&lockscope, "then");
    lockscope
}

fn cpu_s(lockscope: &Lockscope) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", lockscope.child.id().unwrap())).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    [11, 12].into_iter().map(|at: usize| fields[at].parse::<f64>().unwrap()).sum::<f64>() / 100.0
}

fn memory(lockscope: &Lockscope, when: &str) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", lockscope.child.id().unwrap())).unwrap();
    let mb = |what: &str| {
        let text = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
        text.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1_024.0 / 1e6
    };
    println!("    resident {when}: {:.0} MB, at most so far {:.0} MB", mb("VmRSS:"), mb("VmHWM:"));
}

/// How long an answer takes, again and again.
async fn ask(lockscope: &Lockscope, target: &str) {
    let (http, mut ms, mut bytes) = (reqwest::Client::new(), Vec::with_capacity(ASKS), 0);
    for _ in 0..ASKS {
        let begun = Instant::now();
        let answer = http.get(format!("{}{target}", lockscope.url)).send().await.unwrap();
        let status = answer.status();
        bytes = answer.bytes().await.unwrap().len();
        assert!(status.is_success(), "{target}: {status}");
        ms.push(begun.elapsed().as_secs_f64() * 1_000.0);
    }
    let first = ms[0];
    ms.sort_by(f64::total_cmp);
    println!(
        "    GET {target}: first {first:.0} ms, median {:.1} ms, worst {:.1} ms of {ASKS}, {bytes} bytes",
        ms[ASKS / 2],
        ms[ASKS - 1]
    );
}
