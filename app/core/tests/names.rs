//! Names that nobody wrote: those of real clients, mutated and mixed. Whatever a name is, it makes nobody panic, is
//! taken for a recipe without asking the allocator for anything, and costs time by its length alone; a directory of such
//! names is read as any other.

use std::alloc::System;
use std::hint::black_box;
use std::time::{Duration, Instant};

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};
use lockscope_core::{recipe, sequence};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const ROOT: RootId = RootId(0);
/// Names of one directory.
const BATCH: usize = 100;
/// Of so many directories one is looked at.
const DIRECTORIES: usize = 10;
/// The longest name that ZooKeeper takes: a request of `jute.maxbuffer`, 1 MiB.
const LONGEST: usize = 1 << 20;
/// What a name of that length may take, in a build that is not optimised on a busy machine as well. It takes a few milliseconds.
const LONGEST_TIME: Duration = Duration::from_secs(2);

/// Names that are read; more by the environment.
fn names() -> usize {
    std::env::var("RECIPE_FUZZ_NAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000)
}

const REAL: [&str; 18] = [
    "_c_0f1e2d3c-0000-4a4a-8b8b-0123456789ab-lock-0000000007",
    "_c_0f1e2d3c-0000-4a4a-8b8b-0123456789ab-__WRIT__0000000007",
    "_c_0f1e2d3c-0000-4a4a-8b8b-0123456789ab-lease-0000000007",
    "_c_0f1e2d3c-0000-4a4a-8b8b-0123456789ab-latch--2147483648",
    "0f1e2d3c00004a4a8b8b0123456789ab__lock__0000000007",
    "0f1e2d3c00004a4a8b8b0123456789ab__party__0000000007",
    "0f1e2d3c00004a4a8b8b0123456789ab-host",
    "0f1e2d3c-0000-4a4a-8b8b-0123456789ab",
    "x-72057655109877762-0000000007",
    "72057655109877762-10.0.0.1:8983_solr-n_0000000007",
    "leader_election-0000000007",
    "readLock-0000000007",
    "member_0000000007",
    "entry-100-0000000007",
    "lease_holder",
    "deploy-barrier",
    "orders-lock",
    "host-1,16000,1790000000123",
];

/// A small generator of our own: the same names in each run.
struct Noise(u64);

impl Noise {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) as usize % end.max(1)
    }

    /// Bytes, made text as a client would have to.
    fn name(&mut self) -> String {
        let mut bytes = REAL[self.below(REAL.len())].as_bytes().to_vec();
        let other = REAL[self.below(REAL.len())].as_bytes();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = self.below(256) as u8),
                1 => bytes.truncate(at + 1),
                2 => drop(bytes.drain(at..(at + self.below(12)).min(bytes.len()))),
                3 => drop(bytes.splice(at..at, "\u{202e}鎖é".bytes())),
                4 => {
                    let count = self.below(40);
                    drop(bytes.splice(at..at, std::iter::repeat_n(b"0-9_a"[self.below(5)], count)));
                }
                _ => {
                    let from = self.below(other.len());
                    drop(bytes.splice(at..at, other[from..(from + self.below(40)).min(other.len())].iter().copied()));
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Everything that is asked of a name; whether it is one of a recipe.
fn read(name: &str) -> bool {
    let rules = [None, Some(true), Some(false)].map(|owned| recipe::rule_of(name, owned));
    rules.iter().flatten().for_each(|id| assert!(!recipe::rule(*id).label.is_empty()));
    let parts = [
        recipe::guid_of(name),
        recipe::solr_node(name),
        recipe::party_identifier(name),
        sequence::parse(name).map(|found| found.stem),
    ];
    black_box(parts).iter().flatten().for_each(|part| assert!(part.len() <= name.len()));
    rules.iter().any(Option::is_some)
}

/// A directory of these names.
fn look(names: &[String]) -> usize {
    let mut observatory = Observatory::new(Settings { roots: vec!["/l".into()], ..Settings::default() }, TimeMs(0));
    observatory.apply(TimeMs(0), Observation::Link { link: Link::Live, session: None, why: "".into() });
    observatory.apply(TimeMs(0), Observation::SyncBegan { root: ROOT, why: "test".into() });
    let all = names.iter().filter(|name| !name.is_empty()).map(|name| format!("/l/{}", name.replace(['/', '\0'], "_")));
    for (czxid, path) in (1_i64..).zip(std::iter::once("/l".to_owned()).chain(all)) {
        let zxid = Zxid(czxid);
        let facts = Facts {
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime_ms: 0,
            version: 0,
            cversion: 0,
            children: 0,
            owner: (czxid % 3 != 1).then_some(SessionId(czxid)),
            payload: Some(path.as_bytes().into()),
            payload_bytes: 8,
        };
        let (path, facts) = (path.into(), Box::new(facts));
        observatory.apply(TimeMs(0), Observation::SyncNode { root: ROOT, path, facts, unreadable: false });
    }
    observatory.apply(TimeMs(0), Observation::SyncEnded { root: ROOT });
    observatory.apply(TimeMs(1_000), Observation::Tick);
    observatory.locks().count()
}

/// The allocator counts for all threads, so there is one test.
#[test]
fn no_name_makes_anybody_panic_or_wait() {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let (mut recognised, mut locks) = (0, 0);
    for at in 0..names() / BATCH {
        let batch: Vec<String> = (0..BATCH).map(|_| noise.name()).collect();
        let region = Region::new(ALLOCATOR);
        recognised += batch.iter().filter(|name| read(name)).count();
        let change = region.change();
        assert_eq!((change.allocations, change.reallocations), (0, 0), "{batch:?}");
        // Directories cost most of the time.
        locks += if at % DIRECTORIES == 0 { look(&batch) } else { 0 };
    }
    assert!((names() / 10..names() * 9 / 10).contains(&recognised), "{recognised}: too few or too many mutations");
    assert!(locks >= names() / BATCH / DIRECTORIES / 2, "{locks}");

    for part in ["0", "-", "a", "é", "_c_", "barrier", "n_", "0f1e2d3c00004a4a8b8b0123456789ab-"] {
        for end in ["", "0000000007", "-n_0000000007"] {
            let name = part.repeat(LONGEST / part.len()) + end;
            let begun = Instant::now();
            black_box(read(&name));
            assert!(begun.elapsed() < LONGEST_TIME, "{:?} for many of {part:?} with {end:?}", begun.elapsed());
        }
    }
}
