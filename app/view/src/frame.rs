//! Frames of the live socket and their compact encoding.

use serde::{Deserialize, Serialize};

use super::{
    Board, BoardDelta, BoardQuery, Epoch, EventsQuery, LabQuery, LabRun, Lately, LatelyDelta, LockDelta, LockPage,
    LockQuery, PROTOCOL, QueueMap, QueueMapQuery, SessionPage, SessionQuery, Sessions, SessionsDelta, SessionsQuery,
    Status, Waits, WaitsQuery,
};

// The compact encoding identifies a variant by its index: none may depend on a feature, and new ones go last.

/// What a subscription looks at. Clients with equal views share every encoded frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(tag = "kind"))]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// The board.
    Board(BoardQuery),
    /// One lock.
    Lock(LockQuery),
    /// The server's own state.
    Status {},
    /// Who waits for whom.
    Waits(WaitsQuery),
    /// Every session.
    Sessions(SessionsQuery),
    /// One session.
    Session(SessionQuery),
    /// A run of the lab. For scripts: the page looks at runs in another way.
    Lab(LabQuery),
    /// What happened lately. For scripts as well.
    Events(EventsQuery),
    /// A lock's whole queue in little. Looked at once a second at most.
    QueueMap(QueueMapQuery),
}

impl View {
    /// Which ensemble it names; empty where it names none.
    pub fn ensemble(&self) -> &str {
        match self {
            Self::Board(query) => &query.ensemble,
            Self::Lock(query) => &query.ensemble,
            Self::Sessions(query) => &query.ensemble,
            Self::Session(query) => &query.ensemble,
            Self::Events(query) => &query.ensemble,
            Self::QueueMap(query) => &query.ensemble,
            Self::Status {} | Self::Waits(_) | Self::Lab(_) => "",
        }
    }
}

/// From client to server. `id` names a subscription within one socket; the client chooses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(tag = "type"))]
#[serde(rename_all = "snake_case")]
pub enum ClientFrame {
    /// Start a view, or change what an id looks at. A snapshot follows.
    Subscribe {
        /// Subscription.
        id: u32,
        /// What it looks at.
        view: View,
    },
    /// As `subscribe`, but the client already has the view as of (`epoch`, `seq`): only what came after
    /// follows, or a fresh snapshot when that is no longer known.
    ResumeAfter {
        /// Subscription.
        id: u32,
        /// What it looks at.
        view: View,
        /// Epoch of the state the client has.
        epoch: Epoch,
        /// Sequence number of the state the client has.
        seq: u64,
    },
    /// End a subscription.
    Unsubscribe {
        /// Subscription.
        id: u32,
    },
    /// Send nothing for this subscription until `resume`.
    Pause {
        /// Subscription.
        id: u32,
    },
    /// Go on; what was missed follows, as deltas or as a snapshot.
    Resume {
        /// Subscription.
        id: u32,
    },
}

/// A whole view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(tag = "kind"))]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// The board.
    Board(Board),
    /// One lock; null when there is none at that path.
    Lock(Option<Box<LockPage>>),
    /// The server's own state.
    Status(Status),
    /// Who waits for whom.
    Waits(Box<Waits>),
    /// Every session.
    Sessions(Sessions),
    /// One session; null when it owns nothing under the roots and none of its history is known.
    Session(Option<Box<SessionPage>>),
    /// A run of the lab; null when there is none of that name.
    Lab(Option<Box<LabRun>>),
    /// What happened lately.
    Events(Lately),
    /// A lock's whole queue in little; null when there is no lock at that path.
    QueueMap(Option<Box<QueueMap>>),
}

/// What turns a view into its successor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(tag = "kind"))]
#[serde(rename_all = "snake_case")]
pub enum DeltaBody {
    /// For a board.
    Board(BoardDelta),
    /// For a lock.
    Lock(LockDelta),
    /// For a list of sessions.
    Sessions(SessionsDelta),
    /// The view as a whole, where a difference would not be smaller or makes no sense.
    Whole(Body),
    /// For what happened lately.
    Events(LatelyDelta),
}

/// From server to scripts: differences have whole rows.
pub type ServerFrame = Frame<DeltaBody>;

/// From server to client, with differences of either kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(tag = "type", rename = "ServerFrame"))]
#[serde(rename_all = "snake_case")]
pub enum Frame<D> {
    /// First frame.
    Hello {
        /// Version of the protocol.
        protocol: u8,
        /// Epoch of this run of the feed.
        epoch: Epoch,
        /// The server's clock.
        server_time_ms: i64,
    },
    /// A whole view.
    Snapshot {
        /// Subscription.
        id: u32,
        /// Epoch.
        epoch: Epoch,
        /// Sequence number of this state.
        seq: u64,
        /// The server's clock.
        server_time_ms: i64,
        /// The instant up to which everything that the view calls live is known to be true; of a view that calls
        /// nothing live, up to which it was. On the server's clock.
        known_at_ms: i64,
        /// The view.
        body: Box<Body>,
    },
    /// From state `seq - 1` to state `seq`.
    Delta {
        /// Subscription.
        id: u32,
        /// The server's clock.
        server_time_ms: i64,
        /// Sequence number of the state it leads to.
        seq: u64,
        /// As in a snapshot, of the state it leads to.
        known_at_ms: i64,
        /// The difference.
        body: D,
    },
    /// What the client has no longer leads to the present; a snapshot follows.
    Resync {
        /// Subscription.
        id: u32,
        /// Why.
        why: String,
    },
    /// At least every second, as long as the client takes what it is sent.
    Heartbeat {
        /// Changes applied to the model so far.
        seq: u64,
        /// The server's clock.
        server_time_ms: i64,
        /// The subscriptions whose last state is still the newest: known to be true up to a later instant than it said.
        views: Vec<KnownView>,
    },
    /// A client frame was refused; the socket stays open.
    Error {
        /// The subscription it was about, when that could be read.
        id: Option<u32>,
        /// One clear sentence.
        detail: String,
    },
}

/// A state that was sent, and up to when it is known to be true by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnownView {
    /// Subscription.
    pub id: u32,
    /// Sequence number of the state.
    pub seq: u64,
    /// As in a snapshot.
    pub known_at_ms: i64,
}

impl Body {
    /// The difference that turns `self` into `next`; None when they are equal.
    pub fn diff(&self, next: &Self) -> Option<DeltaBody> {
        match (self, next) {
            (Self::Board(old), Self::Board(new)) => old.diff(new).map(DeltaBody::Board),
            (Self::Lock(Some(old)), Self::Lock(Some(new))) => old.diff(new).map(DeltaBody::Lock),
            (Self::Sessions(old), Self::Sessions(new)) => old.diff(new).map(DeltaBody::Sessions),
            (Self::Events(old), Self::Events(new))
                if old != new
                    && let Some(delta) = old.diff(new) =>
            {
                Some(DeltaBody::Events(delta))
            }
            (old, new) => (old != new).then(|| DeltaBody::Whole(new.clone())),
        }
    }

    /// Applies a difference made by [`Body::diff`]. False when the difference is for another kind of view;
    /// the state is then unchanged and the caller asks for a snapshot.
    #[must_use]
    pub fn apply(&mut self, delta: &DeltaBody) -> bool {
        match (self, delta) {
            (Self::Board(board), DeltaBody::Board(delta)) => board.apply(delta),
            (Self::Lock(Some(page)), DeltaBody::Lock(delta)) => page.apply(delta),
            (Self::Sessions(sessions), DeltaBody::Sessions(delta)) => sessions.apply(delta),
            (Self::Events(lately), DeltaBody::Events(delta)) => return lately.apply(delta),
            (state, DeltaBody::Whole(body)) => *state = body.clone(),
            _ => return false,
        }
        true
    }
}

/// Media type of the compact encoding, where an answer over HTTP can be had in it.
pub const COMPACT_TYPE: &str = "application/vnd.lockscope.compact";

/// Encodes a frame compactly: the protocol version, then postcard. None only if a value has no encoding,
/// which no frame type here can cause.
pub fn encode_frame<T: Serialize>(frame: &T) -> Option<Vec<u8>> {
    postcard::to_extend(frame, vec![PROTOCOL]).ok()
}

/// Decodes a compact frame; None when the version differs or the bytes are not a frame.
pub fn decode_frame<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (version, rest) = bytes.split_first()?;
    if *version == PROTOCOL { postcard::from_bytes(rest).ok() } else { None }
}
