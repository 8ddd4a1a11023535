//! Children which no event reports: how soon they are found, and what is said until then.

use super::super::super::request::{READS_A_REQUEST, Request};
use super::super::super::translate::NodeEvent;
use super::super::super::watch::{Input, Why};
use super::{History, ROOT};

/// A root with so many lock directories, read and quiet.
fn quiet(directories: usize) -> History {
    let mut history = History::of_root(true);
    history.server.create(ROOT, false, false);
    (0..directories).for_each(|at| history.server.create(&format!("{ROOT}/d{at}"), false, false));
    history.watch.input(Input::Connected(Why::FirstSync), &mut history.out);
    history.pass(4);
    history
}

impl History {
    /// So many ticks, with whatever they ask for answered in between.
    fn pass(&mut self, ticks: usize) {
        for _ in 0..ticks {
            self.watch.tick(&mut self.out);
            self.issue();
            while !self.server.requests.is_empty() || !self.server.wire.is_empty() || !self.out.is_empty() {
                self.server.serve();
                self.arrive(usize::MAX);
            }
        }
    }
}

/// A second is four ticks.
#[test]
fn silent_children_of_all_directories_are_found_within_a_second() {
    let mut history = quiet(2_000);
    (0..2_000).for_each(|at| history.server.create(&format!("{ROOT}/d{at}/lock"), true, true));
    history.pass(3);
    let found = (0..2_000).filter(|at| history.believed.tree.contains_key(&format!("{ROOT}/d{at}/lock"))).count();
    assert_eq!(found, 2_000);
    (0..2_000).for_each(|at| history.server.delete(&format!("{ROOT}/d{at}/lock")));
    history.pass(3);
    assert_eq!(history.believed.tree.len(), 2_001);
}

#[test]
fn what_is_not_known_to_be_whole_is_said_until_it_is() {
    let mut history = quiet(2);
    let directory = format!("{ROOT}/d1");
    history.server.create(&format!("{directory}/lock"), true, true);
    history.watch.tick(&mut history.out);
    history.watch.tick(&mut history.out);
    history.issue();
    // The comparison is answered, what it asks for is not yet.
    history.server.serve();
    history.arrive(usize::MAX);
    assert_eq!(history.believed.incomplete.keys().collect::<Vec<_>>(), [&directory]);
    history.pass(4);
    history.hear_hints();
    history.pass(4);
    assert!(history.believed.incomplete.is_empty() && history.believed.tree.contains_key(&format!("{directory}/lock")));
}

/// Each lives shorter than a round: its deletion must not look like one that an event should have told.
#[test]
fn silent_children_that_come_and_go_cost_no_sync() {
    let mut history = quiet(3);
    for turn in 0..60 {
        let lock = format!("{ROOT}/d{}/lock", turn % 3);
        history.server.create(&lock, true, true);
        if turn % 2 == 0 {
            history.server.delete(&lock);
        }
        history.watch.tick(&mut history.out);
        history.issue();
        // Deleted between the comparison and the list, or between the list and the read.
        (0..turn % 4).for_each(|_| history.server.serve());
        history.server.delete(&lock);
        history.arrive(usize::MAX);
        history.pass(turn % 3);
    }
    history.pass(8);
    assert_eq!((history.believed.tree.len(), history.believed.syncs), (4, 1));
}

/// Two directories that had a child each, and child watches on them; in the guarded one a third has an unreadable
/// child.
fn with_child_watches(guarded: bool) -> History {
    let mut history = quiet(3);
    for at in 0..2 {
        history.server.create(&format!("{ROOT}/d{at}/first"), true, false);
    }
    if guarded {
        history.server.create(&format!("{ROOT}/d2/lock"), true, true);
    }
    history.pass(4);
    history.hear_hints();
    history.pass(4);
    assert!(!history.believed.incomplete.contains_key(&format!("{ROOT}/d1")), "{:?}", history.believed.incomplete);
    history
}

#[test]
fn a_child_watch_tells_of_a_silent_child_without_a_tick() {
    for guarded in [false, true] {
        let mut history = with_child_watches(guarded);
        let (directory, lock) = (format!("{ROOT}/d1"), format!("{ROOT}/d1/lock"));
        history.server.create(&lock, true, true);
        history.hear_hints();
        // Where unreadable children are expected, nobody takes the directory for complete from here on.
        assert_eq!(history.believed.incomplete.contains_key(&directory), guarded);
        while !history.server.requests.is_empty() {
            history.server.serve();
            history.arrive(usize::MAX);
        }
        assert!(history.believed.tree.contains_key(&lock));
        history.pass(4);
        assert!(!history.believed.incomplete.contains_key(&directory));
    }
}

#[test]
fn where_something_is_silent_only_a_heard_child_watch_makes_a_directory_complete() {
    let mut history = with_child_watches(true);
    history.lose_hints();
    let incomplete = |history: &History| {
        (0..2).filter(|at| history.believed.incomplete.contains_key(&format!("{ROOT}/d{at}"))).count()
    };
    history.watch.tick(&mut history.out);
    assert_eq!(incomplete(&history), 2);
    history.hear_hints();
    history.pass(4);
    assert_eq!(incomplete(&history), 0);
}

#[test]
fn events_and_child_watches_that_agree_cost_no_comparison() {
    let mut history = with_child_watches(true);
    history.server.create(&format!("{ROOT}/d1/second"), true, false);
    history.hear_hints();
    assert!(history.believed.incomplete.is_empty(), "{:?}", history.believed.incomplete);
    let checks = |history: &History| {
        history.server.requests.iter().filter(|(_, request)| matches!(request, Request::Check(_))).count()
    };
    assert_eq!(checks(&history), 0);
}

#[test]
fn a_storm_of_reads_does_not_keep_comparisons_waiting() {
    let mut history = quiet(1);
    for at in 0..1_000 {
        history.watch.event(NodeEvent::Created(format!("{ROOT}/d0/n{at}").into()), &mut history.out);
    }
    (0..2).for_each(|_| history.watch.tick(&mut history.out));
    let next: Vec<Request> = (0..2).filter_map(|_| history.watch.next_request(1)).collect();
    assert!(next.iter().any(|request| matches!(request, Request::Check(_))), "{next:?}");
    assert!(next.iter().any(|request| matches!(request, Request::Read(_))), "{next:?}");
}

#[test]
fn a_few_reads_wait_for_others_and_many_do_not() {
    let mut history = quiet(1);
    let create = |history: &mut History, at: usize| {
        history.watch.event(NodeEvent::Created(format!("{ROOT}/d0/n{at}").into()), &mut history.out);
    };
    create(&mut history, 0);
    assert!(history.watch.next_request(READS_A_REQUEST).is_none() && history.watch.waits_to_read());
    (1..100).for_each(|at| create(&mut history, at));
    let Some(Request::Read(paths)) = history.watch.next_request(READS_A_REQUEST) else { panic!("they wait") };
    assert_eq!(paths.len(), 100);
    create(&mut history, 100);
    assert!(matches!(history.watch.next_request(1), Some(Request::Read(_))));
    assert!(!history.watch.waits_to_read());
}
