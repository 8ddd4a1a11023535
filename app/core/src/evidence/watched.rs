//! Who watches what, by the members' tables of data and exists watches. Child watches are in no table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::WatchTable;
use crate::time::TimeMs;
use crate::znode::SessionId;

/// A table that is older is no longer shown: three times the shortest pause between two.
pub const TABLE_FRESH_MS: i64 = 45_000;
/// A watch is expected to be set so long after the waiter came, or after what it waited for before went.
pub const GRACE_MS: i64 = 3_000;

/// What the tables say of one wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// It is there.
    Confirmed,
    /// Every member was asked long enough after it should have been set, and it is in no table.
    Missing,
    /// Not known.
    Unknown,
}

/// What the tables show of those who watch one znode since some instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watching {
    /// When the oldest of the tables was asked for; None while there is none.
    pub asked: Option<TimeMs>,
    /// Every member that can have clients has one.
    pub is_whole: bool,
    /// Who watches, and when the table that says so was asked for.
    pub sessions: BTreeMap<SessionId, TimeMs>,
}

/// Tables by member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WatchTables {
    pub(super) tables: BTreeMap<Arc<str>, (TimeMs, Arc<WatchTable>)>,
}

impl WatchTables {
    pub(super) fn take_in(&mut self, member: &Arc<str>, asked_at: TimeMs, table: WatchTable) {
        self.tables.insert(Arc::clone(member), (asked_at, Arc::new(table)));
    }

    /// Drops the tables of members that are none any more, and old ones.
    pub(super) fn forget(&mut self, now: TimeMs, is_member: impl Fn(&str) -> bool) {
        self.tables.retain(|member, (asked_at, _)| is_member(member) && now.since(*asked_at) <= TABLE_FRESH_MS);
    }

    /// Since when on all `members` tables are this new; None while one is missing.
    pub(super) fn complete_at(&self, now: TimeMs, members: usize) -> Option<TimeMs> {
        let fresh = self
            .tables
            .values()
            .map(|(asked_at, _)| *asked_at)
            .filter(|asked_at| now.since(*asked_at) <= TABLE_FRESH_MS);
        let times: Vec<TimeMs> = fresh.collect();
        (members > 0 && times.len() >= members).then(|| times.into_iter().min()).flatten()
    }

    /// Sessions that watch a path.
    pub(super) fn by(&self, now: TimeMs, path: &str) -> BTreeSet<SessionId> {
        let fresh = self.tables.values().filter(|(asked_at, _)| now.since(*asked_at) <= TABLE_FRESH_MS);
        fresh.filter_map(|(_, table)| table.by_path.get(path)).flatten().copied().collect()
    }

    /// Who watches a path, by the tables of these members that were asked for after an instant.
    pub(super) fn after<'a>(
        &self,
        now: TimeMs,
        path: &str,
        after: TimeMs,
        members: impl Iterator<Item = &'a Arc<str>>,
    ) -> Watching {
        let mut watching = Watching { is_whole: true, ..Watching::default() };
        for member in members {
            let is_of_now = |(asked_at, _): &&(TimeMs, Arc<WatchTable>)| {
                *asked_at > after && now.since(*asked_at) <= TABLE_FRESH_MS
            };
            let Some((asked_at, table)) = self.tables.get(member).filter(is_of_now) else {
                watching.is_whole = false;
                continue;
            };
            watching.asked = Some(watching.asked.map_or(*asked_at, |oldest| oldest.min(*asked_at)));
            let sessions = table.by_path.get(path).into_iter().flatten();
            watching.sessions.extend(sessions.map(|session| (*session, *asked_at)));
        }
        watching.is_whole &= watching.asked.is_some();
        watching
    }

    /// When a member's table was asked for, if it is not too old.
    pub(super) fn asked_at(&self, now: TimeMs, member: &str) -> Option<TimeMs> {
        self.tables.get(member).map(|(asked_at, _)| *asked_at).filter(|at| now.since(*at) <= TABLE_FRESH_MS)
    }

    pub(super) fn has(&self, now: TimeMs, path: &str, session: SessionId) -> bool {
        let fresh = self.tables.values().filter(|(asked_at, _)| now.since(*asked_at) <= TABLE_FRESH_MS);
        fresh.filter_map(|(_, table)| table.by_path.get(path)).any(|sessions| sessions.contains(&session))
    }
}
