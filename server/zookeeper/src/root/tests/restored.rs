//! Servers that go on with an older state of their data, and what only looks like that.

use lockscope_core::znode::SessionId;

use super::super::super::watch::{Input, Why};
use super::{History, ROOT, Server, assert_true};

/// A settled root with a directory of two znodes.
fn settled() -> History {
    let mut history = History::of_root(false);
    for (path, is_ephemeral) in [(ROOT, false), ("/r/d1", false), ("/r/d1/n1", true), ("/r/d1/n2", true)] {
        history.server.create(path, is_ephemeral, false);
    }
    history.watch.input(Input::Connected(Why::FirstSync), &mut history.out);
    history.issue();
    history.settle();
    history
}

impl History {
    /// What the server has now goes, and what it had when this is called later comes back.
    fn backup(&self) -> impl Fn(&mut Server) + use<> {
        let (tree, zxid) = (self.server.tree.clone(), self.server.zxid);
        move |server| (server.tree, server.zxid, server.watched) = (tree.clone(), zxid, false)
    }
}

#[test]
fn a_child_older_than_its_name_is_of_another_history() {
    for why in [Why::Reconnected, Why::NewSession] {
        let mut history = settled();
        let restore = history.backup();
        history.server.create("/r/d1/n3", true, false);
        history.server.create("/r/d1/n4", true, false);
        history.settle();
        restore(&mut history.server);
        // The directory's last change is newer than the one that was seen, and so is the server's last transaction.
        for name in ["n4", "n5", "n6"] {
            history.server.create(&format!("/r/d1/{name}"), true, false);
        }
        history.reconnect_as(why);
        history.settle();
        assert_true(&history, 0);
        assert_eq!(history.others, [Why::Restored], "{why:?}");
    }
}

#[test]
fn a_directory_before_its_last_change_is_too() {
    let mut history = settled();
    let restore = history.backup();
    history.server.create("/r/d1/n3", true, false);
    history.settle();
    restore(&mut history.server);
    history.reconnect_as(Why::NewSession);
    history.settle();
    assert_true(&history, 0);
    assert_eq!(history.others, [Why::Restored]);
}

/// Members may hold different data for good, and a session moves among them.
#[test]
fn a_directorys_counters_alone_prove_nothing_of_another_member() {
    let mut history = settled();
    let restore = history.backup();
    history.server.create("/r/d1/n3", true, false);
    history.settle();
    restore(&mut history.server);
    history.reconnect_as(Why::Reconnected);
    history.settle();
    assert_true(&history, 0);
    assert_eq!(history.others, []);
}

/// ZooKeeper 3.9 can restore while connections stay, and the watches go with the data.
#[test]
fn a_restore_under_a_connection_is_noticed_and_watched_again() {
    let mut history = settled();
    let restore = history.backup();
    history.server.create("/r/d1/n3", true, false);
    history.settle();
    restore(&mut history.server);
    history.settle();
    assert_true(&history, 0);
    assert_eq!(history.others, [Why::Restored]);
    assert!(history.server.watched);
}

#[test]
fn a_root_older_than_its_name_is_of_another_history() {
    let mut history = settled();
    history.server.watched = false;
    (history.server.tree, history.server.zxid) = (std::collections::BTreeMap::new(), 0);
    history.reconnect_as(Why::NewSession);
    history.settle();
    assert_eq!(history.others, [], "that it is gone says nothing of when");
    history.server.zxid = 100;
    history.server.create(ROOT, false, false);
    history.settle();
    let restore = history.backup();
    history.server.delete(ROOT);
    history.server.create(ROOT, false, false);
    history.settle();
    restore(&mut history.server);
    history.reconnect_as(Why::Reconnected);
    history.settle();
    assert_true(&history, 0);
    assert_eq!(history.others, [Why::Restored]);
}

/// What was found while the link went is not forgotten.
#[test]
fn a_restore_is_read_anew_also_after_another_cut() {
    let mut history = settled();
    history.watch.begin_other_history(Why::Restored, &mut history.out);
    history.reconnect_as(Why::Reconnected);
    history.settle();
    assert_true(&history, 0);
    assert_eq!(history.believed.why, Why::Restored.text());
    assert!(history.watch.other_history.is_none() && history.watch.before.is_none());
}

#[test]
fn a_recreated_znode_is_of_the_same_history() {
    let mut history = settled();
    history.server.watched = false;
    for path in ["/r/d1/n1", "/r/d1/n2"] {
        history.server.delete(path);
        history.server.create(path, true, false);
    }
    history.reconnect_as(Why::NewSession);
    history.settle();
    history.server.delete("/r/d1/n1");
    history.server.create("/r/d1/n1", true, false);
    history.settle();
    assert_true(&history, 0);
    assert_eq!(history.others, []);
}

/// Where as much happened in both histories counters are equal, and the znodes are others'.
#[test]
fn a_new_session_reads_a_small_root_anew() {
    let mut history = settled();
    history.server.watched = false;
    history.server.tree.values_mut().filter(|node| node.facts.owner.is_some()).for_each(|node| {
        node.facts.owner = Some(SessionId(8));
    });
    history.reconnect_as(Why::NewSession);
    history.settle();
    let owner = history.believed.tree["/r/d1/n1"].as_ref().and_then(|facts| facts.owner);
    assert_eq!((owner, history.believed.comparisons), (Some(SessionId(8)), 0));
}
