//! Who owns what is believed, for whoever waits for the whole end of a session.

use super::{Observatory, RootView};
use crate::mirror::Mirror;
use crate::observation::RootId;
use crate::pending::{Owners, Ownership};
use crate::visits::visit;
use crate::znode::{SessionId, split_path};

impl Owners for Observatory {
    fn owner(&self, root: RootId, path: &str) -> Ownership {
        let child = split_path(path).and_then(|(parent, name)| self.child(root, parent, name));
        child.map_or(Ownership::Nobody, |child| match child.owner() {
            Some(session) => Ownership::Session(session),
            None if child.is_unread() => Ownership::Unread,
            None => Ownership::Nobody,
        })
    }

    fn owns_at_least(&self, session: SessionId, number: usize) -> bool {
        let mut missing = number;
        for view in self.roots_of(session) {
            missing = missing.saturating_sub(view.mirror.owned_up_to(session, missing) as usize);
        }
        missing == 0
    }

    fn has_unread(&self) -> bool {
        self.roots.iter().any(|view| view.mirror.unread() > 0)
    }

    fn has_one_root(&self) -> bool {
        self.roots.len() == 1
    }
}

impl Observatory {
    /// The roots in which a session owns znodes; where there is one root, that.
    pub(super) fn roots_of(&self, session: SessionId) -> impl Iterator<Item = &RootView> {
        let indexed = self.owners.range((session, RootId(0))..=(session, RootId(u32::MAX)));
        let only = (self.roots.len() == 1).then_some(RootId(0));
        let roots = only.into_iter().chain(indexed.map(|(_, root)| *root));
        let roots = roots.filter_map(|root| self.roots.get(root.0 as usize));
        roots.inspect(|_| visit(1))
    }

    /// Who owns a znode, where the owners of several roots are told apart.
    pub(super) fn indexed_owner(&self, root: RootId, path: &str) -> Option<SessionId> {
        self.roots.get(root.0 as usize).filter(|_| self.roots.len() > 1)?.mirror.node(path)?.owner()
    }

    /// These sessions own a znode of a root, or did.
    pub(super) fn index_owners_of(&mut self, root: RootId, sessions: impl IntoIterator<Item = SessionId>) {
        let Some(view) = self.roots.get(root.0 as usize).filter(|_| self.roots.len() > 1) else { return };
        for session in sessions {
            if view.mirror.owns_at_least(session, 1) {
                self.owners.insert((session, root));
            } else {
                self.owners.remove(&(session, root));
            }
        }
    }

    /// A tree was swapped in for another one.
    pub(super) fn index_tree(&mut self, root: RootId, stale: &Mirror) {
        let Some(view) = self.roots.get(root.0 as usize).filter(|_| self.roots.len() > 1) else { return };
        let sessions = stale.sessions().chain(view.mirror.sessions()).map(|(session, _)| session);
        self.index_owners_of(root, sessions.collect::<Vec<_>>());
    }

    /// Looks anew who owns znodes in which roots.
    pub(super) fn index_owners(&mut self) {
        self.owners.clear();
        (0..).take(self.roots.len()).for_each(|root| self.index_tree(RootId(root), &Mirror::default()));
    }
}
