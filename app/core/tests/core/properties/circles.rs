//! Deadlocks against a naive search: an edge is in a deadlock when its end leads back to its beginning.

use std::collections::BTreeSet;

use lockscope_core::observation::{Observation, RootId};
use proptest::prelude::*;

use super::world::World;

#[derive(Clone, Debug)]
enum Step {
    Join { session: usize, lock: usize, is_read_at_once: bool },
    Read { at: usize },
    Leave { at: usize },
    Resync,
    ResyncMissing { at: usize },
    Tick,
}

fn step() -> impl Strategy<Value = Step> {
    let at = || 0..64_usize;
    prop_oneof![
        12 => (0..6_usize, 0..5_usize, prop::bool::weighted(0.8)).prop_map(|(session, lock, is_read_at_once)| Step::Join { session, lock, is_read_at_once }),
        3 => at().prop_map(|at| Step::Read { at }),
        7 => at().prop_map(|at| Step::Leave { at }),
        1 => Just(Step::Resync),
        1 => at().prop_map(|at| Step::ResyncMissing { at }),
        1 => Just(Step::Tick),
    ]
}

type Edge = (i64, i64, String);

/// Who waits for whom by the truth: each that is known to wait for the first of its lock.
fn edges(world: &World) -> BTreeSet<Edge> {
    let mut edges = BTreeSet::new();
    for lock in 0..5 {
        let directory = format!("/r/l{lock}");
        let inside: Vec<_> = world.inside(&directory).collect();
        let Some((_, first)) = inside.first().filter(|(_, node)| node.read) else { continue };
        let waiters = inside.iter().skip(1).filter(|(_, node)| node.read && node.owner != first.owner);
        edges.extend(waiters.map(|(_, node)| (node.owner, first.owner, directory.clone())));
    }
    edges
}

fn leads_to(edges: &BTreeSet<Edge>, from: i64, to: i64) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(session) = open.pop() {
        if session == to {
            return true;
        }
        let next = edges.iter().filter(|(one, ..)| *one == session).map(|(_, other, _)| *other);
        open.extend(next.filter(|other| seen.insert(*other)));
    }
    false
}

fn check(world: &World) {
    let all = edges(world);
    let expected: BTreeSet<Edge> = all.iter().filter(|(from, to, _)| leads_to(&all, *to, *from)).cloned().collect();
    let mut found = BTreeSet::new();
    for cycle in world.observatory.cycles() {
        let sessions: Vec<i64> = cycle.sessions().map(|session| session.0).collect();
        assert_eq!(sessions.iter().collect::<BTreeSet<_>>().len(), sessions.len(), "each session comes once");
        for (at, step) in cycle.steps.iter().enumerate() {
            assert_eq!(step.to, cycle.steps[(at + 1) % cycle.steps.len()].from, "one leads to the next");
            found.insert((step.from.0, step.to.0, step.lock.to_string()));
        }
        assert!(cycle.victim_step().is_some());
    }
    assert_eq!(found, expected);
    for lock in world.observatory.locks() {
        assert_eq!(
            lock.assessment.deadlock.is_some(),
            expected.iter().any(|(.., path)| *path == *lock.path),
            "{}",
            lock.path
        );
    }
}

fn take(world: &mut World, step: &Step) {
    match step {
        Step::Join { session, lock, is_read_at_once } => {
            let path = world.create(&format!("/r/l{lock}"), "lock-", i64::try_from(*session).unwrap() + 1);
            if *is_read_at_once {
                world.read(&path);
            }
        }
        Step::Read { at } => world.pick(*at).into_iter().for_each(|path| world.read(&path)),
        Step::Leave { at } => world.pick(*at).into_iter().for_each(|path| world.delete(&path)),
        Step::Resync => world.resync(false),
        Step::ResyncMissing { at } => {
            if let Some(path) = world.pick(*at) {
                world.forget(&path);
            }
            world.resync(true);
        }
        Step::Tick => world.tick(100),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn deadlocks_are_those_a_naive_search_finds(steps in prop::collection::vec(step(), 1..50)) {
        let mut world = World::new();
        for step in &steps {
            take(&mut world, step);
            // Circles are looked for with the next tick.
            world.tick(1);
            check(&world);
        }
    }
}

#[test]
fn a_root_that_is_gone_takes_its_deadlocks_along() {
    let mut world = World::new();
    for (lock, session) in [("/r/l0", 1), ("/r/l1", 2), ("/r/l0", 2), ("/r/l1", 1)] {
        let path = world.create(lock, "lock-", session);
        world.read(&path);
    }
    world.tick(1);
    check(&world);
    assert_eq!(world.observatory.cycles().len(), 1);
    world.apply(Observation::RootTrouble {
        root: RootId(0),
        trouble: lockscope_core::observation::RootTrouble::Gone,
        why: "gone".into(),
    });
    assert!(world.observatory.cycles().is_empty());
}
