//! A snapshot that comes in pieces.

use std::collections::HashMap;

use super::element::{Element, Scan, Stage};
use super::tail::{TAIL_BYTES_MAX, Tail, TreeDigest};
use super::{AclId, Node, Session};
use crate::unpack::Pieces;
use crate::{Acl, Problem, ReadError};

/// The largest znode or access list that is believed in.
const ELEMENT_BYTES_MAX: usize = crate::RECORD_BYTES_MAX;
/// Sessions that are kept; a snapshot with more is refused.
const SESSIONS_MAX: usize = 8 << 20;
/// Bytes of access lists that are kept; a snapshot with more is refused. Each znode only refers to one.
const ACL_BYTES_MAX: usize = 256 << 20;

/// Reads a snapshot that comes in pieces, plain or compressed as ZooKeeper does it (gzip, snappy). Holds sessions,
/// access lists, one znode and the piece at hand. Parents come before their children. The checksum stands behind the
/// znodes, so what was read counts once [`Self::is_whole`].
///
/// ```no_run
/// # fn pieces() -> Vec<Vec<u8>> { Vec::new() }
/// let mut decoder = lockscope_txn_log::SnapshotDecoder::new();
/// for piece in pieces() {
///     decoder.push(&piece);
///     while let Some(node) = decoder.next_node()? {
///         println!("{}", node.path);
///     }
/// }
/// decoder.finish();
/// while let Some(node) = decoder.next_node()? {
///     println!("{}", node.path);
/// }
/// assert!(decoder.is_whole());
/// # Ok::<(), lockscope_txn_log::ReadError>(())
/// ```
#[derive(Debug)]
pub struct SnapshotDecoder {
    pieces: Pieces,
    scan: Scan,
    /// So many bytes have to be at hand for another try: the last one said how many it lacked.
    needed: usize,
    is_failed: bool,
    sessions: Vec<Session>,
    acls: HashMap<i64, Vec<Acl>>,
    acl_bytes: usize,
    tail: Tail,
}

impl Default for SnapshotDecoder {
    fn default() -> Self {
        Self {
            pieces: Pieces::new(),
            scan: Scan::new(),
            needed: 0,
            is_failed: false,
            sessions: Vec::new(),
            acls: HashMap::new(),
            acl_bytes: 0,
            tail: Tail::default(),
        }
    }
}

impl SnapshotDecoder {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece. [`Self::next_node`] is called until it has no more before another is pushed, so that the
    /// buffer stays small.
    pub fn push(&mut self, piece: &[u8]) {
        if !self.is_failed {
            self.pieces.push(piece);
        }
    }

    /// No more pieces come: [`Self::next_node`] is to be called again until it has no more, or says what is missing.
    pub fn finish(&mut self) {
        self.pieces.finish();
    }

    /// The next znode; `None` when more bytes are needed, or all is read. After an error there is nothing more.
    pub fn next_node(&mut self) -> Result<Option<Node>, ReadError> {
        if self.is_failed {
            return Ok(None);
        }
        let next = self.read_next();
        if next.is_err() {
            self.is_failed = true;
            self.pieces.clear();
        }
        next
    }

    fn read_next(&mut self) -> Result<Option<Node>, ReadError> {
        while self.scan.stage != Stage::End {
            if !self.has_enough()? {
                return Ok(None);
            }
            match self.scan.step(self.pieces.bytes()) {
                Ok((element, used)) => {
                    self.pieces.pass(used);
                    self.needed = 0;
                    if let Some(node) = self.take(element, used)? {
                        return Ok(Some(node));
                    }
                }
                Err(error @ ReadError { offset, problem: Problem::Short { needed, .. } }) => {
                    self.wait(offset, needed)?;
                    if self.pieces.is_finished() && !self.pieces.refill()? {
                        return Err(self.pieces.cut_short().unwrap_or(error));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Whether another try is worth it.
    fn has_enough(&mut self) -> Result<bool, ReadError> {
        // What is behind the first checksum is known by its length.
        let is_tail = self.scan.stage == Stage::Tail;
        while is_tail || self.pieces.bytes().len() < self.needed.max(1) {
            let left = self.pieces.bytes().len();
            if is_tail && left > TAIL_BYTES_MAX {
                let problem = Problem::DataBehindSnapshot { left: left as u64 };
                return Err(ReadError { offset: self.scan.offset, problem });
            }
            if self.pieces.refill()? {
                continue;
            }
            if !self.pieces.is_finished() {
                return Ok(false);
            }
            return if is_tail { self.pieces.cut_short().map_or(Ok(true), Err) } else { Ok(true) };
        }
        Ok(true)
    }

    /// So many bytes from this offset on are missing, maybe more: tries become rarer as an element gets longer.
    fn wait(&mut self, offset: u64, needed: u64) -> Result<(), ReadError> {
        let at_hand = self.pieces.bytes().len();
        let total = (offset - self.scan.offset).saturating_add(needed);
        let max = ELEMENT_BYTES_MAX as u64;
        if total > max {
            let problem = Problem::TooMany { what: "bytes in a znode or an access list", max };
            return Err(ReadError { offset: self.scan.offset, problem });
        }
        self.needed = usize::try_from(total).unwrap_or(ELEMENT_BYTES_MAX).max(at_hand + at_hand / 4 + 1);
        Ok(())
    }

    fn take(&mut self, element: Element, used: usize) -> Result<Option<Node>, ReadError> {
        let too_many = |what, max| {
            Err(ReadError { offset: self.scan.offset, problem: Problem::TooMany { what, max: max as u64 } })
        };
        match element {
            Element::Node(node) => return Ok(Some(node)),
            Element::Session(_) if self.sessions.len() == SESSIONS_MAX => return too_many("sessions", SESSIONS_MAX),
            Element::Acl(..) if self.acl_bytes + used > ACL_BYTES_MAX => {
                return too_many("bytes of access lists", ACL_BYTES_MAX);
            }
            Element::Session(session) => self.sessions.push(session),
            Element::Acl(id, acl) => {
                self.acl_bytes += used;
                self.acls.insert(id, acl);
            }
            Element::Tail(tail) => self.tail = tail,
            Element::Passed => {}
        }
        Ok(None)
    }

    /// Whether all of the file was read and its checksums are right.
    pub fn is_whole(&self) -> bool {
        !self.is_failed && self.scan.stage == Stage::End
    }

    /// The sessions that were open: all of them once there is a znode.
    pub fn sessions(&self) -> &[Session] {
        &self.sessions
    }

    /// As [`SnapshotReader::acl`](crate::SnapshotReader::acl); complete once there is a znode.
    pub fn acl(&self, id: AclId) -> Option<&[Acl]> {
        self.acls.get(&id.0).map(Vec::as_slice)
    }

    /// The digest of the tree, if the server wrote one (3.6 and later) and all is read.
    pub fn digest(&self) -> Option<TreeDigest> {
        self.tail.digest
    }

    /// The last transaction that is in the snapshot, if the server wrote it (3.9 and later) and all is read. The zxid
    /// in the file's name is that of when writing began.
    pub fn last_zxid(&self) -> Option<i64> {
        self.tail.last_zxid
    }

    /// Where in the contents the next element begins.
    pub fn offset(&self) -> u64 {
        self.scan.offset
    }
}
