//! The whole line against its peer in one run: `lockscope serve` next to a bare recursive watcher, on the same
//! private ZooKeeper and the same storm of locks made and dropped by a third process.
//!
//! Prints figures; fails when an event was lost. Peer and writers are this binary again, given their part by
//! environment.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark takes what it made itself for granted")]

mod shared;

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use lockscope_live::project::{self, ApplicationRule, EnsembleInfo, ProjectionContext};
use lockscope_view::{BoardQuery, Scope, SessionsQuery, WaitsQuery};
use lockscope_zookeeper::{BATCHES_MAX, ObserverConfig, observe};
use shared::{Lockscope, contender, directory, line};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use zookeeper_client::{AddWatchMode, Client, EventType};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

const PART: &str = "LOCKSCOPE_BENCH_PART";
const CONNECT: &str = "LOCKSCOPE_BENCH_CONNECT";
const LOCKS: usize = 1_000;
const CONTENDERS: usize = 100;
const SYNCS: usize = 5;
const PROJECTIONS: u32 = 20;
const WRITERS: usize = 4;
const LANES: usize = 16;
const CYCLES_A_LANE: usize = 1_000;
const STORM_LOCKS: usize = 16;
const END: &str = "/storm/end";

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let connect = std::env::var(CONNECT).unwrap_or_default();
    match std::env::var(PART).as_deref() {
        Ok("bare") => runtime.block_on(bare_watcher(&connect)),
        Ok("writers") => runtime.block_on(writers(&connect)),
        // `cargo test` only wants to know that it builds.
        _ if !std::env::args().any(|arg| arg == "--bench") => {}
        _ => runtime.block_on(run()),
    }
}

async fn run() {
    let server = PrivateZooKeeper::start(ServerOptions { heap_mb: 1_024, ..ServerOptions::default() }).await.unwrap();
    let address = server.address();
    let _owner = fill(&address).await;
    first_sync(&address).await;
    many_locks();
    storm(&address).await;
}

/// 100,000 ephemeral sequential znodes, named as Curator names them.
async fn fill(address: &str) -> Client {
    let client = Client::connector().with_session_timeout(Duration::from_secs(10)).connect(address).await.unwrap();
    for path in ["/locks", "/storm"] {
        client.create(path, b"", &directory()).await.unwrap();
    }
    for lock in 0..STORM_LOCKS {
        client.create(&format!("/storm/{lock}"), b"", &directory()).await.unwrap();
    }
    for lock in 0..LOCKS {
        let path = format!("/locks/{lock:04}");
        client.create(&path, b"", &directory()).await.unwrap();
        let creates = (0..CONTENDERS).map(|at| {
            let (client, prefix) =
                (client.clone(), format!("{path}/_c_6f1e2d3c-0000-4a4a-8b8b-{:012x}-lock-", lock * CONTENDERS + at));
            async move { client.create(&prefix, b"10.1.2.3", &contender()).await.unwrap() }
        });
        futures_util::future::join_all(creates).await;
    }
    client
}

/// Time and memory of the first sync, observer and model together, in this process.
async fn first_sync(address: &str) {
    let mut took_ms = Vec::new();
    let mut bytes = 0;
    let mut last = None;
    for _ in 0..SYNCS {
        drop(last.take());
        let region = Region::new(ALLOCATOR);
        let (sender, mut receiver) = mpsc::channel(BATCHES_MAX);
        let (stop, stopped) = lockscope_runtime::shutdown::token();
        let config = ObserverConfig::new(address, vec!["/locks".into()], Duration::from_secs(10)).unwrap();
        let started = Instant::now();
        let observer =
            tokio::spawn(observe(config, lockscope_runtime::clock::Clock::system(), Arc::default(), sender, stopped));
        let mut model = Observatory::new(Settings { roots: vec!["/locks".into()], ..Settings::default() }, TimeMs(0));
        while !model.is_ready() {
            for observation in receiver.recv().await.unwrap() {
                model.apply(TimeMs(1), observation);
            }
        }
        took_ms.push(started.elapsed().as_secs_f64() * 1_000.0);
        assert_eq!(model.locks().count(), LOCKS);
        let change = region.change();
        bytes = change.bytes_allocated.saturating_sub(change.bytes_deallocated);
        drop(stop);
        drop(receiver);
        observer.await.unwrap();
        last = Some(model);
    }
    took_ms.sort_by(f64::total_cmp);
    let nodes = LOCKS * CONTENDERS;
    println!(
        "first sync of {nodes} lock znodes in {LOCKS} locks, connecting included: median {:.0} ms, best {:.0} ms of {SYNCS}",
        took_ms[SYNCS / 2],
        took_ms[0]
    );
    println!("live heap of model and observer: {} bytes a lock znode", bytes / nodes);
    projection(&last.unwrap(), nodes);
}

/// Time to make one board of 100 rows out of the whole model: what a change costs for all who look at one view.
fn projection(model: &Observatory, contenders: usize) {
    let ensemble = EnsembleInfo {
        name: "default".into(),
        connect: String::new(),
        color: None,
        has_others: false,
        labels: Default::default(),
        excluded: None,
        proof: Default::default(),
    };
    let look = ProjectionContext { observatory: model, ensemble: &ensemble, scope: &Scope::ALL, now: TimeMs(2) };
    let each_ms = |look: &dyn Fn()| {
        let started = Instant::now();
        (0..PROJECTIONS).for_each(|_| look());
        started.elapsed().as_secs_f64() * 1_000.0 / f64::from(PROJECTIONS)
    };
    let board = each_ms(&|| {
        assert_eq!(
            project::board(&[look], &BoardQuery::default(), &project::Acknowledged::default()).window.rows.len(),
            100
        )
    });
    println!(
        "one board of {} locks and {contenders} contenders, sorted by damage: {board:.2} ms",
        model.locks().count()
    );
    let waits = each_ms(&|| drop(std::hint::black_box(project::waits(&[look], WaitsQuery::default()))));
    let sessions = each_ms(&|| {
        drop(std::hint::black_box(project::sessions(&[look], &SessionsQuery::default(), &ApplicationRule::default())))
    });
    println!("  the graph of its waits: {waits:.2} ms; 100 of its sessions: {sessions:.2} ms");
}

/// 10,000 locks of 10 contenders, each of a session of its own, without a ZooKeeper.
fn many_locks() {
    const LOCKS: i64 = 10_000;
    const EACH: i64 = 10;
    let mut model = Observatory::new(Settings { roots: vec!["/many".into()], ..Settings::default() }, TimeMs(0));
    model.apply(TimeMs(0), Observation::Link { link: Link::Live, session: None, why: "".into() });
    model.apply(TimeMs(0), Observation::SyncBegan { root: RootId(0), why: "bench".into() });
    for at in 0..LOCKS * EACH {
        let path = format!("/many/{:05}/_c_6f1e2d3c-0000-4a4a-8b8b-{at:012x}-lock-{:010}", at / EACH, at % EACH).into();
        let czxid = Zxid(at + 1);
        let facts = Facts {
            czxid,
            mzxid: czxid,
            pzxid: czxid,
            ctime_ms: at,
            version: 0,
            cversion: 0,
            children: 0,
            owner: Some(SessionId(at + 1)),
            payload: Some(b"10.1.2.3".as_slice().into()),
            payload_bytes: 8,
        };
        model.apply(
            TimeMs(0),
            Observation::SyncNode { root: RootId(0), path, facts: Box::new(facts), unreadable: false },
        );
    }
    model.apply(TimeMs(1), Observation::SyncEnded { root: RootId(0) });
    projection(&model, (LOCKS * EACH) as usize);
}

fn part(name: &str, address: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(PART, name).env(CONNECT, address).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    command
}

/// CPU seconds (user and system) of a process so far; Linux counts them in hundredths.
fn cpu_seconds(child: &Child) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id().unwrap())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

async fn storm(address: &str) {
    let mut bare = part("bare", address).spawn().unwrap();
    assert_eq!(line(&mut bare).await, "ready");
    let lockscope = Lockscope::serve(address, "/storm", Duration::from_millis(50)).await;
    let (bare_before, ours_before) = (cpu_seconds(&bare), cpu_seconds(&lockscope.child));
    let started = Instant::now();
    let mut writers = part("writers", address).spawn().unwrap();
    let made: u64 = line(&mut writers).await.parse().unwrap();
    let seconds = started.elapsed().as_secs_f64();
    let seen_bare: u64 = line(&mut bare).await.parse().unwrap();
    let expected = 2 * made + 1;
    let status =
        lockscope.status_until(Duration::from_millis(50), |status| status["events"].as_u64() >= Some(expected)).await;
    let (bare_cpu, ours_cpu) = (cpu_seconds(&bare) - bare_before, cpu_seconds(&lockscope.child) - ours_before);
    let seen_ours = status["events"].as_u64().unwrap();
    let each = |cpu: f64| cpu * 1e6 / expected as f64;
    println!("storm: {made} locks made and dropped in {seconds:.1} s, {:.0} events/s", expected as f64 / seconds);
    println!("  bare watcher: {seen_bare} of {expected} events, {:.1} µs of CPU each", each(bare_cpu));
    println!(
        "  lockscope:    {seen_ours} of {expected} events, {:.1} µs of CPU each, owners read as well",
        each(ours_cpu)
    );
    println!(
        "  ratio {:.2}; owner unknown {}; missed {}; resyncs {}",
        ours_cpu / bare_cpu,
        status["owner_unknown"],
        status["missed"],
        status["resyncs"]
    );
    assert_eq!((seen_bare, seen_ours), (expected, expected), "an event was lost");
    assert_eq!(status["missed"], 0);
}

async fn bare_watcher(connect: &str) {
    let client = Client::connect(connect).await.unwrap();
    let mut watcher = client.watch("/storm", AddWatchMode::PersistentRecursive).await.unwrap();
    println!("ready");
    let mut seen = 0_u64;
    loop {
        let event = watcher.changed().await;
        seen += u64::from(matches!(event.event_type, EventType::NodeCreated | EventType::NodeDeleted));
        if event.path == END {
            break;
        }
    }
    println!("{seen}");
    // Stays until its CPU time was read: its parent then drops the pipe.
    let _ = tokio::io::stdin().read(&mut [0; 1]).await;
}

async fn writers(connect: &str) {
    let mut tasks = Vec::new();
    for writer in 0..WRITERS {
        let client = Client::connect(connect).await.unwrap();
        for lane in 0..LANES {
            let client = client.clone();
            tasks.push(tokio::spawn(async move {
                for cycle in 0..CYCLES_A_LANE {
                    let prefix = format!("/storm/{}/lock-", (writer + lane + cycle) % STORM_LOCKS);
                    let (_, sequence) = client.create(&prefix, b"w", &contender()).await.unwrap();
                    client.delete(&format!("{prefix}{sequence}"), None).await.unwrap();
                }
            }));
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    Client::connect(connect).await.unwrap().create(END, b"", &directory()).await.unwrap();
    println!("{}", WRITERS * LANES * CYCLES_A_LANE);
}
