//! A snapshot: sessions, access lists, then every znode. It is *fuzzy*: written while changes go on, so the log is
//! played over it from its zxid on, and what the log creates may be there already.

mod decoder;
mod element;
mod tail;

use std::collections::HashMap;

pub use decoder::SnapshotDecoder;
use element::{Element, Scan, Stage};
use tail::Tail;
pub use tail::TreeDigest;

use crate::{Acl, Lifetime, ReadError};

/// The access list "everybody may do everything" is not in the map.
const ACL_OPEN: i64 = -1;
const OWNER_CONTAINER: i64 = i64::MIN;
/// The byte that marks the owner of a TTL znode, and where the time is in it.
const OWNER_TTL_MARK: u8 = 0xff;
const OWNER_TTL_BITS: i64 = 0xff_ffff_ffff;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: i64,
    /// How long it lasts without a word from its client.
    pub timeout_ms: i32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub path: String,
    pub data: Option<Vec<u8>>,
    /// Its access list, for [`SnapshotReader::acl`].
    pub acl: AclId,
    pub stat: Stat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AclId(i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    pub czxid: i64,
    pub mzxid: i64,
    pub pzxid: i64,
    pub ctime_ms: i64,
    pub mtime_ms: i64,
    pub version: i32,
    /// Creations of children alone. A client gets twice this number less the children there are.
    pub cversion: i32,
    pub aversion: i32,
    /// As it is stored; [`Stat::lifetime`] and [`Stat::session`] decode it.
    pub ephemeral_owner: i64,
}

impl Stat {
    pub fn lifetime(&self) -> Lifetime {
        match self.ephemeral_owner {
            0 => Lifetime::Persistent,
            OWNER_CONTAINER => Lifetime::Container,
            // A member numbered 255 would give out such session ids; ZooKeeper refuses that number where TTLs are on.
            owner if owner.to_be_bytes()[0] == OWNER_TTL_MARK => Lifetime::Ttl { ttl_ms: owner & OWNER_TTL_BITS },
            _ => Lifetime::Ephemeral,
        }
    }

    /// The session that owns it.
    pub fn session(&self) -> Option<i64> {
        (self.lifetime() == Lifetime::Ephemeral).then_some(self.ephemeral_owner)
    }
}

/// Reads a snapshot that is at hand as a whole: sessions and access lists at once, then an iterator over its znodes,
/// parents before their children. The checksum stands behind them, so what was read counts once the iterator ended
/// without an error.
#[derive(Clone, Debug)]
pub struct SnapshotReader<'a> {
    bytes: &'a [u8],
    scan: Scan,
    sessions: Vec<Session>,
    acls: HashMap<i64, Vec<Acl>>,
    tail: Tail,
    is_done: bool,
}

impl<'a> SnapshotReader<'a> {
    /// Of all bytes of a file, decompressed.
    pub fn new(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let (sessions, acls, tail) = (Vec::new(), HashMap::new(), Tail::default());
        let mut reader = Self { bytes, scan: Scan::new(), sessions, acls, tail, is_done: false };
        while reader.scan.stage != Stage::Nodes {
            reader.step()?;
        }
        Ok(reader)
    }

    pub fn sessions(&self) -> &[Session] {
        &self.sessions
    }

    /// The entries of an access list; `None` for the one that lets everybody do everything, which is not written, and
    /// for one that is missing.
    pub fn acl(&self, id: AclId) -> Option<&[Acl]> {
        self.acls.get(&id.0).map(Vec::as_slice)
    }

    /// The digest of the tree, if the server wrote one (3.6 and later) and the iterator ended without an error.
    pub fn digest(&self) -> Option<TreeDigest> {
        self.tail.digest
    }

    /// The last transaction that is in the snapshot, if the server wrote it (3.9 and later) and the iterator ended
    /// without an error. The zxid in the file's name is that of when writing began.
    pub fn last_zxid(&self) -> Option<i64> {
        self.tail.last_zxid
    }

    fn step(&mut self) -> Result<Option<Node>, ReadError> {
        let (element, used) = self.scan.step(self.bytes)?;
        self.bytes = self.bytes.get(used..).unwrap_or_default();
        match element {
            Element::Node(node) => return Ok(Some(node)),
            Element::Session(session) => self.sessions.push(session),
            Element::Acl(id, acl) => _ = self.acls.insert(id, acl),
            Element::Tail(tail) => self.tail = tail,
            Element::Passed => {}
        }
        Ok(None)
    }

    fn read_next(&mut self) -> Result<Option<Node>, ReadError> {
        while self.scan.stage != Stage::End {
            if let Some(node) = self.step()? {
                return Ok(Some(node));
            }
        }
        Ok(None)
    }
}

impl AclId {
    /// Everybody may do everything.
    pub fn is_open(self) -> bool {
        self.0 == ACL_OPEN
    }
}

impl Iterator for SnapshotReader<'_> {
    type Item = Result<Node, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let next = self.read_next();
        self.is_done = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}
