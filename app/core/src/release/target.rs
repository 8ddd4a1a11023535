//! What is released: one incarnation of one znode, and how exactly it can be deleted.

use crate::znode::{SessionId, Zxid};

/// How a znode came to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// ZooKeeper numbered it: while its directory stays, the name never comes again.
    Sequential,
    /// The client chose it: another may take it at any time.
    Fixed,
}

/// One incarnation of a znode, as it was seen when the release was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its path.
    pub path: Box<str>,
    /// Its identity.
    pub czxid: Zxid,
    /// The session that owns it; None for a persistent znode.
    pub owner: Option<SessionId>,
    /// Its data version.
    pub version: i32,
    /// How it came to its name.
    pub naming: Naming,
}

/// A znode as one read shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its identity.
    pub czxid: Zxid,
    /// The session that owns it.
    pub owner: Option<SessionId>,
    /// Its data version.
    pub version: i32,
    /// Its children.
    pub children: u32,
}

/// The Stat of a directory, as far as it counts its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildCounters {
    /// Identity of the directory.
    pub czxid: Zxid,
    /// Creations plus deletions of children, wrapping.
    pub cversion: i32,
    /// Children there are.
    pub children: u32,
}

/// The directory, read first, and then the znode. In this order: whatever happened between the two reads counts as
/// after the directory's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetSnapshot {
    /// The directory; None when it is not there.
    pub directory: Option<ChildCounters>,
    /// The znode; None when it is not there.
    pub node: Option<Seen>,
}

/// How many children came and went between two reads of one directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Children created.
    pub creates: u32,
    /// Children deleted.
    pub deletes: u32,
}

impl ChildCounters {
    /// What happened until a later read of the same incarnation; None where the counters don't show it (another
    /// incarnation, or a counter that ran out).
    pub fn until(self, later: Self) -> Option<Traffic> {
        if self.czxid != later.czxid {
            return None;
        }
        // Each creation and each deletion counts one up; differences are exact in spite of wrapping.
        let changes = i64::from(later.cversion.wrapping_sub(self.cversion));
        let growth = i64::from(later.children) - i64::from(self.children);
        let is_sound = changes >= growth.abs() && (changes + growth) % 2 == 0;
        let half = |sum: i64| u32::try_from(sum / 2).ok();
        is_sound
            .then_some(())
            .and_then(|()| Some(Traffic { creates: half(changes + growth)?, deletes: half(changes - growth)? }))
    }
}

impl Target {
    /// What a read shows is the incarnation that was planned for, whatever became of its data.
    pub fn is(&self, seen: &Seen) -> bool {
        self.czxid == seen.czxid && self.owner == seen.owner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_tell_what_came_and_went() {
        let at = |cversion, children| ChildCounters { czxid: Zxid(1), cversion, children };
        let traffic = |creates, deletes| Some(Traffic { creates, deletes });
        assert_eq!(at(10, 4).until(at(11, 3)), traffic(0, 1));
        assert_eq!(at(10, 4).until(at(13, 3)), traffic(1, 2));
        assert_eq!(at(10, 4).until(at(10, 4)), traffic(0, 0));
        assert_eq!(at(i32::MAX, 4).until(at(i32::MIN, 5)), traffic(1, 0));
        assert_eq!(at(10, 4).until(at(11, 4)), None, "a counter that ran out");
        assert_eq!(at(10, 4).until(at(9, 3)), None, "a counter that runs backwards");
        assert_eq!(at(10, 4).until(ChildCounters { czxid: Zxid(2), ..at(11, 3) }), None, "another incarnation");
    }
}
