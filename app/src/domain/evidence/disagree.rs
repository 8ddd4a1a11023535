//! Ephemerals that some members have and others have not (ZOOKEEPER-5010), seen in two rounds running.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::SessionTable;
use crate::domain::znode::SessionId;

/// Znodes told that members disagree on; more are only counted.
pub const DISPUTED_MAX: usize = 256;

/// A znode that is not on every member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disputed {
    /// Its owner.
    pub session: SessionId,
    /// The members that have it.
    pub on: Vec<Arc<str>>,
}

/// What members disagree on.
#[derive(Clone, Debug, Default)]
pub(super) struct Disagreement {
    suspects: BTreeMap<Box<str>, Disputed>,
    pub(super) disputed: BTreeMap<Box<str>, Disputed>,
}

impl Disagreement {
    /// Compares the tables of one round. What changed between two members' answers differs once; what differs in the
    /// same way twice is told.
    pub(super) fn compare(&mut self, tables: &[(Arc<str>, &SessionTable)]) {
        let sessions: BTreeSet<SessionId> = tables.iter().flat_map(|(_, table)| table.ephemerals.keys().copied()).collect();
        let mut differing: Vec<((&str, SessionId), u32)> = Vec::new();
        for session in sessions {
            let lists: Vec<&[Box<str>]> = tables.iter().map(|(_, table)| table.ephemerals.get(&session).map_or(&[][..], Vec::as_slice)).collect();
            if lists.windows(2).all(|pair| pair.first() == pair.last()) {
                continue;
            }
            let mut on: BTreeMap<&str, u32> = BTreeMap::new();
            for (at, list) in lists.iter().enumerate() {
                list.iter().for_each(|path| *on.entry(path).or_default() |= 1 << at);
            }
            let all = (1_u32 << tables.len()) - 1;
            let room = DISPUTED_MAX.saturating_sub(differing.len());
            differing.extend(on.into_iter().filter(|(_, on)| *on != all).map(|(path, on)| ((path, session), on)).take(room));
        }
        let now: BTreeMap<Box<str>, Disputed> = differing
            .into_iter()
            .map(|((path, session), on)| {
                let names = tables.iter().enumerate().filter(|(at, _)| on & (1 << at) != 0).map(|(_, (name, _))| Arc::clone(name));
                (path.into(), Disputed { session, on: names.collect() })
            })
            .collect();
        self.disputed =
            now.iter().filter(|(path, disputed)| self.suspects.get(*path) == Some(*disputed)).map(|(k, v)| (k.clone(), v.clone())).collect();
        self.suspects = now;
    }

    /// Fewer than two members tell.
    pub(super) fn forget(&mut self) {
        self.suspects.clear();
        self.disputed.clear();
    }
}
