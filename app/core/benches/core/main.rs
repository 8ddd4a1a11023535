//! The core's inner loops: one watch event through the model, one name through the recogniser.

mod checkpoints;
mod evidence;
mod orders;
mod ticks;

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::pending::{Owners as _, Pending};
use lockscope_core::recipe;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};

const ROOT: RootId = RootId(0);

fn facts(czxid: i64) -> Box<Facts> {
    let zxid = Zxid(czxid);
    let payload = Some(b"worker-1@app-2".as_slice().into());
    Box::new(Facts {
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        ctime_ms: czxid,
        version: 0,
        cversion: 0,
        children: 0,
        owner: Some(SessionId(czxid)),
        payload,
        payload_bytes: 14,
    })
}

fn name(lock: usize, sequence: usize) -> Box<str> {
    format!("/locks/{lock:04}/_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-lock-{sequence:010}").into()
}

fn observatory(locks: usize, contenders: usize) -> Observatory {
    let mut observatory = Observatory::new(Settings { roots: vec!["/locks".into()], ..Settings::default() }, TimeMs(0));
    observatory.apply(TimeMs(0), Observation::Link { link: Link::Live, session: None, why: "".into() });
    observatory.apply(TimeMs(0), Observation::SyncBegan { root: ROOT, why: "bench".into() });
    for lock in 0..locks {
        for sequence in 0..contenders {
            let facts = facts((lock * contenders + sequence) as i64 + 1);
            observatory.apply(
                TimeMs(0),
                Observation::SyncNode { root: ROOT, path: name(lock, sequence), facts, unreadable: false },
            );
        }
    }
    observatory.apply(TimeMs(0), Observation::SyncEnded { root: ROOT });
    observatory
}

fn events(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("apply");
    for (locks, contenders) in [(100, 10), (10_000, 10), (1, 10_000)] {
        let mut observatory = observatory(locks, contenders);
        let mut sequence = contenders;
        group.throughput(Throughput::Elements(3));
        group.bench_function(format!("create, read, delete among {locks} locks of {contenders}"), |bencher| {
            bencher.iter(|| {
                sequence += 1;
                let now = TimeMs(sequence as i64);
                let path = name(sequence % locks, sequence);
                black_box(observatory.apply(now, Observation::NodeCreated { root: ROOT, path: path.clone() }));
                let facts = facts(1_000_000 + sequence as i64);
                black_box(
                    observatory
                        .apply(now, Observation::NodeRead { root: ROOT, path: path.clone(), facts, unreadable: false }),
                );
                black_box(observatory.apply(now, Observation::NodeDeleted { root: ROOT, path }));
            });
        });
    }
    group.finish();
}

/// A name of each family, and names of none.
const NAMES: [(&str, &str); 20] = [
    ("Curator read/write", "_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-__WRIT__0000000003"),
    ("kazoo ReadLock", "6f1e2d3c00004a4a8b8b0123456789ab__rlock__0000000003"),
    ("Curator lease", "_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-lease-0000000003"),
    ("kazoo lease", "6f1e2d3c00004a4a8b8b0123456789ab"),
    ("Curator LeaderLatch", "_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-latch-0000000003"),
    ("Solr election", "72057655109877762-10.0.0.1:8983_solr-n_0000000003"),
    ("ClickHouse election", "leader_election-0000000003"),
    ("kazoo Party", "6f1e2d3c00004a4a8b8b0123456789ab__party__0000000003"),
    ("kazoo Queue", "entry-100-0000000003"),
    ("double barrier", "6f1e2d3c-0000-4a4a-8b8b-0123456789ab"),
    ("one znode", "ActiveStandbyElectorLock"),
    ("lock of its own", "orders-lock"),
    ("Curator mutex", "_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-lock-0000000003"),
    ("go-zookeeper Lock", "_c_6f1e2d3c00004a4a8b8b0123456789ab-lock-0000000003"),
    ("kazoo Lock", "6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000003"),
    ("ZooKeeper WriteLock", "x-72057655109877762-0000000012"),
    ("plain lock", "lock-0000000012"),
    ("any prefix", "invoices_0000000012"),
    ("no lock", "config.xml"),
    ("no lock, long", "dubbo%3A%2F%2F10.0.0.1%3A20880%2Forg.example.Api%3Fpid%3D7%26timestamp%3D1790000000123"),
];

fn recognition(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("recognise");
    for (label, name) in NAMES {
        group.bench_function(label, |bencher| bencher.iter(|| black_box(recipe::rule_of(black_box(name), None))));
    }
    group.throughput(Throughput::Elements(NAMES.len() as u64));
    group.bench_function("all of them", |bencher| {
        bencher.iter(|| NAMES.map(|(_, name)| black_box(recipe::rule_of(black_box(name), None))))
    });
    group.finish();
}

/// Mutexes, each held by one session and waited for by the next, `apart` of them in a row before the first session
/// is met again: one more wait closes a circle of that many.
fn deadlocks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("deadlock");
    for (locks, contenders, apart) in [(10_000, 10, 2), (10_000, 10, 8), (1, 10_000, 1)] {
        let mut observatory = observatory(locks, contenders);
        let mut czxid = 10_000_000;
        let mut join = |observatory: &mut Observatory, lock: usize, sequence: usize, session: usize| {
            czxid += 1;
            let (path, mut facts) = (name(lock, sequence), facts(czxid));
            facts.owner = Some(SessionId(session as i64));
            observatory.apply(TimeMs(czxid), Observation::NodeCreated { root: ROOT, path: path.clone() });
            black_box(
                observatory.apply(TimeMs(czxid), Observation::NodeRead { root: ROOT, path, facts, unreadable: false }),
            );
        };
        // The first contender of each lock holds it; its session is its czxid.
        let holder = |lock: usize| lock * contenders + 1;
        for lock in 1..apart {
            join(&mut observatory, lock, 1_000_000, holder(lock - 1));
        }
        let (last, mut sequence) = (if apart > 1 { holder(apart - 1) } else { 5 }, 1_000_000);
        group.bench_function(
            if apart > 1 {
                format!("a circle of {apart} closes and opens among {locks} locks of {contenders}")
            } else {
                format!("none closes in a queue of {contenders}")
            },
            |bencher| {
                bencher.iter(|| {
                    sequence += 1;
                    join(&mut observatory, 0, sequence, last);
                    observatory.apply(TimeMs(20_000_000), Observation::Tick);
                    assert_eq!(observatory.cycles().len(), usize::from(apart > 1));
                    let path = name(0, sequence);
                    black_box(observatory.apply(TimeMs(20_000_000), Observation::NodeDeleted { root: ROOT, path }));
                });
            },
        );
    }
    group.finish();
}

/// One look of all lints at queues of 8,000 where many contenders have to do with each other: readers that share a
/// writer, and sessions that stand twice.
fn looks(criterion: &mut Criterion) {
    let reader = |at: usize| format!("/l/_c_{at:08}-0000-4a4a-8b8b-000000000000-__READ__{at:010}");
    let writer = |at: usize| format!("/l/_c_{at:08}-0000-4a4a-8b8b-000000000000-__WRIT__{at:010}");
    let twice = |at: usize| format!("/l/_c_{:08}-0000-4a4a-8b8b-000000000000-lock-{at:010}", at / 2);
    let kinds: [(&str, &dyn Fn(usize) -> String); 4] = [
        ("readers that hold", &reader),
        ("readers behind a writer", &|at| if at == 0 { writer(at) } else { reader(at) }),
        ("a writer among readers", &|at| if at == 4_000 { writer(at) } else { reader(at) }),
        ("each session twice", &twice),
    ];
    let mut group = criterion.benchmark_group("look at 8,000 contenders");
    for (what, name) in kinds {
        let mut observatory = Observatory::new(Settings { roots: vec!["/l".into()], ..Settings::default() }, TimeMs(0));
        observatory.apply(TimeMs(0), Observation::Link { link: Link::Live, session: None, why: "".into() });
        observatory.apply(TimeMs(0), Observation::SyncBegan { root: ROOT, why: "bench".into() });
        for at in 0..8_000 {
            let facts = facts(at as i64 / 2 + 1);
            observatory.apply(
                TimeMs(0),
                Observation::SyncNode { root: ROOT, path: name(at).into(), facts, unreadable: false },
            );
        }
        observatory.apply(TimeMs(0), Observation::SyncEnded { root: ROOT });
        let mut now = 0;
        group.bench_function(what, |bencher| {
            bencher.iter(|| {
                now += 1_000;
                let path: Box<str> = name(7_999).into();
                observatory.apply(TimeMs(now), Observation::NodeDeleted { root: ROOT, path: path.clone() });
                observatory.apply(TimeMs(now), Observation::NodeCreated { root: ROOT, path });
                black_box(observatory.apply(TimeMs(now + 500), Observation::Tick))
            });
        });
    }
    group.finish();
}

/// Locks on a znode of their own, each with a session of its own.
fn alone(locks: usize) -> Observatory {
    let mut observatory = Observatory::new(Settings { roots: vec!["/jobs".into()], ..Settings::default() }, TimeMs(0));
    observatory.apply(TimeMs(0), Observation::Link { link: Link::Live, session: None, why: "".into() });
    observatory.apply(TimeMs(0), Observation::SyncBegan { root: ROOT, why: "bench".into() });
    for lock in 0..locks {
        let path = format!("/jobs/{lock:06}-lock").into();
        observatory.apply(
            TimeMs(0),
            Observation::SyncNode { root: ROOT, path, facts: facts(lock as i64 + 1), unreadable: false },
        );
    }
    observatory
}

fn single_znodes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("locks of one znode");
    group.sample_size(10);
    for locks in [500, 50_000] {
        group.bench_function(format!("end of the first sync of {locks}"), |bencher| {
            bencher.iter_batched(
                || alone(locks),
                |mut model| drop(model.apply(TimeMs(1), Observation::SyncEnded { root: ROOT })),
                BatchSize::PerIteration,
            );
        });
        let mut observatory = alone(locks);
        observatory.apply(TimeMs(1), Observation::SyncEnded { root: ROOT });
        let mut at = 1_000_000;
        group.bench_function(format!("create, read, delete among {locks}"), |bencher| {
            bencher.iter(|| {
                at += 1;
                let path: Box<str> = format!("/jobs/x{at:08}-lock").into();
                observatory.apply(TimeMs(at), Observation::NodeCreated { root: ROOT, path: path.clone() });
                observatory.apply(
                    TimeMs(at),
                    Observation::NodeRead { root: ROOT, path: path.clone(), facts: facts(at), unreadable: false },
                );
                black_box(observatory.apply(TimeMs(at), Observation::NodeDeleted { root: ROOT, path }));
            });
        });
    }
    group.finish();
}

/// Sessions that all wait for each other, as those of clients with many threads do: each in 40 locks.
fn entangled() -> Observatory {
    const SESSIONS: usize = 300;
    let mut observatory = Observatory::new(Settings { roots: vec!["/locks".into()], ..Settings::default() }, TimeMs(0));
    observatory.apply(TimeMs(0), Observation::Link { link: Link::Live, session: None, why: "".into() });
    observatory.apply(TimeMs(0), Observation::SyncBegan { root: ROOT, why: "bench".into() });
    for lock in 0..SESSIONS * 40 / 6 {
        for place in 0..6 {
            let mut facts = facts((lock * 6 + place) as i64 + 1);
            facts.owner = Some(SessionId(((lock + place * (lock / SESSIONS + 1) * 7) % SESSIONS) as i64 + 1));
            observatory.apply(
                TimeMs(0),
                Observation::SyncNode { root: ROOT, path: name(lock, place), facts, unreadable: false },
            );
        }
    }
    observatory
}

fn circles(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("300 sessions in 40 locks each");
    group.sample_size(10);
    group.bench_function("end of the first sync, with the first search", |bencher| {
        bencher.iter_batched(
            entangled,
            |mut model| drop(model.apply(TimeMs(1), Observation::SyncEnded { root: ROOT })),
            BatchSize::PerIteration,
        );
    });
    let synced = || {
        let mut model = entangled();
        model.apply(TimeMs(1), Observation::SyncEnded { root: ROOT });
        model
    };
    group.bench_function("the rest of the search: 8 ticks", |bencher| {
        let ticks = |mut model: Observatory| {
            (1..=8).for_each(|at| drop(model.apply(TimeMs(at * 10), Observation::Tick)));
            assert!(!model.cycles().is_empty());
        };
        bencher.iter_batched(synced, ticks, BatchSize::PerIteration);
    });
    group.finish();
}

/// The end of a session that stands in every lock, as one step: nobody reads the model meanwhile.
fn session_end(criterion: &mut Criterion) {
    const OWNED: usize = 20_000;
    let mut group = criterion.benchmark_group("a session of 20,000 znodes ends");
    group.sample_size(10);
    for locks in [200, 20_000] {
        // Half of each lock's contenders are its own, and the first of all.
        let contenders = OWNED / locks;
        let mut observatory =
            Observatory::new(Settings { roots: vec!["/locks".into()], ..Settings::default() }, TimeMs(0));
        let live = || Observation::Link { link: Link::Live, session: None, why: "".into() };
        observatory.apply(TimeMs(0), live());
        observatory.apply(TimeMs(0), Observation::SyncBegan { root: ROOT, why: "bench".into() });
        for (lock, sequence) in (0..locks).flat_map(|lock| (0..2 * contenders).map(move |sequence| (lock, sequence))) {
            let mut facts = facts((lock * 2 * contenders + sequence) as i64 + 2);
            if sequence < contenders {
                facts.owner = Some(SessionId(1));
            }
            observatory.apply(
                TimeMs(0),
                Observation::SyncNode { root: ROOT, path: name(lock, sequence), facts, unreadable: false },
            );
        }
        observatory.apply(TimeMs(0), Observation::SyncEnded { root: ROOT });
        let told = || {
            let mut pending = Pending::new();
            pending.push(live());
            for (lock, sequence) in (0..locks).flat_map(|lock| (0..contenders).map(move |sequence| (lock, sequence))) {
                pending.push(Observation::NodeDeleted { root: ROOT, path: name(lock, sequence) });
            }
            pending.push(Observation::Asked);
            (observatory.clone(), pending)
        };
        group.bench_function(format!("in {locks} locks"), |bencher| {
            let end = |(mut observatory, mut pending): (Observatory, Pending)| {
                pending.push(Observation::Answered);
                while let Some(observation) = pending.next(&observatory) {
                    black_box(observatory.apply(TimeMs(1), observation));
                }
                assert!(!observatory.owns_at_least(SessionId(1), 1));
                observatory
            };
            bencher.iter_batched(told, end, BatchSize::PerIteration);
        });
    }
    group.finish();
}

criterion_group!(
    benches,
    events,
    recognition,
    deadlocks,
    orders::orders,
    single_znodes,
    circles,
    looks,
    evidence::evidence,
    session_end,
    checkpoints::checkpoints,
    ticks::ticks
);
criterion_main!(benches);
