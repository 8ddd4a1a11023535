//! Values that describe a znode: ids, paths, and the facts a read of it gives.

use std::fmt;

/// A ZooKeeper transaction id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zxid(pub i64);

/// A ZooKeeper session id. Signed 64 bit on the wire; printed as ZooKeeper prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub i64);

impl fmt::Display for Zxid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// Bytes of a payload that are kept; enough for a label and a preview.
pub const PAYLOAD_BYTES_MAX: usize = 256;

/// What one read of a znode gives (`getData`, or `exists` where the data may not be read).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Creating transaction: the znode's identity, its path is not.
    pub czxid: Zxid,
    /// Last change of data.
    pub mzxid: Zxid,
    /// Last creation or deletion of a direct child.
    pub pzxid: Zxid,
    /// Creation time on the ensemble leader's clock, ms since the Unix epoch.
    pub ctime_ms: i64,
    /// Data version.
    pub version: i32,
    /// Child version: creations plus deletions of direct children, wrapping.
    pub cversion: i32,
    /// Direct children.
    pub children: u32,
    /// Session that owns it; None for persistent, container and TTL znodes, which a client can't distinguish.
    pub owner: Option<SessionId>,
    /// The first [`PAYLOAD_BYTES_MAX`] bytes of the payload; None when it may not be read.
    pub payload: Option<Box<[u8]>>,
    /// Size of the whole payload.
    pub payload_bytes: u32,
}

impl Facts {
    /// Children ever created here: `(cversion + children) / 2` in unsigned 32-bit arithmetic, exact while the
    /// counter has not run out (`DataTree.createNode` counts up `cversion` for each creation and deletion).
    pub fn creates_ever(&self) -> u32 {
        self.cversion.cast_unsigned().wrapping_add(self.children) >> 1
    }

    /// Children ever deleted here.
    pub fn deletes_ever(&self) -> u32 {
        self.creates_ever().wrapping_sub(self.children)
    }
}

/// Splits an absolute path into its parent's path and its last name; None for `/`.
pub fn split_path(path: &str) -> Option<(&str, &str)> {
    let (parent, name) = path.rsplit_once('/')?;
    if name.is_empty() { None } else { Some((if parent.is_empty() { "/" } else { parent }, name)) }
}

/// Joins a parent's path and a name.
pub fn join_path(parent: &str, name: &str) -> String {
    // One allocation of the right size.
    [if parent == "/" { "" } else { parent }, "/", name].concat()
}

/// Whether `path` is `root` or lies under it.
pub fn is_under(path: &str, root: &str) -> bool {
    root == "/" || path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
