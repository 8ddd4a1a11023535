//! Gaps: what is asked for after one, by what happened meanwhile.

use lockscope_core::znode::Zxid;

use super::super::super::request::Request;
use super::super::super::watch::{Input, State, Why};
use super::{History, ROOT, assert_true};

/// A settled root with two directories of two znodes each.
fn settled() -> History {
    let mut history = History::of_root(false);
    history.server.create(ROOT, false, false);
    for directory in ["/r/d1", "/r/d2"] {
        history.server.create(directory, false, false);
        for leaf in ["n1", "n2"] {
            history.server.create(&format!("{directory}/{leaf}"), true, false);
        }
    }
    history.watch.input(Input::Connected(Why::FirstSync), &mut history.out);
    history.issue();
    history.settle();
    history
}

/// What is asked for until the root is live again.
fn asked_after_gap(history: &mut History) -> Vec<Request> {
    history.reconnect();
    let mut asked = Vec::new();
    while history.watch.state != State::Live {
        asked.extend(history.server.requests.iter().map(|(_, request)| request.clone()));
        while !history.server.requests.is_empty() {
            history.server.serve();
        }
        history.arrive(usize::MAX);
    }
    asked
}

#[test]
fn after_a_gap_in_which_nothing_moved_only_stats_are_asked_for() {
    let mut history = settled();
    let asked = asked_after_gap(&mut history);
    assert!(matches!(&asked[..], [Request::Watch(_), Request::Check(checks)] if checks.len() == 3), "{asked:?}");
    assert_eq!(history.believed.comparisons, 1);
    history.server.change("/r/d1/n1");
    history.reconnect();
    history.settle();
    assert_true(&history, 0);
}

#[test]
fn after_a_gap_only_what_moved_is_listed_and_read() {
    let mut history = settled();
    history.server.watched = false;
    history.server.delete("/r/d1/n1");
    history.server.create("/r/d1/n3", true, false);
    let asked = asked_after_gap(&mut history);
    let [Request::Watch(_), Request::Check(_), Request::List(lists, _), Request::Read(paths)] = &asked[..] else {
        panic!("{asked:?}")
    };
    assert_eq!(lists.iter().map(|(path, _)| &**path).collect::<Vec<_>>(), ["/r/d1"]);
    assert_eq!(paths.iter().map(|path| &**path).collect::<Vec<_>>(), ["/r/d1/n2", "/r/d1/n3"]);
    history.settle();
    assert_true(&history, 0);
}

#[test]
fn directories_with_ever_new_names_leave_nothing_behind() {
    let mut history = settled();
    for at in 0..1_000 {
        let (directory, leaf) = (format!("/r/job-{at}"), format!("/r/job-{at}/n"));
        history.server.create(&directory, false, false);
        history.server.create(&leaf, true, false);
        history.server.delete(&leaf);
        history.server.delete(&directory);
        if at % 100 == 0 {
            history.reconnect();
            history.settle();
        }
    }
    history.settle();
    assert_true(&history, 0);
    let watch = &history.watch;
    assert_eq!((watch.known.len(), watch.ledger.directories().len()), (history.server.tree.len(), 3));
    assert!(watch.moved.is_empty() && watch.rechecks.is_empty() && watch.reads.len() == 0 && watch.lists.is_empty());
}

/// Counters say nothing of a server that came back with another history; the transaction of the last change does.
#[test]
fn a_history_that_was_taken_back_is_noticed() {
    let mut history = settled();
    history.server.watched = false;
    history.server.tree.remove("/r/d1/n2");
    let mut other = history.server.tree["/r/d1/n1"].clone();
    other.facts.czxid = Zxid(90);
    history.server.tree.insert("/r/d1/n9".to_owned(), other);
    history.server.tree.get_mut("/r/d1").unwrap().facts.pzxid = Zxid(90);
    history.reconnect();
    history.settle();
    assert_true(&history, 0);
}

/// How many hold may stand in a directory's data, so nothing is live before that is read.
#[test]
fn data_of_a_directory_that_changed_in_a_gap_are_read_before_the_root_is_live() {
    let mut history = settled();
    history.server.watched = false;
    history.server.change("/r/d1");
    let asked = asked_after_gap(&mut history);
    let reads =
        |request: &Request| matches!(request, Request::Read(paths) if paths.iter().any(|path| **path == *"/r/d1"));
    assert!(asked.iter().any(reads), "{asked:?}");
}

/// Whoever reads the model would wait while all that went is taken out in one piece.
#[test]
fn a_large_directory_in_which_something_moved_is_read_anew() {
    let mut history = settled();
    let leaf = |at: usize| format!("/r/d1/m{at}");
    (0..1_001).for_each(|at| history.server.create(&leaf(at), true, false));
    history.settle();
    history.server.watched = false;
    (0..1_001).for_each(|at| history.server.delete(&leaf(at)));
    let asked = asked_after_gap(&mut history);
    let anew = |request: &Request| matches!(request, Request::Read(paths) if paths.iter().any(|path| **path == *ROOT));
    assert!(asked.iter().any(anew), "{asked:?}");
    history.settle();
    assert_true(&history, 0);
}
