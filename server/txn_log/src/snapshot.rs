//! A snapshot: sessions, access lists, then every znode. It is *fuzzy*: written while changes go on, so the log is
//! played over it from its zxid on, and what the log creates may be there already.

use std::collections::HashMap;

use crate::jute::Input;
use crate::{Acl, Lifetime, Problem, ReadError};

/// "ZKSN".
const MAGIC: u32 = 0x5a4b_534e;
/// How a gzip file begins; then, a snappy one of ZooKeeper's.
const COMPRESSED: [u32; 2] = [0x1f8b_0800, 0x8253_4e41];
/// The only version there has been.
const VERSION: i32 = 2;
/// An id and a time-out.
const SESSION_BYTES: usize = 12;
/// An id and a count.
const ACL_MIN: usize = 12;
/// The access list "everybody may do everything" is not in the map.
const ACL_OPEN: i64 = -1;
/// What stands for the owner of a container.
const OWNER_CONTAINER: i64 = i64::MIN;
/// The byte that marks the owner of a TTL znode, and where the time is in it.
const OWNER_TTL_MARK: u8 = 0xff;
const OWNER_TTL_BITS: i64 = 0xff_ffff_ffff;

/// A session that was open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: i64,
    /// How long it lasts without a word from its client.
    pub timeout_ms: i32,
}

/// A znode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its path.
    pub path: String,
    /// Its data.
    pub data: Option<Vec<u8>>,
    /// Its access list, for [`SnapshotReader::acl`].
    pub acl: AclId,
    /// The rest.
    pub stat: Stat,
}

/// Stands for an access list of the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AclId(i64);

/// What ZooKeeper keeps of a znode beside its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "ZooKeeper's own names")]
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
    /// How the znode ends.
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

/// Reads a snapshot: sessions and access lists at once, then an iterator over its znodes, parents before their
/// children. The checksum stands behind them, so what was read counts once the iterator ended without an error.
#[derive(Clone, Debug)]
pub struct SnapshotReader<'a> {
    bytes: &'a [u8],
    input: Input<'a>,
    sessions: Vec<Session>,
    acls: HashMap<i64, Vec<Acl>>,
    is_done: bool,
}

impl<'a> SnapshotReader<'a> {
    /// Of all bytes of a file.
    pub fn new(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let mut input = Input::new(bytes, 0);
        let begin = input;
        let found = input.int()?.cast_unsigned();
        if COMPRESSED.iter().any(|magic| magic >> 16 == found >> 16) {
            return Err(begin.error(Problem::Compressed));
        }
        if found != MAGIC {
            return Err(begin.error(Problem::NotASnapshot { found }));
        }
        let at = input;
        let found = input.int()?;
        if found != VERSION {
            return Err(at.error(Problem::UnknownVersion { found }));
        }
        let _database = input.long()?;
        let session = |input: &mut Input<'a>| Ok(Session { id: input.long()?, timeout_ms: input.int()? });
        let sessions = input.vector(SESSION_BYTES, session)?.unwrap_or_default();
        let acls = input.vector(ACL_MIN, |input| Ok((input.long()?, input.acl()?)))?.unwrap_or_default();
        Ok(Self { bytes, input, sessions, acls: acls.into_iter().collect(), is_done: false })
    }

    /// The sessions that were open.
    pub fn sessions(&self) -> &[Session] {
        &self.sessions
    }

    /// The entries of an access list; `None` for the one that lets everybody do everything, which is not written, and
    /// for one that is missing.
    pub fn acl(&self, id: AclId) -> Option<&[Acl]> {
        self.acls.get(&id.0).map(Vec::as_slice)
    }

    fn read_next(&mut self) -> Result<Option<Node>, ReadError> {
        let path = self.input.string()?;
        if path == "/" {
            self.seal()?;
            return Ok(None);
        }
        let input = &mut self.input;
        let (data, acl) = (input.buffer()?, AclId(input.long()?));
        let (czxid, mzxid, ctime_ms, mtime_ms) = (input.long()?, input.long()?, input.long()?, input.long()?);
        let (version, cversion, aversion) = (input.int()?, input.int()?, input.int()?);
        let (ephemeral_owner, pzxid) = (input.long()?, input.long()?);
        let stat = Stat { czxid, mzxid, pzxid, ctime_ms, mtime_ms, version, cversion, aversion, ephemeral_owner };
        // The root is written without a name, and its usual name ends the list.
        let path = if path.is_empty() { "/".to_owned() } else { path };
        Ok(Some(Node { path, data, acl, stat }))
    }

    /// The checksum of everything before it. Digests and more seals may follow; they add nothing to what was read.
    fn seal(&mut self) -> Result<(), ReadError> {
        let at = self.input;
        let sealed = usize::try_from(at.offset()).ok().and_then(|length| self.bytes.get(..length)).unwrap_or_default();
        let computed = i64::from(adler2::adler32_slice(sealed));
        let found = self.input.long()?;
        if found == computed { Ok(()) } else { Err(at.error(Problem::Checksum { found, computed })) }
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
