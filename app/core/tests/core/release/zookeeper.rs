//! A small ZooKeeper for races: one directory, its children, sessions, and connections that carry requests in order
//! and may break at any moment with anything still under way. It keeps a record of every deletion, which is the truth.

use std::collections::{BTreeMap, VecDeque};

use lockscope_core::release::{Answer, ChildCounters, Seen};
use lockscope_core::znode::{SessionId, Zxid};

/// A child.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) czxid: i64,
    pub(super) owner: i64,
    pub(super) version: i32,
}

/// Who deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    World,
    /// The order of this number.
    Order(usize),
}

/// Requests of an order's connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Request {
    Sync,
    Directory,
    Node,
    Delete(i32),
}

/// What comes back.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reply {
    Synced,
    Directory(Option<ChildCounters>),
    Node(Option<Seen>),
    Answer(Answer),
    /// An event of the watch on the target's name.
    Deleted,
}

/// The connection of one order.
#[derive(Debug, Default)]
pub(super) struct Connection {
    pub(super) to_server: VecDeque<Request>,
    pub(super) to_client: VecDeque<Reply>,
    /// Sent on a connection that is no more; may arrive until the session is known to be elsewhere.
    pub(super) stray: VecDeque<Request>,
    pub(super) is_watching: bool,
    pub(super) is_broken: bool,
}

/// The server.
#[derive(Debug)]
pub(super) struct Zk {
    pub(super) zxid: i64,
    pub(super) directory: Option<(i64, i32)>,
    pub(super) counter: u32,
    pub(super) nodes: BTreeMap<String, Node>,
    pub(super) deletions: Vec<(i64, By)>,
    pub(super) target: String,
    pub(super) denies: bool,
    pub(super) is_readable: bool,
    pub(super) connections: Vec<Connection>,
}

impl Zk {
    pub(super) fn new(orders: usize) -> Self {
        Self {
            zxid: 100,
            directory: Some((99, 0)),
            counter: 0,
            nodes: BTreeMap::new(),
            deletions: Vec::with_capacity(8),
            target: String::new(),
            denies: false,
            is_readable: true,
            connections: (0..orders).map(|_| Connection::default()).collect(),
        }
    }

    fn changed(&mut self) -> i64 {
        self.zxid += 1;
        if let Some((_, cversion)) = &mut self.directory {
            *cversion += 1;
        }
        self.zxid
    }

    pub(super) fn create(&mut self, name: &str, owner: i64) -> bool {
        if self.directory.is_none() || self.nodes.contains_key(name) {
            return false;
        }
        let czxid = self.changed();
        self.counter += 1;
        self.nodes.insert(name.to_owned(), Node { czxid, owner, version: 0 });
        true
    }

    pub(super) fn create_numbered(&mut self, owner: i64) -> Option<String> {
        let name = format!("lock-{:010}", self.counter);
        self.create(&name, owner).then_some(name)
    }

    pub(super) fn delete(&mut self, name: &str, by: By) -> bool {
        let Some(node) = self.nodes.remove(name) else { return false };
        self.changed();
        self.deletions.push((node.czxid, by));
        if *name == self.target && self.is_readable {
            for connection in
                self.connections.iter_mut().filter(|connection| connection.is_watching && !connection.is_broken)
            {
                connection.to_client.push_back(Reply::Deleted);
            }
        }
        true
    }

    pub(super) fn end_session(&mut self, session: i64) {
        let owned: Vec<String> =
            self.nodes.iter().filter(|(_, node)| node.owner == session).map(|(name, _)| name.clone()).collect();
        for name in owned {
            self.delete(&name, By::World);
        }
    }

    /// An empty directory is reaped, and made anew by whoever comes next.
    pub(super) fn make_anew(&mut self) -> bool {
        if !self.nodes.is_empty() {
            return false;
        }
        self.zxid += 2;
        self.directory = Some((self.zxid, 0));
        self.counter = 0;
        true
    }

    fn seen(&self) -> Option<Seen> {
        let owner = |node: &Node| (node.owner != 0).then_some(SessionId(node.owner));
        self.nodes.get(&self.target).map(|node| Seen {
            czxid: Zxid(node.czxid),
            owner: owner(node),
            version: node.version,
            children: 0,
        })
    }

    /// What the server answers to a request of an order.
    pub(super) fn answer(&mut self, order: usize, request: Request) -> Reply {
        match request {
            Request::Sync => Reply::Synced,
            Request::Directory => Reply::Directory(self.directory.map(|(czxid, cversion)| ChildCounters {
                czxid: Zxid(czxid),
                cversion,
                children: u32::try_from(self.nodes.len()).unwrap(),
            })),
            Request::Node => Reply::Node(self.seen()),
            Request::Delete(version) => Reply::Answer(match self.nodes.get(&self.target) {
                _ if self.denies => Answer::NoRight,
                None => Answer::NoNode,
                Some(node) if node.version != version => Answer::BadVersion,
                Some(_) => {
                    let name = self.target.clone();
                    self.delete(&name, By::Order(order));
                    Answer::Done
                }
            }),
        }
    }

    /// The server takes the next request of a connection.
    pub(super) fn serve(&mut self, order: usize) -> bool {
        let Some(request) = self.connections[order].to_server.pop_front() else { return false };
        let reply = self.answer(order, request);
        self.connections[order].to_client.push_back(reply);
        true
    }

    /// Something that was sent before a break arrives after all.
    pub(super) fn serve_stray(&mut self, order: usize) -> bool {
        let Some(request) = self.connections[order].stray.pop_front() else { return false };
        self.answer(order, request);
        true
    }

    /// The connection breaks: replies are lost, requests may still arrive.
    pub(super) fn cut(&mut self, order: usize) {
        let connection = &mut self.connections[order];
        connection.to_client.clear();
        let stray = std::mem::take(&mut connection.to_server);
        connection.stray.extend(stray);
        connection.is_broken = true;
        connection.is_watching = false;
    }
}
