//! How one watched root takes events and replies. No I/O; order matters, see the module above.

use std::collections::HashSet;
use std::hash::BuildHasher as _;
use std::sync::Arc;

use lockscope_core::observation::Observation;
use lockscope_core::znode::{Facts, Zxid, join_path, split_path};

use super::super::outbox::Outbox;
use super::super::reads::{ChildEvents, Purpose, Settled};
use super::super::request::{Epoch, ListPurpose, ListReply, NodeReply, Reply};
use super::super::stat_counters::Missed;
use super::super::translate::{NodeEvent, WatchFailure};
use super::super::watch::{Input, State, Why};
use super::{DENIED_MAX, Distrust, GONE_MAX, LISTS_MAX, Listing, Recheck, RootWatch};

impl RootWatch {
    pub(in super::super) fn event(&mut self, event: NodeEvent, out: &mut Outbox) {
        if self.is_unfollowed() {
            return self.hurry();
        }
        if self.leaves_out(&event) {
            return;
        }
        let (NodeEvent::Created(path) | NodeEvent::Deleted(path) | NodeEvent::Changed(path)) = &event;
        if self.bound.hides(path) {
            return;
        }
        if **path == *self.path {
            return self.root_event(event, out);
        }
        if !matches!(self.state, State::Live | State::Syncing { .. }) {
            return;
        }
        match event {
            NodeEvent::Created(path) => self.created(path, out),
            NodeEvent::Deleted(path) => self.deleted(path, out),
            NodeEvent::Changed(path) => self.changed(&path, out),
        }
    }

    /// In a sync, what lies below a znode that has not been read yet will be listed after it: nothing to say now.
    pub(super) fn comes_with_its_parent(&mut self, parent: &str, created: bool) -> bool {
        if self.state == State::Live || self.knows(parent) {
            return false;
        }
        self.reads.child_event(parent, created);
        true
    }

    fn created(&mut self, path: Box<str>, out: &mut Outbox) {
        let Some((parent, _)) = split_path(&path) else { return };
        if self.comes_with_its_parent(parent, true) {
            return;
        }
        if !self.knows(parent) {
            // Its parent is unreadable: look for it.
            self.want(parent, Purpose::Found, out);
        }
        if let Some(recheck) = self.recheck(parent)
            && let Some((_, name)) = split_path(&path)
        {
            recheck.gone.remove(name);
            recheck.came.insert(name.into());
        }
        self.child_seen(parent, true);
        self.know(&path, Zxid(0));
        self.ledger.created(&path);
        out.push(Observation::NodeCreated { root: self.id, path: path.clone() });
        self.want(&path, Purpose::Event, out);
    }

    fn deleted(&mut self, path: Box<str>, out: &mut Outbox) {
        self.reads.forget(&path);
        let Some((parent, name)) = split_path(&path) else { return };
        if let Some(recheck) = self.recheck(parent) {
            recheck.came.remove(name);
            recheck.gone.insert(name.into());
            if recheck.gone.len() + recheck.came.len() > GONE_MAX {
                return self.input(Input::Untrusted(Why::CountersDiffer), out);
            }
        }
        if self.comes_with_its_parent(parent, false) {
            return;
        }
        self.child_seen(parent, false);
        // No event reported that its unreadable children went, but they must have: only an empty znode can be deleted.
        let unreadable: Vec<String> = self.ledger.unreadable.within(&path).map(|name| join_path(&path, name)).collect();
        for path in unreadable {
            self.forget(&path);
            out.push(Observation::NodeDeleted { root: self.id, path: path.into() });
        }
        self.forget(&path);
        out.push(Observation::NodeDeleted { root: self.id, path });
    }

    /// The list of a directory that is under way. Almost always none is, and no path is hashed then.
    fn recheck(&mut self, directory: &str) -> Option<&mut Recheck> {
        if self.rechecks.is_empty() { None } else { self.rechecks.get_mut(directory) }
    }

    pub(super) fn changed(&mut self, path: &str, out: &mut Outbox) {
        if self.state == State::Live || self.knows(path) {
            self.want(path, Purpose::Event, out);
        } else {
            self.reads.touch(path);
        }
    }

    pub(super) fn want(&mut self, path: &str, purpose: Purpose, out: &mut Outbox) {
        if !self.reads.want(path, purpose) {
            self.input(Input::Untrusted(Why::EventsLost), out);
        }
    }

    /// An event reported a child that came or went.
    pub(super) fn child_seen(&mut self, directory: &str, created: bool) {
        if self.ledger.child_seen(directory, created) {
            self.hints.want(directory);
        }
        self.hints.shown(directory, 1);
        self.reads.child_event(directory, created);
    }

    pub(super) fn forget(&mut self, path: &str) {
        let hash = self.keys.hash_one(path);
        self.known.remove(&hash);
        if let Some(moved) = self.moved_around(path) {
            moved.remove(&hash);
        }
        self.moved.remove(path);
        if let Some(refresh) = &mut self.refresh {
            refresh.forget(hash);
        }
        self.ledger.gone(path);
        self.left_out.forget(path);
        self.hints.gone(path);
        self.bound.gone(path);
    }

    /// A reply to a request sent in `epoch`.
    pub(in super::super) fn reply(&mut self, epoch: Epoch, reply: Reply, out: &mut Outbox) {
        if epoch != self.epoch {
            return;
        }
        match reply {
            // Whoever holds the watcher calls `armed`.
            Reply::Watch(Ok(_)) => self.armed(epoch, out),
            Reply::Watch(Err(WatchFailure::Refused)) => self.input(Input::Refused, out),
            Reply::Watch(Err(WatchFailure::Passing)) => self.input(Input::ArmFailed, out),
            Reply::Nodes(nodes) => self.nodes(epoch, nodes, out),
            Reply::Lists(lists) => self.listed(epoch, lists, out),
            Reply::Checks(checks) => self.checked(epoch, checks, out),
            Reply::Failed => self.input(Input::ReadFailed, out),
        }
        self.complete_sync(epoch, out);
    }

    fn complete_sync(&mut self, epoch: Epoch, out: &mut Outbox) {
        let syncing = matches!(self.state, State::Syncing { .. }) && epoch == self.epoch;
        let is_done = match self.is_comparing {
            true => self.is_compared(),
            false => self.reads.sync_left() == 0 && self.sync_lists_left == 0,
        };
        if syncing && is_done && !self.trust.is_proving() {
            self.input(Input::SyncComplete, out);
        }
    }

    fn nodes(&mut self, epoch: Epoch, nodes: Vec<(Arc<str>, NodeReply)>, out: &mut Outbox) {
        for (path, reply) in nodes {
            if epoch != self.epoch {
                return;
            }
            match reply {
                NodeReply::Denied if self.denied.len() >= DENIED_MAX => return self.input(Input::ReadFailed, out),
                NodeReply::Denied => self.denied.push_back(path),
                NodeReply::StatDenied => {
                    if let Some(Settled::Valid { purpose, .. }) = self.reads.settle(&path)
                        && !self.is_orphan(&path, true)
                    {
                        self.denied_node(path, purpose, out);
                    }
                }
                NodeReply::Failed => return self.input(Input::ReadFailed, out),
                NodeReply::Missing => {
                    let settled = self.reads.settle(&path);
                    self.left_out.forget(&path);
                    let Some(Settled::Valid { purpose, .. }) = settled else { continue };
                    if path == self.path {
                        self.input(Input::RootMissing, out);
                    } else if purpose == Purpose::Found
                        && !self.knows(&path)
                        && let Some((parent, _)) = split_path(&path)
                    {
                        // A list showed it, and it went before it could be read: no event reports that.
                        self.ledger.add_ghosts(parent, 1);
                    }
                }
                NodeReply::Facts { facts, unreadable } => {
                    if let Some(Settled::Valid { purpose, child_events }) = self.reads.settle(&path)
                        && !self.is_orphan(&path, unreadable)
                    {
                        self.node(path, facts, unreadable, purpose, child_events, out);
                    }
                }
            }
        }
    }

    fn node(
        &mut self,
        path: Arc<str>,
        facts: Box<Facts>,
        unreadable: bool,
        purpose: Purpose,
        child_events: ChildEvents,
        out: &mut Outbox,
    ) {
        let counts = self.state != State::Live && self.sync_why != Why::Reconnected;
        if self.is_of_other_history(&path, &facts, counts, out) {
            return;
        }
        if path == self.path {
            if unreadable {
                return self.input(Input::RootDenied, out);
            }
            if !self.trust.prove(&facts) {
                return self.disbelieve(Distrust::WrongPaths, out);
            }
            self.announce_if_syncing(out);
        }
        self.know(&path, facts.czxid);
        if self.ledger.read(&path, &facts, child_events) {
            self.sweep.want(&path);
        }
        if purpose == Purpose::Event && self.bound.leaves_out(&path) {
            self.ledger.uncount(&path);
        }
        self.ledger.choose_way(&path, unreadable, facts.payload_bytes);
        if unreadable {
            self.ledger.unreadable.add(&path);
            self.guard(out);
        } else {
            self.ledger.unreadable.remove(&path);
        }
        let is_read = !self.leaves_out_children(&path, facts.children);
        // One that never had a child may never have one: an entry of a queue, say.
        let is_watched = self.guarded || self.trust.distrust().is_some() || facts.creates_ever() > 0;
        let is_directory = self.ledger.has(&path) && !unreadable && is_watched;
        if is_directory {
            self.hints.want(&path);
        }
        let (root, at, children) = (self.id, Box::from(&*path), facts.children);
        out.push(match purpose {
            Purpose::Sync => Observation::SyncNode { root, path: at, facts, unreadable },
            Purpose::Event | Purpose::Found => Observation::NodeRead { root, path: at, facts, unreadable },
        });
        // The children of an unreadable znode may not be listed either.
        if is_read && !unreadable && purpose != Purpose::Event && (children > 0 || child_events.creates > 0) {
            if !self.has_room(&path, children, out) {
                return;
            }
            let list_purpose = if purpose == Purpose::Sync { ListPurpose::Sync } else { ListPurpose::Found };
            self.list(Arc::clone(&path), list_purpose, children);
            if self.lists.len() > LISTS_MAX {
                return self.input(Input::ReadFailed, out);
            }
        }
        if is_directory && self.is_exposed(&path) {
            self.say_incomplete(&path, true, out);
        }
    }

    /// A znode is there, and nothing of it may be read.
    fn denied_node(&mut self, path: Arc<str>, purpose: Purpose, out: &mut Outbox) {
        if path == self.path {
            return self.input(Input::RootDenied, out);
        }
        self.know(&path, Zxid(0));
        self.ledger.uncount(&path);
        self.ledger.unreadable.add(&path);
        self.guard(out);
        out.push(Observation::NodeDenied { root: self.id, path: Box::from(&*path), in_sync: purpose == Purpose::Sync });
    }

    /// An unreadable znode whose directory was deleted while it was being read: it must be gone too.
    fn is_orphan(&self, path: &Arc<str>, unreadable: bool) -> bool {
        unreadable && *path != self.path && split_path(path).is_some_and(|(parent, _)| !self.knows(parent))
    }

    fn announce_if_syncing(&mut self, out: &mut Outbox) {
        if matches!(self.state, State::Syncing { .. }) {
            self.announce(out);
        }
    }

    pub(super) fn list(&mut self, directory: Arc<str>, purpose: ListPurpose, names: u32) {
        self.sync_lists_left += usize::from(purpose == ListPurpose::Sync);
        if purpose != ListPurpose::Sync {
            self.other_lists_left += 1;
            let recheck = self.rechecks.entry(Arc::clone(&directory)).or_default();
            recheck.is_mixed |= recheck.lists > 0;
            recheck.lists += 1;
        }
        self.lists.push_back(Listing { directory, purpose, names });
    }

    fn listed(&mut self, epoch: Epoch, lists: Vec<(Arc<str>, ListPurpose, ListReply)>, out: &mut Outbox) {
        for (directory, purpose, reply) in lists {
            if epoch != self.epoch {
                return;
            }
            self.sync_lists_left -= usize::from(purpose == ListPurpose::Sync);
            self.other_lists_left -= usize::from(purpose != ListPurpose::Sync);
            let Recheck { gone, came, is_mixed, .. } =
                if purpose == ListPurpose::Sync { Recheck::default() } else { self.end_recheck(&directory) };
            let mut names: Vec<String> = match reply {
                ListReply::Names(names) => names.into_iter().filter(|name| !gone.contains(name.as_str())).collect(),
                // It went, or may not be listed any more.
                ListReply::Nothing if purpose == ListPurpose::Gap => return self.read_anew(out),
                ListReply::Nothing => Vec::new(),
                ListReply::Failed => return self.input(Input::ReadFailed, out),
            };
            self.leave_out(&directory, &mut names);
            match purpose {
                ListPurpose::Gap => self.listed_after_gap(&directory, names, came, out),
                ListPurpose::Refresh => self.refresh_children(&directory, &names),
                ListPurpose::Sync => _ = self.want_unknown(&directory, &names, Purpose::Sync, out),
                ListPurpose::Found => _ = self.want_unknown(&directory, &names, Purpose::Found, out),
                ListPurpose::Recheck(unseen) => self.rechecked(&directory, &names, unseen, is_mixed, out),
            }
        }
    }

    /// A list arrived: the children that came and went while it was under way, and whether it was mixed with another.
    fn end_recheck(&mut self, directory: &Arc<str>) -> Recheck {
        let Some(recheck) = self.rechecks.get_mut(directory) else { return Recheck::default() };
        recheck.lists -= 1;
        if recheck.lists == 0 { self.rechecks.remove(directory).unwrap_or_default() } else { recheck.clone() }
    }

    /// Reads the children that are not known; gives their number.
    fn want_unknown(&mut self, directory: &str, names: &[String], purpose: Purpose, out: &mut Outbox) -> u32 {
        let mut count: u32 = 0;
        for name in names {
            let path = join_path(directory, name);
            if !self.is_hidden(&path) && !self.knows_in(directory, &path) {
                count = count.saturating_add(1);
                self.want(&path, purpose, out);
            }
        }
        count
    }

    /// A directory whose counters reported more than events did has been listed: unreadable children that came are
    /// read, unreadable ones that went are reported; what is left unexplained came and went unseen.
    fn rechecked(&mut self, directory: &str, names: &[String], unseen: Missed, is_mixed: bool, out: &mut Outbox) {
        let came = self.want_unknown(directory, names, Purpose::Found, out);
        let present: HashSet<&str> = names.iter().map(String::as_str).collect();
        let unreadable =
            self.ledger.unreadable.within(directory).map(|name| (join_path(directory, name), present.contains(name)));
        let (stayed, gone): (Vec<_>, Vec<_>) = unreadable.partition(|(_, stayed)| *stayed);
        let went = u32::try_from(gone.len()).unwrap_or(u32::MAX);
        let unseen = self.unexplained(directory, unseen, came, went);
        for (path, _) in gone {
            self.forget(&path);
            out.push(Observation::NodeDeleted { root: self.id, path: path.into() });
        }
        let (more_came, more_went) = (came.saturating_sub(unseen.creates), went.saturating_sub(unseen.deletes));
        if (is_mixed || unseen == Missed::default()) && came + went > 0 {
            // Before the comparison or after it: nobody knows, so the next one counts from there, until a list shows
            // nothing new.
            self.ledger.doubt(directory);
            self.say_incomplete(directory, true, out);
        } else {
            self.ledger.seen_by_list(directory, more_came, more_went);
        }
        self.hints.shown(directory, more_came.saturating_add(more_went));
        let missed = unseen.creates.saturating_sub(came);
        if missed > 0 || unseen == Missed::default() {
            // A name that is there may be another incarnation by now.
            stayed.iter().for_each(|(path, _)| self.want(path, Purpose::Found, out));
        }
        if missed > 0 {
            self.missed = self.missed.saturating_add(u64::from(missed));
            out.push(Observation::Missed { root: self.id, path: directory.into(), creates: missed });
            self.ledger.add_ghosts(directory, missed);
        }
        if !self.ledger.lay_ghosts(directory, unseen.deletes.saturating_sub(went)) {
            self.input(Input::Untrusted(Why::CountersDiffer), out);
        }
    }
}
