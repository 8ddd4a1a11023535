//! A server whose recursive watch names the watched znode whatever changed below it: nothing is ever shown as live that
//! is not so, and in the end everything is read.

use super::super::Distrust;
use super::*;

/// The event as such a server sends it.
pub(super) fn of_root(event: &NodeEvent) -> NodeEvent {
    match event {
        NodeEvent::Created(_) => NodeEvent::Created(ROOT.into()),
        NodeEvent::Deleted(_) => NodeEvent::Deleted(ROOT.into()),
        NodeEvent::Changed(_) => NodeEvent::Changed(ROOT.into()),
    }
}

fn identities<'a>(tree: impl Iterator<Item = (&'a String, Option<&'a Facts>)>) -> BTreeMap<&'a String, (Zxid, i32)> {
    tree.map(|(path, facts)| (path, facts.map_or((Zxid(0), 0), |facts| (facts.czxid, facts.version)))).collect()
}

fn is_true(history: &History) -> bool {
    let real = identities(history.server.tree.iter().map(|(path, node)| (path, Some(&node.facts))));
    real == identities(history.believed.tree.iter().map(|(path, facts)| (path, facts.as_ref())))
}

/// All that was sent has arrived, and nothing is being asked.
fn is_quiet(history: &History) -> bool {
    history.server.wire.is_empty() && history.server.requests.is_empty() && history.out.is_empty()
}

/// Random histories; gives in how many steps everything had arrived and the root was live.
fn run_lying(seed: u64) -> (History, u32) {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let server = Server { lies: true, ..Server::default() };
    let mut history = History { server, ..History::of_root(seed.is_multiple_of(2)) };
    history.watch.input(Input::Connected(Why::FirstSync), &mut history.out);
    history.issue();
    let mut live = 0;
    for step in 0..STEPS {
        match dice.roll(10) {
            0..=2 => history.server.mutate(&mut dice, false),
            3..=5 => history.server.serve(),
            6 | 7 => history.arrive(usize::try_from(dice.roll(6)).unwrap()),
            8 => history.arrive(usize::MAX),
            _ if dice.roll(12) == 0 => history.reconnect(),
            _ => {
                history.watch.tick(&mut history.out);
                history.issue();
            }
        }
        if is_quiet(&history) && history.watch.state == State::Live {
            live += 1;
            assert!(is_true(&history), "seed {seed}, step {step}: live and wrong");
        }
    }
    (history, live)
}

#[test]
fn a_server_that_names_the_wrong_znode_is_never_believed_for_long() {
    let (mut live, mut found) = (0, 0);
    for seed in 1..=HISTORIES {
        let (mut history, steps) = run_lying(seed);
        live += steps;
        history.settle();
        assert!(is_true(&history), "seed {seed}: in the end it is read");
        if history.watch.distrust().is_some() {
            found += 1;
            assert!(matches!(history.watch.state, State::Polling { .. }), "seed {seed}: {:?}", history.watch.state);
        }
    }
    assert!(live > 1_000 && found > HISTORIES / 2, "live in {live} steps, found out in {found} histories");
}

/// Once it is known, an event says that there is something to read, and that is read within a few ticks.
#[test]
fn what_happens_then_is_read_soon_and_not_all_the_time() {
    let mut history = History { server: Server { lies: true, ..Server::default() }, ..History::of_root(false) };
    history.server.create(ROOT, false, false);
    history.server.create("/r/d0", false, false);
    history.watch.input(Input::Connected(Why::FirstSync), &mut history.out);
    history.issue();
    history.watch.disbelieve(Distrust::ClickHouse, &mut history.out);
    history.settle();
    assert!(matches!(history.watch.state, State::Polling { .. }) && is_true(&history));
    for turn in 0..20 {
        let name = format!("/r/d0/n{turn}");
        history.server.create(&name, true, false);
        let mut ticks = 0;
        while !is_true(&history) {
            ticks += 1;
            assert!(ticks <= 2, "turn {turn}");
            history.arrive(usize::MAX);
            history.watch.tick(&mut history.out);
            history.issue();
            while !is_quiet(&history) {
                history.server.serve();
                history.arrive(usize::MAX);
            }
        }
    }
    let reads = history.believed.syncs;
    for _ in 0..8 {
        history.watch.tick(&mut history.out);
        history.issue();
    }
    assert_eq!(history.believed.syncs, reads, "nothing happens, so it waits for the next turn");
}
