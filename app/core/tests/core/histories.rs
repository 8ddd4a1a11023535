//! Random histories against a naive oracle: a plain map of znodes, sorted anew for every question.

use std::collections::BTreeMap;

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};
use proptest::prelude::*;

const DIRECTORIES: [&str; 3] = ["/r/a", "/r/b", "/r/c/deep"];

#[derive(Clone, Debug)]
enum Step {
    Create {
        directory: usize,
        owner: i64,
    },
    Read {
        at: usize,
    },
    Delete {
        at: usize,
    },
    Resync,
    ResyncMissing {
        at: usize,
    },
    /// Some went in a gap, and one came.
    Compare {
        gone: Vec<usize>,
        directory: usize,
    },
    Tick {
        ms: i64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..DIRECTORIES.len(), 1..4_i64).prop_map(|(directory, owner)| Step::Create { directory, owner }),
        4 => (0..64_usize).prop_map(|at| Step::Read { at }),
        5 => (0..64_usize).prop_map(|at| Step::Delete { at }),
        1 => Just(Step::Resync),
        1 => (0..64_usize).prop_map(|at| Step::ResyncMissing { at }),
        1 => (prop::collection::vec(0..64_usize, 0..4), 0..DIRECTORIES.len())
            .prop_map(|(gone, directory)| Step::Compare { gone, directory }),
        2 => (0..40_000_i64).prop_map(|ms| Step::Tick { ms }),
    ]
}

#[derive(Clone, Debug)]
struct Node {
    sequence: i64,
    owner: i64,
    czxid: i64,
    ctime: i64,
    arrived: i64,
    read: bool,
}

/// The truth, kept as simply as possible, and the observatory that is told of it.
struct Bench {
    truth: BTreeMap<String, Node>,
    counters: [i64; DIRECTORIES.len()],
    zxid: i64,
    now: i64,
    observatory: Observatory,
}

impl Bench {
    fn new() -> Self {
        let settings = Settings { roots: vec!["/r".into()], ..Settings::default() };
        let mut bench = Self {
            truth: BTreeMap::new(),
            counters: [0; DIRECTORIES.len()],
            zxid: 10,
            now: 1_000,
            observatory: Observatory::new(settings, TimeMs(1_000)),
        };
        bench.apply(Observation::Link { link: Link::Live, session: None, why: "".into() });
        bench.resync();
        bench
    }

    fn apply(&mut self, observation: Observation) {
        self.observatory.apply(TimeMs(self.now), observation);
    }

    fn facts(node: &Node) -> Box<Facts> {
        let czxid = Zxid(node.czxid);
        Box::new(Facts {
            czxid,
            mzxid: czxid,
            pzxid: czxid,
            ctime_ms: node.ctime,
            version: 0,
            cversion: 0,
            children: 0,
            owner: Some(SessionId(node.owner)),
            payload: None,
            payload_bytes: 0,
        })
    }

    fn resync(&mut self) {
        self.apply(Observation::SyncBegan { root: RootId(0), why: "test".into() });
        for (path, node) in self.truth.clone() {
            self.apply(Observation::SyncNode {
                root: RootId(0),
                path: path.as_str().into(),
                facts: Self::facts(&node),
                unreadable: false,
            });
        }
        self.apply(Observation::SyncEnded { root: RootId(0) });
        self.truth.values_mut().for_each(|node| node.read = true);
    }

    /// After a gap only the directories in which something moved are listed, and their children read.
    fn compare(&mut self, gone: &[usize], directory: usize) {
        let gone: Vec<String> = gone.iter().filter_map(|at| self.pick(*at)).collect();
        self.truth.retain(|path, _| !gone.contains(path));
        self.zxid += 1;
        let (sequence, owner) = (self.counters[directory], 9);
        self.counters[directory] += 1;
        let node = Node { sequence, owner, czxid: self.zxid, ctime: self.now, arrived: self.now, read: true };
        self.truth.insert(format!("{}/lock-{sequence:010}", DIRECTORIES[directory]), node);
        let parent = |path: &str| path.rsplit_once('/').unwrap().0.to_owned();
        let moved = |of: &str| of == DIRECTORIES[directory] || gone.iter().any(|path| parent(path) == of);
        let root = RootId(0);
        self.apply(Observation::ComparisonBegan { root, why: "test".into() });
        for of in DIRECTORIES.into_iter().filter(|of| moved(of)) {
            let inside = self.truth.keys().filter(|path| parent(path) == of);
            let names = inside.map(|path| path.rsplit_once('/').unwrap().1.into()).collect();
            self.apply(Observation::Listed { root, path: of.into(), names });
        }
        for (path, node) in self.truth.clone().into_iter().filter(|(path, _)| moved(&parent(path))) {
            self.truth.get_mut(&path).unwrap().read = true;
            let facts = Self::facts(&node);
            self.apply(Observation::NodeRead { root, path: path.into(), facts, unreadable: false });
        }
        self.apply(Observation::ComparisonEnded { root });
    }

    fn pick(&self, at: usize) -> Option<String> {
        let count = self.truth.len();
        (count > 0).then(|| self.truth.keys().nth(at % count).cloned()).flatten()
    }

    fn step(&mut self, step: &Step) {
        self.now += 7;
        match step {
            Step::Create { directory, owner } => {
                self.zxid += 1;
                let sequence = self.counters[*directory];
                self.counters[*directory] += 1;
                let path = format!("{}/lock-{sequence:010}", DIRECTORIES[*directory]);
                let node =
                    Node { sequence, owner: *owner, czxid: self.zxid, ctime: self.now, arrived: self.now, read: false };
                self.truth.insert(path.clone(), node);
                self.apply(Observation::NodeCreated { root: RootId(0), path: path.into() });
            }
            Step::Read { at } => {
                let Some(path) = self.pick(*at) else { return };
                let node = self.truth.get_mut(&path).unwrap();
                node.read = true;
                let facts = Self::facts(node);
                self.apply(Observation::NodeRead { root: RootId(0), path: path.into(), facts, unreadable: false });
            }
            Step::Delete { at } => {
                let Some(path) = self.pick(*at) else { return };
                self.truth.remove(&path);
                self.apply(Observation::NodeDeleted { root: RootId(0), path: path.into() });
            }
            Step::Resync => self.resync(),
            Step::ResyncMissing { at } => {
                if let Some(path) = self.pick(*at) {
                    self.truth.remove(&path);
                }
                self.resync();
            }
            Step::Compare { gone, directory } => self.compare(gone, *directory),
            Step::Tick { ms } => {
                self.now += ms;
                self.apply(Observation::Tick);
            }
        }
    }

    fn check(&self) {
        for directory in DIRECTORIES {
            let inside = self.truth.iter().filter(|(path, _)| path.rsplit_once('/').unwrap().0 == directory);
            let mut expected: Vec<(&String, &Node)> = inside.collect();
            expected.sort_by_key(|(_, node)| node.sequence);
            let Some(lock) = self.observatory.lock(directory) else {
                assert!(expected.iter().all(|(_, node)| !node.read), "{directory} is a lock: {expected:?}");
                continue;
            };
            let mirror = self.observatory.mirror_of(lock).unwrap();
            let found: Vec<String> = lock.contenders(mirror).map(|contender| contender.path()).collect();
            assert_eq!(found, expected.iter().map(|(path, _)| (*path).clone()).collect::<Vec<_>>());
            let holder = lock.holders.first().map(|hold| format!("{directory}/{}", hold.name));
            assert_eq!(holder, found.first().cloned());
            assert_eq!(lock.holders.len(), usize::from(!found.is_empty()));
            self.check_owners(directory, &expected);
            self.check_sums(directory, &expected);
        }
    }

    fn check_owners(&self, directory: &str, expected: &[(&String, &Node)]) {
        let lock = self.observatory.lock(directory).unwrap();
        if let (Some(hold), Some((_, node))) = (lock.holders.first(), expected.first()) {
            assert_eq!(hold.owner, node.read.then_some(SessionId(node.owner)));
            assert_eq!(hold.czxid, node.read.then_some(Zxid(node.czxid)));
            assert!(hold.since.0 >= node.ctime.min(node.arrived) && hold.since.0 <= self.now);
        }
    }

    fn check_sums(&self, directory: &str, expected: &[(&String, &Node)]) {
        let lock = self.observatory.lock(directory).unwrap();
        let queue = lock.totals(self.observatory.mirror_of(lock).unwrap());
        let (read, unread): (Vec<&Node>, Vec<&Node>) =
            expected.iter().map(|(_, node)| *node).partition(|node| node.read);
        assert_eq!(queue.count as usize, expected.len());
        assert_eq!(queue.unread as usize, unread.len());
        assert_eq!(queue.ctime_sum_ms, read.iter().map(|node| node.ctime).sum::<i64>());
        assert_eq!(queue.arrived_sum_ms, unread.iter().map(|node| node.arrived).sum::<i64>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn the_believed_queues_are_the_true_ones(steps in prop::collection::vec(step(), 1..60)) {
        let mut bench = Bench::new();
        for step in &steps {
            bench.step(step);
            bench.check();
        }
    }

    #[test]
    fn no_name_makes_the_recogniser_panic(name in "\\PC{0,40}", digits in "[0-9-]{0,13}") {
        let _ = lockscope_core::recipe::rule_of(&format!("{name}{digits}"), None);
        let _ = lockscope_core::sequence::parse(&digits);
    }
}
