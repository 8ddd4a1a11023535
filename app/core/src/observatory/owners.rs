//! Who owns what is believed, for whoever waits for the whole end of a session.

use super::Observatory;
use crate::observation::RootId;
use crate::pending::{Owners, Ownership};
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
        for view in &self.roots {
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
