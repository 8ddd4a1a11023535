//! After a gap a root need not be read anew: the Stat of each directory shows whether a child came or went in it
//! meanwhile. Only those in which something moved are listed, and their children read. What no directory shows is that
//! the data of a child changed: all children are read again afterwards, at leisure.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::sync::Arc;

use lockscope_core::observation::Observation;
use lockscope_core::znode::{Zxid, join_path};

use super::super::outbox::Outbox;
use super::super::reads::Purpose;
use super::super::request::{ListPurpose, NodeReply, READS_A_REQUEST};
use super::super::stat_counters::{AfterGap, Version};
use super::super::watch::{Input, Why};
use super::sweep::Sweep;
use super::{LISTS_MAX, RootWatch};

/// Znodes that were not read yet when the link went; with more of them the root is read anew.
const UNREAD_MAX: usize = 4 * READS_A_REQUEST;
/// Children of a directory in which something moved, before or after; where there are more, the root is read anew: to
/// take so many out at once would hold up whoever reads the model.
const CHILDREN_MAX: u32 = 1_000;
/// Children of any directory: they are read again at once, and others' reads wait behind them.
const KEPT_CHILDREN_MAX: u32 = 50_000;
const REFRESHED_A_TICK: usize = 1_000;

/// What is believed of a root was complete when the link went.
#[derive(Debug)]
pub(super) struct Kept {
    /// But for what was still to be read.
    unread: Vec<Arc<str>>,
}

/// How far all children were read again.
#[derive(Debug, Default)]
pub(super) struct Refresh {
    directories: Vec<Arc<str>>,
    listing: usize,
    /// As the root's own, of what is there: of what went in the gap that has the czxids still.
    known: HashMap<u64, Zxid>,
}

impl Refresh {
    pub(super) fn know(&mut self, hash: u64, czxid: Zxid) {
        let newest = self.known.entry(hash).or_default();
        *newest = czxid.max(*newest);
    }

    pub(super) fn forget(&mut self, hash: u64) {
        self.known.remove(&hash);
    }
}

impl RootWatch {
    /// What a sync after a gap may build on; nothing where something may not be read or was just being looked for, for
    /// counters alone show too little then.
    pub(super) fn keep(&self) -> Option<Kept> {
        let is_complete = !self.guarded
            && self.denied.is_empty()
            && self.lists.is_empty()
            && self.rechecks.is_empty()
            && self.bound.is_whole()
            && self.ledger.has(&self.path)
            && self.ledger.is_complete(KEPT_CHILDREN_MAX);
        let unread = || Kept { unread: self.reads.unsettled() };
        (is_complete && self.reads.len() <= UNREAD_MAX).then(unread)
    }

    /// The watch is set again: asks for the Stat of every directory.
    pub(super) fn begin_comparison(&mut self, why: Why, kept: Kept, out: &mut Outbox) {
        self.is_comparing = true;
        self.sync_why = why;
        self.announced = true;
        out.comparison_began(self.id, why);
        for path in kept.unread {
            self.want(&path, Purpose::Found, out);
        }
        self.count_left_out_anew(out);
        self.ledger.begin_round();
        self.sweep.begin(usize::MAX);
    }

    /// Takes in the Stat of one.
    pub(super) fn compare_after_gap(
        &mut self,
        directory: Arc<str>,
        stamp: Version,
        reply: NodeReply,
        out: &mut Outbox,
    ) {
        let facts = match reply {
            NodeReply::Facts { facts, .. } => facts,
            // It may be there again by now.
            NodeReply::Missing if directory == self.path => return self.read_anew(out),
            // The directory that it was in shows that.
            NodeReply::Missing => return,
            NodeReply::Denied | NodeReply::StatDenied => return self.read_anew(out),
            NodeReply::Failed => return self.input(Input::ReadFailed, out),
        };
        if self.is_of_other_history(&directory, &facts, self.sync_why != Why::Reconnected, out) {
            return;
        }
        let children = facts.children;
        let most = self.ledger.children(&directory).unwrap_or(0).max(children);
        match self.ledger.after_gap(&directory, &facts, stamp) {
            AfterGap::Same { data_changed: false } => {}
            // Waited for: its data may say how many hold.
            AfterGap::Same { data_changed: true } => self.want(&directory, Purpose::Found, out),
            AfterGap::Moved if most <= CHILDREN_MAX => {
                out.push(Observation::Counted { root: self.id, path: (&*directory).into(), facts });
                self.list(directory, ListPurpose::Gap, children);
            }
            AfterGap::Moved | AfterGap::Reborn => self.read_anew(out),
        }
    }

    /// Counters are not enough.
    pub(super) fn read_anew(&mut self, out: &mut Outbox) {
        self.input(Input::Untrusted(self.sync_why), out);
    }

    /// A directory in which something moved was listed: who is not there went, and the others are read, for one may have
    /// the name of another that was there before. Directories among them have a Stat of their own to be compared.
    pub(super) fn listed_after_gap(
        &mut self,
        directory: &Arc<str>,
        mut names: Vec<String>,
        came: HashSet<Box<str>>,
        out: &mut Outbox,
    ) {
        let listed: HashSet<&str> = names.iter().map(String::as_str).collect();
        let came: HashSet<Box<str>> = came.into_iter().filter(|name| !listed.contains(&**name)).collect();
        let is_there = |path: &str| {
            let name = path.get(directory.trim_end_matches('/').len() + 1..).and_then(|rest| rest.split('/').next());
            name.is_some_and(|name| listed.contains(name) || came.contains(name))
        };
        let gone: Vec<Arc<str>> = self.ledger.below(directory).into_iter().filter(|path| !is_there(path)).collect();
        gone.iter().for_each(|path| self.forget(path));
        for name in &names {
            let path = join_path(directory, name);
            if !self.is_hidden(&path) && !self.ledger.has(&path) {
                self.want(&path, Purpose::Found, out);
            }
        }
        names.extend(came.into_iter().map(String::from));
        let hashes = names.iter().map(|name| self.keys.hash_one(&*join_path(directory, name))).collect();
        self.moved.insert(Arc::clone(directory), hashes);
        let names = names.into_iter().map(String::into_boxed_str).collect();
        out.push(Observation::Listed { root: self.id, path: (&**directory).into(), names });
    }

    /// Whether all that the counters showed is read.
    pub(super) fn is_compared(&self) -> bool {
        self.sweep.is_over()
            && self.lists.is_empty()
            && self.denied.is_empty()
            && self.other_lists_left == 0
            && self.reads.found_left() == 0
    }

    pub(super) fn end_comparison(&mut self, out: &mut Outbox) {
        if self.guarded {
            // Something was found that may not be read.
            self.begin_sweep(out);
        } else {
            self.sweep = Sweep::default();
            self.hints.begin_anew(|path| self.ledger.has(path));
        }
        let root = self.keys.hash_one(&*self.path);
        let known = self.known.get_key_value(&root).into_iter().map(|(hash, czxid)| (*hash, *czxid)).collect();
        self.refresh = Some(Refresh { directories: self.ledger.directories(), listing: 0, known });
        out.push(Observation::ComparisonEnded { root: self.id });
    }

    /// Reads some children again, once the last ones are read.
    pub(super) fn tick_refresh(&mut self) {
        if self.reads.len() > 0 || self.lists.len() >= LISTS_MAX {
            return;
        }
        let Some(refresh) = self.refresh.as_mut().filter(|refresh| refresh.listing == 0) else { return };
        if refresh.directories.is_empty() {
            self.known = std::mem::take(&mut refresh.known);
            self.refresh = None;
            self.moved.clear();
            return;
        }
        let (mut some, mut children) = (Vec::new(), 0);
        while children < REFRESHED_A_TICK
            && let Some(directory) = refresh.directories.pop()
        {
            if let Some(expected) = self.ledger.children(&directory) {
                children += 1 + expected as usize;
                some.push((directory, expected));
            }
        }
        refresh.listing = some.len();
        some.into_iter().for_each(|(directory, children)| self.list(directory, ListPurpose::Refresh, children));
    }

    pub(super) fn refresh_children(&mut self, directory: &str, names: &[String]) {
        let paths = names.iter().map(|name| join_path(directory, name));
        let known: Vec<String> = paths.filter(|path| self.knows_in(directory, path)).collect();
        let Some(refresh) = &mut self.refresh else { return };
        refresh.listing -= 1;
        for path in &known {
            let hash = self.keys.hash_one(&**path);
            refresh.know(hash, self.known.get(&hash).copied().unwrap_or_default());
            self.reads.want(path, Purpose::Event);
        }
    }
}
