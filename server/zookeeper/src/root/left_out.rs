//! What of a root is never read: znodes that a pattern of the configuration means, with all below them. They are not
//! listed, not read and not in the model; only their directory's counters are followed with their events, so that a
//! comparison misses nothing else.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use lockscope_core::znode::{is_under, join_path, split_path};

use super::super::exclusions::Exclusions;
use super::super::outbox::Outbox;
use super::super::reads::Purpose;
use super::super::request_counts::RequestCounts;
use super::super::stat_counters::Missed;
use super::super::translate::NodeEvent;
use super::super::watch::State;
use super::{RootWatch, SYSTEM};

/// Directories whose children that are left out are counted. Overflow policy: those of further ones are not, so that
/// what is reported is a lower bound.
const DIRECTORIES_MAX: usize = 65_536;

/// Which paths, and how many children each directory has that are left out.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    exclusions: Exclusions,
    children: HashMap<Box<str>, u32>,
    /// Directories of which every child is left out: nothing but their events shows what they have.
    whole: BTreeSet<Arc<str>>,
    counts: Arc<RequestCounts>,
}

impl LeftOut {
    pub(super) fn covers(&self, path: &str) -> bool {
        self.exclusions.covers(path)
    }

    fn set(&mut self, directory: &str, count: u32) {
        let before = if count == 0 {
            self.children.remove(directory)
        } else if let Some(known) = self.children.get_mut(directory) {
            Some(std::mem::replace(known, count))
        } else if self.children.len() < DIRECTORIES_MAX {
            self.children.insert(directory.into(), count)
        } else {
            return;
        };
        self.counts.left_out(before.unwrap_or(0), count);
    }

    /// A directory is gone.
    pub(super) fn forget(&mut self, directory: &str) {
        if !self.exclusions.is_empty() {
            self.set(directory, 0);
            self.whole.remove(directory);
        }
    }

    /// The root is read anew.
    pub(super) fn clear(&mut self) {
        self.whole.clear();
        for (_, count) in self.children.drain() {
            self.counts.left_out(count, 0);
        }
    }

    fn count(&self, directory: &str) -> u32 {
        self.children.get(directory).copied().unwrap_or(0)
    }
}

impl RootWatch {
    pub(in super::super) fn without(self, exclusions: Exclusions, counts: Arc<RequestCounts>) -> Self {
        Self { left_out: LeftOut { exclusions, counts, ..LeftOut::default() }, ..self }
    }

    pub(super) fn is_hidden(&self, path: &str) -> bool {
        (self.hides_system && is_under(path, SYSTEM)) || self.left_out.covers(path)
    }

    /// Whether an event is of what is never read.
    pub(super) fn leaves_out(&mut self, event: &NodeEvent) -> bool {
        let (NodeEvent::Created(path) | NodeEvent::Deleted(path) | NodeEvent::Changed(path)) = event;
        if self.hides_system && is_under(path, SYSTEM) {
            return true;
        }
        if !self.left_out.covers(path) {
            return false;
        }
        self.left_out.counts.ignored_event();
        let Some((parent, _)) = split_path(path) else { return true };
        let is_read = matches!(self.state, State::Live | State::Syncing { .. }) && !self.left_out.covers(parent);
        match event {
            NodeEvent::Created(_) if is_read => self.count_left_out(parent, true),
            NodeEvent::Deleted(_) if is_read => self.count_left_out(parent, false),
            NodeEvent::Created(_) | NodeEvent::Deleted(_) | NodeEvent::Changed(_) => {}
        }
        true
    }

    /// A child that is left out came or went: its directory's counters report that as well.
    fn count_left_out(&mut self, directory: &str, created: bool) {
        if self.comes_with_its_parent(directory, created) {
            return;
        }
        let count = self.left_out.count(directory);
        let count = if created { count.saturating_add(1) } else { count.saturating_sub(1) };
        self.left_out.set(directory, count);
        self.child_seen(directory, created);
    }

    pub(super) fn leave_out(&mut self, directory: &str, names: &mut Vec<String>) {
        if self.left_out.exclusions.is_empty() {
            return;
        }
        let all = names.len();
        names.retain(|name| !self.left_out.covers(&join_path(directory, name)));
        self.left_out.set(directory, u32::try_from(all - names.len()).unwrap_or(u32::MAX));
    }

    /// Whether nothing in a directory that was read is read: it is not listed, compared nor watched then.
    pub(super) fn leaves_out_children(&mut self, directory: &Arc<str>, children: u32) -> bool {
        if self.left_out.exclusions.is_empty() || !self.left_out.exclusions.covers_children_of(directory) {
            return false;
        }
        self.ledger.uncount(directory);
        self.left_out.set(directory, children);
        if self.left_out.whole.len() < DIRECTORIES_MAX {
            self.left_out.whole.insert(Arc::clone(directory));
        }
        true
    }

    /// After a gap no counters show what a directory has of which nothing is read: it is read itself.
    pub(super) fn count_left_out_anew(&mut self, out: &mut Outbox) {
        for directory in self.left_out.whole.clone() {
            self.want(&directory, Purpose::Found, out);
        }
    }

    /// What no known child explains in a directory that has some that are left out may be theirs: one that may not be
    /// read comes and goes without an event.
    pub(super) fn unexplained(&self, directory: &str, unseen: Missed, came: u32, went: u32) -> Missed {
        if self.left_out.count(directory) == 0 {
            return unseen;
        }
        Missed { creates: unseen.creates.min(came), deletes: unseen.deletes.min(went) }
    }
}
