//! Lives of a few locks: clients come and go, sessions end, links are lost, and the server is started again.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

/// What happens next.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// A client of a session, or of none, puts a znode in a lock; with the number of the one before it, if so said.
    Create { lock: usize, session: Option<u8>, is_same_number: bool },
    /// One of a lock's znodes goes.
    Delete { lock: usize, which: usize },
    /// All that a session owns goes.
    EndSession(u8),
    /// A lock's directory goes, with all that is in it.
    Remove(usize),
    /// So many milliseconds pass.
    Pass(i64),
    /// Our member does not answer for a while, and nothing of that is noticed but the silence.
    Silence(i64),
    /// The link is lost, or found again.
    Link,
    /// The server is stopped, and started again so many milliseconds later.
    Restart(i64),
}

/// A life.
pub(crate) fn life() -> impl Strategy<Value = Vec<Act>> {
    let session = prop_oneof![6 => (1_u8..6).prop_map(Some), 1 => Just(None)];
    let act = prop_oneof![
        10 => (0..LOCKS.len(), session, prop::bool::weighted(0.1))
            .prop_map(|(lock, session, is_same_number)| Act::Create { lock, session, is_same_number }),
        6 => (0..LOCKS.len(), 0..4_usize).prop_map(|(lock, which)| Act::Delete { lock, which }),
        1 => (1_u8..6).prop_map(Act::EndSession),
        1 => (0..LOCKS.len()).prop_map(Act::Remove),
        10 => (1..9_000_i64).prop_map(Act::Pass),
        1 => (1..20_000_i64).prop_map(Act::Pass),
        1 => (1..9_000_i64).prop_map(Act::Silence),
        2 => Just(Act::Link),
        1 => (1..40_000_i64).prop_map(Act::Restart),
    ];
    vec(act, 1..70)
}

/// The locks, and how their znodes are named before and behind what tells two of one number apart.
const LOCKS: [(&str, &str, &str); 4] = [
    ("/locks/a", "_c_", "-0123-4567-89ab-0123456789ab-lock-"),
    ("/locks/b", "", "00004a4a8b8b0123456789ab__lock__"),
    ("/locks/c", "", "00004a4a8b8b0123456789ab__lock__"),
    ("/locks/election", "_c_", "-0123-4567-89ab-0123456789ab-latch-"),
];

/// What there is in ZooKeeper, whoever sees it.
#[derive(Debug, Default)]
pub(crate) struct World {
    nodes: BTreeMap<String, Node>,
    directories: BTreeMap<&'static str, u32>,
    zxid: i64,
}

#[derive(Debug)]
struct Node {
    lock: usize,
    session: Option<u8>,
    /// As a read tells it, after the path.
    facts: String,
}

impl World {
    /// Does it, and says what an observer sees of it, in the language of the core's tests.
    pub(crate) fn act(&mut self, act: &Act, now_ms: i64) -> String {
        match act {
            Act::Create { lock, session, is_same_number } => self.create(*lock, *session, *is_same_number, now_ms),
            Act::Delete { lock, which } => {
                let of_it = self.nodes.iter().filter(|(_, node)| node.lock == *lock);
                let path = of_it.map(|(path, _)| path.clone()).nth(*which);
                self.delete(path.into_iter().collect(), now_ms)
            }
            Act::EndSession(session) => {
                let owned = self.nodes.iter().filter(|(_, node)| node.session == Some(*session));
                let owned = owned.map(|(path, _)| path.clone()).collect();
                self.delete(owned, now_ms)
            }
            Act::Remove(lock) => {
                let in_it = self.nodes.iter().filter(|(_, node)| node.lock == *lock);
                let in_it = in_it.map(|(path, _)| path.clone()).collect();
                let lines = self.delete(in_it, now_ms);
                let directory = LOCKS[*lock].0;
                match self.directories.remove(directory) {
                    Some(_) => format!("{lines}{now_ms} - {directory}\n"),
                    None => lines,
                }
            }
            Act::Pass(_) | Act::Silence(_) | Act::Link | Act::Restart(_) => String::new(),
        }
    }

    fn create(&mut self, lock: usize, session: Option<u8>, is_same_number: bool, now_ms: i64) -> String {
        let (directory, before, behind) = LOCKS[lock];
        let mut lines = String::new();
        let count = self.directories.entry(directory).or_insert_with(|| {
            lines = format!("{now_ms} + {directory}\n");
            0
        });
        *count += 1;
        self.zxid += 1;
        let number = if is_same_number { count.saturating_sub(2) } else { *count - 1 };
        let path = format!("{directory}/{before}{:08x}{behind}{number:010}", self.zxid);
        let owner = session.map_or_else(String::new, |session| format!(" owner={session}"));
        let facts = format!("ctime={now_ms} czxid={}{owner}", 1_000 + self.zxid);
        lines += &format!("{now_ms} + {path}\n{now_ms} = {path} {facts}\n");
        self.nodes.insert(path, Node { lock, session, facts });
        lines
    }

    fn delete(&mut self, paths: Vec<String>, now_ms: i64) -> String {
        let gone = paths.into_iter().filter(|path| self.nodes.remove(path).is_some());
        gone.map(|path| format!("{now_ms} - {path}\n")).collect()
    }

    /// Everything is read anew.
    pub(crate) fn read(&self, now_ms: i64) -> String {
        let directories =
            self.directories.iter().map(|(path, count)| format!("{now_ms} node {path} czxid=3 created={count}\n"));
        let nodes = self.nodes.iter().map(|(path, node)| format!("{now_ms} node {path} {}\n", node.facts));
        let all: String = directories.chain(nodes).collect();
        format!("{now_ms} sync /locks\n{now_ms} node /locks\n{all}{now_ms} link live\n{now_ms} end /locks\n")
    }
}
