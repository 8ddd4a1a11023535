//! Comparing a root after a gap: where the counters of its directories show that nothing moved, the believed tree stays.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Observatory;
use super::holders::Seen;
use crate::change::{Change, Departure};
use crate::observation::RootId;
use crate::time::TimeMs;
use crate::znode::join_path;

impl Observatory {
    pub(super) fn comparison_began(&mut self, now: TimeMs, root: RootId, why: Box<str>, out: &mut Vec<Change>) {
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        self.state.counters.resyncs += u64::from(view.was_settled());
        view.side = None;
        view.status.is_comparing = true;
        self.orders.forget_windows();
        view.status.why = why;
        view.status.since = now;
        out.push(Change::RootChanged(root));
    }

    /// The children that went in the gap go, with all that was below them.
    pub(super) fn listed(&mut self, now: TimeMs, root: RootId, path: &str, names: &[Box<str>], out: &mut Vec<Change>) {
        let Some(mirror) = self.roots.get(root.0 as usize).map(|view| &view.mirror) else { return };
        let Some(directory) = mirror.directory(path) else { return };
        let there: BTreeSet<&str> = names.iter().map(|name| &**name).collect();
        let gone = directory.children().map(|(key, _)| key.name()).filter(|name| !there.contains(name));
        let gone: Vec<String> = gone.map(|name| join_path(path, name)).collect();
        for path in gone {
            let below = self.roots.get(root.0 as usize).map(|view| view.mirror.below(&path)).unwrap_or_default();
            below.iter().for_each(|path| self.node_went(now, root, path, out));
            self.node_went(now, root, &path, out);
        }
    }

    pub(super) fn comparison_ended(&mut self, now: TimeMs, root: RootId, out: &mut Vec<Change>) {
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        view.status.is_comparing = false;
        view.doubt();
        view.follow_readability(now);
        view.status.why = "".into();
        view.status.since = now;
        out.push(Change::RootChanged(root));
    }

    /// A znode went in the gap: nobody knows when, nor how.
    fn node_went(&mut self, now: TimeMs, root: RootId, path: &str, out: &mut Vec<Change>) {
        let lock = self.lock_of(root, path);
        let gone = self.forget_node(now, root, path, out);
        let Some(((lock, counts, _), (key, child))) = lock.zip(gone) else { return };
        if counts {
            let (czxid, owner) = (child.read.as_ref().map(|read| read.czxid), child.owner());
            let (of, node) = (Arc::clone(&lock), key.name().into());
            out.push(Change::Left { lock: of, node, czxid, owner, how: Departure::DuringGap });
        }
        self.refresh(now, &lock, Seen::AfterGap, out);
    }
}
