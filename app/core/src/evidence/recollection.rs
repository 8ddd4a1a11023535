//! What the members said as plain values, and back.

use std::sync::Arc;

use super::watched::WatchTables;
use super::{MemberEvidence, SessionRecord, WatchTable};
use crate::recollection::{PIECE_MAX, Recollection, WatchesRecollection};
use crate::znode::SessionId;

impl MemberEvidence {
    /// As plain values.
    pub(crate) fn recall(&self) -> impl Iterator<Item = Recollection> {
        let Self { state, sessions, watched } = self;
        let mut sessions = sessions.iter().map(|(session, known)| (*session, known.clone()));
        let sessions = std::iter::from_fn(move || {
            let some: Vec<(SessionId, SessionRecord)> = sessions.by_ref().take(PIECE_MAX).collect();
            (!some.is_empty()).then_some(Recollection::Sessions(some))
        });
        let members = std::iter::once_with(|| Recollection::Members(state.clone()));
        members.chain(sessions).chain(watched.recall())
    }

    /// What is known of some sessions.
    pub(crate) fn take_sessions(&mut self, recalled: Vec<(SessionId, SessionRecord)>) {
        Arc::make_mut(&mut self.sessions).extend(recalled);
    }

    /// A part of a table of watches.
    pub(crate) fn take_watches(&mut self, recalled: WatchesRecollection) {
        let WatchesRecollection { member, asked_at, table } = recalled;
        let (known_at, known) = self.watched.tables.entry(member).or_default();
        *known_at = asked_at;
        Arc::make_mut(known).by_path.extend(table.by_path);
    }
}

impl WatchTables {
    /// Each table in pieces, an empty one as one.
    fn recall(&self) -> impl Iterator<Item = Recollection> {
        let Self { tables } = self;
        tables.iter().flat_map(|(member, (asked_at, table))| {
            let WatchTable { by_path } = &**table;
            let (mut paths, mut is_first) = (by_path.iter(), true);
            std::iter::from_fn(move || {
                let some = paths.by_ref().take(PIECE_MAX).map(|(path, sessions)| (path.clone(), sessions.clone()));
                let table = WatchTable { by_path: some.collect() };
                let is_over = table.by_path.is_empty() && !std::mem::take(&mut is_first);
                is_first = false;
                let part = WatchesRecollection { member: Arc::clone(member), asked_at: *asked_at, table };
                (!is_over).then_some(Recollection::Watches(part))
            })
        })
    }
}
