//! The format of a snapshot, apart from where the bytes come from: one session, access list or znode at a time.

use adler2::Adler32;

use super::tail::{Tail, seal};
use super::{Node, Session, Stat};
use crate::jute::Input;
use crate::{Acl, Problem, ReadError};

/// "ZKSN".
const MAGIC: u32 = 0x5a4b_534e;
/// How a gzip file begins; then, a snappy one of ZooKeeper's.
const COMPRESSED: [u32; 2] = [0x1f8b_0800, 0x8253_4e41];
/// The only version there has been.
const VERSION: i32 = 2;
/// What ends the list of znodes; the root itself is written without a name.
const END_PATH: &str = "/";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Header,
    SessionCount,
    Sessions {
        left: u32,
    },
    AclCount,
    Acls {
        left: u32,
    },
    Nodes,
    Seal,
    /// What some servers write behind the checksum; read at once, up to the end of the file.
    Tail,
    End,
}

pub(super) enum Element {
    Session(Session),
    Acl(i64, Vec<Acl>),
    Node(Node),
    Tail(Tail),
    /// Nothing to be told.
    Passed,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    pub(super) stage: Stage,
    pub(super) offset: u64,
    checksum: Adler32,
}

impl Scan {
    pub(super) fn new() -> Self {
        Self { stage: Stage::Header, offset: 0, checksum: Adler32::new() }
    }

    /// The next element, and how many bytes it took. [`Problem::Short`] if there are not enough: nothing has happened
    /// then.
    pub(super) fn step(&mut self, bytes: &[u8]) -> Result<(Element, usize), ReadError> {
        let mut input = Input::new(bytes, self.offset);
        let (element, stage) = self.read(&mut input)?;
        let used = bytes.len() - input.left();
        self.checksum.write_slice(bytes.get(..used).unwrap_or_default());
        self.offset += used as u64;
        self.stage = stage;
        Ok((element, used))
    }

    fn read(&self, input: &mut Input<'_>) -> Result<(Element, Stage), ReadError> {
        Ok(match self.stage {
            Stage::Header => {
                header(input)?;
                (Element::Passed, Stage::SessionCount)
            }
            Stage::SessionCount => (Element::Passed, sessions(input.number()?)),
            Stage::Sessions { left } => {
                let session = Session { id: input.long()?, timeout_ms: input.int()? };
                (Element::Session(session), sessions(left.saturating_sub(1)))
            }
            Stage::AclCount => (Element::Passed, acls(input.number()?)),
            Stage::Acls { left } => {
                let (id, acl) = (input.long()?, input.acl()?);
                (Element::Acl(id, acl), acls(left.saturating_sub(1)))
            }
            Stage::Nodes => match node(input)? {
                Some(node) => (Element::Node(node), Stage::Nodes),
                None => (Element::Passed, Stage::Seal),
            },
            Stage::Seal => {
                seal(input, self.checksum.checksum())?;
                (Element::Passed, Stage::Tail)
            }
            Stage::Tail => (Element::Tail(Tail::read(input, self.checksum)?), Stage::End),
            Stage::End => (Element::Passed, Stage::End),
        })
    }
}

fn sessions(left: u32) -> Stage {
    if left == 0 { Stage::AclCount } else { Stage::Sessions { left } }
}

fn acls(left: u32) -> Stage {
    if left == 0 { Stage::Nodes } else { Stage::Acls { left } }
}

fn header(input: &mut Input<'_>) -> Result<(), ReadError> {
    let begin = *input;
    let found = input.int()?.cast_unsigned();
    if COMPRESSED.iter().any(|magic| magic >> 16 == found >> 16) {
        return Err(begin.error(Problem::Compressed));
    }
    if found != MAGIC {
        return Err(begin.error(Problem::NotASnapshot { found }));
    }
    let at = *input;
    let found = input.int()?;
    if found != VERSION {
        return Err(at.error(Problem::UnknownVersion { found }));
    }
    let _database = input.long()?;
    Ok(())
}

/// A znode, or `None` where they end.
fn node(input: &mut Input<'_>) -> Result<Option<Node>, ReadError> {
    let path = input.string()?;
    if path == END_PATH {
        return Ok(None);
    }
    let (data, acl) = (input.buffer()?, super::AclId(input.long()?));
    let (czxid, mzxid, ctime_ms, mtime_ms) = (input.long()?, input.long()?, input.long()?, input.long()?);
    let (version, cversion, aversion) = (input.int()?, input.int()?, input.int()?);
    let (ephemeral_owner, pzxid) = (input.long()?, input.long()?);
    let stat = Stat { czxid, mzxid, pzxid, ctime_ms, mtime_ms, version, cversion, aversion, ephemeral_owner };
    let path = if path.is_empty() { END_PATH.to_owned() } else { path };
    Ok(Some(Node { path, data, acl, stat }))
}
