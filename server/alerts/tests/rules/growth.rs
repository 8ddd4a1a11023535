//! What a root costs does not grow with the number of roots: what is looked at is counted, and never timed.

use lockscope_alerts::evaluator::Evaluator;
use lockscope_alerts::rule::Rule;
use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::visits::visits;
use lockscope_core::znode::{Facts, SessionId, Zxid};

const SESSIONS: i64 = 50;
const CONTENDERS: i64 = 10;
const TICKS: i64 = 40;

/// A model with an evaluator of the rules that are built in, on a clock of its own.
struct World {
    model: Observatory,
    evaluator: Evaluator,
    now: TimeMs,
    zxid: i64,
}

impl World {
    fn new(roots: i64) -> Self {
        let now = TimeMs(1_000_000);
        let settings = Settings { roots: (0..roots).map(root).collect(), ..Settings::default() };
        let evaluator = Evaluator::new("growth", &Rule::built_in(), Vec::new(), now);
        Self { model: Observatory::new(settings, now), evaluator, now, zxid: 0 }
    }

    fn roots(&self) -> i64 {
        self.model.roots().len() as i64
    }

    fn observe(&mut self, observation: Observation) {
        let changes = self.model.begin(self.now, observation);
        self.evaluator.look(&self.model, self.now, &changes);
        while self.model.has_backlog() {
            let changes = self.model.go_on();
            self.evaluator.look(&self.model, self.now, &changes);
        }
    }

    fn link(&mut self, link: Link) {
        self.observe(Observation::Link { link, session: Some(SessionId(1)), why: "test".into() });
    }

    fn pass(&mut self, ticks: i64) {
        for _ in 0..ticks {
            self.now = self.now + 250;
            self.observe(Observation::Synced { sent_at: self.now });
            self.observe(Observation::Tick);
        }
    }

    fn facts(&mut self, owner: Option<i64>) -> Box<Facts> {
        self.zxid += 1;
        let (zxid, owner) = (Zxid(self.zxid), owner.map(|session| SessionId(100 + session)));
        let (children, payload, ctime_ms) = (0, None, self.now.0);
        let (czxid, mzxid, pzxid) = (zxid, zxid, zxid);
        let (version, cversion, payload_bytes) = (0, 0, 0);
        Box::new(Facts { czxid, mzxid, pzxid, ctime_ms, version, cversion, children, owner, payload, payload_bytes })
    }

    fn start(&mut self) {
        self.link(Link::Live);
        for at in 0..self.roots() {
            let root = id(at);
            self.observe(Observation::SyncBegan { root, why: "test".into() });
            for number in 0..CONTENDERS {
                let facts = self.facts(Some(owner(at, number)));
                let path = contender(at, number).into();
                self.observe(Observation::SyncNode { root, path, facts, unreadable: false });
            }
            self.observe(Observation::SyncEnded { root });
        }
        self.pass(TICKS);
    }

    fn cut(&mut self) {
        self.link(Link::Lost);
        self.link(Link::Live);
        for root in (0..self.roots()).map(id) {
            self.observe(Observation::ComparisonBegan { root, why: "test".into() });
            self.observe(Observation::ComparisonEnded { root });
        }
        self.pass(TICKS);
    }

    /// The first root's lock goes to the next in line, and another one joins it, of a session of its own.
    fn hand_over(&mut self) {
        let root = id(0);
        self.observe(Observation::NodeDeleted { root, path: contender(0, 0).into() });
        self.observe(Observation::NodeCreated { root, path: contender(0, CONTENDERS).into() });
        let facts = self.facts(Some(SESSIONS));
        let path = contender(0, CONTENDERS).into();
        self.observe(Observation::NodeRead { root, path, facts, unreadable: false });
    }
}

fn id(at: i64) -> RootId {
    RootId(u32::try_from(at).unwrap())
}

fn root(at: i64) -> String {
    format!("/root-{at:04}")
}

/// Whose a contender is: each session has one in every fifth root, and nobody waits in a circle.
fn owner(at: i64, number: i64) -> i64 {
    number * (SESSIONS / CONTENDERS) + at % (SESSIONS / CONTENDERS)
}

fn contender(at: i64, number: i64) -> String {
    format!("{}/l/lock-{number:010}", root(at))
}

fn counted(act: impl FnOnce()) -> u64 {
    let before = visits();
    act();
    visits() - before
}

/// What is looked at for each root: at a start, at a cut, by forty idle ticks, by the tick behind a change; and for a
/// change, whatever roots there are.
fn looked_at(roots: i64) -> Vec<(&'static str, u64)> {
    let mut world = World::new(roots);
    let per_root = |count: u64| count / roots as u64;
    let start = counted(|| world.start());
    assert!(world.model.is_ready() && world.model.locks().count() == roots as usize);
    let cut = counted(|| world.cut());
    let idle = counted(|| world.pass(TICKS));
    let change = counted(|| world.hand_over());
    let search = counted(|| world.pass(1));
    vec![
        ("start", per_root(start)),
        ("cut", per_root(cut)),
        ("idle", per_root(idle)),
        ("change", change),
        ("tick behind it", per_root(search)),
    ]
}

#[test]
fn a_root_costs_the_same_among_many() {
    let all: Vec<_> = [10, 100, 1_000].map(looked_at).into();
    assert!(all[0][0].1 > 10, "nothing is counted: {all:?}");
    for pair in all.windows(2) {
        for ((what, few), (_, many)) in pair[0].iter().zip(&pair[1]) {
            assert!(*many as f64 <= *few as f64 * 1.1 + 8.0, "{what}: {all:?}");
        }
    }
}
