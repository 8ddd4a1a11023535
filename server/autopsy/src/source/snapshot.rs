//! A snapshot as a stream of znodes.

use std::fs;

use txn_log::{Node, Session, SnapshotReader};

use super::{Damage, SnapshotFile};

/// What a snapshot says beside its znodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotHead {
    /// The sessions that were open.
    pub sessions: Vec<Session>,
    /// The newest transaction that left something in it: it is written while changes go on, so what is up to here may be
    /// in it or not, and only behind it everything is as the log says.
    pub settled_zxid: i64,
    /// The newest instant that is in it; 0 where there is none.
    pub newest_ms: i64,
}

/// Reads a snapshot; `each` gets every znode. What was read counts only when no error comes: the checksum is the last.
///
/// # Errors
/// It is damaged, or not whole.
pub fn read_snapshot(file: &SnapshotFile, mut each: impl FnMut(Node)) -> Result<SnapshotHead, Damage> {
    let damage = |offset, why: &dyn ToString| Damage::new(&file.path, offset, why.to_string());
    let bytes = fs::read(&file.path).map_err(|error| damage(0, &error))?;
    let reader = SnapshotReader::new(&bytes).map_err(|error| damage(error.offset, &error.problem))?;
    let sessions = reader.sessions().to_vec();
    let mut head = SnapshotHead { sessions, settled_zxid: file.zxid, newest_ms: 0 };
    for node in reader {
        let node = node.map_err(|error| damage(error.offset, &error.problem))?;
        let stat = &node.stat;
        head.settled_zxid = head.settled_zxid.max(stat.czxid).max(stat.mzxid).max(stat.pzxid);
        head.newest_ms = head.newest_ms.max(stat.ctime_ms).max(stat.mtime_ms);
        each(node);
    }
    Ok(head)
}
