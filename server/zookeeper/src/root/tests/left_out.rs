//! The same random histories, with patterns of what is never read: all else is exact, and what is left out is counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockscope_core::znode::split_path;

use super::super::super::exclusions::Exclusions;
use super::super::super::request::Request;
use super::super::super::request_counts::RequestCounts;
use super::super::super::watch::{Input, State, Why};
use super::{HISTORIES, History, ROOT, play};

/// All of a directory, some of each, one that is a directory itself.
const PATTERNS: [&[&str]; 4] = [&["/r/d1/**"], &["/r/*/n1"], &["/r/d2"], &["/r/d0/*", "/**/sub"]];

/// So far the count may be off in these histories.
const OFF_BY_MAX: u64 = 3;

fn without(patterns: &[&str], hears: bool) -> (History, Exclusions, Arc<RequestCounts>) {
    let exclusions = Exclusions::new(patterns.iter().map(|pattern| (*pattern).to_owned()).collect());
    let counts = Arc::<RequestCounts>::default();
    let mut history = History::of_root(hears);
    history.watch = history.watch.without(exclusions.clone(), Arc::clone(&counts));
    (history, exclusions, counts)
}

fn assert_all_else_is_true(history: &History, exclusions: &Exclusions, counts: &RequestCounts, seed: u64) {
    let tree = &history.server.tree;
    let real: BTreeMap<&String, _> =
        tree.iter().filter(|(path, _)| !exclusions.covers(path)).map(|(path, node)| (path, node.facts.czxid)).collect();
    let believed: BTreeMap<&String, _> =
        history.believed.tree.iter().filter_map(|(path, facts)| Some((path, facts.as_ref()?.czxid))).collect();
    assert_eq!(believed, real, "seed {seed}");
    assert_eq!(history.watch.state, if real.is_empty() { State::Absent } else { State::Live }, "seed {seed}");
    let parent_is_read = |path: &&String| split_path(path).is_some_and(|(parent, _)| !exclusions.covers(parent));
    let left_out = tree.keys().filter(|path| exclusions.covers(path)).filter(parent_is_read).count();
    // An event may be handled before an answer that is older: what is counted is about what there is.
    assert!(counts.excluded().abs_diff(left_out as u64) <= OFF_BY_MAX, "seed {seed}: {} {left_out}", counts.excluded());
}

#[test]
fn what_is_left_out_is_counted_and_all_else_is_exact() {
    let mut ignored = 0;
    for seed in 1..=HISTORIES {
        let patterns = PATTERNS[usize::try_from(seed % 4).unwrap()];
        let (history, exclusions, counts) = without(patterns, seed % 8 < 4);
        let history = play(history, seed, false);
        assert_all_else_is_true(&history, &exclusions, &counts, seed);
        assert_eq!(history.believed.missed, 0, "seed {seed}: what is left out is not missed");
        ignored += counts.excluded_events();
    }
    assert!(ignored > HISTORIES, "{ignored}");
}

/// What may not be read comes and goes without an event, whether it is left out or not.
#[test]
fn the_believed_tree_is_right_where_some_may_not_be_read_and_some_are_left_out() {
    for seed in 1..=HISTORIES {
        let patterns = PATTERNS[usize::try_from(seed % 4).unwrap()];
        let (history, exclusions, _) = without(patterns, seed % 8 < 4);
        let history = play(history, seed, true);
        let real: Vec<_> = history.server.tree.keys().filter(|path| !exclusions.covers(path)).collect();
        assert_eq!(history.believed.tree.keys().collect::<Vec<_>>(), real, "seed {seed}");
    }
}

#[test]
fn nothing_that_is_left_out_is_asked_for() {
    let (mut history, _, counts) = without(&["/r/d1/**", "/r/*/n2"], true);
    history.server.create(ROOT, false, false);
    for directory in ["/r/d1", "/r/d2"] {
        history.server.create(directory, false, false);
        for leaf in ["n1", "n2"] {
            history.server.create(&format!("{directory}/{leaf}"), true, false);
        }
    }
    history.watch.input(Input::Connected(Why::FirstSync), &mut history.out);
    history.issue();
    for round in 0..200 {
        for (_, request) in &history.server.requests {
            let asked: Vec<&str> = match request {
                Request::Read(paths) | Request::Stat(paths) => paths.iter().map(|path| &**path).collect(),
                Request::List(lists, _) => {
                    let listed: Vec<&str> = lists.iter().map(|(path, _)| &**path).collect();
                    assert!(!listed.contains(&"/r/d1"), "{listed:?}");
                    listed
                }
                Request::Check(checks) => {
                    let compared: Vec<&str> = checks.iter().map(|check| &*check.directory).collect();
                    assert!(!compared.contains(&"/r/d1"), "{compared:?}");
                    compared
                }
                Request::Watch(_) => Vec::new(),
            };
            assert!(!asked.iter().any(|path| path.starts_with("/r/d1/") || path.ends_with("/n2")), "{asked:?}");
        }
        if history.server.requests.is_empty() {
            history.watch.tick(&mut history.out);
            history.issue();
        }
        if round == 100 {
            history.reconnect();
        }
        history.server.serve();
        history.arrive(usize::MAX);
    }
    assert_eq!(history.watch.state, State::Live);
    assert_eq!((counts.excluded(), counts.excluded_events()), (3, 0));
    history.server.delete("/r/d1/n1");
    history.arrive(usize::MAX);
    assert_eq!((counts.excluded(), counts.excluded_events()), (2, 1));
    assert!(!history.server.child_watches.contains("/r/d1") && history.server.child_watches.contains("/r/d2"));
}
