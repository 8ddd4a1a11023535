//! A log says at once that a znode is there and what is in it; a watcher gets an event of the one and reads the other. Both leave the
//! same locks, holds, waits and rows.

use lockscope_autopsy::translate::Translator;
use lockscope_autopsy::tree::Tree;
use lockscope_core::observation::Observation;
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_history::derive::{Deriver, Tap, apply};
use lockscope_history::store::rows::Minute;
use lockscope_txn_log::{Change, Create, Lifetime, Transaction};
use proptest::collection::vec;
use proptest::prelude::*;

const BEGIN_MS: i64 = 1_790_000_000_000;
/// Directories, with how names begin in them: by one client each of Curator, kazoo, no library in particular, and elections;
/// a semaphore's two directories; a lock with a fixed name; readers and writers; members of a group; items of a queue; those
/// who meet at a double barrier, and its mark; a znode that is a lock by itself.
const PLACES: [(&str, &str); 14] = [
    ("/curator", "_c_11111111-2222-3333-4444-55555555555@-lock-#"),
    ("/kazoo", "1111111122223333444455555555555@__lock__#"),
    ("/plain", "lock-#"),
    ("/election", "n_#"),
    ("/semaphore/locks", "_c_11111111-2222-3333-4444-55555555555@-lock-#"),
    ("/semaphore/leases", "_c_11111111-2222-3333-4444-55555555555@-lease-#"),
    ("/fixed", "lock"),
    ("/mixed", "read-#"),
    ("/mixed", "write-#"),
    ("/members", "member_#"),
    ("/queue", "qn-#"),
    ("/double-barrier", "11111111-2222-3333-4444-55555555555@"),
    ("/double-barrier", "ready"),
    ("/alone", "controller"),
];

#[derive(Clone, Debug)]
enum Step {
    Create {
        place: usize,
        session: i64,
        is_ephemeral: bool,
    },
    Delete {
        at: usize,
    },
    Write {
        at: usize,
    },
    Close {
        session: i64,
    },
    Wait {
        ms: i64,
    },
    /// The next leader's clock is behind.
    SetBack {
        ms: i64,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let create = (0..PLACES.len(), 1..6_i64, prop::bool::weighted(0.98));
    let step = prop_oneof![
        5 => create.prop_map(|(place, session, is_ephemeral)| Step::Create { place, session, is_ephemeral }),
        3 => (0..32_usize).prop_map(|at| Step::Delete { at }),
        1 => (0..32_usize).prop_map(|at| Step::Write { at }),
        1 => (1..6_i64).prop_map(|session| Step::Close { session }),
        2 => prop_oneof![4 => 1..9_000_i64, 1 => 1..400_000_i64].prop_map(|ms| Step::Wait { ms }),
        1 => prop_oneof![1..100_i64, 1..700_000_i64].prop_map(|ms| Step::SetBack { ms }),
    ];
    vec(step, 1..80)
}

/// A model with what is derived of it.
struct Run {
    model: Observatory,
    tap: Tap,
    deriver: Deriver,
    /// It gets the event of a znode before it reads it.
    is_told_first: bool,
}

impl Run {
    fn new(is_told_first: bool) -> Self {
        let settings = Settings { roots: vec!["/".to_owned()], ..Settings::default() };
        let model = Observatory::new(settings, TimeMs(BEGIN_MS));
        Self { model, tap: Tap::default(), deriver: Deriver::default(), is_told_first }
    }

    fn take(&mut self, now: TimeMs, observation: &Observation) {
        if let Observation::NodeRead { root, path, .. } = observation
            && self.is_told_first
            && self.model.roots()[0].mirror.node(path).is_none()
        {
            self.apply(now, Observation::NodeCreated { root: *root, path: path.clone() });
        }
        self.apply(now, observation.clone());
    }

    fn apply(&mut self, now: TimeMs, observation: Observation) {
        let mut events = Vec::new();
        apply(&mut self.tap, &mut self.model, now, observation, &mut events);
        events.into_iter().for_each(|(at, event)| self.deriver.take(at, event));
    }

    /// What it shows of each lock, in words.
    fn shown(&self) -> Vec<String> {
        let lock = |lock: &lockscope_core::assessment::AssessedLock| {
            let (known, found) = (&lock.recognition, &lock.assessment);
            let tally = &lock.tally;
            // Of a recipe's rules, that for readers or that for writers may have been met last: nothing says which.
            let known = (known.shape, known.recipe, &known.label, known.confidence);
            format!(
                "{} {known:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                lock.path, lock.holders, found.verdict, found.findings, tally.waits, tally.holds, tally.past
            )
        };
        self.model.locks().map(lock).collect()
    }
}

/// Two that see the same log, and its clock.
struct Log {
    translator: Translator,
    runs: [Run; 2],
    zxid: i64,
    /// Instants of a log do not go back; the clock of its leaders does.
    now_ms: i64,
    clock_ms: i64,
    behind_ms: i64,
    made: Vec<String>,
    numbers: [u32; PLACES.len()],
}

impl Log {
    fn new() -> Self {
        let roots = ["/".to_owned()];
        let translator = Translator::new(&roots, Tree::new(&roots), &[]);
        let runs = [Run::new(false), Run::new(true)];
        let (now_ms, clock_ms, numbers) = (BEGIN_MS, BEGIN_MS, [0; PLACES.len()]);
        let mut log = Self { translator, runs, zxid: 0, now_ms, clock_ms, behind_ms: 0, made: Vec::new(), numbers };
        let (now, runs) = (TimeMs(BEGIN_MS), &mut log.runs);
        log.translator.sync(now, "test", &mut |one| runs.iter_mut().for_each(|run| run.take(now, &one)));
        log.tick();
        for path in PLACES.iter().map(|(path, _)| *path).chain(["/semaphore"]).rev() {
            log.create(9, path, Lifetime::Persistent);
        }
        log
    }

    fn take(&mut self, session: i64, change: Change) {
        self.zxid += 1;
        self.now_ms = self.now_ms.max(self.clock_ms);
        let transaction = Transaction { zxid: self.zxid, time_ms: self.clock_ms, session, cxid: 1, change };
        let (now, runs, behind_ms) = (TimeMs(self.now_ms), &mut self.runs, self.now_ms - self.clock_ms);
        if std::mem::replace(&mut self.behind_ms, behind_ms) != behind_ms {
            let read = Observation::ClockRead { sent_at: now, told_at: now, ctime_ms: self.clock_ms };
            runs.iter_mut().for_each(|run| run.take(now, &read));
        }
        self.translator.take(&transaction, &mut |one| runs.iter_mut().for_each(|run| run.take(now, &one)));
    }

    fn create(&mut self, session: i64, path: &str, lifetime: Lifetime) {
        let (path, data) = (path.to_owned(), Some(format!("client-{session}").into_bytes()));
        self.take(session, Change::Create(Create { path, data, acl: Vec::new(), lifetime, parent_cversion: -1 }));
    }

    fn pass(&mut self, ms: i64) {
        self.clock_ms += ms;
        self.now_ms = self.now_ms.max(self.clock_ms);
        self.tick();
    }

    fn tick(&mut self) {
        let now = TimeMs(self.now_ms);
        self.runs.iter_mut().for_each(|run| run.take(now, &Observation::Tick));
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Create { place, session, is_ephemeral } => {
                let (directory, name) = PLACES[place];
                // All names of a directory are numbered together.
                let counter = PLACES.iter().position(|(of, _)| *of == directory).unwrap_or(place);
                let number = format!("{:010}", self.numbers[counter]);
                let path = format!("{directory}/{}", name.replace('@', &session.to_string()).replace('#', &number));
                if !self.made.contains(&path) {
                    self.numbers[counter] += 1;
                    self.create(session, &path, if is_ephemeral { Lifetime::Ephemeral } else { Lifetime::Persistent });
                    self.made.push(path);
                }
            }
            Step::Delete { at } if !self.made.is_empty() => {
                let path = self.made.remove(at % self.made.len());
                self.take(1, Change::Delete { path, by_server: false });
            }
            Step::Close { session } => {
                self.take(session, Change::CloseSession { paths: None });
                let tree = self.translator.tree();
                self.made.retain(|path| tree.has(path));
            }
            Step::Wait { ms } => {
                for part in [ms / 2, ms - ms / 2] {
                    self.pass(part);
                }
            }
            Step::SetBack { ms } => self.clock_ms -= ms,
            Step::Write { at } if !self.made.is_empty() => {
                let path = self.made[at % self.made.len()].clone();
                let version = self.translator.tree().facts(&path).map_or(0, |facts| facts.version + 1);
                self.take(1, Change::SetData { path, data: Some(b"changed".to_vec()), version });
            }
            Step::Delete { .. } | Step::Write { .. } => {}
        }
        self.clock_ms += 3;
    }
}

/// Nobody came, began or ended to hold, gave up or waited.
fn is_empty(minute: &Minute) -> bool {
    let counts = [minute.arrivals, minute.acquired, minute.gave_up, minute.depth_max];
    counts == [0; 4] && minute.waiting_ms == 0 && minute.waits.is_empty() && minute.holds.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_is_told_at_once_leaves_what_is_told_in_two_steps(steps in steps()) {
        let mut log = Log::new();
        for step in &steps {
            log.step(step);
            let [at_once, in_two] = log.runs.each_ref().map(Run::shown);
            prop_assert_eq!(at_once, in_two);
        }
        log.pass(1_000_000);
        // Whoever gets the event of a znode first takes one that no session owns for a contender until it is read. Where nothing else
        // happened in its minute, that minute has a row, and nothing in it.
        let has_taken_back = steps.iter().any(|step| matches!(step, Step::Create { is_ephemeral: false, .. }));
        let [at_once, in_two] = log.runs.map(|mut run| {
            let mut rows = run.deriver.finish();
            if has_taken_back {
                // Until it is read a verdict may go by it as well: that others wait, at that instant.
                rows.facts.clear();
                rows.minutes.iter_mut().for_each(|minute| minute.worst = "".into());
                rows.minutes.retain(|minute| !is_empty(minute));
            }
            format!("{rows:#?}")
        });
        prop_assert_eq!(at_once, in_two);
    }
}
