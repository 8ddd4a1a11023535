//! What a client of the live socket was shown, and when: the material that is judged.

/// One capture. Those of a socket come in the order in which they arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Capture {
    /// A lock, as a frame of its own view or a row of the board shows it. Captured whenever a frame says anything of
    /// it, after the frame was applied.
    Shown(Shown),
    /// A view says that there is no such lock.
    Gone(Gone),
    /// What the socket shows is not LIVE from here on, whoever noticed it: the server in a frame (of one lock, or of
    /// all), or the client because it received nothing for too long.
    NotLive {
        /// Which socket.
        socket: u32,
        /// When.
        arrived_at_ms: i64,
        /// Which lock; `None` for all of them.
        lock: Option<String>,
    },
    /// Something arrived that says nothing of a lock, such as a heartbeat: what is shown is still shown.
    Heartbeat {
        /// Which socket.
        socket: u32,
        /// When.
        arrived_at_ms: i64,
    },
    /// The socket ended, or its view was given up: it shows nothing any more.
    Closed {
        /// Which socket.
        socket: u32,
        /// When.
        arrived_at_ms: i64,
    },
    /// A whole view after a frame was applied, to be compared with what other sockets have under the same number.
    Revision(Revision),
}

/// A lock as it was shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Which socket; each view of one connection may count as a socket of its own.
    pub socket: u32,
    /// When the frame arrived: milliseconds since the epoch on the clock that the ZooKeeper servers have as well.
    pub arrived_at_ms: i64,
    /// The lock's path.
    pub lock: String,
    /// Whether it claims to be LIVE. Else nothing is claimed and nothing is judged.
    pub is_live: bool,
    /// Whether it claims to know all contenders.
    pub is_complete: bool,
    /// Whether the words for it are that nobody has it (the verdict `free`).
    pub is_free: bool,
    /// The transaction that it claims to include (`as_of.zxid`); 0 when it claims none.
    pub zxid: i64,
    /// The instant up to which it claims to be true (`as_of.at_ms`); 0 when it claims none.
    pub true_at_ms: i64,
    /// All holders it counts; `holders` may have only the first of them.
    pub holder_count: u32,
    /// All waiters it counts; `waiters` may have only the first of them, or none.
    pub waiter_count: u32,
    /// The first holders, in order.
    pub holders: Vec<Contender>,
    /// The first waiters, in order.
    pub waiters: Vec<Contender>,
}

/// A contender as it was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// Identity of its znode; `None` while it is shown but was not read.
    pub czxid: Option<i64>,
    /// Its owner; `None` when it is not known or when the znode is persistent.
    pub session: Option<i64>,
}

/// A lock that was said not to be there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// Which socket.
    pub socket: u32,
    /// When the frame arrived.
    pub arrived_at_ms: i64,
    /// The lock's path.
    pub lock: String,
    /// Whether it claims to be LIVE.
    pub is_live: bool,
    /// The transaction that it claims to include; 0 when it claims none.
    pub zxid: i64,
}

/// The state of a whole view under its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Which socket.
    pub socket: u32,
    /// When the frame arrived.
    pub arrived_at_ms: i64,
    /// Which view: the same text for the same subscription on every socket.
    pub view: String,
    /// The server's epoch, in which numbers count.
    pub epoch: String,
    /// Its number.
    pub seq: u64,
    /// How the client came by it.
    pub origin: Origin,
    /// A hash of the whole body in one canonical form.
    pub digest: u64,
}

/// How a client came by a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was sent whole.
    Snapshot,
    /// Differences were applied to an earlier one.
    Deltas,
}
