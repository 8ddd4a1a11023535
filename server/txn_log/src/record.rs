//! What a transaction is: who did it, when, and what it changed.

/// One transaction, as the leader numbered it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Its number: the leader's epoch in the upper half, a counter in the lower.
    pub zxid: i64,
    /// When the leader took the request up, on its wall clock. It is committed a little later.
    pub time_ms: i64,
    pub session: i64,
    /// The number the session gave its request.
    pub cxid: i32,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Create(Create),
    Delete {
        path: String,
        /// An empty container or a TTL znode that the server itself removed.
        by_server: bool,
    },
    SetData {
        path: String,
        data: Option<Vec<u8>>,
        /// Its version from now on.
        version: i32,
    },
    SetAcl {
        path: String,
        acl: Vec<Acl>,
        /// Its version of the access list from now on.
        version: i32,
    },
    /// A part of a multi that only compared a version; changes nothing.
    Check {
        path: String,
        /// The version it had to have.
        version: i32,
    },
    /// Several changes under one number, all or none.
    Multi(Multi),
    /// A session began. Its id is the transaction's.
    CreateSession {
        /// How long it lasts without a word from its client.
        timeout_ms: i32,
    },
    /// A session ended: closed by its client or expired; the log does not say which.
    CloseSession {
        /// The ephemeral znodes that fell with it. Servers before 3.6 do not write them: whoever plays the log has to
        /// know.
        paths: Option<Vec<String>>,
    },
    /// The request failed. It used up a number and changed nothing.
    Error {
        /// ZooKeeper's error code, such as -101 for "no node".
        code: i32,
    },
    /// The members changed: `/zookeeper/config` has new data.
    Reconfig {
        data: Option<Vec<u8>>,
        /// The version of the znode from now on.
        version: i32,
    },
    Unknown {
        kind: i32,
    },
}

impl Change {
    /// Whether its type, or that of one of its parts, is not known.
    pub(crate) fn has_unknown(&self) -> bool {
        match self {
            Self::Unknown { .. } => true,
            Self::Multi(Multi::Done(parts)) => parts.iter().any(Self::has_unknown),
            Self::Create(_)
            | Self::Delete { .. }
            | Self::SetData { .. }
            | Self::SetAcl { .. }
            | Self::Check { .. }
            | Self::Multi(Multi::Failed(_))
            | Self::CreateSession { .. }
            | Self::CloseSession { .. }
            | Self::Error { .. }
            | Self::Reconfig { .. } => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Multi {
    /// Everything was done, in this order.
    Done(Vec<Change>),
    /// One part failed, so nothing was done. ZooKeeper keeps the error code of each part: 0 for those before the one
    /// that failed.
    Failed(Vec<i32>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Create {
    /// Its path, with the sequence number if it has one.
    pub path: String,
    pub data: Option<Vec<u8>>,
    pub acl: Vec<Acl>,
    pub lifetime: Lifetime,
    /// The parent's child version from now on; -1 where old servers did not count.
    pub parent_cversion: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    Persistent,
    Ephemeral,
    /// Removed by the server some time after its last child went.
    Container,
    /// Removed by the server when it was not changed for so long and has no children.
    Ttl {
        ttl_ms: i64,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acl {
    /// ZooKeeper's bits: read 1, write 2, create 4, delete 8, admin 16.
    pub permissions: i32,
    /// How `id` is to be understood, such as `world`, `digest`, `ip`.
    pub scheme: String,
    pub id: String,
}
