//! Who owns what is believed, for whoever waits for the whole end of a session.

use super::Observatory;
use crate::observation::RootId;
use crate::pending::Owners;
use crate::znode::{SessionId, split_path};

impl Owners for Observatory {
    fn owner(&self, root: RootId, path: &str) -> Option<SessionId> {
        let (parent, name) = split_path(path)?;
        self.child(root, parent, name)?.owner()
    }

    fn owns_at_least(&self, session: SessionId, number: usize) -> bool {
        let mut missing = number;
        for view in &self.roots {
            missing = missing.saturating_sub(view.mirror.owned_up_to(session, missing) as usize);
        }
        missing == 0
    }
}
