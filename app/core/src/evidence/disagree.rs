//! Ephemerals that some members have and others have not, seen in two rounds running: because a member is late with
//! what the others decided, or because members hold different data for good (ZOOKEEPER-5010).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::SessionTable;
use crate::znode::{SessionId, Zxid};

/// Znodes listed that members disagree on; more are only counted.
pub const DISPUTED_MAX: usize = 256;

/// A znode that is not on every member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disputed {
    /// Its owner.
    pub session: SessionId,
    /// The members that have it.
    pub on: Vec<Arc<str>>,
    /// The members that may still be on their way to what the others had when this was first seen. While there are
    /// some, the difference may be their lag; with none, nothing that is under way can end it.
    pub late: Vec<Arc<str>>,
}

/// A member that reported its sessions.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    /// Who.
    pub(super) member: Arc<str>,
    /// What it had applied before it was asked; None when it did not report it.
    pub(super) reached: Option<Zxid>,
}

/// A znode that differed in the last round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisputeSuspect {
    /// Its owner.
    pub session: SessionId,
    /// The members that have it.
    pub on: Vec<Arc<str>>,
    /// The newest transaction that any member had applied when it was first seen to differ like this.
    pub newest: Option<Zxid>,
}

/// What members disagree on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disagreement {
    /// Znodes that differed in the last round.
    pub suspects: BTreeMap<Box<str>, DisputeSuspect>,
    /// Znodes that differed like that in two rounds running.
    pub disputed: BTreeMap<Box<str>, Disputed>,
}

impl Disagreement {
    /// Compares the tables of one round. What changed between two members' answers differs once; what differs in the
    /// same way twice is reported. `newest`: what any member had applied after the tables were read.
    pub(super) fn compare(&mut self, tables: &[(Listed, &SessionTable)], newest: Option<Zxid>) {
        let before = std::mem::take(&mut self.suspects);
        self.disputed.clear();
        for ((path, session), bits) in differing(tables) {
            let on = tables
                .iter()
                .enumerate()
                .filter(|(at, _)| bits & (1 << at) != 0)
                .map(|(_, (listed, _))| Arc::clone(&listed.member))
                .collect();
            let mut suspect = DisputeSuspect { session, on, newest };
            if let Some(known) = before.get(path).filter(|known| known.session == session && known.on == suspect.on) {
                suspect.newest = known.newest;
                let is_late = |listed: &Listed| {
                    listed.reached.zip(known.newest).is_some_and(|(reached, newest)| reached < newest)
                };
                let late = tables
                    .iter()
                    .map(|(listed, _)| listed)
                    .filter(|listed| is_late(listed))
                    .map(|listed| Arc::clone(&listed.member));
                self.disputed.insert(path.into(), Disputed { session, on: suspect.on.clone(), late: late.collect() });
            }
            self.suspects.insert(path.into(), suspect);
        }
    }

    /// Fewer than two members answered.
    pub(super) fn forget(&mut self) {
        self.suspects.clear();
        self.disputed.clear();
    }
}

/// What is not in every table, with a bit for each table it is in.
fn differing<'a>(tables: &[(Listed, &'a SessionTable)]) -> Vec<((&'a str, SessionId), u32)> {
    let sessions: BTreeSet<SessionId> = tables.iter().flat_map(|(_, table)| table.ephemerals.keys().copied()).collect();
    let all = (1_u32 << tables.len()) - 1;
    let mut differing: Vec<((&str, SessionId), u32)> = Vec::new();
    for session in sessions {
        let lists: Vec<&'a [Box<str>]> =
            tables.iter().map(|(_, table)| table.ephemerals.get(&session).map_or(&[][..], Vec::as_slice)).collect();
        if lists.windows(2).all(|pair| pair.first() == pair.last()) {
            continue;
        }
        let mut on: BTreeMap<&'a str, u32> = BTreeMap::new();
        for (at, list) in lists.iter().enumerate() {
            list.iter().for_each(|path| *on.entry(path).or_default() |= 1 << at);
        }
        let room = DISPUTED_MAX.saturating_sub(differing.len());
        differing
            .extend(on.into_iter().filter(|(_, on)| *on != all).map(|(path, on)| ((path, session), on)).take(room));
    }
    differing
}
