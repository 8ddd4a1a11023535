//! A snapshot as a stream of znodes.

use std::fs::File;
use std::io::{ErrorKind, Read as _};

use lockscope_txn_log::{Node, ReadError, Session, SnapshotDecoder};

use super::{Damage, SnapshotFile};

const PIECE_BYTES: usize = 256 << 10;

/// What a snapshot says beside its znodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotHead {
    pub sessions: Vec<Session>,
    /// The newest transaction that left something in it: it is written while changes go on, so what is up to here may be
    /// in it or not, and only behind it everything is as the log says.
    pub settled_zxid: i64,
    /// The newest instant that is in it; 0 where there is none.
    pub newest_ms: i64,
}

impl SnapshotHead {
    fn note(&mut self, node: &Node) {
        let stat = &node.stat;
        self.settled_zxid = self.settled_zxid.max(stat.czxid).max(stat.mzxid).max(stat.pzxid);
        self.newest_ms = self.newest_ms.max(stat.ctime_ms).max(stat.mtime_ms);
    }
}

/// Reads a snapshot, compressed or not; `each` gets every znode. What was read counts only when no error comes: the
/// checksum is the last.
///
/// # Errors
/// It is damaged, or not whole.
pub fn read_snapshot(file: &SnapshotFile, mut each: impl FnMut(Node)) -> Result<SnapshotHead, Damage> {
    let unreadable = |error: std::io::Error, offset| Damage::new(&file.path, offset, error);
    let damaged = |error: ReadError| Damage::new(&file.path, error.offset, error.problem);
    let mut input = File::open(&file.path).map_err(|error| unreadable(error, 0))?;
    let (mut decoder, mut piece) = (SnapshotDecoder::new(), vec![0; PIECE_BYTES]);
    let mut head = SnapshotHead { settled_zxid: file.zxid, ..SnapshotHead::default() };
    let mut is_finished = false;
    loop {
        while let Some(node) = decoder.next_node().map_err(damaged)? {
            head.note(&node);
            each(node);
        }
        if is_finished {
            break;
        }
        match input.read(&mut piece) {
            Ok(0) => {
                is_finished = true;
                decoder.finish();
            }
            Ok(read) => decoder.push(piece.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(error, decoder.offset())),
        }
    }
    if !decoder.is_whole() {
        return Err(Damage::new(&file.path, decoder.offset(), "the snapshot is not whole"));
    }
    head.sessions = decoder.sessions().to_vec();
    head.settled_zxid = head.settled_zxid.max(decoder.last_zxid().unwrap_or(0));
    Ok(head)
}
