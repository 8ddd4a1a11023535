//! Counters after a gap: whether a directory is as it was when the link went.

use lockscope_core::znode::Facts;

use super::super::reads::ChildEvents;
use super::{StatCounters, Told, Version};

/// What a Stat after a gap says of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum AfterGap {
    /// No child came or went; whether its own data changed.
    Same { data_changed: bool },
    /// Some did, or it can't be told.
    Moved,
    /// Another znode has its path by now.
    Reborn,
}

impl StatCounters {
    /// Compares a directory with what was believed of it before a gap. That nothing moved is believed of those alone that
    /// were read since their last event: `pzxid` proves it then, also where a server came back with another history.
    pub(in super::super) fn after_gap(&mut self, directory: &str, facts: &Facts, stamp: Version) -> AfterGap {
        let Some(tally) = self.directories.get_mut(directory) else { return AfterGap::Moved };
        if tally.czxid.is_some_and(|czxid| czxid != facts.czxid) {
            return AfterGap::Reborn;
        }
        let Told { cversion, mzxid, pzxid } = std::mem::replace(&mut tally.told, Told::of(facts));
        let counted = (tally.creates.wrapping_add(tally.seen.creates), tally.deletes.wrapping_add(tally.seen.deletes));
        let is_same = tally.exact
            && tally.czxid.is_some()
            && (cversion, pzxid) == (facts.cversion, facts.pzxid)
            && counted == (facts.creates_ever(), facts.deletes_ever());
        if is_same {
            return AfterGap::Same { data_changed: mzxid != facts.mzxid };
        }
        // What was seen since it was asked for may be in its counters.
        let meanwhile = ChildEvents {
            creates: tally.seen.creates.wrapping_sub(stamp.seen.creates),
            deletes: tally.seen.deletes.wrapping_sub(stamp.seen.deletes),
        };
        tally.begin(facts);
        (tally.czxid, tally.seen, tally.exact) = (Some(facts.czxid), meanwhile, meanwhile == ChildEvents::default());
        AfterGap::Moved
    }
}
