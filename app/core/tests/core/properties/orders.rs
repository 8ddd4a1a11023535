//! Lock orders on generated histories: sessions that take locks one inside the other as programs say, in queues as real
//! ones are, until some of them wait for each other for ever; and a naive account of what was seen before that.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;

use crate::lock_order::Sessions;

/// What one session takes, one inside the other.
type Program = Vec<String>;
type Order = (String, String);

#[derive(Default)]
struct Party {
    program: Program,
    /// Locks it asked for, with its znodes: all but the last are held, and that as well once it is first.
    asked: Vec<(String, String)>,
}

struct Simulation {
    sessions: Sessions,
    parties: Vec<Party>,
    queues: BTreeMap<String, VecDeque<usize>>,
    /// By whom each order was seen, and under which locks each time.
    seen: BTreeMap<Order, (BTreeSet<usize>, BTreeSet<String>)>,
    deadlocks: usize,
    warned_before: usize,
}

impl Simulation {
    fn new(programs: &[Program]) -> Self {
        let parties = programs.iter().map(|program| Party { program: program.clone(), asked: Vec::new() });
        Self {
            sessions: Sessions::new(),
            parties: parties.collect(),
            queues: BTreeMap::new(),
            seen: BTreeMap::new(),
            deadlocks: 0,
            warned_before: 0,
        }
    }

    fn holds(&self, party: usize, lock: &str) -> bool {
        self.queues.get(lock).and_then(VecDeque::front) == Some(&party)
    }

    fn waits_for(&self, party: usize) -> Option<&str> {
        let (last, _) = self.parties[party].asked.last()?;
        (!self.holds(party, last)).then_some(last)
    }

    /// Those that wait for each other, from one on, each with the lock that it waits for.
    fn circle(&self, from: usize) -> Option<Vec<(usize, String)>> {
        let (mut circle, mut at) = (Vec::new(), from);
        loop {
            let lock = self.waits_for(at)?;
            circle.push((at, lock.to_owned()));
            at = *self.queues[lock].front().unwrap();
            if at == from {
                return Some(circle);
            }
            if circle.len() > self.parties.len() {
                return None;
            }
        }
    }

    fn release(&mut self, party: usize) {
        for (lock, path) in std::mem::take(&mut self.parties[party].asked).into_iter().rev() {
            self.queues.get_mut(&lock).unwrap().retain(|other| *other != party);
            self.sessions.leave(&path);
        }
    }

    /// Whether everything of a circle was seen before its last wait began, each of another session and no two always
    /// under the same lock.
    fn was_foreseeable(&self, circle: &[(usize, String)]) -> bool {
        let orders = self.orders_of(circle);
        let seen: Vec<_> = orders.iter().filter_map(|order| self.seen.get(order)).collect();
        let is_gated = (0..seen.len()).any(|at| seen[..at].iter().any(|other| !other.1.is_disjoint(&seen[at].1)));
        seen.len() == orders.len() && !is_gated && represent(&seen.iter().map(|seen| &seen.0).collect::<Vec<_>>())
    }

    /// What each of a circle holds for the one before it, and asks for.
    fn orders_of(&self, circle: &[(usize, String)]) -> Vec<Order> {
        let before = circle.iter().cycle().skip(circle.len() - 1);
        circle.iter().zip(before).map(|((_, wanted), (_, held))| (held.clone(), wanted.clone())).collect()
    }

    fn is_warned(&self, circle: &[(usize, String)]) -> bool {
        let orders = self.sessions.orders();
        let classes: BTreeSet<_> = circle.iter().map(|(_, lock)| orders.classes.class_of(lock)).collect();
        orders.warnings().any(|warning| warning.classes().into_iter().all(|class| classes.contains(class)))
    }

    /// The next thing a session does.
    fn step(&mut self, party: usize) {
        if self.waits_for(party).is_some() {
            return;
        }
        let done = self.parties[party].asked.len();
        let Some(lock) = self.parties[party].program.get(done).cloned() else { return self.release(party) };
        let held: Vec<String> = self.parties[party].asked.iter().map(|(lock, _)| lock.clone()).collect();
        self.queues.entry(lock.clone()).or_default().push_back(party);
        // As it would be: what was known before it asks.
        self.parties[party].asked.push((lock.clone(), String::new()));
        let circle = self.circle(party);
        let foreseeable = circle.as_ref().is_some_and(|circle| self.was_foreseeable(circle));
        if let Some(circle) = circle.as_ref().filter(|_| foreseeable) {
            assert!(self.is_warned(circle), "not warned before {circle:?}");
            self.warned_before += 1;
        }
        let path = self.sessions.ask(party as i64 + 1, &lock);
        self.parties[party].asked.last_mut().unwrap().1 = path;
        for one in &held {
            let gates: BTreeSet<String> = held.iter().filter(|other| *other != one).cloned().collect();
            let (sessions, known) =
                self.seen.entry((one.clone(), lock.clone())).or_insert_with(|| (BTreeSet::new(), gates.clone()));
            sessions.insert(party);
            known.retain(|gate| gates.contains(gate));
        }
        if let Some(circle) = circle {
            self.deadlocks += 1;
            assert!(circle.len() > 4 || self.is_warned(&circle), "not warned of {circle:?}");
            self.release(party);
        }
    }
}

/// Whether each can be given a session of its own.
fn represent(of: &[&BTreeSet<usize>]) -> bool {
    fn go(of: &[&BTreeSet<usize>], taken: &mut Vec<usize>) -> bool {
        let Some((first, rest)) = of.split_first() else { return true };
        first.iter().any(|one| {
            !taken.contains(one) && {
                taken.push(*one);
                let is_done = go(rest, taken);
                taken.pop();
                is_done
            }
        })
    }
    go(of, &mut Vec::new())
}

/// What sessions take, of so many locks.
fn programs(locks: usize) -> impl Strategy<Value = Vec<Program>> {
    let of_one = prop::sample::subsequence((0..locks).collect::<Vec<_>>(), 2..=3).prop_shuffle();
    let names = |locks: Vec<usize>| locks.into_iter().map(|lock| format!("/t/{lock}")).collect();
    prop::collection::vec(of_one.prop_map(names), 4)
}

fn steps() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..4_usize, 1..120)
}

/// How many; `ORDER_HISTORIES` says otherwise.
fn histories() -> u32 {
    std::env::var("ORDER_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(600)
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, max_shrink_iters: 20_000, ..ProptestConfig::default() }
}

fn run(programs: &[Program], steps: &[usize]) -> Simulation {
    let mut simulation = Simulation::new(programs);
    steps.iter().for_each(|party| simulation.step(*party));
    simulation
}

proptest! {
    #![proptest_config(config(histories()))]

    #[test]
    fn every_deadlock_was_warned_of_once_its_orders_had_been_seen(programs in programs(4), steps in steps()) {
        run(&programs, &steps);
    }

    #[test]
    fn a_gate_around_everything_silences_everything(programs in programs(5), steps in steps()) {
        let gated: Vec<Program> =
            programs.into_iter().map(|locks| [vec!["/gate".to_owned()], locks].concat()).collect();
        let simulation = run(&gated, &steps);
        prop_assert!(simulation.sessions.warned().is_empty(), "{:?}", simulation.sessions.warned());
    }

    #[test]
    fn one_order_for_all_is_no_danger(programs in programs(6), steps in steps()) {
        let ordered: Vec<Program> = programs.into_iter().map(|mut locks| { locks.sort(); locks }).collect();
        let simulation = run(&ordered, &steps);
        prop_assert_eq!(simulation.deadlocks, 0);
        prop_assert!(simulation.sessions.warned().is_empty());
    }
}

proptest! {
    #![proptest_config(config(120))]

    #[test]
    fn of_locks_that_are_one_class_as_well(programs in programs(4), steps in steps()) {
        let mut simulation = Simulation::new(&programs);
        // Many others make them a class; these are always taken in the order of their names.
        for at in 100..140 {
            simulation.sessions.nest(99, &[&format!("/t/{at}"), &format!("/t/{}", at + 100)]);
        }
        prop_assert_eq!(&*simulation.sessions.orders().classes.class_of("/t/1"), "/t/*");
        for party in steps {
            simulation.step(party);
        }
    }
}

/// The histories reach what they are about.
#[test]
fn histories_have_deadlocks_that_were_foreseeable() {
    let cross = |one: &str, other: &str| vec![one.to_owned(), other.to_owned()];
    let programs = [cross("/t/0", "/t/1"), cross("/t/1", "/t/0"), cross("/t/1", "/t/2"), cross("/t/2", "/t/0")];
    // Each one by itself, then two at once, then three.
    let steps = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 0, 1, 0, 1, 0, 0, 2, 3, 0, 2, 3];
    let simulation = run(&programs, &steps);
    assert_eq!((simulation.deadlocks, simulation.warned_before), (2, 2));
}
